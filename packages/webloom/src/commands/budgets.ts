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
import { typedCrawl } from '../loading/typed-spider.ts'
import { budgetsOf, readBudgets } from '../status/status-budgets.ts'
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
  const crawl = crawlFromOutside(crawler, config.folder)
  const { redis, keys, servers } = crawl
  try {
    await servers.open()
    await refuseUnknownCrawl(crawl)
    const plan = await budgetsOf(crawl)
    const seen = await readBudgets(crawl)
    const waits = plan === undefined || seen.some(({ renew }) => renew !== null)
    const isSpent = seen.some(({ kind, hosts }) => kind !== null || hosts.length > 0)
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
    else if (pages === undefined)
      console.log(visible(`nothing to renew: ${crawlShown(keys)} has spent nothing on ${day}`))
    else
      console.log(
        visible(
          `renewed: ${counted(pages, 'page')}${flags.host === undefined ? '' : ` of ${flags.host}`} of ${day} no longer count for ${crawlShown(keys)}. ${waits ? WAITS : isSpent ? ENDED : 'None of its budgets was spent, so nothing waits for that'}`,
        ),
      )
  } finally {
    servers.close()
  }
}

const WAITS =
  'Hosts that wait go on within five minutes, the first 3,000 of each worker; others follow, ten a second'

const ENDED =
  'What was spent has ended the crawl, or had requests dropped (BUDGETS says stop or drop), so nothing waits for that: the next run may spend it anew'
