/**
 * Takes jobs from BullMQ by hand: its worker without a processor. It hands out in BullMQ's order, wakes when something is
 * added or due, and brings back what was delayed. Locks, ends and lost workers are not its business: see job-scripts.ts.
 */

import { type Logger, NoAnswer, type ProtocolTimes, silentLogger, waitAtMost, within } from '@webloom/core'
import type { Job, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { bullBackend, KEEPS_TRYING } from '../redis/bull-backend.ts'
import { BULL_PREFIX, type CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import type { JobHold } from './job-lease.ts'

/** A job that this worker has from now on. */
export interface TakenJob extends JobHold {
  /** Whatever the job holds: the packed request, unless somebody else has added it. */
  readonly data: unknown
}

/** A job that somebody else has put into the queue is treated as a request that cannot be read. */
export function textOf({ data, jobId }: TakenJob): string {
  return typeof data === 'string' ? data : `${jobId}\n\n${JSON.stringify(data)}`
}

/** BullMQ blocks for longer than `blockMs` when it knows that something is due later, but never for longer than this. */
const BLOCK_MS_MAX = 10_000
const CLOSE_MS_MAX = 2000
/** Asked for at once: more, while there are so many. */
const AT_ONCE_MIN = 2
const AT_ONCE_MAX = 64

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
  #atOnce = AT_ONCE_MIN

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
    // Most commands and crawls need none of it, and it takes long to load.
    this.#bullmq = await import('bullmq')
    this.#connect()
  }

  #connect(): void {
    const { lockMs, blockMs } = this.#times
    // One connection to take with, and a second one of it to wait with: longer than others may be silent.
    this.#connection = this.#redis.duplicate({
      ...KEEPS_TRYING,
      socketTimeout: BLOCK_MS_MAX + lockMs,
      maxRetriesPerRequest: null,
    })
    this.#connection.on('error', () => {}) // The crawl's own connection, to the same server, is the one that complains.
    this.#worker = new this.#bullmq!.Worker(
      this.#keys.queueName,
      null,
      {
        connection: this.#connection,
        prefix: BULL_PREFIX,
        autorun: false,
        // Kept with each job it takes: whose leases they are, when it dies.
        name: this.#workerId,
        lockDuration: lockMs,
        drainDelay: blockMs / 1000,
      },
      bullBackend(this.#bullmq!, (given, connectionName) =>
        given.duplicate({ connectionName: `${connectionName}:w:${this.#workerId}` }),
      ),
    )
    this.#worker.on('error', (error) => this.#logger.debug({ err: error }, 'BullMQ'))
  }

  /** Ends when the last take has. Afterwards there are none. */
  async close(lastTake: Promise<unknown> | undefined): Promise<void> {
    this.#isClosed = true
    await waitAtMost(CLOSE_MS_MAX, this.#worker?.close(true))
    await waitAtMost(CLOSE_MS_MAX, lastTake)
    this.#connection?.disconnect()
  }

  /** Up to `max` that wait at this moment. */
  async take(max: number): Promise<TakenJob[]> {
    const taken: TakenJob[] = []
    while (taken.length < max) {
      const asked = Math.min(this.#atOnce, max - taken.length)
      const { jobs, error } = await this.#takeAtOnce(asked)
      taken.push(...jobs)
      if (jobs.length < asked) {
        this.#atOnce = Math.max(AT_ONCE_MIN, jobs.length)
        // What was taken must not be forgotten for one that failed.
        if (error !== undefined && taken.length === 0) throw error
        break
      }
      if (asked === this.#atOnce) this.#atOnce = Math.min(AT_ONCE_MAX, 2 * asked)
    }
    return taken
  }

  /** Waits for one. Resolves to none after a while, which is long only when something is due by then. */
  async next(): Promise<TakenJob[]> {
    const job = await this.#nextJob(true)
    return job ? [job] : []
  }

  /** Each costs a script of BullMQ's, whether there is one or not. */
  async #takeAtOnce(count: number): Promise<{ jobs: TakenJob[]; error?: unknown }> {
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
      // One that comes after all is for others.
      fetching.then((job) => job?.moveToDelayed(Date.now(), token)).catch(() => {})
      if (this.#worker === worker) this.#rebuild(error)
      return undefined
    }
  }

  #rebuild(error: NoAnswer): void {
    this.#logger.warn({ err: error }, 'BullMQ hangs; its worker and its connections are made anew')
    const connection = this.#connection!
    void waitAtMost(CLOSE_MS_MAX, this.#worker!.close(true)).finally(() => connection.disconnect())
    this.#connect()
  }
}
