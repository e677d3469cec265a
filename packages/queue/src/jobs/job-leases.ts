/**
 * QUEUE_MODE=job: the leases that this worker has, from the take of a job to its end.
 *
 *     hold ──► held for its host ──ready()──► lies ready ──► handed out ──► end, lose or forget
 *                    ▲   (HostBacklog)           │ (LeaseDispatcher)
 *                    └───────holdAgain()─────────┘
 *
 * A lease is in the map, in the backlog or the dispatcher, in the host's clock and among the kept locks. The queue takes what is ready
 * out of the dispatcher; every other change of these is made here, so that they agree: what leaves one leaves all.
 */

import type { HostClock, HostNews, HostOrders, Lease, QueuedSlot, QueueOrder } from '@webloom/core'
import type { LeaseDispatcher } from '../leasing/lease-dispatcher.ts'
import { leaseLost } from '../leasing/lease-lost.ts'
import type { KeptLocks } from '../locks/lock-keeper.ts'
import { DocumentLine } from '../politeness/document-line.ts'
import type { HostSlots } from '../politeness/host-slots.ts'
import { HostBacklog } from './host-backlog.ts'
import { JobLease, type TakenRequest } from './job-lease.ts'
import { lockArgs } from './job-scripts.ts'

export interface JobLeasesOptions {
  readonly clock: HostClock
  readonly slots: HostSlots
  readonly order: QueueOrder
  /** CONCURRENT_REQUESTS; 0: no bound. */
  readonly concurrency: number
  readonly locks: KeptLocks
  /** Made and closed by the queue, which takes leases out of it. */
  readonly dispatcher: LeaseDispatcher<JobLease>
}

/** How many requests are held for their hosts, for each that may be in flight. */
const HELD_PER_REQUEST_IN_FLIGHT = 4
const HELD_MIN = 64
const ENDED = 'it has ended before, or another worker has it; its result is refused'

export class JobLeases {
  readonly #clock: HostClock
  readonly #slots: HostSlots
  readonly #order: QueueOrder
  readonly #locks: KeptLocks
  readonly #dispatcher: LeaseDispatcher<JobLease>
  readonly #backlog: HostBacklog<JobLease>
  readonly #documents: DocumentLine
  readonly #byJob = new Map<string, JobLease>()

  constructor({ clock, slots, order, concurrency, locks, dispatcher }: JobLeasesOptions) {
    this.#clock = clock
    this.#slots = slots
    this.#order = order
    this.#locks = locks
    this.#dispatcher = dispatcher
    this.#documents = new DocumentLine({ clock, slots, onChange: (slot) => void this.ready(slot) })
    this.#backlog = new HostBacklog({
      clock,
      heldMax: Math.max(HELD_MIN, HELD_PER_REQUEST_IN_FLIGHT * concurrency),
      onMayGo: (slot) => this.ready(slot),
    })
  }

  /** By job id: all that this worker has. */
  get byJob(): ReadonlyMap<string, JobLease> {
    return this.#byJob
  }

  /** All but this one, without those that a script is ending. */
  besides(one: JobLease): JobLease[] {
    return [...this.#byJob.values()].filter((lease) => lease !== one && !lease.isEnding)
  }

  /** How many more requests may be held for their hosts. */
  get places(): number {
    return this.#backlog.places
  }

  /** Ends all leases of this worker. Returns those that no script is ending: their requests go back to the queue. */
  close(): JobLease[] {
    this.#backlog.close()
    const leases = [...this.#byJob.values()]
    this.#byJob.clear()
    for (const lease of leases) lease.lose('the queue was closed')
    return leases.filter(({ isEnding }) => !isEnding)
  }

  /** Holds requests until their hosts may be asked. Returns the hosts' slots. */
  async hold(taken: readonly TakenRequest[], lockedUntilMs: number): Promise<ReadonlySet<string>> {
    await this.#slots.prepare(taken)
    return new Set(taken.map((one) => this.#enter(one, lockedUntilMs)))
  }

  #enter(taken: TakenRequest, lockedUntilMs: number): string {
    const lost = this.#byJob.get(taken.jobId)
    if (lost) this.lose(lost, 'it was reclaimed from this worker')
    const slot = this.#slots.slotOf(taken.request)
    const host = this.#clock.stateOf(slot)
    const isPaced = this.#clock.isPaced(slot)
    const onStart = () => {
      this.#clock.started(slot, performance.now())
      // It is written before this runs.
      if (this.#clock.isPaced(slot)) queueMicrotask(() => this.#clock.left(slot, performance.now()))
      this.ready(slot)
    }
    const common = { order: this.#order, documents: this.#documents }
    const lease = new JobLease(taken, { ...common, slot, host, isPaced, lockedUntilMs, onStart })
    this.#byJob.set(lease.jobId, lease)
    this.#locks.keep(lease.token, lockArgs(lease))
    this.#backlog.enter(lease)
    return slot
  }

  /** Makes ready the requests that the host's pace allows now. Returns how many. */
  ready(slot: string): number {
    let count = 0
    for (let lease = this.#backlog.next(slot); lease; lease = this.#backlog.next(slot)) {
      this.#clock.taken(slot)
      lease.readySinceMs = performance.now()
      this.#dispatcher.put(lease)
      count++
    }
    return count
  }

  learn(slot: string, news: HostNews): void {
    this.#clock.learn(slot, news, performance.now())
    if (news.pauseMs !== undefined) this.#holdAgain(slot)
  }

  /** The host is paused: its requests that lie ready wait again. */
  #holdAgain(slot: string): void {
    for (const lease of this.#byJob.values()) {
      if (lease.slot !== slot || lease.readySinceMs === undefined || !this.#dispatcher.remove(lease)) continue
      this.#clock.ended(slot, false)
      lease.readySinceMs = undefined
      this.#backlog.enter(lease)
    }
    this.ready(slot)
  }

  /** Ends a lease with a script, at most once; the lease stays as it is when Redis refuses. */
  async end(lease: Lease, write: (held: JobLease) => Promise<boolean>): Promise<void> {
    const held = lease as JobLease
    if (this.#byJob.get(held.jobId) !== held || held.isEnding) throw leaseLost(lease.request, ENDED)
    held.isEnding = true
    let isEnded: boolean
    try {
      isEnded = await write(held)
    } catch (error) {
      held.isEnding = false
      throw error
    }
    if (!isEnded) {
      this.lose(held, 'another worker has it')
      throw leaseLost(lease.request, ENDED)
    }
    this.forget(held)
  }

  /** The lease is no longer this worker's. */
  forget(lease: JobLease): void {
    this.#locks.drop(lease.token)
    if (this.#byJob.get(lease.jobId) === lease) this.#byJob.delete(lease.jobId)
    this.#backlog.leave(lease)
    if (!this.#dispatcher.remove(lease)) this.#dispatcher.ended(lease)
    this.#documents.leaves(lease)
    if (lease.readySinceMs !== undefined) this.#clock.ended(lease.slot, lease.hasStarted)
    this.ready(lease.slot)
    this.#dispatcher.recheck()
  }

  lose(lease: JobLease, why: string): void {
    lease.lose(why)
    this.forget(lease)
  }

  /** The leases go to the engine, with what is known of their hosts now. */
  handOut(leases: readonly JobLease[]): void {
    for (const lease of leases) {
      lease.isOut = true
      lease.host = this.#clock.stateOf(lease.slot)
      lease.isPaced = this.#clock.isPaced(lease.slot)
    }
  }

  /** Takes out of the backlog what is too much for one host. */
  overflow(slot: string): ReturnType<HostBacklog<JobLease>['overflow']> {
    return this.#backlog.overflow(slot)
  }

  steer(orders: HostOrders): void {
    for (const slot of this.#clock.order(orders, performance.now())) this.#holdAgain(slot)
  }

  mostQueued(most: number): readonly QueuedSlot[] {
    return this.#backlog.mostQueued(most)
  }
}
