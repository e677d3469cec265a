/**
 * How a worker comes to its crawl.
 *
 * A worker that finds nobody at work goes on with settings of its own, and may empty what is there. But whoever sends no heartbeat need not be dead: after an
 * outage of Redis all workers are silent, and a moment later they are back; a machine may be asleep. So:
 *
 *     all have signed off         nobody is waited for
 *     some are silent             a worker with other settings, or that would empty the crawl first, asks again for as long as a killed worker counts as at work;
 *                                 one with the same joins at once
 *     and the crawl is kept       a worker that would delete it at its end is refused
 *
 * A worker that comes back later finds itself no more noted, and is compared with those at work (members/beat.lua).
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger, ProtocolTimes } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { OomSafeScript } from '../redis/oom-safe-script.ts'
import { askedOf, type FixedWhenBegun, refuseOther, refuseOtherFormat, type Waiting } from './crawl-format.ts'
import { CRAWL_LOST } from './crawl-leaving.ts'
import { workerEntry } from './crawl-worker.ts'

export interface OpeningOptions {
  /** The queue's Redis; opened and closed by whoever gives it. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  readonly workerId: string
  /** Of the run that it begins, if it begins one. */
  readonly newRunId: string
  /** See RedisCrawlRecordOptions. */
  readonly begins: boolean
  readonly wakes: boolean
  readonly flushes: boolean
  readonly persists: boolean
  readonly fixed: FixedWhenBegun
  readonly logger: Logger
  readonly times: ProtocolTimes
  readonly waiting: Waiting
}

/** The crawl was stopped while a worker waited to join it: that ends as those at work do. */
export class StoppedMeanwhile extends Error {
  readonly reason: string

  constructor(reason: string) {
    super(`the crawl was stopped while this worker waited to join it: ${reason}`)
    this.reason = reason
  }
}

interface JoiningWorker extends Pick<OpeningOptions, 'redis' | 'keys'>, Waiting {
  readonly times: ProtocolTimes
  /** The state in which it found the crawl. */
  readonly state: string
}

/** Resolves when it is time to look again. Rejects when the worker is told to end, and with StoppedMeanwhile when its crawl is stopped. */
export async function untilNextLook({ redis, keys, times, signal, state }: JoiningWorker): Promise<void> {
  await sleep(times.record.todoPollMs, undefined, { ...(signal && { signal }) }).catch(() => {})
  signal?.throwIfAborted()
  const [now, reason] = await redis.hmget(keys.record, 'state', 'stopReason')
  // What was stopped before is to go on; and a lost crawl is begun anew.
  if (state === 'running' && now === 'stopped' && reason && reason !== CRAWL_LOST)
    throw new StoppedMeanwhile(reason)
}

const openScript = new OomSafeScript(
  'redis/now.lua',
  'crawl/present.lua',
  'crawl/todo.lua',
  'failures/all.lua',
  'crawl/begin.lua',
  'members/alike.lua',
  'members/refusal.lua',
  'crawl/open.lua',
)

/** Resolves to what the record tells of the crawl, as crawl/open.lua has it. Rejects with WL_CRAWL_FORMAT for one of another release, and for one that has what this worker has otherwise. */
export async function openCrawl(opening: OpeningOptions): Promise<(string | number)[]> {
  const { redis, keys, workerId, fixed, logger, times, waiting } = opening
  await refuseOtherFormat({ ...fixed, redis, keys })
  const lostRun = await fixed.lostRun?.(waiting)
  const ask = async (waits: boolean) => {
    const asked = { ...askedBy(opening), lostRun, waits }
    const entry = workerEntry(workerId, new Date())
    return (await openScript.run(redis, openKeys(keys), [JSON.stringify(asked), entry])) as (
      | string
      | number
    )[]
  }
  const untilMs = performance.now() + times.members.lostAfterMs
  let told = await ask(true)
  if (told[0] === 'silent') {
    logger.info(waitingText(Number(told[1]), times.members.lostAfterMs))
    waiting.onWait?.('for workers of this crawl that are silent and did not sign off')
  }
  const state = String(told[2])
  while (told[0] === 'silent') {
    await untilNextLook({ redis, keys, times, state, ...waiting })
    told = await ask(performance.now() < untilMs)
  }
  waiting.onWait?.(undefined)
  refuseOther(keys, fixed, told)
  return told
}

function askedBy({ workerId, newRunId, begins, wakes, flushes, persists, fixed, times }: OpeningOptions) {
  const { lostAfterMs: lostMs } = times.members
  const run = { run: newRunId, begins, wakes, flushes, persists }
  return { worker: workerId, lostMs, ...run, ...askedOf(fixed) }
}

function openKeys({ record, workers, hostLists, failures, hostOrders, frontierCounts }: CrawlRedisKeys) {
  return [record, workers, hostLists, failures, hostOrders, frontierCounts]
}

function waitingText(silent: number, lostAfterMs: number): string {
  const who = silent === 1 ? 'a worker of this crawl is' : `${silent} workers of this crawl are`
  return `${who} silent and did not sign off, and this one has other settings, or empties the crawl first: up to ${lostAfterMs / 1000} s are waited for a heartbeat`
}
