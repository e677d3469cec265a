/** `webloom pause|resume|stop|clear`: what all workers of a crawl are told, within two seconds. */

import { UsageError } from '@webloom/core'
import {
  CRAWL_LOST,
  crawlShown,
  isCrawlKnown,
  pauseCrawl,
  reasonTold,
  resumeCrawl,
  stopCrawl,
} from '@webloom/queue'
import type { SpiderClass } from '@webloom/spider'
import { clearFromOutside } from '../assembly/clear-crawl.ts'
import {
  type CrawlFromOutside,
  type OutsideFlags,
  withCrawlFromOutside,
} from '../assembly/crawl-from-outside.ts'
import type { LoadedConfig } from '../loading/config.ts'
import { lostCrawlOf, stoppedLost } from '../outcome/crawl-lost-text.ts'
import { typedWorkerOf } from '../redis/typed-crawl.ts'
import { commandName } from '../terminal/resume-line.ts'

export async function pause(Class: SpiderClass, flags: OutsideFlags, config: LoadedConfig): Promise<void> {
  await withCrawlFromOutside(Class, flags, config, async (crawl) => {
    const wasPaused = await isPaused(crawl)
    if (!(await pauseCrawl(crawl))) throw noCrawl(crawl)
    const goesOn = `${commandName()} resume ${crawl.typed}  goes on`
    const paused = wasPaused ? 'it was paused already' : 'paused'
    console.log(`${paused}: what is in flight is finished, nothing new is begun. ${goesOn}`)
  })
}

export async function resume(Class: SpiderClass, flags: OutsideFlags, config: LoadedConfig): Promise<void> {
  await withCrawlFromOutside(Class, flags, config, async (crawl) => {
    const wasPaused = await isPaused(crawl)
    if (!(await resumeCrawl(crawl))) throw noCrawl(crawl)
    console.log(wasPaused ? 'resumed' : 'it was not paused, and goes on as before')
  })
}

export async function stop(
  Class: SpiderClass,
  flags: OutsideFlags & { readonly reason?: string },
  config: LoadedConfig,
): Promise<void> {
  await withCrawlFromOutside(Class, flags, config, async (crawl) => {
    // As its workers have it: what is set here is for nobody.
    const fields = ['finishReason', 'refusedAs', 'persists']
    const [finishReason, refusedAs, persists] = await crawl.redis.hmget(crawl.keys.record, ...fields)
    const isKept = persists === '1'
    if (!(await stopCrawl(crawl, flags.reason))) throw noCrawl(crawl)
    if (reasonTold(finishReason, refusedAs) === CRAWL_LOST) return console.log(lostStop(crawl, isKept))
    console.log(
      `stopped: workers finish what is in flight and leave. ${
        isKept
          ? 'A worker that starts goes on with the crawl'
          : 'The last one empties queue and filter (its workers run with SCHEDULER_PERSIST=false)'
      }`,
    )
  })
}

export async function clear(
  Class: SpiderClass,
  flags: OutsideFlags & { readonly force?: boolean },
  config: LoadedConfig,
): Promise<void> {
  await withCrawlFromOutside(Class, flags, config, async (crawl) => {
    const isKnown = await isCrawlKnown(crawl.redis, crawl.keys)
    const present = await clearFromOutside(crawl, flags.force)
    if (present > 0 && !flags.force)
      throw new UsageError(
        'WL_USAGE',
        `${present} worker${present === 1 ? ' is' : 's are'} at work on ${crawlShown(crawl.keys)}: nothing was deleted. webloom stop ${crawl.typed}  ends them; --force deletes all the same`,
      )
    console.log(
      isKnown
        ? `${crawlShown(crawl.keys)} is gone: queue, requests seen, record, stats, quarantine`
        : `nobody has begun ${crawlShown(crawl.keys)} at ${crawl.shown}: nothing but what was seeded or imported for it can have been deleted`,
    )
  })
}

async function isPaused({ redis, keys }: CrawlFromOutside): Promise<boolean> {
  return (await redis.hget(keys.record, 'paused')) === '1'
}

function lostStop({ crawler: { spider, settings }, shown }: CrawlFromOutside, isKept: boolean): string {
  const worker = typedWorkerOf(spider, settings, { isKept })
  return stoppedLost({ ...lostCrawlOf(spider, settings, shown), worker })
}

function noCrawl({ keys, typed }: CrawlFromOutside): UsageError {
  return new UsageError(
    'WL_USAGE',
    `no ${crawlShown(keys)} is running. webloom status ${typed}  shows its state`,
  )
}
