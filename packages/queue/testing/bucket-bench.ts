import {
  type HostPace,
  type Lease,
  type Logger,
  type ProtocolTimes,
  type QueuedRequest,
  type QueueOrder,
  Request,
  type RequestInit,
} from '@webloom/core'
import { BucketQueue } from '../src/buckets/bucket-queue.ts'
import type { BucketPoint } from '../src/buckets/queue-options.ts'
import type { HostSlots } from '../src/politeness/host-slots.ts'
import type { CrawlRedisKeys } from '../src/redis/crawl-redis-keys.ts'
import { RedisBench } from './redis-bench.ts'

export interface TurnQueueUnderTest {
  /** Absent: those of a crawl of its own. */
  readonly keys?: CrawlRedisKeys
  /** Absent: a name of its own. */
  readonly workerId?: string
  readonly order?: QueueOrder
  readonly pace?: Partial<HostPace>
  readonly url?: string
  readonly concurrency?: number
  readonly slots?: HostSlots
  readonly rejectedMs?: number
  readonly failedMax?: number
  readonly onTrimmed?: (count: number) => void
  readonly times?: ProtocolTimes
  readonly logger?: Logger
  readonly mayDoubt?: () => boolean
  /** Of a crawl that comes back to its pages. */
  readonly visits?: { readonly fingerprint: (request: Request) => string }
  readonly onPoint?: (name: BucketPoint) => void
  /** Of a command, which brings requests and takes none. */
  readonly isOutside?: boolean
}

/** Queues of QUEUE_MODE=turns on one Redis. */
export class BucketBench extends RedisBench {
  readonly #queues: BucketQueue[] = []
  #workers = 0

  override async stop(): Promise<void> {
    await Promise.all(this.#queues.map((queue) => queue.close()))
    await super.stop()
  }

  /** A worker's queue, open; a command opens none. */
  async queue(options: TurnQueueUnderTest = {}): Promise<BucketQueue> {
    const { keys = this.nextKeys(), order = 'priority', pace, url, slots, ...rest } = options
    const { rejectedMs, failedMax, onTrimmed, isOutside, ...given } = rest
    const queue = new BucketQueue({
      redis: this.connect(url),
      keys,
      workerId: `bench:${++this.#workers}:x`,
      order,
      hosts: {
        pace: () => ({ delayMs: 0, concurrency: 0, randomize: false, ...pace }),
        ...(slots && { slots }),
      },
      givingUp: {
        ...(rejectedMs !== undefined && { rejectedMs }),
        ...(failedMax !== undefined && { failedMax }),
        ...(onTrimmed && { onTrimmed }),
      },
      ...given,
    })
    this.#queues.push(queue)
    if (!isOutside) await queue.open()
    return queue
  }
}

export const page = (host: string, path: string | number, init: RequestInit = {}): QueuedRequest => ({
  id: `${host}/${path}`,
  request: new Request(`http://${host}.test/${path}`, init),
})

export const pages = (host: string, count: number): QueuedRequest[] =>
  Array.from({ length: count }, (_, n) => page(host, n))

export const ids = (leases: readonly { readonly id: string }[]): string[] => leases.map(({ id }) => id)

/** Does what is there, `concurrency` pages at once, until nothing can come any more. */
export async function crawl(
  queue: BucketQueue,
  concurrency: number,
  visit: (lease: Lease) => Promise<void>,
): Promise<void> {
  const busy = new Set<Promise<void>>()
  for (;;) {
    if (busy.size >= concurrency) {
      await Promise.race(busy)
      continue
    }
    const leases = await queue.lease(concurrency - busy.size)
    for (const lease of leases) {
      const visiting = visit(lease).finally(() => busy.delete(visiting))
      busy.add(visiting)
    }
    if (leases.length > 0 || busy.size > 0) continue
    const { waiting, delayed, leased } = await queue.counts()
    if (waiting + delayed + leased === 0) return
  }
}
