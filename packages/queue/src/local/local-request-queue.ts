/**
 * The request queue of a crawl in one process: whose turn it is. Where the requests are kept is up to a `RequestStore`,
 * in memory or on disk; a store does what belongs together in one step.
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
  type FailedDoubt,
  type HostClock,
  type HostNews,
  inDoubtAsker,
  LEASE_WAIT_MAX_MS,
  type Lease,
  type LinkDoubts,
  type QueueCounts,
  type QueuedRequest,
  type QueueOrder,
  type Request,
  type RequestQueue,
  type RetryWhen,
  type StartRequest,
  timerMs,
  WebloomError,
} from '@webloom/core'
import { leaseLost } from '../leasing/lease-lost.ts'
import { type HostSlots, SLOTS_BY_HOST } from '../politeness/host-slots.ts'
import { ByPriority } from '../structures/by-priority.ts'
import { Deque } from '../structures/deque.ts'
import { TimeHeap } from '../structures/time-heap.ts'
import { HostLine } from './host-line.ts'
import { LocalDoubts } from './local-doubts.ts'
import { LocalLease } from './local-lease.ts'
import type { DelayedRequest, RequestStore, StoredRequest } from './request-store.ts'

/** A line's place in a ring or heap; void once the line has a newer ticket. */
interface Place<Line> {
  readonly line: Line
  readonly ticket: number
}

/** A caller of `lease` that waits. */
interface Waiter {
  readonly max: number
  readonly signal: AbortSignal | undefined
  readonly untilMs: number
  readonly answer: (leases: Lease[]) => void
}

export interface LocalRequestQueueOptions<Held extends StoredRequest, Delayed extends DelayedRequest> {
  readonly clock: HostClock
  readonly slots?: HostSlots
  readonly order: QueueOrder
  readonly store: RequestStore<Held, Delayed>
}

export class LocalRequestQueue<Held extends StoredRequest, Delayed extends DelayedRequest>
  implements RequestQueue
{
  readonly doubts: LinkDoubts = {
    take: async (max) => this.#setAside.take(max),
    end: (fresh, met, _still, failed) => this.#endDoubts(fresh, met, failed),
  }
  readonly #clock: HostClock
  readonly #slots: HostSlots
  readonly #order: QueueOrder
  readonly #store: RequestStore<Held, Delayed>
  readonly #lines = new Map<string, HostLine<Held, Delayed>>()
  readonly #ready = new ByPriority<Deque<Place<HostLine<Held, Delayed>>>>()
  readonly #timed = new TimeHeap<Place<HostLine<Held, Delayed>>>()
  readonly #delayed = new TimeHeap<Delayed>()
  readonly #leased = new Set<LocalLease<Held>>()
  readonly #noted = new Map<string, Set<string>>()
  readonly #setAside: LocalDoubts<Held>
  /** The one that has waited longest is the first. */
  readonly #waiters = new Set<Waiter>()
  /** Signals of waiters, to which it listens from the first of them on: most leases of a crawl are waited for. */
  readonly #heard = new WeakSet<AbortSignal>()
  // Within one process only the end of the queue takes leases away, so all leases share one signal.
  readonly #closed = new AbortController()
  #waiting = 0
  #rejected = 0
  #timer: NodeJS.Timeout | undefined
  #timerAtMs = Number.POSITIVE_INFINITY

  constructor({ clock, slots = SLOTS_BY_HOST, order, store }: LocalRequestQueueOptions<Held, Delayed>) {
    this.#clock = clock
    this.#slots = slots
    this.#order = order
    this.#store = store
    this.#setAside = new LocalDoubts(store)
    setMaxListeners(0, this.#closed.signal)
  }

  async open(): Promise<void> {
    const { lines, delayed, inDoubt } = this.#store.open()
    for (const [slot, waiting] of lines) {
      const line = new HostLine(slot, waiting)
      this.#lines.set(slot, line)
      this.#waiting += waiting.length
      this.#place(line)
    }
    const now = performance.now()
    for (const { dueInMs, delayed: held } of delayed) this.#delayed.add(now + dueInMs, held)
    this.#setAside.restore(inDoubt)
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#closed.abort(new WebloomError('WL_LEASE_LOST', 'the queue was closed'))
    this.#sendAway(() => true)
    this.#leased.clear()
    this.#store.close()
  }

  async clear(): Promise<void> {
    this.#store.clear()
    this.#lines.clear()
    this.#ready.clear()
    this.#timed.clear()
    this.#delayed.clear()
    this.#noted.clear()
    this.#setAside.clear()
    this.#waiting = 0
    this.#serve()
  }

  describe(): { readonly name: string; readonly order: QueueOrder } {
    return { name: this.#store.name, order: this.#order }
  }

  async push(batch: readonly QueuedRequest[], asker: string): Promise<number> {
    await this.#slots.prepare(batch)
    const noted = this.#noted.get(asker) ?? new Set()
    this.#noted.set(asker, noted)
    return this.#store.atomically(() => {
      let added = 0
      for (const queued of batch) {
        if (noted.has(queued.id)) continue
        noted.add(queued.id)
        if (!queued.inDoubt) added++
        this.#add(queued)
      }
      this.#store.handedOn(asker)
      this.#serve()
      return added
    })
  }

  async pushStart(batch: readonly StartRequest[], from: number, to: number): Promise<number> {
    await this.#slots.prepare(batch)
    return this.#store.atomically(() => {
      for (const queued of batch) this.#add(queued)
      for (let element = from; element < to; element++) this.#store.handedOn(`start/${element}`)
      this.#serve()
      return batch.filter(({ inDoubt }) => !inDoubt).length
    })
  }

  async settled(asker: string): Promise<void> {
    this.#noted.delete(asker)
  }

  lease(max: number, signal?: AbortSignal): Promise<Lease[]> {
    const leases = this.#take(max)
    if (leases.length > 0 || this.#isEmpty || signal?.aborted || this.#closed.signal.aborted) {
      return Promise.resolve(leases)
    }
    if (signal) this.#hear(signal)
    return new Promise((resolve) => {
      this.#waiters.add({
        max,
        signal,
        untilMs: performance.now() + LEASE_WAIT_MAX_MS,
        answer: resolve,
      })
      this.#arm()
    })
  }

  async commit(lease: Lease, { children = [], host }: CommitOptions = {}): Promise<void> {
    await this.#slots.prepare(children)
    const { line, held } = this.#end(lease, host)
    this.#store.atomically(() => {
      this.#store.done(held)
      for (const child of children) this.#add(child)
      this.#store.handedOn(lease.id)
      this.#wake(line)
      // The next lease is handed out in the same step, so that a page costs one write.
      this.#serve()
    })
  }

  async retry(lease: Lease, request: Request, when: RetryWhen, host?: HostNews): Promise<void> {
    await this.#slots.prepare([{ request }])
    const { line, held } = this.#end(lease, host)
    const changed: StoredRequest = lease.redelivered
      ? { id: lease.id, request, attempt: lease.attempt, redelivered: true }
      : { id: lease.id, request }
    this.#store.atomically(() => {
      if (when === 'first') {
        this.#requeue(this.#line(this.#slots.slotOf(request)), held, changed)
      } else if (when > 0) {
        const delayed = this.#store.delay(held, changed, this.#slots.slotOf(request), when)
        this.#delayed.add(performance.now() + when, delayed)
      } else {
        this.#store.done(held)
        this.#add(changed)
      }
      this.#wake(line)
      this.#serve()
    })
  }

  async requeue(lease: Lease): Promise<void> {
    const { line, held } = this.#end(lease)
    this.#store.atomically(() => {
      this.#requeue(line, held)
      this.#serve()
    })
  }

  /** There is no other worker, so the request counts as quarantined. A JOBDIR hands it out again in the next run. */
  async reject(lease: Lease): Promise<void> {
    const { line } = this.#end(lease)
    this.#rejected++
    this.#store.atomically(() => {
      this.#wake(line)
      this.#serve()
    })
  }

  async counts(): Promise<QueueCounts> {
    return {
      waiting: this.#waiting,
      delayed: this.#delayed.size + this.#setAside.size,
      leased: this.#leased.size,
      quarantined: this.#store.unreadable + this.#rejected,
    }
  }

  async isEmpty(): Promise<boolean> {
    return this.#isEmpty
  }

  get #isEmpty(): boolean {
    return this.#waiting + this.#delayed.size + this.#leased.size + this.#setAside.size === 0
  }

  async #endDoubts(
    fresh: readonly QueuedRequest[],
    met: readonly string[],
    failed: readonly FailedDoubt[] = [],
  ): Promise<readonly string[]> {
    await this.#slots.prepare(fresh)
    return this.#store.atomically(() => {
      for (const id of met) this.#setAside.end(id)
      this.#rejected += failed.filter(({ id }) => this.#setAside.quarantine(id)).length
      const queued = fresh.filter(({ id }) => this.#setAside.end(id))
      for (const { id, request } of queued) {
        this.#add({ id, request })
        this.#store.handedOn(inDoubtAsker({ id }))
      }
      this.#serve()
      return queued.map(({ id }) => id)
    })
  }

  #add(stored: StoredRequest): void {
    const slot = this.#slots.slotOf(stored.request)
    if (stored.inDoubt) this.#setAside.add(stored, slot)
    else {
      const line = this.#line(slot)
      line.waiting.add(stored)
      this.#grown(line)
    }
  }

  #requeue(line: HostLine<Held, Delayed>, held: Held, changed?: StoredRequest): void {
    line.waiting.requeue(held, changed)
    this.#waiting++
    this.#place(line)
  }

  /** One more request waits in the line. */
  #grown(line: HostLine<Held, Delayed>): void {
    this.#waiting++
    // A line that waits for a moment, or for an end, is not made ready by one more request.
    const isMoreUrgent = line.readyPriority !== undefined && line.waiting.headPriority > line.readyPriority
    if (line.waiting.length === 1 || isMoreUrgent) this.#place(line)
  }

  #line(slot: string): HostLine<Held, Delayed> {
    const known = this.#lines.get(slot)
    if (known) return known
    const line = new HostLine(slot, this.#store.line(slot))
    this.#lines.set(slot, line)
    return line
  }

  /** Something about a line's host has changed: it may go now, unless it already could. */
  #wake(line: HostLine<Held, Delayed>): void {
    if (line.readyPriority === undefined) this.#place(line)
  }

  /** Puts a line where it belongs: ready, timed, or nowhere. */
  #place(line: HostLine<Held, Delayed>): void {
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
      line.readyPriority = line.waiting.headPriority
      this.#ready.of(line.readyPriority, () => new Deque()).push(place)
    }
  }

  #take(max: number): Lease[] {
    return this.#store.atomically(() => {
      this.#wakeDue()
      const leases: Lease[] = []
      while (leases.length < max) {
        const line = this.#nextReady()
        if (!line) break
        const lease = this.#hand(line)
        if (lease) leases.push(lease)
        this.#place(line)
      }
      return leases
    })
  }

  #wakeDue(): void {
    const now = performance.now()
    for (let place = this.#timed.takeDue(now); place; place = this.#timed.takeDue(now)) {
      if (place.ticket === place.line.ticket) this.#place(place.line)
    }
    for (let delayed = this.#delayed.takeDue(now); delayed; delayed = this.#delayed.takeDue(now)) {
      const line = this.#line(delayed.slot)
      line.waiting.join(delayed)
      this.#grown(line)
    }
    this.#clock.forgetIdle(now)
  }

  #nextReady(): HostLine<Held, Delayed> | undefined {
    for (let ring = this.#ready.first; ring; ring = this.#ready.first) {
      const place = ring.shift()
      if (place === undefined) {
        this.#ready.dropHighest()
      } else if (place.ticket === place.line.ticket) {
        if (this.#clock.waitMs(place.line.slot, performance.now()) === 0) return place.line
        // Its host was paused, or given a longer delay, while it stood here.
        this.#place(place.line)
      }
    }
    return undefined
  }

  /** Returns the line's next request; undefined when no request of the line can be read. */
  #hand(line: HostLine<Held, Delayed>): Lease | undefined {
    const before = line.waiting.length
    const held = line.waiting.take()
    this.#waiting -= before - line.waiting.length
    if (!held) return undefined
    line.inFlight++
    this.#clock.taken(line.slot)
    const lease = new LocalLease(held, {
      slot: line.slot,
      host: this.#clock.stateOf(line.slot),
      signal: this.#closed.signal,
      onStart: () => {
        this.#clock.started(line.slot, performance.now())
        this.#wake(line)
        this.#serve()
      },
    })
    this.#leased.add(lease)
    return lease
  }

  /** Ends a lease. The caller must place its line again. */
  #end(lease: Lease, news?: HostNews): { readonly line: HostLine<Held, Delayed>; readonly held: Held } {
    if (!this.#isOurs(lease)) {
      throw leaseLost(lease.request, 'it has ended before and cannot be ended again')
    }
    this.#leased.delete(lease)
    this.#clock.ended(lease.slot, lease.hasStarted)
    if (news) this.#clock.learn(lease.slot, news, performance.now())
    const line = this.#line(lease.slot)
    line.inFlight = Math.max(0, line.inFlight - 1)
    return { line, held: lease.held }
  }

  #isOurs(lease: Lease): lease is LocalLease<Held> {
    return this.#leased.has(lease as LocalLease<Held>)
  }

  /** Resolves calls of `lease` that wait, when a request may go or no request can come any more. */
  #serve(): void {
    for (const waiter of this.#waiters) {
      const leases = this.#take(waiter.max)
      if (leases.length === 0 && !this.#isEmpty) break
      this.#waiters.delete(waiter)
      waiter.answer(leases)
    }
    this.#arm()
  }

  #hear(signal: AbortSignal): void {
    if (this.#heard.has(signal)) return
    this.#heard.add(signal)
    signal.addEventListener('abort', () => this.#sendAway((waiter) => waiter.signal === signal))
  }

  #sendAway(which: (waiter: Waiter) => boolean): void {
    for (const waiter of this.#waiters) {
      if (!which(waiter)) continue
      this.#waiters.delete(waiter)
      waiter.answer([])
    }
  }

  /**
   * Sets the alarm for the next moment at which something may go, or somebody has waited long enough. Without waiters nobody
   * needs one; one that is set stays, as the next waiter will.
   */
  #arm(): void {
    const [first] = this.#waiters
    if (!first) return
    const nextAtMs = Math.min(
      first.untilMs,
      this.#timed.nextAtMs ?? Number.POSITIVE_INFINITY,
      this.#delayed.nextAtMs ?? Number.POSITIVE_INFINITY,
    )
    if (nextAtMs >= this.#timerAtMs) return
    clearTimeout(this.#timer)
    this.#timerAtMs = nextAtMs
    // Timers may fire up to a millisecond early; rounding up saves a second alarm.
    this.#timer = setTimeout(
      () => {
        this.#timerAtMs = Number.POSITIVE_INFINITY
        this.#serve()
        const now = performance.now()
        this.#sendAway(({ untilMs }) => untilMs <= now)
        this.#arm()
      },
      timerMs(Math.max(1, Math.ceil(nextAtMs - performance.now()))),
    )
  }
}
