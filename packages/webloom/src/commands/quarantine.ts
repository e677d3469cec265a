/** `webloom quarantine list|retry`: requests in quarantine. */

import { UsageError } from '@webloom/core'
import { Quarantine, reopenCrawl } from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import { type OutsideFlags, withCrawlFromOutside } from '../assembly/crawl-from-outside.ts'
import { withQueueAndFilter } from '../assembly/redis-crawl-store.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { typedCrawl } from '../loading/typed-spider.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'

const LISTED_MAX = 1000

/** Prints each with its reason and its history. */
export async function quarantineList(
  Class: SpiderClass,
  flags: OutsideFlags,
  config: LoadedConfig,
): Promise<void> {
  await withCrawlFromOutside(Class, flags, config, async (crawl) => {
    const quarantine = new Quarantine(crawl)
    const listed = await quarantine.list(LISTED_MAX)
    if (flags.json) {
      console.log(visibleJson(JSON.stringify(listed)))
      return
    }
    for (const { id, url, reason, history, quarantinedAt } of listed) {
      console.log(visible(`${id}  ${url || '(cannot be read by this release)'}`))
      console.log(visible(`  ${new Date(quarantinedAt).toISOString()}  ${reason}`))
      for (const { at, worker, what } of history)
        console.log(visible(`  ${new Date(at).toISOString()}  ${what}  ${worker}`))
    }
    const size = await quarantine.size
    if (size === 0) console.log('nothing is quarantined')
    else if (size > listed.length) console.log(`and ${size - listed.length} more`)
  })
}

/** Gives them back to the queue, all of them when no id is given. */
export async function quarantineRetry(
  Class: SpiderClass,
  ids: readonly string[],
  flags: OutsideFlags & { readonly all?: boolean },
  config: LoadedConfig,
): Promise<void> {
  if (ids.length === 0 && !flags.all)
    throw new UsageError(
      'WL_USAGE',
      'name the ids that are to be tried again (webloom quarantine list), or --all',
    )
  await withCrawlFromOutside(Class, flags, config, async (crawl) => {
    const wasFinished = await reopenCrawl(crawl)
    const retried = await withQueueAndFilter(crawl, (queue) =>
      new Quarantine(crawl).take(flags.all ? 'all' : ids, queue),
    )
    if (flags.json) console.log(visibleJson(JSON.stringify(retried)))
    else for (const id of retried) console.log(visible(`queued again  ${id}`))
    if (wasFinished && retried.length > 0 && !flags.json)
      console.log(
        `the crawl had finished: webloom worker ${typedCrawl(crawl.crawler.spider, crawl.name.crawlId)} goes on with it`,
      )
    const missing = flags.all ? [] : ids.filter((id) => !retried.includes(id))
    if (missing.length > 0)
      throw new UsageError(
        'WL_USAGE',
        `not in quarantine, or not readable by this release: ${missing.join(', ')}`,
      )
  })
}
