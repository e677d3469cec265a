import type { HeldSlot } from './held-turn.ts'
import { type Hunger, LANES_MAX } from './turn-protocol.ts'

/** A slot of a bucket with more requests than this gets a unit of its own, with several lanes, when there are other workers. */
export const HOT_FROM = 64

/** For each request that a worker wants it is given so many slots, if need be: it says that once a second, and most pages take less. */
const SLOTS_PER_PLACE = 4

/** How many workers there are, how many turns wait, and how many of these of units of which no worker has a turn. */
export interface SweptTurns {
  readonly workers: number
  readonly waiting: number
  readonly unserved: number
}

/** What a worker knows of the others: how many there are, whether turns wait for one, whether one has nothing to do. */
export class OtherWorkers {
  /** How many units there are when no slot is hot. */
  readonly #buckets: () => number
  /** How many workers the crawl has, this one too, as last heard of. */
  #workers = 1
  #turnsWait = false
  #unitsWait = false
  /** Until when another worker is known to have nothing to do. */
  #hungryUntilMs = Number.NEGATIVE_INFINITY
  /** The same of one that has fewer buckets than its share. */
  #belowShareUntilMs = Number.NEGATIVE_INFINITY
  /** True when nothing was given to it since it said so. */
  #mayShare = false
  /** How many slots of this worker those with nothing to do may still get. */
  #wanted = 0

  constructor(buckets: () => number) {
    this.#buckets = buckets
  }

  get workers(): number {
    return this.#workers
  }

  /** True when BullMQ has jobs that wait. */
  get turnsWait(): boolean {
    return this.#turnsWait
  }

  /** True when some of them are of units of which no worker has a turn. */
  get unitsWait(): boolean {
    return this.#unitsWait
  }

  /** How many units each worker has when all have the same. */
  get share(): number {
    return Math.ceil(this.#buckets() / this.#workers)
  }

  swept({ workers, waiting, unserved }: SweptTurns): void {
    this.#workers = Math.max(1, workers)
    this.#turnsWait = waiting > 0
    this.#unitsWait = unserved > 0
  }

  /** Jobs of units that nobody has have just come to BullMQ. */
  woke(): void {
    this.#turnsWait = true
    this.#unitsWait = true
  }

  /** BullMQ has no job at hand. */
  noneWait(): void {
    this.#turnsWait = false
    this.#unitsWait = false
  }

  /** Returns whether units wait that no worker has, and none is known that has nothing to do, and would take them. */
  leaveUnits(nowMs: number): boolean {
    return this.#unitsWait && !this.isHungry(nowMs)
  }

  /** One has nothing to do, and is known not to until `untilMs`. */
  hungry(untilMs: number, { wants, isBelowShare }: Hunger): void {
    this.#workers = Math.max(2, this.#workers)
    // Any of the others may give it all that it wants.
    const part = (wants * SLOTS_PER_PLACE) / (this.#workers - 1)
    this.#wanted = Math.max(this.#wanted, Math.min(Math.max(1, part), this.#wanted + part))
    this.#hungryUntilMs = untilMs
    if (isBelowShare) this.#belowShareUntilMs = untilMs
    this.#mayShare = true
  }

  isHungry(nowMs: number): boolean {
    return nowMs < this.#hungryUntilMs
  }

  /** Returns whether another worker has nothing to do, and fewer buckets than its share: one that has its share already would give them back. */
  wantsBuckets(nowMs: number): boolean {
    return nowMs < this.#belowShareUntilMs
  }

  /** Returns how many slots may be given to those with nothing to do, until they say so again. */
  wants(nowMs: number): number {
    return this.isHungry(nowMs) ? Math.floor(this.#wanted) : 0
  }

  spend(slots: number): void {
    this.#wanted = Math.max(0, this.#wanted - slots)
  }

  /** Returns true once for each time that one has said it has nothing to do. */
  takesShare(nowMs: number): boolean {
    if (!this.#mayShare || !this.isHungry(nowMs)) return false
    this.#mayShare = false
    return true
  }

  /** Returns how many lanes a slot of a bucket should get, as it is hot; 0: it stays there. */
  lanesOf(slot: HeldSlot): number {
    if (slot.waiting < HOT_FROM) return 0
    const lanes = this.lanesMax(slot)
    return lanes > 1 ? lanes : 0
  }

  lanesMax(slot: HeldSlot): number {
    const { concurrency } = slot.pace
    return slot.isPaced ? 1 : Math.min(LANES_MAX, this.#workers, concurrency > 0 ? concurrency : LANES_MAX)
  }
}
