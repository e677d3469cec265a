import { once } from 'node:events'
import { Request, type Seed, silentLogger } from '@webloom/core'
import { MachineLag } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { eventually, LEASE_MS, RIPE_MS, seedsOfFile, url, urls } from '../../testing/seeds-of-file.ts'

/** Longer than anything that a test waits for. */
const LONG_MS = 30_000

const place = seedsOfFile()
const { nextKey, connect, worker, deadWorkerTakes, push, invalid, come } = place

test('a list is read from the left, a set in any order, a sorted set from its highest score', async () => {
  nextKey()
  await push(url(1), url(2), url(3))
  const list = await worker()
  expect(urls(await list.source.next(2))).toEqual([url(1), url(2)])
  expect(urls(await list.source.next(2))).toEqual([url(3)])
  expect(await list.source.next(2)).toEqual([])

  await place.server.command('SADD', nextKey(), url(1), url(2))
  const set = await worker()
  expect(new Set(urls(await set.source.next(9)))).toEqual(new Set([url(1), url(2)]))

  await place.server.command('ZADD', nextKey(), 1, url(1), 30, url(30), 4, url(4))
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
    held.set(asker, await place.server.command('EXISTS', `{${place.key}}:processing`))
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
  expect(await place.server.command('KEYS', `{${place.key}}:processing`)).toEqual([])
  expect(await place.server.command('KEYS', `{${place.key}}:leases`)).toEqual([])
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
  // CommandNumber twice, it is still not the last one.
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
  expect(none).toMatchObject({
    data: 'nothing',
    reason: 'makeRequestFromData returned no request for it',
    worker: 'host:1:abc',
  })
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
  const entries = Array.from({ length: 10_000 }, (_, n) => JSON.stringify({ data: `bad-${n}` }))
  await place.server.command('RPUSH', `${place.key}:invalid`, ...entries)
  await push(...Array.from({ length: 200 }, (_, n) => `bad-${10_000 + n}`))
  const one = await worker({ batchSize: 1000 })
  await eventually(async () => {
    expect(await one.source.next(1000)).toEqual([])
    expect(await one.source.pending()).toBe(0)
  })
  const kept = await invalid()
  expect(kept).toHaveLength(10_000)
  expect(new Set(kept.map(({ data }) => data)).has('bad-10199')).toBe(true)
  expect(kept[0]).toEqual({ data: 'bad-200' })
})

test('a seed with a delay waits, and any worker takes it when its time has come, once', async () => {
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
  using lag = new MachineLag()
  let delayEnds = performance.now() + 1500
  for (const _death of [1, 2]) {
    const redis = connect()
    const dying = await worker({ makeRequests, redis, workerId: 'host:2:dead' })
    await come(dying, 1)
    redis.disconnect()
    // The lease, and not the delay after it.
    expect(performance.now()).toBeLessThan(delayEnds + 1200 + lag.ms)
    delayEnds = performance.now() + LEASE_MS
  }
  const other = await worker({ makeRequests })
  await come(other, 1)
  expect(performance.now()).toBeLessThan(delayEnds + 1200 + lag.ms)
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

test('close does not ask again what Redis has refused', async () => {
  nextKey()
  await push(url(1))
  let asked = 0
  const keptRunId = () => {
    asked++
    return Promise.reject(Object.assign(new Error('not let in any more'), { code: 'WL_REDIS_REFUSED' }))
  }
  const one = await worker({ leaseMs: 60_000, keptRunId })
  await one.queue(await one.source.next(9))
  // On a busy machine the source may have asked by itself.
  const before = asked
  await one.source.close()
  expect(asked).toBeGreaterThan(0)
  expect(asked - before).toBeLessThanOrEqual(1)
})

test('close does not wait for seeds that a Redis refuses which does not let the worker in any more', async () => {
  nextKey()
  await push(url(1))
  await place.server.command('ACL', 'SETUSER', 'leaver', 'on', '>pw', '~*', '&*', '+@all')
  const redis = connect(place.server.url.replace('://', '://leaver:pw@'))
  const one = await worker({ redis, leaseMs: 60_000, ripeMs: LONG_MS })
  await one.queue(await one.source.next(9))
  const lost = once(redis, 'close')
  await place.server.command('ACL', 'DELUSER', 'leaver')
  await lost
  const began = performance.now()
  await one.source.close()
  expect(performance.now() - began).toBeLessThan(LONG_MS)
  expect(await place.server.command('EXISTS', `{${place.key}}:processing`)).toBe(1)
})

test('close settles what is queued where Redis has refused to hold it, and does so no more', async () => {
  nextKey()
  await push(url(1))
  await place.server.command('ACL', 'SETUSER', 'loser', 'on', '>pw', '~*', '&*', '+@all')
  const redis = connect(place.server.url.replace('://', '://loser:pw@'))
  const refused = Promise.withResolvers<void>()
  const debug = (_fields: unknown, text?: string) => void (text?.includes('be held') && refused.resolve())
  const one = await worker({ redis, ripeMs: 4000, logger: { ...silentLogger, debug } })
  await one.queue(await one.source.next(9))
  await place.server.command('ACL', 'SETUSER', 'loser', '-zadd')
  await refused.promise
  await place.server.command('ACL', 'SETUSER', 'loser', '+zadd')
  await one.source.close()
  expect(await place.server.command('EXISTS', `{${place.key}}:processing`)).toBe(0)
})

test('a key that holds something else is refused before anything is crawled', async () => {
  await place.server.command('HSET', nextKey(), 'a', 'b')
  await expect(worker()).rejects.toThrow(
    `the key ${place.key} holds a hash; start URLs are a list, a set or a sorted set`,
  )
})

test('a key that becomes something else is refused in the same words, and serves again when it is a list', async () => {
  nextKey()
  const { source } = await worker()
  await place.server.command('HSET', place.key, 'a', 'b')
  await expect(source.next(9)).rejects.toThrow(`the key ${place.key} holds a hash; start URLs are a list`)
  await place.server.command('DEL', place.key)
  await push(url(1))
  expect(urls(await source.next(9))).toEqual([url(1)])
})

test('a key whose hash tag Redis Cluster could not read is refused', async () => {
  place.key = 'quotes}:start_urls'
  await expect(worker()).rejects.toThrow('without braces, or with one hash tag')
})
