/**
 * The request queue of a crawl in one process: whose turn it is. Where the requests are kept is up to a `RequestStore`,
 * in memory or on disk; a store does what belongs together in one step.
 *
 * Each host has a line (`HostLine`); which of them may be asked now, and when the others may, `HostLines` knows.
 * Requests with a time of their own (a retry's back-off) wait in a heap of their own and join their line when it has come.
 */

import { setMaxListeners } from 'node:events'
import {
  type CommitOptions,
  type FailedDoubt,
  type HostClock,
  type HostNews,
  type HostOrders,
  inDoubtAsker,
  type Lease,
  type LinkDoubts,
  PassingSet,
  type QueueCounts,
  type QueuedRequest,
  type QueuedSlot,
  type QueueOrder,
  type Request,
  type RequestQueue,
  type RetryWhen,
  type SlotNow,
  type StartRequest,
  type VisitedPage,
  WebloomError,
} from '@webloom/core'
import { LocalFailures } from '../failures/local-failures.ts'
import { leaseLost } from '../leasing/lease-lost.ts'
import { DocumentLine } from '../politeness/document-line.ts'
import { type HostSlots, SLOTS_BY_HOST } from '../politeness/host-slots.ts'
import { TimeHeap } from '../structures/time-heap.ts'
import type { LocalVisits } from '../visits/local-visits.ts'
import type { HostLine } from './host-line.ts'
import { HostLines } from './host-lines.ts'
import { LeaseWaiters } from './lease-waiters.ts'
import { LocalDoubts } from './local-doubts.ts'
import { LocalLease } from './local-lease.ts'
import type { LocalRequestQueueOptions } from './local-queue-options.ts'
import type { DelayedRequest, RequestStore, StoredRequest } from './request-store.ts'

export class LocalRequestQueue<Held extends StoredRequest, Delayed extends DelayedRequest>
  implements RequestQueue
{
  readonly doubts: LinkDoubts = {
    take: async (max) => this.#setAside.take(max),
    end: (fresh, seen, _still, failed) => this.#endDoubts(fresh, seen, failed),
  }
  readonly failures: LocalFailures
  readonly visits?: LocalVisits
  readonly #clock: HostClock
  readonly #slots: HostSlots
  readonly #order: QueueOrder
  readonly #store: RequestStore<Held, Delayed>
  readonly #lines: HostLines<Held, Delayed>
  readonly #delayed = new TimeHeap<Delayed>()
  readonly #leased = new PassingSet<LocalLease<Held>>()
  readonly #noted = new Map<string, Set<string>>()
  readonly #setAside: LocalDoubts<Held>
  readonly #documents: DocumentLine
  readonly #waiters = new LeaseWaiters({
    take: (max) => this.#take(max),
    isEmpty: () => this.#isEmpty,
    nextAtMs: () => this.#nextAtMs,
  })
  // Within one process only the end of the queue takes leases away, so all leases share one signal.
  readonly #closed = new AbortController()
  #waiting = 0
  #rejected = 0

  constructor(options: LocalRequestQueueOptions<Held, Delayed>) {
    const { clock, slots = SLOTS_BY_HOST, order, store } = options
    this.#clock = clock
    this.#slots = slots
    this.failures = new LocalFailures({
      store: store.failures,
      failedMax: options.failedMax ?? 0,
      onTrimmed: options.onTrimmed ?? (() => {}),
      quarantined: () => this.#quarantined,
      requeue: (requests, isTaken) => this.#queueTaken(requests, isTaken),
      atomically: (step) => store.atomically(step),
    })
    if (options.visits) {
      this.visits = options.visits
      this.visits.lieBeside((due, isTaken) => this.#queueTaken(due, isTaken))
    }
    this.#order = order
    this.#store = store
    this.#lines = new HostLines(clock, store)
    this.#setAside = new LocalDoubts(store)
    this.#documents = new DocumentLine({ clock, slots, onChange: (slot) => this.#paced([slot]) })
    setMaxListeners(0, this.#closed.signal)
  }

  async open(): Promise<void> {
    const { lines, delayed, inDoubt } = this.#store.open()
    for (const [slot, waiting] of lines) {
      this.#waiting += waiting.length
      this.#lines.restore(slot, waiting)
    }
    const now = performance.now()
    for (const { dueInMs, delayed: held } of delayed) this.#delayed.add(now + dueInMs, held)
    this.#setAside.restore(inDoubt)
  }

  async close(): Promise<void> {
    this.#closed.abort(new WebloomError('WL_LEASE_LOST', 'the queue was closed'))
    this.#waiters.close()
    this.#leased.clear()
    this.#store.close()
  }

  async clear(): Promise<void> {
    this.#store.clear()
    this.#lines.clear()
    this.#delayed.clear()
    this.#noted.clear()
    this.#setAside.clear()
    this.#waiting = 0
    this.#waiters.serve()
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
      this.#waiters.serve()
      return added
    })
  }

  async pushStart(batch: readonly StartRequest[], from: number, to: number): Promise<number> {
    await this.#slots.prepare(batch)
    return this.#store.atomically(() => {
      for (const queued of batch) this.#add(queued)
      for (let element = from; element < to; element++) this.#store.handedOn(`start/${element}`)
      this.#waiters.serve()
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
    return this.#waiters.wait(max, signal)
  }

  async commit(lease: Lease, { children = [], host, failure, visit }: CommitOptions = {}): Promise<void> {
    const preparing = this.#slots.prepare(children)
    if (preparing) await preparing
    const { line, held } = this.#end(lease, host)
    this.#store.atomically(() => {
      this.#store.done(held)
      if (failure) this.failures.keep(lease, failure)
      if (visit) this.visits?.recordNow([visit])
      for (const child of children) this.#add(child)
      this.#store.handedOn(lease.id)
      this.#lines.wake(line)
      // The next lease is handed out in the same step, so that a page costs one write.
      this.#waiters.serve()
    })
  }

  async retry(lease: Lease, request: Request, when: RetryWhen, host?: HostNews): Promise<void> {
    await this.#slots.prepare([{ request }])
    const { line, held } = this.#end(lease, host)
    const { id, attempt, redelivered } = lease
    const changed: StoredRequest = { id, request, ...(redelivered && { attempt, redelivered }) }
    this.#store.atomically(() => {
      if (when === 'first') {
        this.#requeue(this.#lines.of(this.#slots.slotOf(request)), held, changed)
      } else if (when > 0) {
        const delayed = this.#store.delay(held, changed, this.#slots.slotOf(request), when)
        this.#delayed.add(performance.now() + when, delayed)
      } else {
        this.#store.done(held)
        this.#add(changed)
      }
      this.#lines.wake(line)
      this.#waiters.serve()
    })
  }

  async requeue(lease: Lease): Promise<void> {
    const { line, held } = this.#end(lease)
    this.#store.atomically(() => {
      this.#requeue(line, held)
      this.#waiters.serve()
    })
  }

  /** There is no other worker, so the request counts as quarantined. A JOBDIR hands it out again in the next run. One with a visit is back on its schedule. */
  async reject(lease: Lease, _reason: string, visit?: VisitedPage): Promise<boolean> {
    if (visit) {
      await this.commit(lease, { visit })
      return true
    }
    const { line } = this.#end(lease)
    this.#rejected++
    this.#store.atomically(() => {
      this.#lines.wake(line)
      this.#waiters.serve()
    })
    return false
  }

  async counts(): Promise<QueueCounts> {
    return {
      waiting: this.#waiting,
      delayed: this.#delayed.size + this.#setAside.size,
      leased: this.#leased.size,
      quarantined: this.#quarantined,
    }
  }

  get #quarantined(): number {
    return this.#store.unreadable + this.#rejected
  }

  async steer(orders: HostOrders): Promise<void> {
    this.#paced(this.#clock.order(orders, performance.now()))
  }

  /** The pace of slots has changed. */
  #paced(slots: readonly string[]): void {
    for (const slot of slots) this.#lines.placeAnew(slot)
    this.#store.atomically(() => this.#waiters.serve())
  }

  mostQueued(most: number): readonly QueuedSlot[] {
    return this.#lines.mostQueued(most)
  }

  slotNow(slot: string): SlotNow | undefined {
    return this.#lines.slotNow(slot, this.#delayed.values())
  }

  async isEmpty(): Promise<boolean> {
    return this.#isEmpty
  }

  get #isEmpty(): boolean {
    return this.#waiting + this.#delayed.size + this.#leased.size + this.#setAside.size === 0
  }

  async #endDoubts(
    fresh: readonly QueuedRequest[],
    seen: readonly string[],
    failed: readonly FailedDoubt[] = [],
  ): Promise<readonly string[]> {
    await this.#slots.prepare(fresh)
    return this.#store.atomically(() => {
      for (const id of seen) this.#setAside.end(id)
      this.#rejected += failed.filter(({ id }) => this.#setAside.quarantine(id)).length
      const queued = fresh.filter(({ id }) => this.#setAside.end(id))
      for (const { id, request } of queued) {
        this.#add({ id, request })
        this.#store.handedOn(inDoubtAsker({ id }))
      }
      this.#waiters.serve()
      return queued.map(({ id }) => id)
    })
  }

  async #queueTaken(
    requests: readonly QueuedRequest[],
    isTaken: (id: string) => boolean,
  ): Promise<readonly string[]> {
    await this.#slots.prepare(requests)
    return this.#store.atomically(() => {
      const queued = requests.filter(({ id }) => isTaken(id))
      for (const one of queued) this.#add(one)
      this.#waiters.serve()
      return queued.map(({ id }) => id)
    })
  }

  #add(stored: StoredRequest): void {
    const slot = this.#slots.slotOf(stored.request)
    if (stored.inDoubt) this.#setAside.add(stored, slot)
    else {
      const line = this.#lines.of(slot)
      line.waiting.add(stored)
      this.#grown(line)
    }
  }

  #requeue(line: HostLine<Held, Delayed>, held: Held, changed?: StoredRequest): void {
    line.waiting.requeue(held, changed)
    this.#waiting++
    this.#lines.place(line)
  }

  /** One more request waits in the line. */
  #grown(line: HostLine<Held, Delayed>): void {
    this.#waiting++
    // A line that waits for a moment, or for an end, is not made ready by one more request.
    const isMoreUrgent = line.readyPriority !== undefined && this.#lines.urgencyOf(line) > line.readyPriority
    if (line.waiting.length === 1 || isMoreUrgent) this.#lines.place(line)
  }

  #take(max: number): Lease[] {
    return this.#store.atomically(() => {
      this.#wakeDue()
      const leases: Lease[] = []
      while (leases.length < max) {
        const line = this.#lines.nextReady()
        if (!line) break
        const lease = this.#hand(line)
        if (lease) leases.push(lease)
        this.#lines.place(line)
      }
      return leases
    })
  }

  #wakeDue(): void {
    const now = performance.now()
    this.#lines.placeDue(now)
    for (let delayed = this.#delayed.takeDue(now); delayed; delayed = this.#delayed.takeDue(now)) {
      const line = this.#lines.of(delayed.slot)
      line.waiting.join(delayed)
      this.#grown(line)
    }
    this.#clock.forgetIdle(now)
  }

  /** Returns the line's next request; undefined when no request of the line can be read. */
  #hand(line: HostLine<Held, Delayed>): Lease | undefined {
    const before = line.waiting.length
    const held = line.waiting.take()
    this.#waiting -= before - line.waiting.length
    if (!held) return undefined
    line.inFlight++
    this.#clock.taken(line.slot)
    const isPaced = this.#clock.isPaced(line.slot)
    const lease = new LocalLease(held, {
      slot: line.slot,
      host: this.#clock.stateOf(line.slot),
      isPaced,
      signal: this.#closed.signal,
      documents: this.#documents,
      onStart: () => {
        this.#clock.started(line.slot, performance.now())
        if (isPaced) queueMicrotask(() => this.#clock.left(line.slot, performance.now())) // Written by then.
        this.#lines.wake(line)
        this.#waiters.serve()
      },
    })
    this.#leased.add(lease)
    return lease
  }

  /** Ends a lease. The caller must place its line again. */
  #end(lease: Lease, news?: HostNews): { readonly line: HostLine<Held, Delayed>; readonly held: Held } {
    if (!this.#isOurs(lease)) throw leaseLost(lease.request, 'it has ended before and cannot be ended again')
    this.#leased.delete(lease)
    this.#documents.leaves(lease)
    this.#clock.ended(lease.slot, lease.hasStarted)
    if (news) this.#clock.learn(lease.slot, news, performance.now())
    const line = this.#lines.of(lease.slot)
    line.inFlight = Math.max(0, line.inFlight - 1)
    return { line, held: lease.held }
  }

  #isOurs(lease: Lease): lease is LocalLease<Held> {
    return this.#leased.has(lease as LocalLease<Held>)
  }

  /** When something may go that may not now. */
  get #nextAtMs(): number {
    return Math.min(
      this.#lines.nextAtMs ?? Number.POSITIVE_INFINITY,
      this.#delayed.nextAtMs ?? Number.POSITIVE_INFINITY,
    )
  }
}
