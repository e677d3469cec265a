import type { KeptLocks } from '../locks/lock-keeper.ts'
import { ByPriority } from '../structures/by-priority.ts'
import { Deque } from '../structures/deque.ts'
import { TimeHeap } from '../structures/time-heap.ts'
import type { HostTurn } from './host-turn.ts'
import { lockArgs } from './turn-scripts.ts'

/** A turn's place in a ring or the heap; void once the turn has another. */
interface Place {
  readonly turn: HostTurn
}

type Rings = ByPriority<Deque<Place>>

/**
 * The turns that this worker has, each in one place: in the ring of its head's priority, `fresh` until it was served once,
 * so that hosts take turns even while new turns come in; `timed` until its time has come; or in no place, until something
 * ends or comes.
 */
export class HeldTurns {
  /** When the last of the removed turns was removed. */
  removedAtMs = Number.NEGATIVE_INFINITY
  readonly #turns = new Set<HostTurn>()
  readonly #ofHost = new Map<string, HostTurn>()
  readonly #places = new Map<HostTurn, Place>()
  readonly #ready = new Set<HostTurn>()
  readonly #fresh: Rings = new ByPriority()
  readonly #served: Rings = new ByPriority()
  readonly #timed = new TimeHeap<Place>()
  readonly #withSpare = new Set<HostTurn>()
  readonly #locks: KeptLocks

  /** @param locks keeps the turns' locks while the event loop is blocked */
  constructor(locks: KeptLocks) {
    this.#locks = locks
  }

  get size(): number {
    return this.#turns.size
  }

  /** How many turns may go now. */
  get readyCount(): number {
    return this.#ready.size
  }

  /** How many of those were not served yet. */
  get freshCount(): number {
    let fresh = 0
    for (const turn of this.#ready) if (!turn.isServed) fresh++
    return fresh
  }

  get spareCount(): number {
    return this.#withSpare.size
  }

  /** Notes the request that the turn has taken ahead, for its time. */
  setSpare(turn: HostTurn, spare: NonNullable<HostTurn['spare']>): void {
    turn.spare = spare
    this.#withSpare.add(turn)
  }

  /** Returns the turns whose spare may go now. */
  dueSpares(): HostTurn[] {
    const nowMs = performance.now()
    const due: HostTurn[] = []
    for (const turn of this.#withSpare) {
      if (!turn.spare) this.#withSpare.delete(turn)
      else if (turn.spare.atMs <= nowMs && turn.isLocked) due.push(turn)
    }
    return due
  }

  /** When the next turn that waits for its time wakes. */
  get nextAtMs(): number {
    return this.#timed.nextAtMs ?? Number.POSITIVE_INFINITY
  }

  [Symbol.iterator](): IterableIterator<HostTurn> {
    return this.#turns.values()
  }

  has(turn: HostTurn): boolean {
    return this.#turns.has(turn)
  }

  /** Returns this worker's turn of that host. */
  of(host: string): HostTurn | undefined {
    return this.#ofHost.get(host)
  }

  add(turn: HostTurn): void {
    this.#turns.add(turn)
    this.#ofHost.set(turn.job.host, turn)
    this.#locks.keep(turn.holder, lockArgs(turn))
    this.place(turn)
  }

  remove(turn: HostTurn): void {
    this.unplace(turn)
    this.#withSpare.delete(turn)
    this.#turns.delete(turn)
    this.removedAtMs = performance.now()
    this.#locks.drop(turn.holder)
    if (this.#ofHost.get(turn.job.host) === turn) this.#ofHost.delete(turn.job.host)
  }

  /** Puts the turn where it belongs, at the end of its ring. */
  place(turn: HostTurn): void {
    this.unplace(turn)
    const wakeAtMs = this.#turns.has(turn) ? turn.wakeAtMs : Number.POSITIVE_INFINITY
    const nowMs = performance.now()
    if (wakeAtMs > nowMs) turn.readySinceMs = undefined
    if (wakeAtMs === Number.POSITIVE_INFINITY) return
    const place = { turn }
    this.#places.set(turn, place)
    if (wakeAtMs > nowMs) {
      this.#timed.add(wakeAtMs, place)
    } else if (!turn.spare) {
      turn.readySinceMs ??= nowMs
      this.#ready.add(turn)
      const rings = turn.isServed ? this.#served : this.#fresh
      rings.of(turn.head ?? 0, () => new Deque()).push(place)
    }
    // A turn whose spare may go stays in no place until a request is wanted; see dueSpares.
  }

  /** Puts the turn where it belongs, unless it is in a ring already. */
  wake(turn: HostTurn): void {
    if (!this.#ready.has(turn)) this.place(turn)
  }

  /** Called when requests have come to a line: this worker's turn of it must not sleep on. */
  arrived({ host, priority }: { readonly host: string; readonly priority: number }): void {
    const turn = this.of(host)
    const before = turn?.head
    turn?.arrived(priority)
    if (turn && turn.head !== before) this.place(turn)
  }

  /** Takes the turn out of its place until it is placed again. */
  unplace(turn: HostTurn): void {
    this.#places.delete(turn)
    this.#ready.delete(turn)
  }

  /** Places the turns whose time has come. */
  wakeDue(): void {
    const nowMs = performance.now()
    for (let place = this.#timed.takeDue(nowMs); place; place = this.#timed.takeDue(nowMs)) {
      if (this.#isCurrent(place)) this.place(place.turn)
    }
  }

  /** Takes the next turn that may go out of its ring; the caller places it again. */
  next({ onlyFresh }: { onlyFresh: boolean }): HostTurn | undefined {
    const [fresh, served] = [this.#highest(this.#fresh), this.#highest(this.#served)]
    const isFresh = fresh !== undefined && (onlyFresh || served === undefined || fresh >= served)
    if (!isFresh && (onlyFresh || served === undefined)) return undefined
    const { turn } = (isFresh ? this.#fresh : this.#served).first!.shift()!
    this.unplace(turn)
    return turn
  }

  /** Returns the priority of the first ring that holds a turn, and drops void entries on the way. */
  #highest(rings: Rings): number | undefined {
    for (let ring = rings.first; ring; ring = rings.first) {
      for (let place = ring.shift(); place; place = ring.shift()) {
        if (!this.#isCurrent(place)) continue
        ring.unshift(place)
        return rings.highest
      }
      rings.dropHighest()
    }
    return undefined
  }

  #isCurrent(place: Place): boolean {
    return this.#places.get(place.turn) === place
  }
}
