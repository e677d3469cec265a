/**
 * Hosts that are held up by long pages of others. A bucket is left only when nothing of it is in flight; so a worker whose places are all
 * taken by pages of a minute would keep the other hosts of their buckets for so long, also from a worker with nothing to do. There such
 * hosts get units of their own, a few at a look, the most urgent first: each costs a job of BullMQ and some scripts, and a bucket that is
 * left in time costs less.
 */

import type { HeldSlot, HeldTurn } from './held-turn.ts'
import type { OtherWorkers } from './other-workers.ts'

/** How long a bucket waits to be left before its slots get units of their own, and the least time between two times that it has some. */
const HELD_UP_AFTER_MS = 500
/** The most slots of a turn that get them at a time. */
const SLOTS_PER_TURN = 16

export class HeldUpSlots {
  readonly #others: OtherWorkers
  /** The turns of which Redis is to be told, and of how many slots. */
  readonly #turns = new Map<HeldTurn, number>()
  /** When each was told of last. */
  readonly #toldAtMs = new WeakMap<HeldTurn, number>()

  constructor(others: OtherWorkers) {
    this.#others = others
  }

  /** True when Redis must be told of some. */
  get mustTell(): boolean {
    return this.#turns.size > 0
  }

  /** Called about ten times a second. */
  choose(turns: Iterable<HeldTurn>, nowMs: number): void {
    this.#turns.clear()
    let left = this.#others.wants(nowMs)
    if (left === 0) return
    const lastMs = (turn: HeldTurn) => this.#toldAtMs.get(turn) ?? Number.NEGATIVE_INFINITY
    const holdingUp = [...turns].filter(
      (turn) => holdsUp(turn, nowMs) && nowMs - lastMs(turn) > HELD_UP_AFTER_MS,
    )
    holdingUp.sort((a, b) => (b.head ?? 0) - (a.head ?? 0) || lastMs(a) - lastMs(b))
    for (const turn of holdingUp) {
      const slots = Math.min(left, SLOTS_PER_TURN)
      if (slots > 0) this.#turns.set(turn, slots)
      left -= slots
    }
  }

  /** Returns how many ready slots of the turn get units of their own with the message that goes now; those with something in flight are put to what the turn returns. */
  tell(turn: HeldTurn, nowMs: number): number {
    const slots = this.#turns.get(turn)
    if (slots === undefined) return 0
    this.#turns.delete(turn)
    // It may be kept since, or have begun anew.
    if (!holdsUp(turn, nowMs)) return 0
    this.#toldAtMs.set(turn, nowMs)
    this.#others.spend(slots)
    for (const slot of turn.slots.values()) if (mayGoElsewhere(slot, nowMs)) turn.returning.add(slot)
    return slots
  }

  /** Forgets turns that the message did not tell of, as they are being left: else there would be something to tell without end. */
  told(): void {
    this.#turns.clear()
  }
}

function holdsUp(turn: HeldTurn, nowMs: number): boolean {
  if (!turn.isBucket || turn.leavingSinceMs === undefined || turn.tokens.size === 0) return false
  return nowMs - turn.leavingSinceMs > HELD_UP_AFTER_MS && turn.hasMore(nowMs)
}

/**
 * Returns whether more of a slot may go beside what is in flight here, as the slot's new holder is told how many that are. Of one with a delay only
 * who asked it last knows when that was.
 */
function mayGoElsewhere(slot: HeldSlot, nowMs: number): boolean {
  const isFree = !slot.isPaced && slot.goesAtMs() <= nowMs
  return isFree && !slot.isAsked && slot.out.size > 0 && slot.queue.length === 0
}
