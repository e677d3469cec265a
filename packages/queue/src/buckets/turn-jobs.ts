/**
 * A turn as a BullMQ job: added, fetched, left, completed. A job carries no data; its id tells all,
 * `<unit>~<lane>~<generation>`: the unit is a bucket or a hot slot.
 *
 * Jobs are fetched one by one, when this worker wants another turn, and not by BullMQ's own loop: that would fetch as many
 * as it may, and a turn that a worker without room holds is kept from all others. So no processor can throw, and no job can
 * fail; a failed turn would strand its bucket. One worker looks for lost turns for all, see turn-maintenance.ts.
 *
 * BullMQ's connection for blocking calls is ours: BullMQ waits on it for up to ten seconds, longer than the given
 * connection takes a silent server to be alive.
 *
 * BullMQ is loaded when a queue opens, or adds its first job without being opened, as a command does that brings requests: that takes as
 * long as half of all else, and most commands and crawls need none.
 */

import { type Logger, NoAnswer, PassingSet, type ProtocolTimes, WebloomError, within } from '@webloom/core'
import type { Job, Queue, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import type { JobChanges, Wake } from '../frontier/turn-protocol.ts'
import { bullBackend, KEEPS_TRYING } from '../redis/bull-backend.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { tellHang } from '../redis/tell-hang.ts'

const CLOSE_MS_MAX = 2000
const EVENTS_MAX = 100
// BullMQ's priorities are 1 to 2 ** 21, lower first; 0 would go before all others.
const PRIORITY_MIDDLE = 2 ** 20
const PRIORITY_MAX = 2 ** 21
/** A delayed job's score is its time, with room for a counter. */
const BULL_SCORES_PER_MS = 0x1000

type BullMQ = typeof import('bullmq')

/** A turn that this worker may begin: it has the job's lock. */
export interface TurnJob {
  /** Its id in BullMQ. */
  readonly id: string
  readonly unit: string
  readonly lane: string
  readonly generation: string
  readonly lockToken: string
  /** When the lock ends, by the monotonic clock. */
  readonly lockedUntilMs: number
  readonly job: Job
}

/** Waits for turns in place of BullMQ, where a worker looks at several queues. */
export interface TurnWakes {
  /**
   * Resolves when there may be a turn that was not there when this was last called.
   *
   * @param due resolves to in how many milliseconds the first turn that is delayed may go; undefined: there is none
   */
  wait(due: Promise<number | undefined>): Promise<void>
  /** There is a turn for whoever waits, or there will be. */
  tell(): void
  /** Ends all waiting, now and from now on. */
  close(): void
}

export interface TurnJobsOptions {
  readonly redis: Redis
  readonly keys: Pick<CrawlRedisKeys, 'queueName' | 'bullPrefix'>
  readonly workerId: string
  readonly times: ProtocolTimes
  readonly logger: Logger
  readonly onWoken?: () => void
  /** Default: BullMQ waits, over a connection of its own. */
  readonly wakes?: TurnWakes
}

export class TurnJobs {
  readonly #options: TurnJobsOptions
  #bullmq: BullMQ | undefined
  #queue: Promise<Queue> | undefined
  #worker: Worker | undefined
  /** Calls to BullMQ that are under way. */
  readonly #telling = new PassingSet<Promise<void>>()
  #fetches = 0
  #isClosed = false

  constructor(options: TurnJobsOptions) {
    this.#options = options
  }

  async open(): Promise<void> {
    this.#bullmq = await import('bullmq')
    this.#worker = this.#newWorker()
    const queue = await this.#openQueue()
    await queue.waitUntilReady()
  }

  /**
   * Adds jobs, the most urgent first: the next worker that waits for a turn gets that one. Adding a job that is there
   * changes nothing.
   */
  async add(wakes: readonly Wake[]): Promise<void> {
    if (wakes.length === 0) return
    const sorted = [...wakes].sort((a, b) => b.priority - a.priority)
    const queue = await this.#openQueue()
    await queue.addBulk(
      sorted.map(({ job, priority }) => ({
        name: 'turn',
        data: {},
        opts: {
          jobId: job,
          priority: bullPriority(priority),
          removeOnComplete: true,
          removeOnFail: true,
          stackTraceLimit: 1,
        },
      })),
    )
    this.tellWaiting()
  }

  /** A script has put a turn there: who waits with BullMQ hears of that by itself. */
  tellWaiting(): void {
    this.#options.wakes?.tell()
  }

  /** Makes turns that wait in BullMQ more urgent. */
  async raise(wakes: readonly Wake[]): Promise<void> {
    const { backend } = await this.#openQueue()
    await Promise.all(wakes.map(({ job, priority }) => backend.changePriority(job, bullPriority(priority))))
  }

  /** Tells BullMQ which turns a script has woken or made more urgent. */
  changeJobs({ woken, raised }: JobChanges): void {
    if (woken.length > 0) this.tell(this.add(woken).then(this.#options.onWoken))
    if (raised.length > 0) this.tell(this.raise(raised))
  }

  /** Tracks a call that no caller waits for. If BullMQ does not get it, the sweep finds that. */
  tell(telling: Promise<void>): void {
    const told = telling
      .catch((error: unknown) => this.#options.logger.debug({ err: error }, 'BullMQ was not told of a turn'))
      .finally(() => this.#telling.delete(told))
    this.#telling.add(told)
  }

  /** Resolves when all calls to BullMQ have ended. */
  async drained(): Promise<void> {
    await Promise.all(this.#telling)
  }

  /**
   * Resolves to the next turn; to undefined when there is none, with `block` after some seconds. Rejects when the server
   * cannot.
   */
  async fetch({ block }: { block: boolean }): Promise<TurnJob | undefined> {
    const { wakes } = this.#options
    if (wakes && block) await wakes.wait(this.#dueInMs())
    return this.#fetch(block && !wakes)
  }

  /** In how many milliseconds the first turn that is delayed may go, by this machine's clock, which has set the delay. */
  async #dueInMs(): Promise<number | undefined> {
    const { redis, keys } = this.#options
    const delayed = `${keys.bullPrefix}:${keys.queueName}:delayed`
    const [, score] = await redis.zrange(delayed, '0', '0', 'WITHSCORES')
    return score === undefined ? undefined : Number(score) / BULL_SCORES_PER_MS - Date.now()
  }

  async #fetch(block: boolean): Promise<TurnJob | undefined> {
    const worker = this.#worker!
    const token = `${this.#options.workerId}/${++this.#fetches}`
    const fetching = worker.getNextJob(token, { block })
    // A turn that comes too late is left to others.
    void fetching
      .then((job) => (this.#isClosed ? job?.moveToDelayed(Date.now(), token) : undefined))
      .catch(() => {})
    try {
      const job = await within(this.#fetchMsMax, 'fetching a turn', fetching)
      return job && !this.#isClosed ? turnJob(job, this.#options.times.turns.lockMs) : undefined
    } catch (error) {
      if (!(error instanceof NoAnswer) || this.#isClosed) throw error
      this.#rebuild(worker, error)
      return undefined
    }
  }

  /** Completes the job: the turn is over. */
  async complete({ job, lockToken }: TurnJob): Promise<void> {
    await job.moveToCompleted(undefined, lockToken, false)
  }

  /** Leaves the turn to the next worker, in `ms` milliseconds; 0: behind all others that are as urgent. */
  async giveBack({ job, lockToken }: TurnJob, ms: number, priority?: number): Promise<void> {
    const wanted = priority === undefined ? job.priority : bullPriority(priority)
    if (wanted !== job.priority) await job.changePriority({ priority: wanted })
    await job.moveToDelayed(Date.now() + ms, lockToken)
    this.tellWaiting()
  }

  /** Closes within some seconds, whatever the server does. A fetch under way rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#options.wakes?.close()
    try {
      await within(
        CLOSE_MS_MAX,
        'closing BullMQ',
        Promise.all([this.#worker?.close(true), this.#queue?.then((queue) => queue.close())]),
      )
    } catch (error) {
      this.#onError(error as Error)
    }
  }

  /** A fetch that takes longer hangs: then a new BullMQ worker is made. */
  get #fetchMsMax(): number {
    return 2 * this.#options.times.turns.blockMsMax
  }

  #openQueue(): Promise<Queue> {
    this.#queue ??= this.#newQueue()
    return this.#queue
  }

  async #newQueue(): Promise<Queue> {
    const { redis, keys } = this.#options
    const bullmq = await import('bullmq')
    const queue = new bullmq.Queue(
      keys.queueName,
      { connection: redis, prefix: keys.bullPrefix, streams: { events: { maxLen: EVENTS_MAX } } },
      bullBackend(bullmq, keys.bullPrefix),
    )
    queue.on('error', (error) => this.#onError(error))
    return queue
  }

  #newWorker(): Worker {
    const { redis, keys, times, wakes } = this.#options
    const { lockMs, blockMsMax, blockLateMs } = times.turns
    const bullmq = this.#bullmq!
    const worker = new bullmq.Worker(
      keys.queueName,
      null,
      {
        connection: redis,
        prefix: keys.bullPrefix,
        lockDuration: lockMs,
        skipStalledCheck: true,
        drainDelay: blockMsMax / 1000,
      },
      bullBackend(
        bullmq,
        keys.bullPrefix,
        wakes
          ? undefined
          : (given, connectionName) =>
              given.duplicate({ ...KEEPS_TRYING, socketTimeout: blockMsMax + blockLateMs, connectionName }),
      ),
    )
    worker.on('error', (error) => this.#onError(error))
    return worker
  }

  #rebuild(old: Worker, error: NoAnswer): void {
    void tellHang(this.#options, error, 'BullMQ hangs; its worker is made anew')
    void old.close(true).catch(() => {})
    this.#worker = this.#newWorker()
  }

  #onError(error: Error): void {
    if (!this.#isClosed) this.#options.logger.debug({ err: error }, 'BullMQ')
  }
}

function turnJob(job: Job, lockMs: number): TurnJob {
  const id = job.id!
  const [, unit, lane, generation] = /^(.*)~(\d+)~(\d+)$/.exec(id) ?? []
  if (unit === undefined)
    throw new WebloomError(
      'WL_USAGE',
      `the job ${id} is not one of Webloom’s: another program has added it to this BullMQ queue. Remove it, and give that program a queue of its own`,
    )
  // The lock began when BullMQ sent the command, by this machine's clock.
  const lockedForMs = lockMs - Math.max(0, Date.now() - (job.processedOn ?? Date.now()))
  return {
    id,
    unit,
    lane: lane!,
    generation: generation!,
    lockToken: job.token!,
    lockedUntilMs: performance.now() + lockedForMs,
    job,
  }
}

function bullPriority(priority: number): number {
  return Math.min(PRIORITY_MAX, Math.max(1, PRIORITY_MIDDLE - Math.round(priority)))
}
