import { MemoryStatsCollector, Request, type Seed, silentLogger } from '@webloom/core'
import { type RedisServer, startRedis, startTcpProxy } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { RedisSeedSource, type RedisSeedSourceOptions } from './redis-seed-source.ts'

/** Short, so that tests need not wait long. */
const LEASE_MS = 1000
const RIPE_MS = 400

let server: RedisServer
let key = ''
let keys = 0
const cleanups: (() => unknown)[] = []

beforeAll(async () => {
  server = await startRedis({ appendonly: 'always' })
})
afterAll(() => server.stop())
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const nextKey = () => {
  key = `spider${++keys}:start_urls`
  return key
}

function connect(url = server.url): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: null })
  redis.on('error', () => {})
  cleanups.push(() => redis.disconnect())
  return redis
}

interface Worker {
  readonly source: RedisSeedSource
  readonly stats: MemoryStatsCollector
  /** What the crawl does with a seed whose request it has queued. */
  readonly queue: (seeds: readonly Seed[]) => Promise<void>
  readonly redis: Redis
}

async function worker(options: Partial<RedisSeedSourceOptions> = {}): Promise<Worker> {
  const stats = new MemoryStatsCollector()
  const redis = options.redis ?? connect()
  const source = new RedisSeedSource({
    redis,
    key,
    batchSize: 100,
    workerId: 'host:1:abc',
    makeRequests: (data) => [new Request(data)],
    queueRunId: async () => 'run-1',
    settled: async () => {},
    logger: silentLogger,
    stats,
    leaseMs: LEASE_MS,
    ripeMs: RIPE_MS,
    ...options,
  })
  await source.open()
  cleanups.push(() => source.close())
  const queue = async (seeds: readonly Seed[]) => {
    for (const seed of seeds) await source.acknowledge(seed)
  }
  return { source, stats, queue, redis }
}

/** A worker that takes what there is and is never heard of again: its process was killed. */
async function deadWorkerTakes(): Promise<Seed[]> {
  const redis = connect()
  const { source } = await worker({ redis, workerId: 'host:2:dead' })
  const seeds = await source.next(100)
  redis.disconnect()
  return seeds
}

const url = (n: number) => `https://example.com/${n}`
const urls = (seeds: readonly Seed[]) => seeds.map(({ request }) => request.url)
const push = (...messages: (string | Buffer)[]) => server.command('RPUSH', key, ...messages)
const invalid = async () =>
  ((await server.command('LRANGE', `${key}:invalid`, 0, -1)) as string[]).map(
    (text) => JSON.parse(text) as Record<string, string>,
  )
const eventually = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 25_000, interval: 20 })
/** Asks again and again until the seeds are there. */
const come = async ({ source }: Worker, count: number): Promise<Seed[]> => {
  const seeds: Seed[] = []
  await eventually(async () => {
    seeds.push(...(await source.next(100)))
    expect(seeds.length).toBeGreaterThanOrEqual(count)
  })
  return seeds
}

test('a list is read from the left, a set in any order, a sorted set from its highest score', async () => {
  nextKey()
  await push(url(1), url(2), url(3))
  const list = await worker()
  expect(urls(await list.source.next(2))).toEqual([url(1), url(2)])
  expect(urls(await list.source.next(2))).toEqual([url(3)])
  expect(await list.source.next(2)).toEqual([])

  await server.command('SADD', nextKey(), url(1), url(2))
  const set = await worker()
  expect(new Set(urls(await set.source.next(9)))).toEqual(new Set([url(1), url(2)]))

  await server.command('ZADD', nextKey(), 1, url(1), 30, url(30), 4, url(4))
  const sorted = await worker()
  expect(urls(await sorted.source.next(2))).toEqual([url(30), url(4)])
  expect(urls(await sorted.source.next(2))).toEqual([url(1)])
})

test('no more is taken at once than the batch size, and two workers never take the same', async () => {
  nextKey()
  await push(...Array.from({ length: 50 }, (_, n) => url(n)))
  const [a, b] = [await worker({ batchSize: 7 }), await worker({ batchSize: 7 })]
  const taken = await Promise.all([a.source.next(64), b.source.next(64)])
  taken.push(await a.source.next(3))
  expect(taken.map(({ length }) => length)).toEqual([7, 7, 3])
  expect(new Set(taken.flat().map(({ id }) => id)).size).toBe(17)
  expect(new Set(taken.flatMap(urls)).size).toBe(17)
})

test('a message of a killed worker is handed out again under its id, by another worker', async () => {
  nextKey()
  await push(url(1))
  const [lost] = await deadWorkerTakes()
  const other = await worker()
  expect(await other.source.pending()).toBe(1)
  expect(await other.source.next(9)).toEqual([])
  const [again] = await come(other, 1)
  expect(again).toEqual(lost)
  expect(other.stats.get('seeds/redelivered')).toBe(1)
  expect(other.stats.get('seeds/taken')).toBeUndefined()
})

test('the queue keeps what it noted of a seed until its message is removed, and no longer', async () => {
  nextKey()
  await push(url(1))
  const held = new Map<string, unknown>()
  const settled = async (asker: string) => {
    held.set(asker, await server.command('EXISTS', `{${key}}:processing`))
  }
  const makeRequests = (data: string) => [new Request(data), new Request(`${data}/more`)]
  const one = await worker({ settled, makeRequests })
  const seeds = await one.source.next(9)
  await one.queue(seeds)
  expect(held.size).toBe(0)
  await eventually(async () => expect(held).toEqual(new Map(seeds.map(({ id }) => [id, 0]))))
})

test('a message that takes long stays with its worker', async () => {
  nextKey()
  await push(url(1))
  const slow = await worker()
  const [seed] = await slow.source.next(1)
  const other = await worker()
  const ends = performance.now() + 2.5 * LEASE_MS
  const taken: Seed[] = []
  await eventually(async () => {
    taken.push(...(await other.source.next(9)))
    expect(performance.now()).toBeGreaterThan(ends)
  })
  expect(taken).toEqual([])
  await slow.queue([seed!])
  await eventually(async () => expect(await other.source.pending()).toBe(0))
})

test('a message counts as pending until a crash of the queue’s Redis can no longer take its request back', async () => {
  nextKey()
  await push(url(1))
  const one = await worker()
  const seeds = await one.source.next(9)
  const queuedAt = performance.now()
  await one.queue(seeds)
  expect(await one.source.pending()).toBe(1)
  await eventually(async () => expect(await one.source.pending()).toBe(0))
  expect(performance.now() - queuedAt).toBeGreaterThanOrEqual(RIPE_MS)
  expect(one.stats.get('seeds/acknowledged')).toBe(1)
  expect(await server.command('KEYS', `{${key}}:processing`)).toEqual([])
  expect(await server.command('KEYS', `{${key}}:leases`)).toEqual([])
})

test('a queue’s Redis that was restarted gets its latest seeds again, and only then are they gone', async () => {
  nextKey()
  await push(url(1), url(2))
  let run = 'run-1'
  const one = await worker({ queueRunId: async () => run })
  const seeds = await one.source.next(9)
  await one.queue(seeds)
  run = 'run-2'
  const again = await come(one, 2)
  expect(again).toEqual(seeds)
  expect(await one.source.pending()).toBe(2)
  expect(one.stats.get('seeds/redelivered')).toBe(2)
  await one.queue(again)
  await eventually(async () => expect(await one.source.pending()).toBe(0))
})

test('a restart between the hand-out and the acknowledgement counts as well', async () => {
  nextKey()
  await push(url(1))
  let run = 'run-1'
  const one = await worker({ queueRunId: async () => run })
  const seeds = await one.source.next(9)
  // The request was queued in run 1, and the server came back without it before anybody could say so.
  run = 'run-2'
  await one.queue(seeds)
  expect(await come(one, 1)).toEqual(seeds)
})

test('a queue’s Redis that does not answer keeps the messages where they are', async () => {
  nextKey()
  await push(url(1))
  let isAway = true
  const one = await worker({
    queueRunId: async () => {
      if (isAway) throw new Error('no answer')
      return 'run-1'
    },
  })
  await expect(one.source.next(9)).rejects.toThrow('no answer')
  expect(await one.source.pending()).toBe(1)
  isAway = false
  expect(urls(await one.source.next(9))).toEqual([url(1)])
})

test('a message of several requests is one seed for each, and is done when all are', async () => {
  nextKey()
  await push('1 2 3')
  const one = await worker({
    makeRequests: (data) => data.split(' ').map((n) => new Request(url(Number(n)))),
  })
  const seeds = await one.source.next(1)
  expect(urls(seeds)).toEqual([url(1), url(2), url(3)])
  expect(new Set(seeds.map(({ id }) => id)).size).toBe(3)
  await one.queue(seeds.slice(0, 2))
  const ripe = performance.now() + 2 * RIPE_MS
  await eventually(async () => {
    expect(await one.source.pending()).toBe(1)
    expect(performance.now()).toBeGreaterThan(ripe)
  })
  // Said twice, it is still not the last one.
  await one.queue(seeds.slice(0, 2))
  expect(await one.source.pending()).toBe(1)
  await one.queue(seeds.slice(2))
  await eventually(async () => expect(await one.source.pending()).toBe(0))
})

test('a bad message goes to the invalid list with the reason, and the rest of its batch goes on', async () => {
  nextKey()
  await push(url(1), 'nothing', 'not a url', Buffer.from([0xff, 0x00, 0xfe]), url(2))
  const one = await worker({ makeRequests: (data) => (data === 'nothing' ? [] : [new Request(data)]) })
  expect(urls(await one.source.next(9))).toEqual([url(1), url(2)])
  await eventually(async () => expect(await invalid()).toHaveLength(3))
  const found = await invalid()
  const none = found.find(({ data }) => data === 'nothing')
  const bad = found.find(({ data }) => data === 'not a url')
  const bytes = found.find(({ base64 }) => base64)
  expect(none).toMatchObject({ data: 'nothing', reason: 'no request is made of it', worker: 'host:1:abc' })
  expect(bad).toMatchObject({ data: 'not a url', reason: expect.stringContaining('scheme') })
  expect(bytes).toMatchObject({ base64: '/wD+', reason: 'it is not UTF-8' })
  expect(Date.now() - Date.parse(none!.at!)).toBeLessThan(60_000)
  expect(one.stats.get('seeds/invalid')).toBe(3)
  expect(await one.source.pending()).toBe(2)
})

test('what the crawl cannot take is invalid; what else the message asked for is crawled', async () => {
  nextKey()
  await push('1', '2 3')
  const one = await worker({
    makeRequests: (data) => data.split(' ').map((n) => new Request(url(Number(n)))),
  })
  const [first, second, third] = await one.source.next(9)
  await one.source.reject(first!, 'no such callback')
  await one.source.reject(second!, 'no such errback')
  await one.queue([third!])
  await eventually(async () => expect(await one.source.pending()).toBe(0))
  expect((await invalid()).map(({ data, reason }) => [data, reason])).toEqual([
    ['1', 'no such callback'],
    ['2 3', 'no such errback'],
  ])
  expect(one.stats.get('seeds/acknowledged')).toBe(1)
})

test('the invalid list keeps the newest 10 000', async () => {
  nextKey()
  const messages = Array.from({ length: 10_200 }, (_, n) => `bad-${n}`)
  for (let from = 0; from < messages.length; from += 1000) await push(...messages.slice(from, from + 1000))
  const one = await worker({ batchSize: 1000 })
  await eventually(async () => {
    expect(await one.source.next(1000)).toEqual([])
    expect(await one.source.pending()).toBe(0)
  })
  const kept = await invalid()
  expect(kept).toHaveLength(10_000)
  expect(new Set(kept.map(({ data }) => data)).has('bad-10199')).toBe(true)
  expect(new Set(kept.map(({ data }) => data)).has('bad-0')).toBe(false)
})

test('a taking whose reply is lost loses nothing: its messages come when nobody has held them for a while', async () => {
  nextKey()
  await push(url(1), url(2), url(3))
  await using proxy = await startTcpProxy({ target: server.url })
  const one = await worker({ redis: connect(proxy.url), batchSize: 2 })
  // The script must be known, or what is cut is only the answer that it is not.
  await one.source.next(0)
  expect(await one.source.next(0)).toEqual([])
  const cut = proxy.cutReplyOf(([name, , , first]) => /^EVAL/.test(name!) && first === key)
  const first = await one.source.next(2)
  expect(cut.count).toBe(1)
  const rest = await come(one, 3 - first.length)
  expect(urls([...first, ...rest]).sort()).toEqual([url(1), url(2), url(3)])
  await one.queue([...first, ...rest])
  await eventually(async () => expect(await one.source.pending()).toBe(0))
})

test('a settling whose reply is lost puts nothing into the invalid list twice', async () => {
  nextKey()
  await push('bad')
  await using proxy = await startTcpProxy({ target: server.url })
  const one = await worker({ redis: connect(proxy.url) })
  const cut = proxy.cutReplyOf(
    ([name, , , first]) => /^EVAL/.test(name!) && first === `{${key}}:processing`,
    {
      times: 2,
    },
  )
  await one.source.next(9)
  await eventually(async () => expect(await one.source.pending()).toBe(0))
  expect(cut.count).toBe(2)
  expect(await invalid()).toHaveLength(1)
  await eventually(async () => expect(one.stats.get('seeds/invalid')).toBe(1))
})

test('a seeds’ Redis that is killed and comes back has lost nothing', async () => {
  nextKey()
  await push(url(1), url(2))
  const one = await worker()
  const [first] = await one.source.next(1)
  await server.kill()
  await server.restart()
  await one.queue([first!])
  const rest = await come(one, 1)
  expect(urls(rest)).toEqual([url(2)])
  await one.queue(rest)
  await eventually(async () => expect(await one.source.pending()).toBe(0))
})

test('a seed with a delay is laid aside, and any worker takes it when its time has come, once', async () => {
  nextKey()
  await push(url(1))
  const makeRequests = (data: string) => [new Request(data, { meta: { seed_delay: 1.2 } })]
  const one = await worker({ makeRequests })
  const takenAt = performance.now()
  expect(await one.source.next(9)).toEqual([])
  expect(await one.source.pending()).toBe(1)
  expect(one.stats.get('seeds/delayed')).toBe(1)
  await one.source.close()
  const other = await worker({ makeRequests })
  const seeds = await come(other, 1)
  expect(performance.now() - takenAt).toBeGreaterThan(1100)
  expect(urls(seeds)).toEqual([url(1)])
  expect(other.stats.get('seeds/redelivered')).toBeUndefined()
  await other.queue(seeds)
  await eventually(async () => expect(await other.source.pending()).toBe(0))
})

test('a delay is waited for once, however often the seed is handed out after it', async () => {
  nextKey()
  await push(url(1))
  const makeRequests = (data: string) => [new Request(data, { meta: { seed_delay: 1.5 } })]
  const waited = await worker({ makeRequests })
  await waited.source.next(9)
  let delayEnds = performance.now() + 1500
  for (const _death of [1, 2]) {
    const redis = connect()
    const dying = await worker({ makeRequests, redis, workerId: 'host:2:dead' })
    await come(dying, 1)
    redis.disconnect()
    // The lease, and not the delay after it.
    expect(performance.now()).toBeLessThan(delayEnds + 1200)
    delayEnds = performance.now() + LEASE_MS
  }
  const other = await worker({ makeRequests })
  await come(other, 1)
  expect(performance.now()).toBeLessThan(delayEnds + 1200)
  expect(other.stats.get('seeds/redelivered')).toBe(1)
})

test('close gives back at once what is not queued, and lets what is queued ripen', async () => {
  nextKey()
  await push(url(1), url(2))
  const one = await worker({ leaseMs: 60_000 })
  const [first] = await one.source.next(9)
  await one.queue([first!])
  await one.source.close()
  const other = await worker()
  expect(urls(await other.source.next(9))).toEqual([url(2)])
  expect(await other.source.pending()).toBe(1)
})

test('a key that holds something else is refused before anything is crawled', async () => {
  await server.command('HSET', nextKey(), 'a', 'b')
  await expect(worker()).rejects.toThrow(
    `the key ${key} holds a hash; start URLs are a list, a set or a sorted set`,
  )
})

test('a key whose hash tag Redis Cluster could not read is refused', async () => {
  key = 'quotes}:start_urls'
  await expect(worker()).rejects.toThrow('without braces, or with one hash tag')
})
