/**
 * What is to be done about all outboxes, from what one worker sees of them every two seconds. It decides, and does no I/O.
 *
 * What a receiver lacks at two looks in a row is read from the list and sent again: at the first look its writer may just be delivering
 * it. What it has known for so long that its server cannot lose it any more is deleted from the list.
 */

import { PROTOCOL_TIMES } from '@webloom/core'
import { type EntryNumber, firstLacking, isInList, knownUpTo } from './outbox-numbers.ts'
import { cannotFallBehind, type Round, type ShardState } from './shard-state.ts'

/** Entries that are sent again: all from a number on. */
export interface Resend {
  readonly sender: string
  readonly receiver: string
  readonly from: EntryNumber
}

/** Entries that their receiver cannot lose any more. */
export interface Trim {
  readonly sender: string
  readonly receiver: string
  readonly upTo: EntryNumber
}

export interface Tended {
  readonly resends: readonly Resend[]
  readonly trims: readonly Trim[]
}

/** What a receiver knew, when, and in which history of its server, that had come so far. */
interface Mark extends Pick<ShardState, 'replid' | 'nowMs' | 'offset'> {
  readonly upTo: EntryNumber
}

export class OutboxTender {
  readonly #keptMs: number
  /** By sender and receiver: what the sender had at the last look. */
  #lastSent = new Map<string, EntryNumber>()
  #marks = new Map<string, Mark>()

  constructor({ keptMs }: { readonly keptMs: number } = PROTOCOL_TIMES.shards) {
    this.#keptMs = keptMs
  }

  look(round: Round): Tended {
    const resends: Resend[] = []
    const trims: Trim[] = []
    const lastSent = new Map<string, EntryNumber>()
    const marks = new Map<string, Mark>()
    for (const [sender, { sent }] of round)
      for (const [receiver, list] of sent) {
        const pair = `${sender} ${receiver}`
        const to = round.get(receiver)
        const last = list.spans.at(-1)
        if (!to || !last) continue
        lastSent.set(pair, { epoch: last.epoch, number: last.to })
        const applied = to.applied.get(sender) ?? new Map()
        const from = firstLacking(list, applied)
        const before = this.#lastSent.get(pair)
        if (from && before && isBefore(from, before)) resends.push({ sender, receiver, from })
        const mark = this.#marks.get(pair)
        const isKept = mark?.replid === to.replid
        if (isKept && this.#cannotLose(mark, to)) {
          if (isInList(list, mark.upTo)) trims.push({ sender, receiver, upTo: mark.upTo })
        } else if (isKept) {
          marks.set(pair, mark)
          continue
        }
        const known = knownUpTo(list, applied)
        const { replid, nowMs, offset } = to
        if (known) marks.set(pair, { upTo: known, replid, nowMs, offset })
      }
    this.#lastSent = lastSent
    this.#marks = marks
    return { resends, trims }
  }

  /** A replica may have it sooner, but a server that starts anew by itself has what is on its disk. */
  #cannotLose(mark: Mark, to: ShardState): boolean {
    return to.nowMs - mark.nowMs >= this.#keptMs && cannotFallBehind(mark, to, this.#keptMs)
  }
}

/** Numbers go on from epoch to epoch; what was there of an epoch before is there of a later one only if nothing was lost. */
function isBefore(from: EntryNumber, last: EntryNumber): boolean {
  return from.number <= last.number
}
