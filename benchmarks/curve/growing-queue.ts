/** What a page costs the queue's Redis while more and more requests wait there, and what each of them weighs. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Lease, type QueuedRequest, Request } from '@webloom/core'
import { type RedisServer, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { BucketQueue } from '../../packages/queue/src/buckets/bucket-queue.ts'
import { crawlRedisKeys } from '../../packages/queue/src/redis/crawl-redis-keys.ts'
import { redisUse } from './redis-use.ts'

export interface QueuePoint {
  readonly hosts: number
  readonly queued: number
  readonly bytesPerRequest: number
  readonly microsPerPage: number
  readonly scriptsPerPage: number
  readonly pagesPerSecond: number
}

const IN_FLIGHT = 32
const FETCH_MS_MAX = 5
/** What the queue adds with one script, so that it needs no note of the ids. */
const MAX_REQUESTS_PER_PUSH = 500
const CONCURRENT_PUSHES = 10
/** Requests that are there, and pages crawled, before anything is measured: scripts, connections and BullMQ's own keys. */
const [WARM_REQUESTS, WARM_PAGES] = [64, 200]

/**
 * Fills one queue up to each of the sizes, smallest first, and at each crawls `sample` pages of it. Each page leads to one
 * more, of the host after the last one's, so that the queue stays as long as it is.
 */
export async function* growQueue(
  hosts: number,
  sizes: readonly number[],
  sample: number,
): AsyncGenerator<QueuePoint> {
  await using server = await startRedis()
  const pages = new PageStream(hosts)
  await fill(server, WARM_REQUESTS, pages)
  await crawlSample(server, WARM_PAGES, pages)
  const { bytes: warmBytes } = await redisUse(server)
  for (const queued of sizes) {
    await fill(server, queued, pages)
    const { bytes } = await redisUse(server)
    const bytesPerRequest = (bytes - warmBytes) / (queued - WARM_REQUESTS)
    yield { hosts, queued, bytesPerRequest, ...(await crawlSample(server, sample, pages)) }
  }
}

/** Requests of about 200 bytes, spread evenly over the hosts. */
class PageStream {
  readonly #hosts: number
  #made = 0
  #pushes = 0

  constructor(hosts: number) {
    this.#hosts = hosts
  }

  next(): QueuedRequest {
    const n = this.#made++
    return {
      id: n.toString(16).padStart(40, '0'),
      request: new Request(
        `https://host-${n % this.#hosts}.example/some/longer/path/to/a/page?number=${n}&of=them`,
        { callback: 'parseListing', meta: { depth: 3, from: 'a listing of some kind' } },
      ),
    }
  }

  /** A batch and its asker, as elements of `start()` have them: the cursor is the only note of what has been pushed. */
  nextPush(requests: number): [batch: QueuedRequest[], asker: string] {
    return [Array.from({ length: requests }, () => this.next()), `start/${this.#pushes++}`]
  }
}

/** Closed again at the end: by then BullMQ knows of every turn, and what was taken and not crawled is back. */
async function withQueue(server: RedisServer, use: (queue: BucketQueue) => Promise<void>): Promise<void> {
  const redis = new Redis(server.url, { maxRetriesPerRequest: null })
  const queue = new BucketQueue({
    redis,
    keys: crawlRedisKeys({ spider: 'curve', crawlId: null }),
    workerId: 'curve:1:x',
    hosts: { pace: () => ({ delayMs: 0, concurrency: 0, randomize: false }) },
  })
  await queue.open()
  await use(queue)
  await queue.close()
  redis.disconnect()
}

async function fill(server: RedisServer, queued: number, pages: PageStream): Promise<void> {
  await withQueue(server, async (queue) => {
    let missing = queued - (await queue.counts()).waiting
    while (missing > 0) {
      const pushes: Promise<number>[] = []
      for (; missing > 0 && pushes.length < CONCURRENT_PUSHES; missing -= MAX_REQUESTS_PER_PUSH)
        pushes.push(queue.push(...pages.nextPush(Math.min(missing, MAX_REQUESTS_PER_PUSH))))
      await Promise.all(pushes)
    }
    const { waiting } = await queue.counts()
    if (waiting !== queued) throw new Error(`${waiting} requests wait where ${queued} should`)
  })
}

async function crawlSample(
  server: RedisServer,
  sample: number,
  pages: PageStream,
): Promise<Pick<QueuePoint, 'microsPerPage' | 'scriptsPerPage' | 'pagesPerSecond'>> {
  const before = await redisUse(server)
  let tookMs = 0
  await withQueue(server, async (queue) => {
    const begunAtMs = performance.now()
    await crawl(queue, sample, async (lease) => {
      lease.started()
      await sleep(Math.random() * FETCH_MS_MAX)
      await queue.commit(lease, { children: [pages.next()] })
    })
    tookMs = performance.now() - begunAtMs
  })
  const after = await redisUse(server)
  return {
    microsPerPage: (after.micros - before.micros) / sample,
    scriptsPerPage: (after.scripts - before.scripts) / sample,
    pagesPerSecond: (1000 * sample) / tookMs,
  }
}

async function crawl(
  queue: BucketQueue,
  pages: number,
  visit: (lease: Lease) => Promise<void>,
): Promise<void> {
  const busy = new Set<Promise<void>>()
  for (let begun = 0; begun < pages; ) {
    if (busy.size === IN_FLIGHT) await Promise.race(busy)
    const room = Math.min(IN_FLIGHT - busy.size, pages - begun)
    for (const lease of await queue.lease(room)) {
      begun++
      const visiting = visit(lease).finally(() => busy.delete(visiting))
      busy.add(visiting)
    }
  }
  await Promise.all(busy)
}
