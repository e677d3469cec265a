/**
 * QUEUE_MODE=job: every request is a BullMQ job. The small sibling of buckets and their turns: what waits is seen in Bull Board job by
 * job, at five times the memory, and each worker keeps its own pace, as scrapy-redis's do.
 *
 *     queue ──► JobFetchLoop ──► JobLeases ──► LeaseDispatcher ──► engine
 *               (JobFetcher,     (host must                          │
 *       ▲        BullMQ)          wait) │ too many                   │
 *       └─────────── JobScripts ◄───────┴────────────────────────────┘  commit, retry, requeue, reject
 *                        ▲
 *                     JobMaintenance   keeps leases, finds those of workers that are gone
 *
 * Jobs are taken when the engine asks for more than lies ready; all that is taken is leased, until it is ended.
 *
 * What a crash leaves behind, and what it costs:
 *
 *     taken, not ended        the lock expires in 6 s, any worker reclaims the job within 2 s more: it is a suspect
 *     page committed          children are in and the page is out, in one script; a reply that is lost is no loss
 *     between two parts of    each part is pushed under an asker of its own, noted until it is settled: pushed again, it
 *     a long page             adds nothing
 *     stopped, then woken     its locks have expired, its jobs are others': commits are refused by the token
 *     Redis away              the living renew locks that have expired before anything is reclaimed
 *     reply of a take lost    nobody here knows of the job: as if its worker had died, it runs again, alone, 6 s later
 *
 * Before a suspect runs alone, all else that this worker has goes back to the queue, for others, unless something is out that does
 * not end. When it dies, only what it ran alone is to blame; a job that it had just taken is innocent, as `alone` says.
 *
 * Limits: hosts do not take turns, as BullMQ's order knows no hosts; a host that must wait costs each of its requests one
 * take more (see host-backlog.ts), and what is parked counts as delayed; with Redis at its maxmemory nothing more is taken.
 *
 * Not chosen: BullMQ's worker with a processor, whose promise `commit` resolves: it takes as many jobs as its concurrency,
 * wanted or not, and ends them after the effects, so that a page handed on twice is found out too late. And its stalled
 * check: it says neither who had a job nor what else that worker had.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CommitOptions,
  type GivenUp,
  type HostClock,
  type HostNews,
  type HostOrders,
  type Lease,
  type Logger,
  PROTOCOL_TIMES,
  type ProtocolTimes,
  type QueueCounts,
  type QueuedRequest,
  type QueuedSlot,
  type QueueOrder,
  type Request,
  type RequestQueue,
  type RetryWhen,
  type StartRequest,
  silentLogger,
  waitAtMost,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import { failureText, newFailure } from '../failures/failed-entry.ts'
import { RedisFailures, type Retried } from '../failures/redis-failures.ts'
import { Doubts } from '../leasing/doubts.ts'
import type { GivingUp } from '../leasing/giving-up.ts'
import { LeaseDispatcher } from '../leasing/lease-dispatcher.ts'
import { LeftToOthers } from '../leasing/left-to-others.ts'
import {
  jsonOf,
  type PackedTries,
  packRequest,
  UNTRIED,
  unpackRequest,
  withTries,
} from '../leasing/packed-request.ts'
import { nobodyCanDo } from '../leasing/rejections.ts'
import { KEPT_BY_NOBODY, type LockKeeper } from '../locks/lock-keeper.ts'
import { type HostSlots, SLOTS_BY_HOST } from '../politeness/host-slots.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { bullJob, bullPriority, jobOrDoubt } from './bull-job.ts'
import { JobFetchLoop, type Received } from './job-fetch-loop.ts'
import { JobFetcher, type TakenJob, textOf } from './job-fetcher.ts'
import type { JobHold, JobLease, TakenRequest } from './job-lease.ts'
import { JobLeases } from './job-leases.ts'
import { JobMaintenance } from './job-maintenance.ts'
import { JobScripts, type NewJob } from './job-scripts.ts'

export interface BullJobQueueOptions {
  /** Opened and closed by whoever gives it. Two more connections are made of it. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  /** The same in all parts of this process, and in no other process. */
  readonly workerId: string
  /** Keeps leases while a callback blocks the event loop. Absent: they are lost after some seconds. */
  readonly keeper?: LockKeeper
  /** The hosts' pace as this worker keeps it; each worker has its own. */
  readonly clock: HostClock
  readonly slots?: HostSlots
  readonly order?: QueueOrder
  /** CONCURRENT_REQUESTS; 0: no bound. */
  readonly concurrency?: number
  readonly givingUp?: GivingUp
  /** False when no link of another worker is in doubt. Default: there may be one, and Redis is asked each time. */
  readonly mayDoubt?: () => boolean
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
  readonly logger?: Logger
}

/** How many requests are stored in one step. */
const MAX_REQUESTS_PER_PUSH = 500
const CLOSE_MS_MAX = 2000

export class BullJobQueue implements RequestQueue {
  readonly #order: QueueOrder
  readonly #rejectedMs: number
  readonly #leftToOthers: LeftToOthers
  readonly #logger: Logger
  readonly #scripts: JobScripts
  readonly #place: Required<Pick<BullJobQueueOptions, 'redis' | 'keys' | 'workerId' | 'times'>>
  readonly #fetchLoop: JobFetchLoop
  readonly #maintenance: JobMaintenance
  readonly #dispatcher: LeaseDispatcher<JobLease>
  readonly #leases: JobLeases
  readonly #closing = new AbortController()
  readonly doubts: Doubts
  readonly failures: RedisFailures
  readonly #givingUp: GivingUp

  constructor(options: BullJobQueueOptions) {
    const { redis, keys, workerId, concurrency = 0, logger = silentLogger, times = PROTOCOL_TIMES } = options
    const { givingUp = {} } = options
    this.#order = options.order ?? 'priority'
    this.#rejectedMs = givingUp.rejectedMs ?? times.jobs.rejectedMs
    this.#leftToOthers = new LeftToOthers(times.jobs.othersFirstMs)
    this.#logger = logger
    this.#place = { redis, keys, workerId, times }
    this.#scripts = new JobScripts({ ...this.#place, order: this.#order })
    this.doubts = new Doubts({
      ...this.#place,
      logger,
      ...(options.mayDoubt && { mayDoubt: options.mayDoubt }),
      end: (args, fresh) => this.#endDoubts(args, fresh),
    })
    this.failures = new RedisFailures({ redis, keys, retry: (retried) => this.#retryFailed(retried) })
    this.#givingUp = givingUp
    this.#dispatcher = new LeaseDispatcher<JobLease>({
      waitMsMax: times.engine.leaseWaitMaxMs,
      patienceMs: times.engine.suspectPatienceMs,
      onAlone: ({ request: { url } }, words) => logger.info({ url }, words),
      beginAlone: (lease) => this.#beginAlone(lease),
      // What has ended took the note along; this is for one that was lost.
      endAlone: () => this.#scripts.endAlone(),
    })
    this.#leases = new JobLeases({
      clock: options.clock,
      slots: options.slots ?? SLOTS_BY_HOST,
      order: this.#order,
      concurrency,
      locks: options.keeper?.locks(this.#scripts.renewal()) ?? KEPT_BY_NOBODY,
      dispatcher: this.#dispatcher,
    })
    this.#fetchLoop = new JobFetchLoop({
      fetcher: new JobFetcher({ ...this.#place, logger }),
      times,
      logger,
      demand: () => this.#dispatcher.demand,
      places: () => this.#leases.places,
      receive: (taken, lockedUntilMs) => this.#receive(taken, lockedUntilMs),
    })
    this.#maintenance = new JobMaintenance({
      scripts: this.#scripts,
      leases: this.#leases.byJob,
      quarantineAfter: givingUp.quarantineAfter ?? 3,
      times,
      logger,
      onLost: (lease, why) => this.#leases.lose(lease, why),
      requeue: (lease) => this.#requeueHeld(lease),
    })
    this.#dispatcher.onDemand(() => this.#fetchLoop.wake())
  }

  async open(): Promise<void> {
    const { redis, keys } = this.#place
    this.#scripts.run = (await redis.hget(keys.record, 'run')) ?? ''
    await this.#fetchLoop.open()
    this.#maintenance.open()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#maintenance.close()
    this.#dispatcher.close()
    await this.#fetchLoop.close()
    const unended = this.#leases.close()
    await waitAtMost(CLOSE_MS_MAX, Promise.allSettled(unended.map((lease) => this.#requeueHeld(lease))))
  }

  async clear(): Promise<void> {
    await this.#scripts.clear()
    await this.#maintenance.renewAll()
    this.#dispatcher.recheck()
  }

  describe(): { readonly name: string; readonly order: QueueOrder } {
    return { name: 'bullmq-job', order: this.#order }
  }

  async push(batch: readonly QueuedRequest[], asker: string): Promise<number> {
    const jobs = batch.map((queued) => jobOrDoubt(queued, this.#order))
    this.doubts.noted(batch)
    if (asker.startsWith('start/') || jobs.length <= MAX_REQUESTS_PER_PUSH)
      return this.#scripts.push(jobs, asker)
    let added = 0
    for (let at = 0; at < jobs.length; at += MAX_REQUESTS_PER_PUSH) {
      added += await this.#scripts.push(jobs.slice(at, at + MAX_REQUESTS_PER_PUSH), asker)
    }
    return added
  }

  async pushStart(batch: readonly StartRequest[], from: number, to: number): Promise<number> {
    const jobs = batch.map((queued) => ({ job: jobOrDoubt(queued, this.#order), element: queued.element }))
    this.doubts.noted(batch)
    return this.#scripts.pushStart(jobs, { from, to })
  }

  async settled(asker: string): Promise<void> {
    await this.#scripts.settled(asker)
  }

  async lease(max: number, signal?: AbortSignal): Promise<Lease[]> {
    try {
      const leases = await this.#dispatcher.take(max, signal, () => this.isEmpty())
      this.#leases.handOut(leases)
      return await this.#maintenance.confirmed(leases, signal)
    } catch (error) {
      this.#logger.warn({ err: error }, 'the queue’s Redis refused to hand out requests; asking again')
      await sleep(this.#place.times.jobs.errorPauseMs, undefined, { signal: this.#closing.signal }).catch(
        () => {},
      )
      return []
    }
  }

  confirm(lease: Lease): (() => Promise<void>) | undefined {
    const held = this.#leases.byJob.get((lease as JobLease).jobId)
    lease.signal.throwIfAborted()
    if (held !== lease || performance.now() < held.lockedUntilMs) return undefined
    return async () => {
      await this.#maintenance.confirm([held])
      lease.signal.throwIfAborted()
    }
  }

  async commit(lease: Lease, { children = [], host, failure }: CommitOptions = {}): Promise<void> {
    const jobs: NewJob[] = children.map((child) => jobOrDoubt(child, this.#order))
    await this.#leases.end(lease, async (held) => {
      if (host) this.#leases.learn(lease.slot, host)
      if (failure) jobs.push(...this.#failed(held, failure))
      const withHistory = held.tries === UNTRIED ? undefined : held.id
      const trimmed = await this.#scripts.commit(held.hold, jobs, withHistory)
      if (trimmed) this.#givingUp.onTrimmed?.(trimmed)
      return trimmed !== false
    })
    this.doubts.noted(children)
    if (failure?.snapshot) void this.failures.keepSnapshot(failure).catch(() => {})
  }

  /** A failure travels as children do, in the step that ends the page. */
  #failed(held: JobLease, failure: GivenUp): NewJob[] {
    const { failedMax = 0 } = this.#givingUp
    if (failedMax === 0) return []
    const entry = newFailure(held, failure, { worker: this.#place.workerId, json: jsonOf(held.text) })
    return [['', failureText(entry, failedMax), 'failed']]
  }

  async #retryFailed(retried: readonly Retried[]): Promise<readonly string[] | 'ended'> {
    const queued = await this.#scripts.retryFailed(
      retried.map(({ id, key, request }) => ({ id, key, job: bullJob({ id, request }, this.#order) })),
    )
    this.#dispatcher.recheck()
    return queued
  }

  async retry(lease: Lease, request: Request, when: RetryWhen, host?: HostNews): Promise<void> {
    await this.#leases.end(lease, (held) => {
      if (host) this.#leases.learn(lease.slot, host)
      const { attempt, kills } = held.tries
      return this.#scripts.requeue({
        ...held.hold,
        text: packRequest({ id: held.id, request }, { attempt, kills }),
        bullPriority: bullPriority(request, this.#order),
        when,
      })
    })
  }

  async requeue(lease: Lease): Promise<void> {
    await this.#leases.end(lease, (held) =>
      this.#scripts.requeue({
        ...held.hold,
        ...(held.tries.rejections > 0 && { text: withTries(held.text, { rejections: 0 }) }),
        when: 'first',
      }),
    )
  }

  reject(lease: Lease, reason: string): Promise<boolean> {
    return this.#leases
      .end(lease, (held) => this.#rejectJob(held, { ...held.hold, reason }))
      .then(() => false)
  }

  counts(): Promise<QueueCounts> {
    return this.#scripts.counts()
  }

  /** Each request has a priority of its own here, so a boost changes nothing. What lies delayed in BullMQ as its host was paused stays there until its time has come (host-backlog.ts), when the order is taken back, too. */
  async steer(orders: HostOrders): Promise<void> {
    this.#leases.steer(orders)
  }

  mostQueued(most: number): readonly QueuedSlot[] {
    return this.#leases.mostQueued(most)
  }

  async isEmpty(): Promise<boolean> {
    if (this.#leases.byJob.size > 0) return false
    const { waiting, delayed, leased } = await this.counts()
    return waiting + delayed + leased === 0
  }

  async #endDoubts(
    args: readonly (string | number)[],
    requests: readonly QueuedRequest[],
  ): Promise<string[]> {
    const fresh = requests.map((queued) => ({ id: queued.id, job: bullJob(queued, this.#order) }))
    const queued = await this.#scripts.endDoubts(args, fresh)
    this.#dispatcher.recheck()
    return queued
  }

  /** Makes ready the requests that may go, holds a few of those that must wait, and puts the others back. */
  async #receive(taken: readonly TakenJob[], lockedUntilMs: number): Promise<Received> {
    const back: Promise<unknown>[] = []
    const left: number[] = []
    const readable: TakenRequest[] = []
    for (const job of taken) {
      const text = textOf(job)
      const { id, tries, request, unreadable } = unpackRequest(text)
      const leftMs = this.#leftToOthers.waitMs(id)
      if (leftMs > 0) {
        left.push(leftMs)
        back.push(this.#scripts.requeue({ ...job, when: 'first' }))
      } else if (request) {
        readable.push({ ...job, id, tries, request, text })
      } else {
        this.#logger.warn({ id, reason: unreadable }, 'rejected: this release cannot read it')
        back.push(this.#rejectJob({ id, tries, text }, { ...job, reason: unreadable }))
      }
    }
    const slots = await this.#leases.hold(readable, lockedUntilMs)
    let going = 0
    for (const slot of slots) {
      going += this.#leases.ready(slot)
      for (const { item, delayMs } of this.#leases.overflow(slot)) back.push(this.#requeueHeld(item, delayMs))
    }
    await Promise.all(back)
    return { going, restMs: left.length === taken.length ? Math.max(0, ...left) : 0 }
  }

  /** Requeues all other requests of this worker first: if it dies now, only the suspect can be to blame. */
  async #beginAlone(suspect: JobLease): Promise<void> {
    await Promise.all(this.#leases.besides(suspect).map((lease) => this.#requeueHeld(lease)))
    await this.#scripts.beginAlone(suspect.id)
  }

  /** Requeues a request that was not tried: at the head of its line, or after `delayMs`. */
  async #requeueHeld(lease: JobLease, delayMs?: number): Promise<void> {
    const { hold } = lease
    // Closed while it was handed out, it may have been fetched.
    const wasTried = lease.isOut && { text: withTries(lease.text, { attempt: Math.max(2, lease.attempt) }) }
    lease.isEnding = true
    this.#leases.forget(lease)
    await this.#scripts.requeue({ ...hold, ...wasTried, when: delayMs ?? 'first' })
  }

  /** Puts the request back for another worker, after a while; quarantines it after too many rejections. False when the lease is lost. */
  async #rejectJob(
    { id, tries, text }: { id: string; tries: PackedTries; text: string },
    { reason, ...hold }: JobHold & { reason: string },
  ): Promise<boolean> {
    const rejections = tries.rejections + 1
    this.#leftToOthers.rejected(id)
    if (await nobodyCanDo({ ...this.#place, id, rejections }))
      return this.#scripts.quarantine(hold, { id, text, reason })
    return this.#scripts.requeue({
      ...hold,
      text: withTries(text, { rejections, suspect: false }),
      when: this.#rejectedMs,
      event: { id, what: `the worker gave it back: ${reason}` },
    })
  }
}
