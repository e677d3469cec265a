/**
 * Whether a crawl of several shards is over, from two rounds of which the second begins when the first has ended. In the second each shard is
 * read behind a WAIT. If each is the same in both, there was a moment between them at which all were so, and no shard can fall behind
 * it any more.
 */

import { firstLacking } from './outbox-numbers.ts'
import type { Round, ShardState } from './shard-state.ts'

/** Nothing is left in any shard, and nothing is under way between two of them, if all that was read is of one moment. */
export function isNothingLeft(round: Round): boolean {
  for (const [sender, { sent, waiting, delayed, leased }] of round) {
    if (waiting + delayed + leased > 0) return false
    for (const [receiver, list] of sent) {
      const applied = round.get(receiver)?.applied.get(sender) ?? new Map()
      if (firstLacking(list, applied)) return false
    }
  }
  return true
}

/** Nothing has happened from one round to the other that could lead to more. */
export function isSameMoment(first: Round, second: Round): boolean {
  return (
    first.size === second.size &&
    [...first].every(([shard, state]) => {
      const later = second.get(shard)
      return later !== undefined && traceOf(state) === traceOf(later)
    })
  )
}

/** Trimmed entries lead to nothing: only the last numbers count. */
function traceOf({ replid, sent, applied }: ShardState): string {
  const last = [...sent].map(([receiver, { spans }]) => [receiver, spans.at(-1)?.epoch, spans.at(-1)?.to])
  const known = [...applied].map(([sender, epochs]) => [
    sender,
    ...[...epochs].map(([epoch, { upTo, beyond }]) => [epoch, upTo, ...beyond]),
  ])
  return JSON.stringify([replid, last.sort(), known.sort()])
}
