/**
 * Whether a crawl of several shards is over, from looks at all of them, one after the other. There is no moment at which all can be seen.
 * So one look must find nothing, and a later one the same, when no server can fall behind the first any more. Then there was a
 * moment between them at which all shards were so; and nothing begins by itself.
 */

import { PROTOCOL_TIMES } from '@webloom/core'
import { HOME } from './crawl-shards.ts'
import { firstLacking } from './outbox-numbers.ts'
import { cannotFallBehind, type Round, type ShardState } from './shard-state.ts'

export class CrawlEndRounds {
  readonly #keptMs: number
  /** The first of the looks that have found nothing, each the same. */
  #first: Round | undefined

  constructor({ keptMs }: { readonly keptMs: number } = PROTOCOL_TIMES.shards) {
    this.#keptMs = keptMs
  }

  /** `soon`: it may be over; another look will tell. */
  look(round: Round): 'over' | 'soon' | 'no' {
    if (!round.get(HOME)?.mayFinish || !isNothingLeft(round)) {
      this.#first = undefined
      return 'no'
    }
    if (!this.#first || !isSame(this.#first, round)) {
      this.#first = round
      return 'soon'
    }
    const isKept = allShards(this.#first, round, (before, now) => cannotFallBehind(before, now, this.#keptMs))
    return isKept ? 'over' : 'soon'
  }
}

/**
 * Nothing is left in any shard, and nothing is under way between two of them, if all that was read is of one moment. A shard that
 * does not know of the home's run has lost what it had: that it is empty says nothing, and the crawl is not over but lost.
 */
export function isNothingLeft(round: Round): boolean {
  const run = round.get(HOME)?.run
  for (const [sender, { sent, waiting, delayed, leased, run: known }] of round) {
    if (known !== run || waiting + delayed + leased > 0) return false
    for (const [receiver, list] of sent) {
      const applied = round.get(receiver)?.applied.get(sender) ?? new Map()
      if (firstLacking(list, applied)) return false
    }
  }
  return true
}

/** Returns true when no server has gone back, and nothing has happened that could lead to more. */
function isSame(first: Round, second: Round): boolean {
  return allShards(first, second, (before, now) => traceOf(before) === traceOf(now))
}

function allShards(
  first: Round,
  second: Round,
  holds: (before: ShardState, now: ShardState) => boolean,
): boolean {
  return (
    first.size === second.size &&
    [...first].every(([shard, before]) => {
      const now = second.get(shard)
      return now !== undefined && holds(before, now)
    })
  )
}

/** Entries that were deleted lead to nothing: only the last numbers count. */
function traceOf({ replid, sent, applied }: ShardState): string {
  const last = [...sent].map(([receiver, { spans }]) => [receiver, spans.at(-1)?.epoch, spans.at(-1)?.to])
  const known = [...applied].map(([sender, epochs]) => [
    sender,
    ...[...epochs].map(([epoch, { upTo, beyond }]) => [epoch, upTo, ...beyond]),
  ])
  return JSON.stringify([replid, last.sort(), known.sort()])
}
