import { hash } from 'node:crypto'
import { createFingerprinter, createUrlDigester, fingerprint, Request } from '@webloom/core'
import { dupeFilterContract } from '@webloom/core/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FilterBench, RUNNER } from '../../testing/filter-bench.ts'
import { page } from '../../testing/pages.ts'
import type { Asked } from '../asking/asked.ts'
import { RedisSetDupeFilter, type RedisSetDupeFilterOptions } from './redis-set-dupefilter.ts'

const bench = new FilterBench()
const make = (options: RedisSetDupeFilterOptions) => new RedisSetDupeFilter(options)
beforeAll(() => bench.start())
afterAll(() => bench.stop())

dupeFilterContract(RUNNER, { name: 'RedisSetDupeFilter', ...bench.contract(make) })

test('a set that scrapy-redis filled goes on being used, and is filled further as scrapy-redis does', async () => {
  const redis = bench.connect()
  const key = bench.nextKey()
  const request = new Request('https://quotes.toscrape.com/page/1/')
  // What scrapy-redis records for this page.
  await redis.sadd(key, fingerprint(request, { algorithm: 'scrapy-redis' }))
  const filter = await bench.open(make, { redis, key })
  expect(await filter.requestSeen(request)).toBe(true)
  expect(await filter.requestSeen(page(1))).toBe(false)
  expect((await redis.smembers(key)).every((member) => /^[0-9a-f]{40}$/.test(member))).toBe(true)
})

describe('members', () => {
  const pages = Array.from({ length: 20 }, (_, n) => page(n))
  const bytesOf = async (key: string) =>
    new Set((await bench.connect().smembersBuffer(key)).map((member) => (member as Buffer).length))

  test.each([
    ['hex', 40],
    ['binary20', 20],
    ['binary16', 16],
  ] as const)('%s has %i bytes each', async (members, bytes) => {
    const key = bench.nextKey()
    const filter = await bench.open((all) => new RedisSetDupeFilter({ ...all, members }), { key })
    expect(await filter.requestsSeen(pages, 'page')).toEqual(new Array(20).fill(false))
    expect(await filter.requestsSeen(pages, 'other')).toEqual(new Array(20).fill('in doubt'))
    expect(await bytesOf(key)).toEqual(new Set([bytes]))
    await filter.forget(page(1))
    expect(await filter.has(page(1))).toBe(false)
    expect(await filter.has(page(2))).toBe(true)
  })

  test('what is not a hash is kept as text, whatever was asked for; of a short hash, all', async () => {
    const [texts, md5s] = [bench.nextKey(), bench.nextKey()]
    const members = 'binary20'
    // The first 20 bytes of such fingerprints are all alike.
    const padded = {
      name: 'padded',
      fingerprint: ({ url }: Request) => url.length.toString().padStart(40, '0'),
    }
    const text = await bench.open((all) => new RedisSetDupeFilter({ ...all, members: 'binary16' }), {
      key: texts,
      fingerprinter: padded,
    })
    for (const n of [1, 10, 100]) expect(await text.requestSeen(page(n))).toBe(false)
    const md5 = await bench.open((all) => new RedisSetDupeFilter({ ...all, members }), {
      key: md5s,
      fingerprinter: createUrlDigester('md5'),
    })
    await md5.requestsSeen(pages, 'page')
    expect(await bytesOf(md5s)).toEqual(new Set([16]))
    expect(await bench.connect().sismember(md5s, Buffer.from(hash('md5', page(1).url), 'hex'))).toBe(1)
  })

  test.each([
    ['hex', 'binary20'],
    ['binary20', 'hex'],
    ['binary16', 'binary20'],
  ] as const)('a set of %s is refused by a worker that is set to %s', async (begun, members) => {
    const key = bench.nextKey()
    const filter = await bench.open((all) => new RedisSetDupeFilter({ ...all, members: begun }), { key })
    await filter.requestsSeen(pages, 'page')
    await expect(bench.open((all) => new RedisSetDupeFilter({ ...all, members }), { key })).rejects.toThrow(
      /keeps its members as .*, and this worker as .* \(DUPEFILTER_MEMBERS, DUPEFILTER_DIGEST\)/,
    )
  })

  test('a set of other fingerprints is refused, and not any more once it is gone', async () => {
    const [redis, key] = [bench.connect(), bench.nextKey()]
    const filter = await bench.open(make, { key })
    await filter.requestsSeen(pages, 'page')
    const fingerprinter = createFingerprinter({ algorithm: 'scrapy' })
    await expect(bench.open(make, { key, fingerprinter })).rejects.toThrow(
      'was filled with fingerprints made by scrapy-redis, and this worker makes them by scrapy',
    )
    // As scrapy-redis does at the end of a crawl.
    await redis.del(key)
    const next = await bench.open(make, { key, fingerprinter })
    await next.requestsSeen(pages, 'page')
    await expect(bench.open(make, { key })).rejects.toThrow('made by scrapy, and')
  })

  test('a key that holds something else is named, be it the banner that asks', async () => {
    const [redis, key] = [bench.connect(), bench.nextKey()]
    await redis.setbit(key, 1000, 1)
    await expect(make({ redis, key }).describe()).rejects.toThrow(
      `the key ${key} holds a string, as a Bloom filter does; set DUPEFILTER_CLASS=redis-bloom`,
    )
  })

  test('what a Python crawler filled is told from hashes of URLs', async () => {
    const [redis, key] = [bench.connect(), bench.nextKey()]
    await redis.sadd(key, fingerprint(page(1), { algorithm: 'scrapy-redis' }))
    await expect(bench.open(make, { key, fingerprinter: createUrlDigester('sha256') })).rejects.toThrow(
      'keeps its members as 40 hex digits, and this worker as 64 hex digits',
    )
  })
})

test.each(['maxRequestsPerCall', 'askAtOnceMax'])(
  '%s of a class of your own bounds what a call asks',
  async (name) => {
    const asked: number[] = []
    class Two extends RedisSetDupeFilter {
      static {
        Object.defineProperty(Two.prototype, name, { get: () => 2 })
      }
      protected override question(requests: readonly Asked[]) {
        if (requests.length > 0) asked.push(requests.length)
        return super.question(requests)
      }
    }
    const filter = await bench.open((options) => new Two(options))
    const five = Array.from({ length: 5 }, (_, n) => page(n))
    expect(await filter.requestsSeen(five, 'page')).toEqual(new Array(5).fill(false))
    expect(asked).toEqual([2, 2, 1])
  },
)
