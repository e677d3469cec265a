import { type Logger, Request, silentLogger } from '@webloom/core'
import { dupeFilterContract } from '@webloom/core/contract'
import { startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { FilterBench, RUNNER } from '../../testing/filter-bench.ts'
import { isScript } from '../../testing/pages.ts'
import type { RedisDupeFilterOptions } from './redis-dupefilter-options.ts'
import { RedisKeyDupeFilter } from './redis-key-dupefilter.ts'
import { RedisSetDupeFilter } from './redis-set-dupefilter.ts'

const HOUR_MS = 3_600_000

const bench = new FilterBench()
const lasting = (ttlMs: number) => (options: RedisDupeFilterOptions) =>
  new RedisKeyDupeFilter({ ...options, ttlMs })
beforeAll(() => bench.start())
afterAll(() => bench.stop())

dupeFilterContract(RUNNER, { name: 'RedisKeyDupeFilter', ...bench.contract(lasting(HOUR_MS)) })

const page = (n: number, dedupTtl?: unknown) =>
  new Request(`https://example.com/page/${n}`, {
    ...(dedupTtl !== undefined && { meta: { dedupTtl: dedupTtl as never } }),
  })

/** The keys of what was seen, with the milliseconds they have left. */
async function lifetimes(key: string): Promise<Map<string, number>> {
  const redis = bench.connect()
  const found = new Map<string, number>()
  for (const name of await redis.keys(`{${key}}:met:*`)) found.set(name, await redis.pttl(name))
  return found
}

async function expired(key: string, left: number): Promise<void> {
  await vi.waitFor(async () => expect((await lifetimes(key)).size).toBe(left), {
    timeout: 5000,
    interval: 20,
  })
}

describe('lifetimes', () => {
  test('after DUPEFILTER_TTL a request is new again, for one asker', async () => {
    const key = bench.nextKey()
    const filter = await bench.open(lasting(300), { key })
    expect(await filter.requestsSeen([page(1)], 'page')).toEqual([false])
    await filter.settled('page')
    expect(await filter.requestsSeen([page(1)], 'other')).toEqual([true])
    await expired(key, 0)
    expect(await filter.has(page(1))).toBe(false)
    expect(await filter.requestsSeen([page(1)], 'other')).toEqual([false])
    expect(await filter.requestsSeen([page(1)], 'third')).toEqual(['in doubt'])
  })

  test('meta.dedupTtl, in seconds, comes first; one that makes no sense is said once', async () => {
    const key = bench.nextKey()
    const said: unknown[] = []
    const logger: Logger = { ...silentLogger, warn: (fields: unknown) => void said.push(fields) }
    const filter = await bench.open(lasting(HOUR_MS), { key, logger })
    await filter.requestsSeen([page(1), page(2, 60), page(3, '60'), page(4, -1), page(5, 86_400)], 'page')
    const left = [...(await lifetimes(key)).values()].sort((a, b) => a - b)
    expect(left[0]).toBeGreaterThan(50_000)
    expect(left[0]).toBeLessThanOrEqual(60_000)
    for (const ms of left.slice(1, 4)) expect(ms).toBeGreaterThan(HOUR_MS - 10_000)
    expect(left[4]).toBeGreaterThan(86_000_000)
    expect(said).toHaveLength(1)
  })

  test('an asker of what has expired holds it, whatever becomes of the page that was told before', async () => {
    const key = bench.nextKey()
    const [filter, other] = [
      await bench.open(lasting(200), { key }),
      await bench.open(lasting(HOUR_MS), { key }),
    ]
    await filter.requestsSeen([page(1)], 'first')
    await expired(key, 0)
    expect(await other.requestsSeen([page(1)], 'next')).toEqual([false])
    // The first page runs again elsewhere, yields something else, and is settled: what it no longer yields is un-marked.
    await other.requestsSeen([page(7)], 'first')
    await other.settled('first')
    expect(await other.requestsSeen([page(1), page(7)], 'third')).toEqual(['in doubt', true])
    expect(await other.requestsSeen([page(1)], 'next'), 'told so again').toEqual([false])
  })

  test('asking again for what one holds does not lengthen its lifetime', async () => {
    const key = bench.nextKey()
    const filter = await bench.open(lasting(HOUR_MS), { key })
    await filter.requestsSeen([page(1, 60)], 'page')
    await filter.requestsSeen([page(1, 86_400)], 'page')
    const [left] = [...(await lifetimes(key)).values()]
    expect(left).toBeLessThanOrEqual(60_000)
  })

  test.each([0, -5, Number.NaN])('a lifetime of %d is refused by the name of its setting', (ttlMs) => {
    const redis = bench.connect()
    expect(() => new RedisKeyDupeFilter({ redis, key: 'a', ttlMs })).toThrow('DUPEFILTER_TTL is')
  })
})

test('clear is one step, whatever there is: the keys left over are asked for by nobody', async () => {
  const key = bench.nextKey()
  const [filter, other] = [
    await bench.open(lasting(HOUR_MS), { key }),
    await bench.open(lasting(HOUR_MS), { key }),
  ]
  const pages = Array.from({ length: 100 }, (_, n) => page(n))
  await filter.requestsSeen(pages, 'page')
  await filter.clear()
  expect((await lifetimes(key)).size).toBe(100)
  expect(await filter.exists()).toBe(false)
  expect(await other.requestsSeen(pages, 'other')).toEqual(new Array(100).fill(false))
  expect(await filter.requestsSeen(pages, 'third')).toEqual(new Array(100).fill('in doubt'))
})

test('a reply that is lost loses no link, and forgets nothing twice', async () => {
  await using proxy = await startTcpProxy({ target: bench.url })
  const key = bench.nextKey()
  const filter = await bench.open(lasting(HOUR_MS), { key, redis: bench.connect(proxy.url) })
  await filter.requestsSeen([page(0)], 'first')
  await filter.forget(page(0))
  const fault = proxy.cutReplyOf(isScript)
  expect(await filter.requestsSeen([page(1), page(2)], 'page')).toEqual([false, false])
  expect(fault.count).toBe(1)
  await filter.settled('page')
  const second = proxy.cutReplyOf(isScript)
  await filter.forget(page(1))
  expect(second.count).toBe(1)
  expect(await filter.requestsSeen([page(1), page(2)], 'other')).toEqual([false, true])
})

test('a key that holds another filter, and fingerprints made otherwise, are refused by name', async () => {
  const [key, set] = [bench.nextKey(), bench.nextKey()]
  const setFilter = await bench.open((options) => new RedisSetDupeFilter(options), { key: set })
  await setFilter.requestSeen(page(1))
  await expect(bench.open(lasting(HOUR_MS), { key: set })).rejects.toThrow('holds a set')
  const filter = await bench.open(lasting(HOUR_MS), { key })
  await filter.requestSeen(page(1))
  const fingerprinter = { name: 'mine', fingerprint: ({ url }: Request) => url }
  await expect(bench.open(lasting(HOUR_MS), { key, fingerprinter })).rejects.toThrow(
    'made with fingerprints by scrapy-redis, and this worker makes them by mine',
  )
})
