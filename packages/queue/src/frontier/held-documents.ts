import type { DocumentClock } from '@webloom/core'
import { slotKey } from '../politeness/slot-key.ts'
import type { FrontierSchedule } from './frontier-schedule.ts'
import type { AskedSlot, HeldTurns } from './held-turns.ts'

/** How many slots of other workers are known by their last document. */
const ASKED_MAX = 1000

/**
 * The documents of pages here, between the requests of the slots that are held here. A page's own slot is: it stays as long as a request of it is
 * out, and a slot with a delay has one holder. Of a slot that another worker holds, only the documents of pages here are known.
 */
export class HeldDocuments implements DocumentClock {
  readonly #turns: HeldTurns
  readonly #schedule: FrontierSchedule

  constructor({ turns, schedule }: { turns: HeldTurns; schedule: FrontierSchedule }) {
    this.#turns = turns
    this.#schedule = schedule
  }

  isPaced(slot: string): boolean {
    const held = [...this.#turns.heldAs(slotKey(slot))]
    return held.length > 0 ? held.some((one) => one.isPaced) : this.#turns.orderOf(slot).pace.delayMs > 0
  }

  documentWaitMs(slot: string, nowMs: number): number {
    const key = slotKey(slot)
    const waits = [...this.#turns.heldAs(key)].map((held) => held.documentWaitMs(nowMs))
    if (waits.length > 0) return Math.max(...waits)
    const leftAtMs = this.#turns.asked.get(key)?.leftAtMs
    if (leftAtMs === undefined) return 0
    return Math.max(0, leftAtMs + this.#turns.orderOf(slot).pace.delayMs - nowMs)
  }

  documentWaits(slot: string, isWaiting: boolean): void {
    const asked = this.#askedOf(slot)
    asked.waiting += isWaiting ? 1 : -1
    for (const held of this.#turns.heldAs(slotKey(slot))) held.documents = asked.waiting
  }

  documentLeft(slot: string, nowMs: number): void {
    const key = slotKey(slot)
    let isHeld = false
    for (const held of this.#turns.heldAs(key)) {
      isHeld = true
      if (held.isPaced) held.started(nowMs)
    }
    // A slot that goes tells Redis when it may be asked again.
    if (isHeld) this.#askedOf(slot).leftAtMs = undefined
    else if (this.#turns.orderOf(slot).pace.delayMs > 0) this.#askedOf(slot).leftAtMs = nowMs
    this.#forgetOldest()
  }

  /** Nothing to note: the lease of the request knows that it stands by (`BucketLease.isStandingBy`). */
  standsBy(): void {}

  /** Places the slot anew, as documents have come to wait for it, or wait no more. */
  changed(slot: string, nowMs: number): void {
    for (const held of this.#turns.heldAs(slotKey(slot))) this.#schedule.place(held, nowMs)
  }

  #askedOf(slot: string): AskedSlot {
    const key = slotKey(slot)
    const known = this.#turns.asked.get(key)
    if (known) return known
    const asked: AskedSlot = { waiting: 0, leftAtMs: undefined }
    this.#turns.asked.set(key, asked)
    return asked
  }

  #forgetOldest(): void {
    const { asked } = this.#turns
    if (asked.size <= ASKED_MAX) return
    for (const [key, { waiting }] of asked) {
      if (waiting > 0) continue
      asked.delete(key)
      return
    }
  }
}
