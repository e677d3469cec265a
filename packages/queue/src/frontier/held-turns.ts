import type { HostPace } from '@webloom/core'
import { HeldSlot, type HeldTurn } from './held-turn.ts'

export interface HeldTurnsOptions {
  readonly pace: (slot: string) => HostPace
  /** By how much requests of a slot are more urgent than they say. Default: not at all. */
  readonly boostOf?: (slot: string) => number
  /** The bucket of a slot, as a unit's name. */
  readonly bucketOf: (slot: string) => string
  /** Returns 0 to 1. Default: Math.random. */
  readonly chance?: () => number
}

/** What the documents of pages here ask of a slot, which another worker may hold. */
export interface AskedSlot {
  /** How many wait for it. */
  waiting: number
  /** When the last one left; undefined: none has. */
  leftAtMs: number | undefined
}

/** The turns that a worker has, by their units, and the slots of these. */
export class HeldTurns {
  readonly #options: HeldTurnsOptions
  readonly #turns = new Map<string, HeldTurn>()
  #lanes = 0
  /** By key. A slot that comes here later knows of them. */
  readonly asked = new Map<string, AskedSlot>()

  constructor(options: HeldTurnsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#turns.size
  }

  /** How many of them are lanes of hot slots. */
  get laneCount(): number {
    return this.#lanes
  }

  [Symbol.iterator](): IterableIterator<HeldTurn> {
    return this.#turns.values()
  }

  of(unit: string): HeldTurn | undefined {
    return this.#turns.get(unit)
  }

  has(turn: HeldTurn): boolean {
    return this.#turns.get(turn.job.unit) === turn
  }

  add(turn: HeldTurn): void {
    this.remove(this.#turns.get(turn.job.unit))
    this.#turns.set(turn.job.unit, turn)
    if (!turn.isBucket) this.#lanes++
  }

  remove(turn: HeldTurn | undefined): void {
    if (!turn || !this.has(turn)) return
    this.#turns.delete(turn.job.unit)
    if (!turn.isBucket) this.#lanes--
  }

  bucketOf(slot: string): string {
    return this.#options.bucketOf(slot)
  }

  /** The slot in its bucket's turn, and in that of a hot slot: it may be in both when it has become hot. */
  *heldAs(key: string): Generator<HeldSlot> {
    for (const unit of [this.bucketOf(key), key]) {
      const held = this.#turns.get(unit)?.slots.get(key)
      if (held) yield held
    }
  }

  /** Returns the turn's slot of that name, which is made when there is none. */
  slotOf(turn: HeldTurn, key: string): HeldSlot {
    const known = turn.slots.get(key)
    if (known) return known
    const { chance = Math.random } = this.#options
    const slot = new HeldSlot(key, turn, { ...this.orderOf(decodeURIComponent(key)), chance })
    this.#askedOf(slot)
    turn.slots.set(key, slot)
    return slot
  }

  /** Returns the turn's slot of that name: this one, which was dropped a moment ago, unless another is there by now. */
  putBack(turn: HeldTurn, dropped: HeldSlot): HeldSlot {
    const known = turn.slots.get(dropped.key)
    if (known) return known
    this.#askedOf(dropped)
    turn.slots.set(dropped.key, dropped)
    return dropped
  }

  /** What documents ask of it is kept while the slot is in no turn. */
  #askedOf(slot: HeldSlot): void {
    const { waiting = 0, leftAtMs } = this.asked.get(slot.key) ?? {}
    slot.documents = waiting
    if (leftAtMs !== undefined) slot.started(leftAtMs)
  }

  orderOf(name: string): { pace: HostPace; boost: number } {
    return { pace: this.#options.pace(name), boost: this.#options.boostOf?.(name) ?? 0 }
  }
}
