/**
 * The request queue of a crawl in one process.
 *
 * Each host has a line (`HostLine`). A line stands in exactly one place:
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
 * Requests with a time of their own (a retry's back-off) wait in a second heap and join their line when it has come.
 *
 * Not chosen: one heap over all requests, as politeness would have to pop and push back every request of a host
 * that must wait.
 */

import { setMaxListeners } from 'node:events'
import {
  type CommitOptions,
  type Crawler,
  type HostClock,
  LEASE_WAIT_MAX_MS,
  type Lease,
  type QueueCounts,
  type QueuedRequest,
  type QueueOrder,
  type Request,
  type RequestQueue,
  WebloomError,
} from '@webloom/core'
import { Deque } from './deque.ts'
import { HostLine } from './host-line.ts'
import { MemoryHostClock } from './memory-host-clock.ts'
import { TimeHeap } from './time-heap.ts'

/** A line's place in a ring or heap; void once the line has a newer ticket. */
interface Place {
  readonly line: HostLine
  readonly ticket: number
}

/** A caller of `lease` that found nothing to go. */
interface Waiter {
  readonly max: number
  readonly answer: (leases: Lease[]) => void
}

export interface MemoryRequestQueueOptions {
  readonly clock: HostClock
  readonly order?: QueueOrder
}

/** A queue in this process: nothing survives its end. */
export class MemoryRequestQueue implements RequestQueue {
  readonly #clock: HostClock
  readonly #order: QueueOrder
  readonly #lines = new Map<string, HostLine>()
  readonly #ready = new Map<number, Deque<Place>>()
  /** Keys of `#ready`, highest first. */
  #readyPriorities: number[] = []
  readonly #timed = new TimeHeap<Place>()
  readonly #delayed = new TimeHeap<QueuedRequest>()
  readonly #leased = new Set<Lease>()
  readonly #noted = new Map<string, Set<string>>()
  readonly #waiters = new Set<Waiter>()
  // Nothing takes a lease away within one process but the end of the queue, so all leases share one signal.
  readonly #closed = new AbortController()
  #waiting = 0
  #timer: NodeJS.Timeout | undefined
  #timerAtMs = Number.POSITIVE_INFINITY

  constructor({ clock, order = 'priority' }: MemoryRequestQueueOptions) {
    this.#clock = clock
    this.#order = order
    setMaxListeners(0, this.#closed.signal)
  }

  static fromCrawler(crawler: Crawler): MemoryRequestQueue {
    return new MemoryRequestQueue({
      clock: MemoryHostClock.fromCrawler(crawler),
      order: crawler.settings.get('SCHEDULER_QUEUE_CLASS'),
    })
  }

  async open(): Promise<void> {}

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#closed.abort(new WebloomError('WL_LEASE_LOST', 'the queue was closed'))
    for (const waiter of this.#waiters) waiter.answer([])
  }

  async clear(): Promise<void> {
    this.#lines.clear()
    this.#ready.clear()
    this.#readyPriorities = []
    this.#timed.clear()
    this.#delayed.clear()
    this.#noted.clear()
    this.#waiting = 0
    this.#serve()
  }

  describe(): { readonly name: string; readonly order: QueueOrder } {
    return { name: 'memory', order: this.#order }
  }

  async push(batch: readonly QueuedRequest[], owner: string): Promise<number> {
    const noted = this.#noted.get(owner) ?? new Set()
    this.#noted.set(owner, noted)
    let added = 0
    for (const queued of batch) {
      if (noted.has(queued.id)) continue
      noted.add(queued.id)
      this.#add(queued)
      added++
    }
    this.#serve()
    return added
  }

  async settled(owner: string): Promise<void> {
    this.#noted.delete(owner)
  }

  lease(max: number, signal?: AbortSignal): Promise<Lease[]> {
    const leases = this.#take(max)
    if (leases.length > 0 || this.#nothingCanCome() || signal?.aborted || this.#closed.signal.aborted) {
      return Promise.resolve(leases)
    }
    return new Promise((resolve) => {
      const answer = (found: Lease[]) => {
        this.#waiters.delete(waiter)
        clearTimeout(deadline)
        signal?.removeEventListener('abort', giveUp)
        resolve(found)
      }
      const giveUp = () => answer([])
      const waiter: Waiter = { max, answer }
      const deadline = setTimeout(giveUp, LEASE_WAIT_MAX_MS)
      signal?.addEventListener('abort', giveUp, { once: true })
      this.#waiters.add(waiter)
      this.#arm()
    })
  }

  async commit(lease: Lease, { children = [], delayMs }: CommitOptions = {}): Promise<void> {
    const line = this.#end(lease)
    if (delayMs !== undefined) this.#clock.pace(lease.slot, delayMs)
    for (const child of children) this.#add(child)
    this.#wake(line)
    this.#serve()
  }

  async retry(lease: Lease, request: Request, delayMs: number): Promise<void> {
    const line = this.#end(lease)
    const queued = { id: lease.id, request }
    if (delayMs > 0) this.#delayed.add(performance.now() + delayMs, queued)
    else this.#add(queued)
    this.#wake(line)
    this.#serve()
  }

  async release(lease: Lease): Promise<void> {
    const line = this.#end(lease)
    line.putBack({ id: lease.id, request: lease.request })
    this.#waiting++
    this.#place(line)
    this.#serve()
  }

  async counts(): Promise<QueueCounts> {
    return { waiting: this.#waiting, delayed: this.#delayed.size, leased: this.#leased.size, quarantined: 0 }
  }

  #nothingCanCome(): boolean {
    return this.#waiting === 0 && this.#delayed.size === 0 && this.#leased.size === 0
  }

  #add(queued: QueuedRequest): void {
    const line = this.#line(this.#clock.slotOf(queued.request))
    line.add(queued)
    this.#waiting++
    // A line that waits for a moment, or for an end, is not made ready by one more request.
    if (line.length === 1 || (line.readyPriority !== undefined && line.headPriority > line.readyPriority)) {
      this.#place(line)
    }
  }

  #line(slot: string): HostLine {
    const known = this.#lines.get(slot)
    if (known) return known
    const line = new HostLine(slot, this.#order)
    this.#lines.set(slot, line)
    return line
  }

  /** Something about a line's host has changed: it may go now, unless it already could. */
  #wake(line: HostLine): void {
    if (line.readyPriority === undefined) this.#place(line)
  }

  /** Puts a line where it belongs: ready, timed, or nowhere. */
  #place(line: HostLine): void {
    line.ticket++
    line.readyPriority = undefined
    if (line.length === 0) {
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
      line.readyPriority = line.headPriority
      this.#ring(line.headPriority).push(place)
    }
  }

  #ring(priority: number): Deque<Place> {
    const known = this.#ready.get(priority)
    if (known) return known
    const ring = new Deque<Place>()
    this.#ready.set(priority, ring)
    const lower = this.#readyPriorities.findIndex((other) => other < priority)
    this.#readyPriorities.splice(lower < 0 ? this.#readyPriorities.length : lower, 0, priority)
    return ring
  }

  #take(max: number): Lease[] {
    this.#wakeDue()
    const leases: Lease[] = []
    while (leases.length < max) {
      const line = this.#nextReady()
      if (!line) break
      leases.push(this.#hand(line))
      this.#place(line)
    }
    return leases
  }

  #wakeDue(): void {
    const now = performance.now()
    for (let place = this.#timed.takeDue(now); place; place = this.#timed.takeDue(now)) {
      if (place.ticket === place.line.ticket) this.#place(place.line)
    }
    for (let queued = this.#delayed.takeDue(now); queued; queued = this.#delayed.takeDue(now))
      this.#add(queued)
    this.#clock.forgetIdle(now)
  }

  #nextReady(): HostLine | undefined {
    for (;;) {
      const priority = this.#readyPriorities[0]
      if (priority === undefined) return undefined
      const place = this.#ready.get(priority)!.shift()
      if (place === undefined) {
        this.#ready.delete(priority)
        this.#readyPriorities.shift()
      } else if (place.ticket === place.line.ticket) {
        if (this.#clock.waitMs(place.line.slot, performance.now()) === 0) return place.line
        // Its host was paused, or given a longer delay, while it stood here.
        this.#place(place.line)
      }
    }
  }

  #hand(line: HostLine): Lease {
    const { id, request } = line.take()!
    this.#waiting--
    line.inFlight++
    this.#clock.taken(line.slot)
    const lease = new MemoryLease(id, request, line.slot, this.#closed.signal, () => {
      this.#clock.started(line.slot, performance.now())
      this.#wake(line)
      this.#serve()
    })
    this.#leased.add(lease)
    return lease
  }

  /** Takes the lease from its holder; answers its line, which the caller must place again. */
  #end(lease: Lease): HostLine {
    if (!this.#leased.delete(lease)) {
      throw new WebloomError(
        'WL_LEASE_LOST',
        `the lease of ${lease.request} has ended before; it cannot be ended again`,
      )
    }
    this.#clock.ended(lease.slot, lease instanceof MemoryLease && lease.hasStarted)
    const line = this.#line(lease.slot)
    line.inFlight = Math.max(0, line.inFlight - 1)
    return line
  }

  /** Answers those who wait, if something may go or nothing can come. */
  #serve(): void {
    for (const waiter of this.#waiters) {
      const leases = this.#take(waiter.max)
      if (leases.length === 0 && !this.#nothingCanCome()) break
      waiter.answer(leases)
    }
    this.#arm()
  }

  /** Sets the alarm for the next moment at which something may go. Without waiters nobody needs one. */
  #arm(): void {
    const nextAtMs = Math.min(
      this.#timed.nextAtMs ?? Number.POSITIVE_INFINITY,
      this.#delayed.nextAtMs ?? Number.POSITIVE_INFINITY,
    )
    if (this.#waiters.size === 0 || nextAtMs === Number.POSITIVE_INFINITY) return
    if (nextAtMs >= this.#timerAtMs) return
    clearTimeout(this.#timer)
    this.#timerAtMs = nextAtMs
    // Timers may fire up to a millisecond early; rounding up saves a second alarm.
    this.#timer = setTimeout(
      () => {
        this.#timerAtMs = Number.POSITIVE_INFINITY
        this.#serve()
      },
      Math.max(1, Math.ceil(nextAtMs - performance.now())),
    )
  }
}

class MemoryLease implements Lease {
  readonly id: string
  readonly request: Request
  readonly slot: string
  readonly attempt = 1
  readonly redelivered = false
  readonly signal: AbortSignal
  readonly #onStart: () => void
  hasStarted = false

  constructor(id: string, request: Request, slot: string, signal: AbortSignal, onStart: () => void) {
    this.id = id
    this.request = request
    this.slot = slot
    this.signal = signal
    this.#onStart = onStart
  }

  started(): void {
    if (this.hasStarted) return
    this.hasStarted = true
    this.#onStart()
  }
}
