/**
 * Fetches jobs from BullMQ by hand, with a BullMQ worker that has no processor. The worker hands out jobs in BullMQ's order, wakes
 * when a job is added or due, and moves delayed jobs back to the queue. Locks, outcomes and lost workers are in job-scripts.ts.
 */

import {
  type Logger,
  NoAnswer,
  type ProtocolTimes,
  reconnectWith,
  silentLogger,
  waitAtMost,
  within,
} from '@webloom/core'
import type { Job, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { bullBackend, KEEPS_TRYING } from '../redis/bull-backend.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { tellHang } from '../redis/tell-hang.ts'
import type { JobHold } from './job-lease.ts'

/** A job that this worker has taken and holds. */
export interface TakenJob extends JobHold {
  /** The packed request; anything else when another program has added the job. */
  readonly data: unknown
}

/** Returns the packed request. A job that another program has added becomes a text that cannot be read as one. */
export function textOf({ data, jobId }: TakenJob): string {
  return typeof data === 'string' ? data : `${jobId}\n\n${JSON.stringify(data)}`
}

/** BullMQ blocks for longer than `blockMs` when it knows that a job is due later, but never for longer than this. */
const BLOCK_MS_MAX = 10_000
const CLOSE_MS_MAX = 2000
/** How many jobs are asked for at once: first few, and more while each call finds as many as it asked for. */
const MIN_JOBS_PER_CALL = 2
const MAX_JOBS_PER_CALL = 64

export class JobFetcher {
  readonly #redis: Redis
  readonly #keys: CrawlRedisKeys
  readonly #workerId: string
  readonly #times: ProtocolTimes['jobs']
  readonly #logger: Logger
  #bullmq: typeof import('bullmq') | undefined
  #connection: Redis | undefined
  #worker: Worker | undefined
  #isClosed = false
  #tokens = 0
  #jobsPerCall = MIN_JOBS_PER_CALL

  constructor(options: {
    redis: Redis
    keys: CrawlRedisKeys
    workerId: string
    times: ProtocolTimes
    logger?: Logger
  }) {
    this.#times = options.times.jobs
    this.#redis = options.redis
    this.#keys = options.keys
    this.#workerId = options.workerId
    this.#logger = options.logger ?? silentLogger
  }

  async open(): Promise<void> {
    // Loaded only here, as most commands and crawls do not need BullMQ, and loading takes long.
    this.#bullmq = await import('bullmq')
    this.#connect()
  }

  #connect(): void {
    const { lockMs, blockMs } = this.#times
    this.#connection = this.#redis.duplicate({ ...KEEPS_TRYING, maxRetriesPerRequest: null })
    reconnectWith(this.#redis, this.#connection)
    this.#connection.on('error', () => {}) // The crawl's own connection, to the same server, is the one that complains.
    this.#worker = new this.#bullmq!.Worker(
      this.#keys.queueName,
      null,
      {
        connection: this.#connection,
        prefix: this.#keys.bullPrefix,
        autorun: false,
        // Kept with each job it takes: whose leases they are, when it dies.
        name: this.#workerId,
        lockDuration: lockMs,
        drainDelay: blockMs / 1000,
      },
      bullBackend(this.#bullmq!, this.#keys.bullPrefix, (given, connectionName) =>
        given.duplicate({
          connectionName: `${connectionName}:w:${this.#workerId}`,
          // It waits, and so may be silent for longer than others.
          socketTimeout: BLOCK_MS_MAX + lockMs,
        }),
      ),
    )
    this.#worker.on('error', (error) => this.#logger.debug({ err: error }, 'BullMQ'))
  }

  /** Resolves when the last take has ended. No job is taken afterwards. */
  async close(lastTake: Promise<unknown> | undefined): Promise<void> {
    this.#isClosed = true
    await waitAtMost(CLOSE_MS_MAX, this.#worker?.close(true))
    await waitAtMost(CLOSE_MS_MAX, lastTake)
    this.#connection?.disconnect()
  }

  /** Resolves to up to `max` jobs that wait at this moment. */
  async take(max: number): Promise<TakenJob[]> {
    const taken: TakenJob[] = []
    while (taken.length < max) {
      const asked = Math.min(this.#jobsPerCall, max - taken.length)
      const { jobs, error } = await this.#takeInOneCall(asked)
      taken.push(...jobs)
      if (jobs.length < asked) {
        this.#jobsPerCall = Math.max(MIN_JOBS_PER_CALL, jobs.length)
        // Jobs that were taken must not be lost because another call failed.
        if (error !== undefined && taken.length === 0) throw error
        break
      }
      if (asked === this.#jobsPerCall) this.#jobsPerCall = Math.min(MAX_JOBS_PER_CALL, 2 * asked)
    }
    return taken
  }

  /** Waits for one job. Resolves to none after `blockMs`; later only when a job is due by then. */
  async next(): Promise<TakenJob[]> {
    const job = await this.#nextJob(true)
    return job ? [job] : []
  }

  /** Each call costs a script of BullMQ, whether it finds a job or not. */
  async #takeInOneCall(count: number): Promise<{ jobs: TakenJob[]; error?: unknown }> {
    const tries = await Promise.allSettled(Array.from({ length: count }, () => this.#nextJob(false)))
    const jobs = tries.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : []))
    const failed = tries.find((one) => one.status === 'rejected')
    return failed ? { jobs, error: failed.reason } : { jobs }
  }

  async #nextJob(block: boolean): Promise<TakenJob | undefined> {
    const token = `${this.#workerId}/${++this.#tokens}`
    const job = await this.#fetched(this.#worker!, token, block)
    return job && { jobId: job.id!, token, data: job.data, bullPriority: Math.max(1, job.priority) }
  }

  async #fetched(worker: Worker, token: string, block: boolean): Promise<Job | undefined> {
    const fetching: Promise<Job | undefined> = worker.getNextJob(token, { block })
    try {
      return await within(this.#times.fetchMsMax, 'fetching a request', fetching)
    } catch (error) {
      if (!(error instanceof NoAnswer) || this.#isClosed) throw error
      // A job that comes after all goes back for other workers.
      fetching.then((job) => job?.moveToDelayed(Date.now(), token)).catch(() => {})
      if (this.#worker === worker) this.#rebuild(error)
      return undefined
    }
  }

  #rebuild(error: NoAnswer): void {
    const told = { redis: this.#redis, keys: this.#keys, logger: this.#logger }
    void tellHang(told, error, 'BullMQ hangs; its worker and its connections are made anew')
    const connection = this.#connection!
    void waitAtMost(CLOSE_MS_MAX, this.#worker!.close(true)).finally(() => connection.disconnect())
    this.#connect()
  }
}
