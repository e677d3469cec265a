/**
 * The lines of the hosts of one process, each in its place.
 *
 * A line (`HostLine`) stands in exactly one place:
 *
 *     ready    in the ring of its head's priority: it may be asked now; rings are served highest priority first,
 *              and a line goes to the end of its ring after each request, so hosts take turns
 *     timed    in a heap by the moment its host may be asked again
 *     blocked  nowhere: its host is full, or its last request has not started; `started` and the end of one wake it
 *     empty    nowhere; dropped from the map once nothing of it is in flight
 *
 * So finding what may go never looks at hosts that may not: one host with 50 000 waiting costs the others nothing,
 * and each step costs a constant, or the logarithm of the hosts that wait for a moment. Moving a line to another
 * place does not search the old one: a ticket on the line tells which entry is its present one.
 *
 * Not chosen: one heap over all requests, as politeness would have to pop and push back every request of a host
 * that must wait.
 */

import { type HostClock, highest, ownCopy, type QueuedSlot, type SlotNow } from '@webloom/core'
import { ByPriority } from '../structures/by-priority.ts'
import { Deque } from '../structures/deque.ts'
import { TimeHeap } from '../structures/time-heap.ts'
import { HostLine } from './host-line.ts'
import type { DelayedRequest, RequestStore, StoredRequest, WaitingLine } from './request-store.ts'

/** A line's place in a ring or heap; void once the line has a newer ticket. */
interface Place<Line> {
  readonly line: Line
  readonly ticket: number
}

export class HostLines<Held extends StoredRequest, Delayed extends DelayedRequest> {
  readonly #clock: HostClock
  readonly #store: Pick<RequestStore<Held, Delayed>, 'line'>
  readonly #lines = new Map<string, HostLine<Held, Delayed>>()
  readonly #ready = new ByPriority<Deque<Place<HostLine<Held, Delayed>>>>()
  readonly #timed = new TimeHeap<Place<HostLine<Held, Delayed>>>()

  constructor(clock: HostClock, store: Pick<RequestStore<Held, Delayed>, 'line'>) {
    this.#clock = clock
    this.#store = store
  }

  /** When the next line of those that wait for a moment may go; undefined when none does. */
  get nextAtMs(): number | undefined {
    return this.#timed.nextAtMs
  }

  mostQueued(most: number): readonly QueuedSlot[] {
    return highest(this.#lines.values(), most, ({ waiting }) => waiting.length)
      .map(({ slot, waiting }) => ({ slot, waiting: waiting.length }))
      .filter(({ waiting }) => waiting > 0)
  }

  /** @param held all requests that are held until their own time has come */
  slotNow(slot: string, held: Iterable<DelayedRequest>): SlotNow | undefined {
    const line = this.#lines.get(slot)
    let delayed = 0
    for (const one of held) if (one.slot === slot) delayed++
    if (!line && delayed === 0) return undefined
    const waitMs = this.#clock.waitMs(slot, performance.now())
    return {
      ...this.#clock.stateOf(slot),
      waiting: line?.waiting.length ?? 0,
      delayed,
      leased: line?.inFlight ?? 0,
      nextInMs: Number.isFinite(waitMs) ? Math.ceil(waitMs) : 0,
    }
  }

  /** A line of an earlier run. */
  restore(slot: string, waiting: WaitingLine<Held, Delayed>): void {
    const line = new HostLine(slot, waiting)
    this.#lines.set(slot, line)
    this.place(line)
  }

  /** The line of a host, made when there is none. */
  of(slot: string): HostLine<Held, Delayed> {
    const known = this.#lines.get(slot)
    if (known) return known
    // It may be a part of a URL, which is not kept in memory for it.
    const own = ownCopy(slot)
    const line = new HostLine(own, this.#store.line(own))
    this.#lines.set(own, line)
    return line
  }

  /** Called when the pace of a line's host has changed: the line may be ready earlier than it was placed. */
  wake(line: HostLine<Held, Delayed>): void {
    if (line.readyPriority === undefined) this.place(line)
  }

  /** Puts a line where it belongs: ready, timed, or nowhere. */
  place(line: HostLine<Held, Delayed>): void {
    line.ticket++
    line.readyPriority = undefined
    if (line.waiting.length === 0) {
      if (line.inFlight === 0) this.#lines.delete(line.slot)
      return
    }
    const now = performance.now()
    const waitMs = this.#clock.waitMs(line.slot, now)
    if (waitMs === Number.POSITIVE_INFINITY) return
    const place = { line, ticket: line.ticket }
    if (waitMs > 0) {
      this.#timed.add(now + waitMs, place)
    } else {
      line.readyPriority = this.urgencyOf(line)
      this.#ready.of(line.readyPriority, () => new Deque()).push(place)
    }
  }

  /** Returns how urgent the line's next request is. */
  urgencyOf({ slot, waiting }: HostLine<Held, Delayed>): number {
    return waiting.headPriority + this.#clock.boostOf(slot)
  }

  /** Places the line of a host anew, if it has one. */
  placeAnew(slot: string): void {
    const line = this.#lines.get(slot)
    if (line) this.place(line)
  }

  /** The line whose turn it is, among those that may go; the caller places it again. */
  nextReady(): HostLine<Held, Delayed> | undefined {
    for (let ring = this.#ready.first; ring; ring = this.#ready.first) {
      const place = ring.shift()
      if (place === undefined) {
        this.#ready.dropHighest()
      } else if (place.ticket === place.line.ticket) {
        if (this.#clock.waitMs(place.line.slot, performance.now()) === 0) return place.line
        // Its host was paused, or given a longer delay, while it stood here.
        this.place(place.line)
      }
    }
    return undefined
  }

  clear(): void {
    this.#lines.clear()
    this.#ready.clear()
    this.#timed.clear()
  }

  /** Places the lines whose moment has come. */
  placeDue(now: number): void {
    for (let place = this.#timed.takeDue(now); place; place = this.#timed.takeDue(now)) {
      if (place.ticket === place.line.ticket) this.place(place.line)
    }
  }
}
