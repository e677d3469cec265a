/**
 * How a worker leaves its crawl, and learns what is then left to do for it.
 *
 * What is owed at the end is done by the last worker that leaves, so each must know who else is there: the workers that send
 * heartbeats. A worker that was killed sends none, but for ten seconds it looks like one that is slow. If it simply counted
 * as present, a crawl that finishes within that time would have no last worker, and all of it would stay on Redis.
 * So a worker that leaves a finished crawl waits for those who have been silent since it finished:
 *
 *     one of them speaks     it lives, was told that the crawl is finished, and leaves after this one
 *     all have left, or
 *     count as lost          this one is the last
 *     the crawl goes on      it was woken, or begun anew: nothing is owed to this end
 *
 * The end of a crawl calls its workers, who answer within milliseconds; so only where one was killed, or stands still, does
 * this take long. A stopped crawl is not waited for: what it has left is work, and whoever comes next goes on with it.
 *
 * What stays open: a worker that was heard after the end, and is killed before it has left.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Logger, type ProtocolTimes, within } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { OomSafeScript } from '../redis/oom-safe-script.ts'
import { untilTaken } from '../redis/until-taken.ts'

/** The finish reason of a worker whose crawl is gone from Redis though nobody cleared it. */
export const CRAWL_LOST = 'crawl_lost'

/** The finish reason of a worker that was silent for so long that the crawl goes on with settings that it has otherwise. */
export const OTHER_SETTINGS = 'other_settings'

/** The finish reason of a crawl that has nothing left to do while requests of it wait where its workers do not read them. */
export const REQUESTS_LEFT = 'requests_left'

/** Finish reasons that concern one worker only; the crawl goes on with the others. */
export const ENDS_OF_ONE_WORKER = [
  // The record has said so, and another worker may have woken the crawl since.
  'finished',
  'shutdown',
  'memusage_exceeded',
  'internal_error',
  'output_failed',
  'not_opened',
  'cleared',
  CRAWL_LOST,
  OTHER_SETTINGS,
]

/** That of a run whose last worker has left before it was open: so does one that refuses what the run finds there. */
export const NOT_OPENED = 'not_opened'

/** Returns the finish reason as people are told it. `refusedAs`: the record's field, see members/refused.lua. */
export function reasonTold(
  finishReason: string | null | undefined,
  refusedAs: string | null | undefined,
): string | null {
  return (finishReason === NOT_OPENED && refusedAs) || finishReason || null
}

/** What is left to do for a worker that has left. */
export interface CrawlLeft {
  /** No other worker is present. */
  readonly last: boolean
  /** And the crawl is finished. */
  readonly finished: boolean
  /** True when the crawl lacks an ending step that this worker should now do (crawl-ending.ts). */
  readonly owes: boolean
}

export const NOTHING_LEFT: CrawlLeft = { last: false, finished: false, owes: false }

export interface Leaving {
  readonly worker: string
  readonly run: string
  readonly reason: string
  /** The last worker stops the crawl when it runs. */
  readonly stops: boolean
  /** The last worker empties queue and filter, */
  readonly empties: boolean
  /** but not those of a finished crawl, which goes on when seeds come. */
  readonly wakes: boolean
}

export interface LeavingOptions {
  /** The queue's Redis; opened and closed by whoever gives it. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  readonly logger: Logger
  readonly times: ProtocolTimes
}

/** Redis may be away when a worker leaves; it is then noticed as lost. */
const LEAVE_ANSWER_MS_MAX = 5000
/** A silent worker counts as lost after one `lostAfterMs`; when Redis itself was away, it is another one until anybody does. */
const WAITS_MAX = 2

const leaveScript = new OomSafeScript(
  'redis/now.lua',
  'crawl/present.lua',
  'crawl/todo.lua',
  'crawl/leave.lua',
)

/** Throws when Redis does not take it. */
export async function leaveCrawl(leaving: Leaving, options: LeavingOptions): Promise<CrawlLeft> {
  const { redis, keys, logger, times } = options
  const { lostAfterMs } = times.members
  const ask = async (waited: boolean) => {
    const asked = JSON.stringify({ ...leaving, lostMs: lostAfterMs, waited })
    const untilMs = performance.now() + LEAVE_ANSWER_MS_MAX
    const asking = untilTaken(
      () => leaveScript.run(redis, [keys.record, keys.workers, keys.hostLists], [asked]),
      { isOver: () => performance.now() > untilMs, everyMs: times.record.todoPollMs, logger },
    )
    return (await within(LEAVE_ANSWER_MS_MAX, 'leaving the crawl', asking)) as number[]
  }
  const deadline = performance.now() + WAITS_MAX * lostAfterMs
  const toldAt = performance.now() + times.members.beatOftenMs
  let isTold = false
  let answer = await ask(false)
  while (answer[3] === 1 && performance.now() < deadline) {
    if (!isTold && performance.now() > toldAt) {
      logger.info(waitingText(lostAfterMs))
      isTold = true
    }
    await sleep(times.record.todoPollMs)
    answer = await ask(true)
  }
  const [last, finished, owes] = answer.map((flag) => flag === 1) as [boolean, boolean, boolean]
  return { last, finished, owes }
}

const waitingText = (lostAfterMs: number) =>
  `the crawl is finished, but a worker has not signed off and sends no heartbeat. Until it counts as lost, ${lostAfterMs / 1000} s after its last one, this worker waits for it; then this worker tidies up Redis in its place`

const ENDS_THAT_EMPTY_NOTHING = [
  'memusage_exceeded',
  'internal_error',
  'output_failed',
  'not_opened',
  REQUESTS_LEFT,
  CRAWL_LOST,
  OTHER_SETTINGS,
]

/** After such an end even the last worker leaves the crawl on Redis, as a killed one does: another worker may go on with it. */
export function keepsAll(reason: string): boolean {
  return ENDS_THAT_EMPTY_NOTHING.includes(reason)
}
