/** What would keep scheduled runs from beginning, or from working: whoever types the schedule is told, and not a log at six in the morning. */

import { type Settings, UsageError } from '@webloom/core'
import type { SpiderClass } from '@webloom/spider'
import type { CrawlBaseOptions } from '../assembly/crawl-base.ts'
import type { CrawlerFromOutside } from '../assembly/crawl-from-outside.ts'
import type { RedisServers } from '../redis/redis-servers.ts'
import { shellQuoted } from '../terminal/resume-line.ts'
import { tryWorker } from './try-worker.ts'

export interface ScheduledRuns {
  readonly cron: string
  /** `-s` of the schedule, as typed. */
  readonly set: readonly string[] | undefined
  /** The settings that workers have which are started by hand. */
  readonly project: Settings
  readonly Class: SpiderClass
  /** What its workers are put together from. */
  readonly base: CrawlBaseOptions
}

/**
 * Rejects with what is wrong with the runs of a schedule.
 *
 * @param crawler as the runs will have it
 */
export async function refuseFailingRuns(
  { settings, spider, servers }: CrawlerFromOutside,
  runs: ScheduledRuns,
): Promise<void> {
  refuseJobdir(settings, spider.name, runs.cron)
  refuseOtherMode(settings, runs)
  refuseNoRedis(servers, spider.name, runs.cron)
  await tryWorker(runs.Class, runs.base)
}

function refuseJobdir(settings: Settings, spider: string, cron: string): void {
  if (settings.get('JOBDIR') === null) return
  throw new UsageError(
    'WL_USAGE',
    `JOBDIR keeps a crawl for one process, and scheduled runs are shared by workers on Redis. Unset JOBDIR, or use cron:  ${cronLine(cron, spider)}`,
  )
}

function refuseNoRedis(servers: RedisServers, spider: string, cron: string): void {
  if (servers.targets('queue').length > 0) return
  throw new UsageError(
    'WL_USAGE',
    `schedules are kept on Redis, and none is named. Set REDIS_URL=redis://host:6379, or use cron without Redis:  ${cronLine(cron, spider)}`,
  )
}

function cronLine(cron: string, spider: string): string {
  return `${cron} cd ${shellQuoted(process.cwd())} && npx webloom crawl ${shellQuoted(spider)}`
}

/** Workers of one crawl must have the same; one that somebody starts by hand would have the project's. */
function refuseOtherMode(settings: Settings, { set, project }: ScheduledRuns): void {
  const [asked, usual] = [settings.get('QUEUE_MODE'), project.get('QUEUE_MODE')]
  if (asked === usual || !set?.some((pair) => pair.startsWith('QUEUE_MODE='))) return
  throw new UsageError(
    'WL_USAGE',
    `-s QUEUE_MODE=${asked} is for this schedule, and other workers of the crawl have QUEUE_MODE=${usual}: one would not see the other’s requests. Write it for all:  settings: { QUEUE_MODE: '${asked}' } in webloom.config.ts`,
  )
}
