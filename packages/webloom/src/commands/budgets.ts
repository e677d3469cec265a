/** `webloom budgets renew`: a crawl that waits for the next day, as its budget is spent, goes on today. */

import { UsageError } from '@webloom/core'
import { budgetDay } from '@webloom/downloader'
import { crawlShown, lastDaySpent, renewDay } from '@webloom/queue'
import {
  crawlerFromOutside,
  crawlFromOutside,
  type OutsideFlags,
  refuseUnknownCrawl,
} from '../assembly/crawl-from-outside.ts'
import type { NamedSpider } from '../loading/named-spider.ts'
import { typedCrawl } from '../redis/typed-crawl.ts'
import { budgetsOf, readBudgets, renewalText } from '../status/status-budgets.ts'
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
      `a crawl in a JOBDIR goes on today with larger budgets: stop it, and type  ${commandName()} crawl ${typedCrawl(spider, settings)} -s JOBDIR=${shellQuoted(jobDir)} -s 'BUDGETS={"day":{"pages":…}}'`,
    )
  const crawl = crawlFromOutside(crawler, config.folder)
  const { redis, keys, servers } = crawl
  try {
    await servers.open()
    await refuseUnknownCrawl(crawl)
    const plan = await budgetsOf(crawl)
    const before = await readBudgets(crawl)
    // Days after the last one have nothing to renew.
    const day = (await lastDaySpent(redis, keys)) ?? budgetDay(plan?.tz ?? 'UTC', Date.now()).day
    const pages = await renewDay(redis, keys, { day, host: flags.host?.toLowerCase() })
    if (pages === undefined && flags.host !== undefined)
      throw new UsageError(
        'WL_USAGE',
        `nothing is known of what ${flags.host} has spent on ${day} in ${crawlShown(keys)}, so nothing is renewed. Write the host as webloom status does; what each has spent is kept with BUDGETS.hostDay`,
      )
    if (flags.json)
      console.log(visibleJson(JSON.stringify({ day, host: flags.host ?? null, pages: pages ?? 0 })))
    else
      console.log(
        visible(renewalText({ crawl: crawlShown(keys), day, host: flags.host, pages, plan, before })),
      )
  } finally {
    servers.close()
  }
}
