/** Commands to a crawl from outside: `webloom pause|resume|stop|clear`. All workers are told at once. */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { askMasters, PROTOCOL_TIMES, type ProtocolTimes, UsageError, WebloomError } from '@webloom/core'
import type { Redis } from 'ioredis'
import {
  type FilterNoted,
  formatOf,
  type QueueMode,
  refuseOtherFormat,
  typedOf,
} from '../crawl/crawl-format.ts'
import { newRunId, runNameOf } from '../crawl/crawl-run.ts'
import { BUSY, doOwed, whenNobodyIsAtIt } from '../crawl/crawl-todo.ts'
import { RedisFailures } from '../failures/redis-failures.ts'
import { type CrawlRedisKeys, crawlShown } from '../redis/crawl-redis-keys.ts'
import { luaScript } from '../redis/lua.ts'
import { OomSafeScript } from '../redis/oom-safe-script.ts'
import { CrawlShards, readFormerShards, readShards } from '../shards/crawl-shards.ts'

interface CrawlOnRedis {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  /** The crawl as it is typed. Default: by its name. */
  readonly typed?: string
}

export interface ClearCrawlOptions extends CrawlOnRedis {
  /** STATS_KEY with the crawl's name in it. */
  readonly statsKey: string
  /** Clears even while workers are present. They end with `cleared`, and may still write something after the clearing. */
  readonly force?: boolean
  /** Called when workers are waited for, for so many ms, that are silent and have not signed off. */
  readonly onSilent?: (workers: number, msMax: number) => void
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
  /** Empties queue and filter. */
  readonly clear: () => Promise<void>
  /** How many shards it may have. Default: as its record says. */
  readonly shards?: number
  /** Prefixes of other keys of the crawl on this Redis. */
  readonly alsoUnder?: readonly string[]
}

export interface AdoptedCrawl {
  /** `new`: nothing was known of the crawl; `resumed`: it had ended; `running`: it runs, or its workers were killed. */
  readonly found: 'new' | 'resumed' | 'running'
  /** Id of the run that goes on with the imported requests; its workers ask the dupefilter by it. */
  readonly runName: string
}

export interface AdoptOptions {
  /** start() does not run. */
  readonly startEnded?: boolean
  /** QUEUE_SHARDS, for a crawl that has not begun. Default: 1. */
  readonly shards?: number
  /** QUEUE_MODE of what is brought, for a crawl that has not begun. */
  readonly mode?: QueueMode
  /** Its dupefilter, for a crawl that is new, or was emptied. */
  readonly filter?: FilterNoted
  /** Tells the shards of a crawl of several of its run; called for one that is new, or was emptied. */
  readonly tellShards?: () => Promise<void>
}

/** How many keys one step looks at, so that Redis serves others in between. */
const MAX_KEYS_PER_SCAN = 1000
/** For so long after it was adopted a crawl of several shards does not finish. */
export const ADOPTED_MS = 4000
/**
 * For so long a worker of the cleared crawl learns that somebody cleared it, and does not take Redis for the one that lost
 * it: longer than a network is away, or a machine asleep, without anybody looking.
 */
const CLEARED_KEPT_MS = 3_600_000

const pauseScript = new OomSafeScript('members/pause.lua')
const stopScript = new OomSafeScript('redis/now.lua', 'crawl/stop.lua')
const reopenScript = new OomSafeScript('redis/now.lua', 'crawl/todo.lua', 'members/reopen.lua')
const adoptScript = new OomSafeScript('redis/now.lua', 'crawl/todo.lua', 'members/adopt.lua')
const clearScript = luaScript('redis/now.lua', 'crawl/present.lua', 'crawl/todo.lua', 'members/clear.lua')

/** Until `resumeCrawl` no worker begins a request. Returns false when no crawl runs. */
export async function pauseCrawl({ redis, keys }: CrawlOnRedis): Promise<boolean> {
  return (await pauseScript.run(redis, [keys.record], [1])) === 1
}

/** Returns false when no crawl runs. */
export async function resumeCrawl({ redis, keys }: CrawlOnRedis): Promise<boolean> {
  return (await pauseScript.run(redis, [keys.record], [0])) === 1
}

/**
 * Stops a crawl: each worker finishes what it holds and ends with that reason. The crawl goes on when a worker starts
 * again. Resolves to false when there is no crawl to stop.
 *
 * @param run the only one to be stopped. Default: whichever runs
 */
export async function stopCrawl(
  { redis, keys }: CrawlOnRedis,
  reason = 'stopped',
  run = '',
): Promise<boolean> {
  return (await stopScript.run(redis, [keys.record], [reason, run])) === 1
}

/**
 * Makes the next worker resume a crawl that has ended. Called before new work is queued for it. start() is not run again
 * where it has ended. Resolves to true when the crawl had finished, so that no worker would have looked at it.
 */
export async function reopenCrawl({ redis, keys, typed = typedOf(keys) }: CrawlOnRedis): Promise<boolean> {
  await refuseOtherFormat({ redis, keys, typed })
  const reopen = async () => {
    const answer = await reopenScript.run(redis, [keys.record], [])
    return answer === -1 ? BUSY : answer === 1
  }
  return whenNobodyIsAtIt(reopen, keys)
}

/**
 * Does the same for a crawl that may not have begun: the next worker goes on with what is queued, and empties nothing
 * first. A crawl of several shards does not finish for ADOPTED_MS after that: whoever brings requests for longer, calls this again, and once
 * more when the last is there.
 */
export async function adoptCrawl(
  { redis, keys, typed = typedOf(keys) }: CrawlOnRedis,
  { startEnded = false, shards = 1, mode, filter, tellShards }: AdoptOptions = {},
): Promise<AdoptedCrawl> {
  await refuseOtherFormat({ redis, keys, typed })
  const args = [
    ...[newRunId(), startEnded ? '1' : '', formatOf(shards), shards > 1 ? shards : '', ADOPTED_MS],
    ...[filter?.same ?? '', filter?.settings ?? '', mode ?? ''],
  ]
  const adopt = async () => {
    const answer = await adoptScript.run(redis, [keys.record], args)
    const [found, run, firstRun] = answer as [AdoptedCrawl['found'] | 'emptied' | 'busy', string, string]
    return found === 'busy' ? BUSY : { found, run, firstRun }
  }
  const { found, run, firstRun } = await whenNobodyIsAtIt(adopt, keys)
  if (found !== 'emptied') {
    if (tellShards && found !== 'running')
      await doOwed({ redis, keys, worker: `adopt:${randomUUID()}`, act: tellShards })
    return { found, runName: runNameOf(keys, run, firstRun) }
  }
  throw new UsageError(
    'WL_USAGE',
    `the queue of ${crawlShown(keys)} has not been emptied, because a webloom clear was cut off: run webloom clear ${typed} again`,
  )
}

/**
 * Forgets the crawl: its record, stats, failures, quarantine, with `clear` its queue and filter, and all that it has besides on this
 * Redis. Where it is forced while workers are present, what they may still ask for stays until it is cleared
 * again. Returns how many workers are
 * present; when there are any, nothing is done unless it is forced.
 */
export async function clearCrawl(options: ClearCrawlOptions): Promise<number> {
  const { redis, keys, statsKey, force = false, clear, alsoUnder = [] } = options
  await refuseAway(redis)
  const shards = options.shards ? new CrawlShards(keys, options.shards) : await readShards(redis, keys)
  const former = await readFormerShards(redis, keys)
  const parts = [...shards.parts, ...former.flatMap(({ queues }) => queues)]
  const present = await forgetUnlessPresent(options)
  if (present > 0 && !force) return present
  const act = async () => {
    await clear()
    for (const part of shards.queues) await new RedisFailures({ redis, keys: part }).clear()
    // Workers that are present still read what became of their turns: then only the notes of pushes are deleted. Else all goes that any
    // number of shards has ever had: their tags begin as the home's does, and a `#` in the crawl's own name is escaped there.
    const own =
      present > 0 ? parts.map(({ noted }) => `${noted}:`) : [`${keys.base}:`, `${keys.base.slice(0, -1)}#`]
    // These stay: they belong to this clearing, to a crawl that begins right after it, or tell of crawls that are over.
    const others = [keys.record, keys.workers, keys.hostLists, keys.cleared, keys.runs, keys.monitors]
    const stays = [`${keys.schedules}:`, `${keys.budgets}:day:`]
    const isKept = (key: string) => others.includes(key) || stays.some((start) => key.startsWith(start))
    for (const start of [...own, ...alsoUnder]) await unlinkAll(redis, start, isKept)
    await Promise.all([redis.unlink(statsKey), redis.unlink(keys.startHosts, keys.publicHosts)])
  }
  await doOwed({ redis, keys, worker: `clear:${randomUUID()}`, act })
  return present
}

/**
 * Resolves to how many workers are present. After an outage of Redis all are silent, and a moment later they are back: those that have not signed off are
 * waited for as long as a killed one counts as present.
 */
async function forgetUnlessPresent(options: ClearCrawlOptions): Promise<number> {
  const { redis, keys, force = false, onSilent, times = PROTOCOL_TIMES } = options
  const { lostAfterMs } = times.members
  const untilMs = performance.now() + lostAfterMs
  const ask = async () => {
    const waits = !force && performance.now() < untilMs
    return (await clearScript.run(
      redis,
      [keys.record, keys.workers, keys.alone, keys.cleared, keys.hostLists],
      [lostAfterMs, force ? 1 : 0, CLEARED_KEPT_MS, waits ? 1 : 0],
    )) as [present: number, silent: number]
  }
  let [present, silent] = await ask()
  if (silent > 0) onSilent?.(silent, lostAfterMs)
  while (silent > 0) {
    await sleep(times.record.todoPollMs)
    ;[present, silent] = await ask()
  }
  return present
}

/** As long as whoever looks at a crawl waits for its record. */
const THERE_MS_MAX = 4000

/** All masters are looked through for keys of the crawl, at the end: nothing is deleted where that cannot be done. */
async function refuseAway(redis: Redis): Promise<void> {
  try {
    await askMasters(redis, (server) => server.time(), THERE_MS_MAX)
  } catch (error) {
    if (!(error instanceof WebloomError) || error.code !== 'WL_REDIS_UNREACHABLE') throw error
    throw new WebloomError(error.code, `nothing was deleted: ${error.message}`, { cause: error })
  }
}

/** Longer than a replica needs to take its master's place. What is left then is noted as owed. */
const UNREACHED_MS_MAX = 30_000

/** Unlinks all keys that begin so, found by SCAN: nobody knows their names any more. */
async function unlinkAll(redis: Redis, start: string, isKept: (key: string) => boolean): Promise<void> {
  const pattern = `${start.replace(/[[\]*?^\\]/g, '\\$&')}*`
  const unlinkAt = async (server: Redis) => {
    let cursor = '0'
    do {
      const [next, found] = await server.scan(cursor, 'MATCH', pattern, 'COUNT', MAX_KEYS_PER_SCAN)
      cursor = next
      const gone = found.filter((key) => !isKept(key))
      // One command has keys of one slot only.
      if (server !== redis) await Promise.all(gone.map((key) => redis.unlink(key)))
      else if (gone.length > 0) await redis.unlink(...gone)
    } while (cursor !== '0')
  }
  await askMasters(redis, unlinkAt, UNREACHED_MS_MAX)
}
