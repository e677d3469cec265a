import {
  type HostPace,
  type Logger,
  type ProtocolTimes,
  type QueuedRequest,
  type QueueOrder,
  Request,
  type RequestInit,
  silentLogger,
} from '@webloom/core'
import { BullJobQueue } from '../src/jobs/bull-job-queue.ts'
import type { HostSlots } from '../src/politeness/host-slots.ts'
import { MemoryHostClock } from '../src/politeness/memory-host-clock.ts'
import type { CrawlRedisKeys } from '../src/redis/crawl-redis-keys.ts'
import { RedisBench } from './redis-bench.ts'

export interface JobQueueUnderTest {
  /** Absent: those of a crawl of its own. */
  readonly keys?: CrawlRedisKeys
  readonly workerId?: string
  readonly order?: QueueOrder
  readonly pace?: Partial<HostPace>
  readonly clock?: MemoryHostClock
  readonly slots?: HostSlots
  readonly url?: string
  readonly quarantineAfter?: number
  readonly failedMax?: number
  readonly onTrimmed?: (count: number) => void
  readonly logger?: Logger
  readonly times?: ProtocolTimes
  readonly mayDoubt?: () => boolean
}

/** Queues of QUEUE_MODE=job on one Redis. */
export class JobBench extends RedisBench {
  readonly #opened: BullJobQueue[] = []
  #workers = 0

  queue({
    keys,
    workerId,
    order = 'priority',
    pace,
    clock,
    slots,
    url,
    quarantineAfter,
    failedMax,
    onTrimmed,
    logger,
    times,
    mayDoubt,
  }: JobQueueUnderTest = {}) {
    return new BullJobQueue({
      redis: this.connect(url),
      keys: keys ?? this.nextKeys(),
      workerId: workerId ?? `test:${++this.#workers}`,
      clock:
        clock ?? new MemoryHostClock({ pace: { delayMs: 0, concurrency: 0, randomize: false, ...pace } }),
      ...(slots && { slots }),
      order,
      concurrency: 16,
      givingUp: {
        ...(quarantineAfter !== undefined && { quarantineAfter }),
        ...(failedMax !== undefined && { failedMax }),
        ...(onTrimmed && { onTrimmed }),
      },
      ...(logger && { logger }),
      ...(times && { times }),
      ...(mayDoubt && { mayDoubt }),
    })
  }

  /** A queue that `closeAll` closes. */
  async open(options: JobQueueUnderTest = {}): Promise<BullJobQueue> {
    const queue = this.queue(options)
    this.#opened.push(queue)
    await queue.open()
    return queue
  }

  /** Closes the queues that a test has opened. */
  async closeAll(): Promise<void> {
    for (const queue of this.#opened.splice(0)) await queue.close()
  }

  /** As if its worker had been silent for so long that all its locks have expired, and somebody had looked 3 s ago. */
  async expireLocks(keys: CrawlRedisKeys, workerId: string): Promise<void> {
    const redis = this.connect()
    for (const id of await redis.lrange(bullKey(keys, 'active'), 0, -1)) {
      if ((await redis.hget(bullKey(keys, id), 'pb')) === workerId)
        await redis.del(bullKey(keys, `${id}:lock`))
    }
    const [seconds] = await redis.time()
    await redis.set(bullKey(keys, 'stalled-check'), (Number(seconds) - 3) * 1000)
  }
}

/** A key of BullMQ's: a list, or a job by its id. */
export function bullKey(keys: CrawlRedisKeys, name: string): string {
  return `${keys.base}:${name}`
}

/** A page of one host, by its id. */
export const page = (id: string | number, init: RequestInit = {}): QueuedRequest => ({
  id: String(id),
  request: new Request(`http://a.test/${id}`, init),
})

export const pages = (count: number): QueuedRequest[] => Array.from({ length: count }, (_, n) => page(n))

export const ids = (leases: readonly { readonly id: string }[]): string[] => leases.map(({ id }) => id)

/** A logger that keeps what it is warned of. */
export function listeningLogger(): { readonly logger: Logger; readonly warned: readonly string[] } {
  const warned: string[] = []
  const warn = (...line: unknown[]) => void warned.push(JSON.stringify(line))
  return { warned, logger: { ...silentLogger, warn } }
}
