/** What would keep scheduled runs from beginning, or from working: whoever types the schedule is told, and not a log at six in the morning. */

import { type Settings, UsageError } from '@webloom/core'
import type { ScheduledFlags } from '@webloom/queue'
import type { CrawlerFromOutside } from '../assembly/crawl-from-outside.ts'
import { trialMs, tryInProcess } from '../processes/trial-process.ts'
import type { RedisServers } from '../redis/redis-servers.ts'
import { shellQuoted } from '../terminal/resume-line.ts'
import { startedWith } from './flag-words.ts'

/** Whoever waits so long at the prompt is told for what. */
const SLOW_MS = 5000

export interface ScheduledRuns {
  readonly cron: string
  /** As typed. */
  readonly flags: ScheduledFlags
  /** The settings that workers have which are started by hand. */
  readonly project: Settings
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
  const { words, env } = startedWith(runs.flags)
  const timeoutMs = trialMs(settings.getMs('COMPONENT_TIMEOUT'))
  const slow = setTimeout(
    () =>
      console.error(
        `webloom: a worker of ${spider.name} is tried, as each run would start one, and is not ready yet. It is given up after ${timeoutMs / 1000} s`,
      ),
    SLOW_MS,
  )
  try {
    const argv = ['worker', spider.name, ...words]
    await tryInProcess({ program: process.argv[1]!, argv, env, timeoutMs })
  } finally {
    clearTimeout(slow)
  }
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
function refuseOtherMode(settings: Settings, { flags: { set }, project }: ScheduledRuns): void {
  const [asked, usual] = [settings.get('QUEUE_MODE'), project.get('QUEUE_MODE')]
  if (asked === usual || !set?.some((pair) => pair.startsWith('QUEUE_MODE='))) return
  throw new UsageError(
    'WL_USAGE',
    `-s QUEUE_MODE=${asked} is for this schedule, and other workers of the crawl have QUEUE_MODE=${usual}: one would not see the other’s requests. Write it for all:  settings: { QUEUE_MODE: '${asked}' } in webloom.config.ts`,
  )
}
