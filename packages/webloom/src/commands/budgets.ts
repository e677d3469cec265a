/** `webloom budgets renew`: a crawl that waits for the next day, as its budget is spent, goes on today. */

import { UsageError } from '@webloom/core'
import { budgetDay, budgetPlanOf } from '@webloom/downloader'
import { crawlShown, renewDay } from '@webloom/queue'
import { crawlerFromOutside, crawlFromOutside, type OutsideFlags } from '../assembly/crawl-from-outside.ts'
import type { NamedSpider } from '../loading/named-spider.ts'
import { typedCrawl } from '../loading/typed-spider.ts'
import { counted } from '../terminal/figures.ts'
import { commandName, shellQuoted } from '../terminal/resume-line.ts'
import { visible, visibleJson } from '../terminal/sanitize.ts'

export interface RenewFlags extends OutsideFlags {
  /** The one host whose budget is meant. */
  readonly host?: string
}

export async function renewBudgets({ Class, config }: NamedSpider, flags: RenewFlags): Promise<void> {
  const crawler = await crawlerFromOutside(Class, flags, config)
  const { settings, spider } = crawler
  const jobDir = settings.get('JOBDIR')
  if (jobDir !== null)
    throw new UsageError(
      'WL_USAGE',
      `a crawl in a JOBDIR goes on today with larger budgets: stop it, and type  ${commandName()} crawl ${typedCrawl(spider, settings.get('CRAWL_ID'))} -s JOBDIR=${shellQuoted(jobDir)} -s 'BUDGETS={"day":{"pages":…}}'`,
    )
  const plan = budgetPlanOf(settings)
  const { redis, keys, servers } = crawlFromOutside(crawler, config.folder)
  const { day } = budgetDay(plan?.tz ?? 'UTC', Date.now())
  try {
    await servers.open()
    const pages = await renewDay(redis, keys, { day, host: flags.host?.toLowerCase() })
    if (flags.json) console.log(visibleJson(JSON.stringify({ day, host: flags.host ?? null, pages })))
    else
      console.log(
        visible(
          `renewed: ${counted(pages, 'page')}${flags.host === undefined ? '' : ` of ${flags.host}`} of ${day} no longer count for ${crawlShown(keys)}. Hosts that wait go on within five minutes`,
        ),
      )
  } finally {
    servers.close()
  }
}
