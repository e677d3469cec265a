/** When a worker leaves a turn, goes on with it after all, or asks for another lane of it. */

import type { ProtocolTimes } from '@webloom/core'
import type { HeldTurn } from './held-turn.ts'
import { HOT_FROM, type OtherWorkers } from './other-workers.ts'

/** How often Redis is asked for another lane of a hot slot. */
const WIDEN_EVERY_MS = 1000
/** A bucket stays with its worker when something may go within so many times of `restMs`: to begin it again costs as much as to renew its lock ten times. */
const KEPT_RESTS = 3
/** Where a worker has as many of them as it takes on, such a lane is left after so long. */
const CROWDED_QUOTA_MS = 1000
/** A lane of a hot slot that has taken so many is left when units wait that no worker has. */
const QUOTA_REQUESTS = 500

export interface TurnRules {
  readonly times: ProtocolTimes['turns']
  readonly others: OtherWorkers
}

/** Returns which buckets a worker leaves that has more than it can serve, while another has nothing: half of those with something to do. */
export function sharedOut(turns: Iterable<HeldTurn>, nowMs: number): HeldTurn[] {
  const busy = [...turns].filter((turn) => turn.isBucket && !turn.isLeaving && turn.hasMore(nowMs))
  return busy.slice(Math.ceil(busy.length / 2))
}

/** Returns how many buckets the worker has that it is not leaving. */
export function stayingBuckets(turns: Iterable<HeldTurn>): number {
  let count = 0
  for (const turn of turns) if (turn.isBucket && !turn.isLeaving) count++
  return count
}

/** Whether a turn that should be left has held something for so long that others gain nothing by waiting for it. */
export function lingers(turn: HeldTurn, nowMs: number, { times }: TurnRules): boolean {
  return turn.tokens.size > 0 && nowMs - turn.leavingSinceMs! > times.lingerMs
}

export function mayWiden(turn: HeldTurn, nowMs: number): boolean {
  if (turn.isBucket || turn.ready <= HOT_FROM || nowMs - turn.widenedAtMs < WIDEN_EVERY_MS) return false
  turn.widenedAtMs = nowMs
  return true
}

/** Returns whether a turn is a lane that may be left for a unit that no worker has, as its worker takes on no more. */
export function mayMakeWay(turn: HeldTurn, nowMs: number): boolean {
  if (turn.isBucket || nowMs - turn.quotaFromMs < CROWDED_QUOTA_MS) return false
  const [slot] = turn.slots.values()
  return !slot?.isPaced
}

export function shouldLeave(turn: HeldTurn, nowMs: number, { times, others }: TurnRules): boolean {
  const isEmpty = turn.tokens.size === 0 && turn.head === undefined
  if (isEmpty && restsUntilMs(turn) - nowMs > KEPT_RESTS * times.restMs) {
    turn.restsSinceMs ??= nowMs
    return nowMs - turn.restsSinceMs > times.restMs
  }
  turn.restsSinceMs = undefined
  const isUnserved = turn.readySinceMs !== undefined && nowMs - turn.readySinceMs > times.yieldAfterMs
  if (isUnserved && others.isHungry(nowMs)) return true
  if (turn.isBucket) return false
  const [slot] = turn.slots.values()
  const isOverQuota = nowMs - turn.quotaFromMs > times.quotaMs || turn.taken > QUOTA_REQUESTS
  return isOverQuota && others.unitsWait && !slot?.isPaced
}

/** A hot slot is here as long as its lane is: by itself it has nothing to wait for. */
function restsUntilMs(turn: HeldTurn): number {
  let ms = turn.dueAtMs
  if (turn.isBucket) for (const slot of turn.slots.values()) ms = Math.min(ms, slot.goesAtMs())
  return ms
}
