import { PriorityRing } from '../structures/priority-ring.ts'
import { TimeHeap } from '../structures/time-heap.ts'
import { LEAD_MS, TAKEN_AHEAD_MS } from './frontier-message.ts'
import { type HeldSlot, HeldTurn } from './held-turn.ts'
import type { HeldTurns } from './held-turns.ts'
import type { OtherWorkers } from './other-workers.ts'

/** What could have gone so long ago does not wait for its time. */
const OVERDUE_MS = 5000

/** Priorities are whole numbers. Of requests of one priority those go first of which Redis knows already that they start. */
const NOTED_FIRST = 0.5

/**
 * Which slots may go now, of what Redis has more that may be taken now, and when something may that may not yet. A slot and a turn
 * are placed anew after whatever has changed of them.
 */
export class FrontierSchedule {
  readonly #turns: HeldTurns
  readonly #others: OtherWorkers
  /** Slots of which a request may go now. */
  readonly going = new PriorityRing<HeldSlot>()
  /** Turns and slots of which Redis has more that may be taken now. */
  readonly sources = new PriorityRing<HeldTurn | HeldSlot>()
  readonly #timed = new TimeHeap<HeldTurn | HeldSlot>()

  constructor(turns: HeldTurns, others: OtherWorkers) {
    this.#turns = turns
    this.#others = others
  }

  /** How many requests may go now. */
  get goingCount(): number {
    let count = 0
    for (const slot of this.going) count += slot.going
    return count
  }

  /** How many lanes of hot slots have something that may go, or be taken, now. */
  get busyLanes(): number {
    const busy = new Set<HeldTurn>()
    for (const source of this.sources) busy.add(source instanceof HeldTurn ? source : source.turn)
    for (const { turn } of this.going) busy.add(turn)
    let count = 0
    for (const turn of busy) if (!turn.isBucket) count++
    return count
  }

  /** When something may go, or be taken, that may not now; infinity: nothing. */
  get wakeAtMs(): number {
    return this.#timed.nextAtMs ?? Number.POSITIVE_INFINITY
  }

  /** Returns whether something here waits for its time, be it a delay, a pause or a retry, and is not long overdue. */
  waits(nowMs: number): boolean {
    const firstAtMs = Math.min(this.wakeAtMs, nowMs + this.soonestMs(nowMs))
    return firstAtMs < Number.POSITIVE_INFINITY && firstAtMs > nowMs - OVERDUE_MS
  }

  /** Returns how soon the first of the sources would let something go; infinity: there is none. */
  soonestMs(nowMs: number): number {
    let ms = Number.POSITIVE_INFINITY
    for (const source of this.sources) {
      const goesAtMs = source instanceof HeldTurn ? source.readyAtMs : source.goesAtMs()
      ms = Math.min(ms, goesAtMs - LEAD_MS - nowMs)
    }
    return ms
  }

  /** Returns the slots of which something here may not go now, and may by then, in this order. */
  goingBy(atMs: number, nowMs: number): HeldSlot[] {
    const slots = new Set<HeldSlot>()
    for (const one of this.#timed.until(atMs)) {
      if (one instanceof HeldTurn || one.queue.length === 0) continue
      const goesAtMs = one.goesAtMs()
      if (goesAtMs > nowMs && goesAtMs <= atMs && one.turn.isLocked(goesAtMs)) slots.add(one)
    }
    return [...slots].sort((one, other) => one.goesAtMs() - other.goesAtMs())
  }

  /** Returns whether something of the turn may be taken now. */
  offers(turn: HeldTurn): boolean {
    if (this.sources.has(turn)) return true
    for (const slot of turn.slots.values()) if (this.sources.has(slot)) return true
    return false
  }

  /** Redis has said how a turn stands: it is asked again when what waits there is due. */
  asksFor(turn: HeldTurn, nowMs: number): void {
    const wakesAtMs = turn.dueAtMs - TAKEN_AHEAD_MS
    // What is due is here no sooner when it was asked for in vain: it is a retry, which is not taken ahead.
    turn.asksAtMs = wakesAtMs > nowMs ? wakesAtMs : turn.dueAtMs
    if (turn.asksAtMs < Number.POSITIVE_INFINITY) this.#timed.add(turn.asksAtMs, turn)
  }

  /** Places what has waited for its time. */
  wake(nowMs: number): void {
    for (let one = this.#timed.takeDue(nowMs); one; one = this.#timed.takeDue(nowMs)) {
      if (one instanceof HeldTurn) {
        if (this.#turns.has(one)) one.woken(nowMs)
        this.placeTurn(one, nowMs)
      } else this.place(one, nowMs)
    }
  }

  /** Places all slots of a turn, and the turn. */
  placeAll(turn: HeldTurn, nowMs: number): void {
    for (const slot of turn.slots.values()) this.place(slot, nowMs)
    this.placeTurn(turn, nowMs)
  }

  /** Puts the slot where it belongs; one of which nothing is left goes. */
  place(slot: HeldSlot, nowMs: number): void {
    const { turn } = slot
    if (turn.slots.get(slot.key) !== slot || !this.#turns.has(turn)) return
    const isLocked = turn.isLocked(nowMs)
    const goesAtMs = slot.goesAtMs()
    if (goesAtMs <= nowMs) slot.leavesBehind = false
    const [first] = slot.queue
    if (first && isLocked && goesAtMs <= nowMs)
      this.going.add(slot, Math.max(slot.boost, first.priority) + (first.isNoted ? NOTED_FIRST : 0))
    else this.going.remove(slot)
    if (first && goesAtMs > nowMs && goesAtMs < Number.POSITIVE_INFINITY) this.#timed.add(goesAtMs, slot)
    const mayTake =
      slot.waiting > 0 && slot.room > 0 && isLocked && !turn.isLeaving && this.#others.lanesOf(slot) === 0
    const takenAtMs = goesAtMs - (slot.isPaced && turn.isBucket ? TAKEN_AHEAD_MS : LEAD_MS)
    if (mayTake && takenAtMs <= nowMs) {
      this.sources.add(slot, Math.max(slot.boost, slot.head))
      turn.readySinceMs ??= nowMs
    } else this.sources.remove(slot)
    if (mayTake && takenAtMs > nowMs && takenAtMs < Number.POSITIVE_INFINITY) this.#timed.add(takenAtMs, slot)
    const isBack = turn.isBucket && slot.waiting > 0 && !slot.isAsked
    if (isBack && (turn.isLeaving ? slot.heldCount === 0 : this.#others.lanesOf(slot) > 0))
      turn.returning.add(slot)
    else turn.returning.delete(slot)
    if (!slot.isIdle || !turn.isBucket) return
    if (slot.news || slot.mustTellWait(nowMs)) turn.told.add(slot)
    else turn.slots.delete(slot.key)
  }

  placeTurn(turn: HeldTurn, nowMs: number): void {
    const [slot] = turn.isBucket ? [] : turn.slots.values()
    const hasRoom = !slot || (slot.room > 0 && slot.goesAtMs() - LEAD_MS <= nowMs)
    if (this.#turns.has(turn) && turn.ready > 0 && hasRoom && !turn.isLeaving && turn.isLocked(nowMs)) {
      this.sources.add(turn, turn.head ?? 0)
      turn.readySinceMs ??= nowMs
    } else this.sources.remove(turn)
    if (slot && turn.ready > 0 && slot.room > 0) {
      const atMs = slot.goesAtMs() - LEAD_MS
      if (atMs > nowMs && atMs < Number.POSITIVE_INFINITY) this.#timed.add(atMs, turn)
    }
  }

  /** Takes out a slot of which nothing is here any more. */
  removeSlot(slot: HeldSlot): void {
    this.going.remove(slot)
    this.sources.remove(slot)
  }
}
