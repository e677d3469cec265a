/** A worker of the tests of host turns: crawls a tree of pages, without a network, and kills its process where it is told to. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Lease, Request, scaledTimes } from '@webloom/core'
import { Redis } from 'ioredis'
import { BucketQueue } from '../../src/buckets/bucket-queue.ts'
import type { BucketPoint } from '../../src/buckets/queue-options.ts'
import { crawlRedisKeys } from '../../src/redis/crawl-redis-keys.ts'

export interface TurnWorkerOptions {
  readonly url: string
  readonly spider: string
  readonly workerId: string
  /** Pages of the tree: page n links to 2n + 1 and 2n + 2. Page n is on host n mod `hosts`. */
  readonly pages: number
  readonly hosts: number
  readonly fetchMs?: number
  readonly delayMs?: number
  /** The delay of h0.test, which a setting names. */
  readonly ownDelayMs?: number
  readonly perHost?: number
  readonly concurrency?: number
  /** Kills itself when it comes by this point for the nth time, */
  readonly killAt?: BucketPoint | 'started'
  readonly nth?: number
  /** or at any point, with this likelihood, */
  readonly killRate?: number
  /** or when it starts one of these. */
  readonly poison?: readonly string[]
  /** Goes on when nothing can come any more. */
  readonly stays?: boolean
  /** Of the protocol's times. */
  readonly factor?: number
}

function die(): void {
  process.kill(process.pid, 'SIGKILL')
  // The signal is delivered before anything else can happen.
  for (;;);
}

/**
 * Until nothing can come any more. Says what it does, a line for each: `start <id> <attempt> <ms>`, `done <id>`, `lost <id>`, `over`.
 */
export async function crawlTree(options: TurnWorkerOptions, tell: (line: string) => void): Promise<void> {
  const { pages, hosts, fetchMs = 5, concurrency = 16, poison = [], killRate = 0 } = options
  let passed = 0

  function pass(point: BucketPoint | 'started'): void {
    if (options.killAt === point && ++passed === (options.nth ?? 1)) die()
    if (Math.random() < killRate) die()
  }

  const page = (n: number) => ({ id: `p${n}`, request: new Request(`http://h${n % hosts}.test/${n}`) })

  const redis = new Redis(options.url, { maxRetriesPerRequest: null, socketTimeout: 4000 })
  redis.on('error', () => {})
  const queue = new BucketQueue({
    redis,
    keys: crawlRedisKeys({ spider: options.spider, crawlId: null }),
    workerId: options.workerId,
    hosts: {
      pace: (slot) => ({
        delayMs: (slot === 'h0.test' ? options.ownDelayMs : undefined) ?? options.delayMs ?? 0,
        concurrency: options.perHost ?? 8,
        randomize: false,
      }),
      ...(options.ownDelayMs !== undefined && { namedSlots: ['h0.test'] }),
    },
    onPoint: pass,
    times: scaledTimes(options.factor ?? 1),
  })
  await queue.open()
  await queue.push([page(0)], 'start/0')
  tell('ready')

  let busy = 0
  const freed: (() => void)[] = []

  async function crawl(lease: Lease): Promise<void> {
    const n = Number(lease.id.slice(1))
    lease.started()
    tell(`start ${lease.id} ${lease.attempt} ${Date.now()}`)
    if (poison.includes(lease.id)) die()
    pass('started')
    // Waits: so long a page takes.
    await sleep(fetchMs)
    const children = [2 * n + 1, 2 * n + 2].filter((child) => child < pages).map(page)
    try {
      await queue.commit(lease, { children })
      tell(`done ${lease.id}`)
    } catch (error) {
      tell(`lost ${lease.id} ${lease.signal.aborted} ${(error as Error).message}`)
    }
  }

  for (;;) {
    if (busy >= concurrency) {
      await new Promise<void>((resolve) => freed.push(resolve))
      continue
    }
    const leases = await queue.lease(concurrency - busy)
    for (const lease of leases) {
      busy++
      void crawl(lease).finally(() => {
        busy--
        freed.shift()?.()
      })
    }
    if (leases.length > 0 || busy > 0) continue
    const { waiting, delayed, leased } = await queue.counts()
    if (waiting + delayed + leased === 0 && !options.stays) break
  }
  await queue.close()
  redis.disconnect()
  tell('over')
}
