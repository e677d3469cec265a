/**
 * The queue's Redis comes back with an older state in mid-crawl, killed and started with an older file, or as a
 * replica that lagged. Here nothing else forgets: what is lost or fetched twice is the queue's doing.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type HostPace,
  type Lease,
  type QueuedRequest,
  Request,
  type RequestQueue,
  scaledTimes,
} from '@webloom/core'
import {
  InUse,
  inFull,
  MachineLag,
  type RedisServer,
  startRedis,
  startTcpProxy,
  type TcpProxy,
} from '@webloom/testkit'
import { Redis } from 'ioredis'
import { describe, expect, test, vi } from 'vitest'
import { BullJobQueue } from '../jobs/bull-job-queue.ts'
import { MemoryHostClock } from '../politeness/memory-host-clock.ts'
import { crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { BucketQueue } from './bucket-queue.ts'

/** A lock lasts 1.2 s, and is renewed every 0.4 s. */
const TIMES = scaledTimes(0.2)
/** Two renewals, and what a busy machine adds. */
const GOES_ON_MS = 2 * TIMES.turns.renewEveryMs + 2000
/** What is downloaded at once by each worker. */
const AT_ONCE = 4

type Mode = 'turns' | 'job'

/** A tree of pages: page n links to 2n + 1 and 2n + 2, and is on host n mod `hosts`. Asked twice, it answers the same. */
class Tree {
  readonly pages: number
  readonly #hosts: number
  readonly #fetched = new Map<string, number>()

  constructor({ pages, hosts }: { pages: number; hosts: number }) {
    this.pages = pages
    this.#hosts = hosts
  }

  /** How many pages were fetched at least once. */
  get met(): number {
    return this.#fetched.size
  }

  get fetches(): number {
    return [...this.#fetched.values()].reduce((sum, times) => sum + times, 0)
  }

  page(n: number): QueuedRequest {
    return { id: String(n), request: new Request(`http://h${n % this.#hosts}.test/${n}`) }
  }

  fetch({ id }: Lease): QueuedRequest[] {
    this.#fetched.set(id, (this.#fetched.get(id) ?? 0) + 1)
    const children = [2 * Number(id) + 1, 2 * Number(id) + 2]
    return children.filter((n) => n < this.pages).map((n) => this.page(n))
  }
}

/** A Redis behind a proxy that has an older state when it comes back. */
interface Server extends AsyncDisposable {
  readonly proxy: TcpProxy
  /** The state that it will have. */
  remember(): Promise<void>
  goBack(): Promise<void>
}

async function restarted(): Promise<Server> {
  await using used = new InUse()
  const redis = used.use(await startRedis({ appendonly: 'everysec' }))
  const proxy = used.use(await startTcpProxy({ target: redis.url }))
  const own = used.move()
  return {
    proxy,
    remember: () => redis.remember(),
    goBack: () => redis.setBack(),
    [Symbol.asyncDispose]: () => own.close(),
  }
}

async function replaced(): Promise<Server> {
  await using used = new InUse()
  // By default a server waits five seconds for further replicas before it sends its data.
  const first = used.use(await startRedis({ config: { 'repl-diskless-sync-delay': '0' } }))
  const second = used.use(await startRedis())
  await second.command('REPLICAOF', first.host, first.port)
  const proxy = used.use(await startTcpProxy({ target: first.url }))
  const own = used.move()
  return {
    proxy,
    remember: () => cutOffWhenLevel(first, second),
    goBack: async () => {
      proxy.retarget(second.url)
      await first.kill()
    },
    [Symbol.asyncDispose]: () => own.close(),
  }
}

/** From now on the replica hears of nothing; its clients are to come later. */
async function cutOffWhenLevel(first: RedisServer, second: RedisServer): Promise<void> {
  await first.command('SET', 'level', 1)
  await vi.waitFor(async () => expect(await second.command('GET', 'level')).toBe('1'), POLL)
  await second.command('REPLICAOF', 'NO', 'ONE')
}

interface CrawlOptions {
  readonly mode: Mode
  readonly server: () => Promise<Server>
  readonly workers?: number
  readonly hosts?: number
  readonly pages?: number
  readonly pace?: Partial<HostPace>
  readonly fetchMs?: number
}

/** Crawls a tree, and sets Redis back by half a second on the way. */
async function crawlSetBack(options: CrawlOptions) {
  const { mode, workers = 1, hosts = 1, pages = 250, fetchMs = 20 } = options
  await using used = new InUse()
  const server = used.use(await options.server())
  const ending = new AbortController()
  const tree = new Tree({ pages, hosts })
  const pace = { delayMs: 0, concurrency: AT_ONCE, randomize: false, ...options.pace }
  const keys = crawlRedisKeys({ spider: 'set-back', crawlId: null })
  const queues: RequestQueue[] = []
  for (let n = 1; n <= workers; n++) {
    const redis = new Redis(server.proxy.url, { maxRetriesPerRequest: null, retryStrategy: () => 50 })
    redis.on('error', () => {})
    used.defer(() => redis.disconnect())
    const common = { redis, keys, workerId: `test:${n}`, concurrency: AT_ONCE, times: TIMES }
    const queue =
      mode === 'turns'
        ? new BucketQueue({ ...common, hosts: { pace: () => pace } })
        : new BullJobQueue({ ...common, clock: new MemoryHostClock({ pace }) })
    used.defer(() => queue.close())
    await queue.open()
    queues.push(queue)
  }
  used.defer(() => ending.abort())
  await queues[0]!.push([tree.page(0)], 'start/0')
  const working = Promise.all(queues.map((queue) => work(queue, { tree, fetchMs, signal: ending.signal })))
  working.catch(() => {}) // It is awaited below, unless something fails before.
  await vi.waitFor(() => expect(tree.met).toBeGreaterThan(pages / 4), POLL)
  await server.remember()
  const before = tree.fetches
  // Waits: so much is lost.
  await sleep(500)
  await server.goBack()
  const wentBackAtMs = performance.now()
  using lag = new MachineLag()
  const known = tree.fetches
  expect(known).toBeGreaterThan(before)
  await vi.waitFor(() => expect(tree.fetches).toBeGreaterThan(known + workers * AT_ONCE), POLL)
  const goesOnAfterMs = performance.now() - wentBackAtMs - lag.ms
  await working
  // What was done in the time that is lost, and what was in hand before and after it.
  const repeatsMax = known - before + 2 * workers * AT_ONCE
  return { tree, goesOnAfterMs, repeatsMax, counts: await queues[0]!.counts() }
}

/** How far a crawl must come: no promise, so that a machine with much else to do may take long. */
const POLL = { interval: 5 }

/** A worker that crawls until nothing is left. */
async function work(
  queue: RequestQueue,
  { tree, fetchMs, signal }: { tree: Tree; fetchMs: number; signal: AbortSignal },
): Promise<void> {
  const busy = new Set<Promise<void>>()
  const visit = async (lease: Lease) => {
    lease.started()
    const children = tree.fetch(lease)
    // Waits: so long a page takes.
    await sleep(fetchMs)
    await queue.commit(lease, { children }).catch((error: { code?: string }) => {
      if (error.code !== 'WL_LEASE_LOST') throw error
    })
  }
  while (!signal.aborted) {
    if (busy.size >= AT_ONCE) await Promise.race(busy)
    for (const lease of await queue.lease(AT_ONCE - busy.size, signal)) {
      const visiting = visit(lease).finally(() => busy.delete(visiting))
      busy.add(visiting)
    }
    if (busy.size > 0) continue
    const { waiting, delayed, leased } = await queue.counts()
    if (waiting + delayed + leased === 0) return
  }
}

async function expectAll(options: CrawlOptions): Promise<number> {
  const { tree, counts, repeatsMax, goesOnAfterMs } = await crawlSetBack(options)
  expect(tree.met).toBe(tree.pages)
  expect(tree.fetches - tree.pages).toBeLessThanOrEqual(repeatsMax)
  expect(counts).toEqual({ waiting: 0, delayed: 0, leased: 0, quarantined: 0 })
  return goesOnAfterMs
}

type Crawl = 'one worker' | 'two workers' | 'job'
const CRAWLS: readonly Crawl[] = ['one worker', 'two workers', 'job']

describe.concurrent.each([
  {
    name: 'killed, and started with an older file',
    server: restarted,
    crawls: inFull(CRAWLS, ['one worker', 'job']),
  },
  { name: 'a replica that lagged takes over', server: replaced, crawls: inFull(CRAWLS, ['two workers']) },
])('Redis, $name', ({ server, crawls }) => {
  const testOf = (crawl: Crawl, name: string, run: () => Promise<void>) => {
    if (crawls.includes(crawl)) test(name, run, inFull<number>(600_000, 120_000))
  }

  testOf(
    'one worker',
    'one worker, one host: the crawl goes on within two renewals, and no page is lost',
    async () => {
      expect(await expectAll({ mode: 'turns', server })).toBeLessThan(GOES_ON_MS)
    },
  )

  testOf('two workers', 'two workers, hosts with a delay: no page is lost', async () => {
    const pace = { delayMs: 60 }
    await expectAll({ mode: 'turns', server, workers: 2, hosts: 12, pages: 400, pace, fetchMs: 10 })
  })

  testOf('job', 'QUEUE_MODE=job: no page is lost', async () => {
    // Enough pages that some are left when the older state comes back.
    await expectAll({ mode: 'job', server, workers: 2, hosts: 2, pages: 600 })
  })
})

test('whose links a worker had queued in the lost time is told, and of nobody else', async () => {
  await using server = await restarted()
  const redis = new Redis(server.proxy.url, { maxRetriesPerRequest: null, retryStrategy: () => 50 })
  redis.on('error', () => {})
  const pace = { delayMs: 0, concurrency: AT_ONCE, randomize: false }
  const queue = new BucketQueue({
    redis,
    keys: crawlRedisKeys({ spider: 'set-back', crawlId: null }),
    workerId: 'test:1',
    times: TIMES,
    hosts: { pace: () => pace },
  })
  await queue.open()
  const lost = Promise.withResolvers<readonly string[]>()
  queue.onAskersLost(lost.resolve)
  const tree = new Tree({ pages: 20, hosts: 1 })
  const next = async () => {
    for (;;) for (const lease of await queue.lease(1)) return lease
  }
  const fetchNext = async () => {
    const lease = await next()
    await queue.commit(lease, { children: tree.fetch(lease) })
    return lease.id
  }
  await queue.push([tree.page(0)], 'start/0')
  await fetchNext()
  await server.remember()
  const inVain = [await fetchNext(), await fetchNext()]
  await queue.push([tree.page(19)], 'start/1')
  await server.goBack()
  await fetchNext().catch(() => {})
  await fetchNext().catch(() => {})
  expect([...(await lost.promise)].sort()).toEqual([...inVain, 'start/1'].sort())
  await queue.close()
  redis.disconnect()
})
