import { hash } from 'node:crypto'
import { createFingerprinter, PROTOCOL_TIMES, Request, scaledTimes } from '@webloom/core'
import { startRedis, startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { FilterBench, REDIS_FILTERS, STALE_MS, wait } from '../../testing/filter-bench.ts'
import { fresh, isScript, page, pages } from '../../testing/pages.ts'

const bench = new FilterBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

describe.each(Object.entries(REDIS_FILTERS))('%s', (kind, make) => {
  test('a reply that is lost loses no link: the command is sent again, and answered the same', async () => {
    await using proxy = await startTcpProxy({ target: bench.url })
    const filter = await bench.open(make, { redis: bench.connect(proxy.url) })
    await filter.requestsSeen(pages(1000, 1), 'first')
    const fault = proxy.cutReplyOf(isScript)
    expect(await filter.requestsSeen(pages(0, 30), 'page')).toEqual(fresh(30))
    expect(fault.count).toBe(1)
    proxy.cutReplyOf(isScript)
    expect(await filter.requestSeen(page(50)), 'without an asker, too').toBe(false)
    await filter.settled('page')
    proxy.cutReplyOf(isScript)
    expect(await filter.requestsSeen(pages(0, 31), 'other')).toEqual([...new Array(30).fill(true), false])
  })

  test('a question that failed, and a page that then yields others: what it yielded first is not lost', async () => {
    await using proxy = await startTcpProxy({ target: bench.url })
    const [key, redis] = [bench.nextKey(), bench.connect(proxy.url)]
    redis.options.maxRetriesPerRequest = 0
    const filter = await bench.open(make, { key, redis })
    const other = await bench.open(make, { key })
    await filter.requestsSeen(pages(90, 1), 'warm up')
    proxy.cutReplyOf(isScript)
    await expect(filter.requestsSeen(pages(0, 3), 'page')).rejects.toThrow()
    await vi.waitFor(() => redis.ping())
    expect(await filter.requestsSeen(pages(10, 1), 'page')).toEqual([false])
    await filter.settled('page')
    await filter.requestsSeen(pages(91, 1), 'carries the settling')
    expect(await other.requestsSeen([...pages(0, 3), page(10)], 'other')).toEqual([...fresh(3), true])
  })

  test('a key beside it that holds something else: a clear error, and later nothing is falsely seen', async () => {
    const [redis, key] = [bench.connect(), bench.nextKey()]
    const filter = await bench.open(make, { redis, key })
    await filter.requestsSeen(pages(90, 1), 'page')
    for (const name of ['pending', 'owners']) {
      await redis.rename(`{${key}}:${name}`, `{${key}}:kept`)
      await redis.set(`{${key}}:${name}`, 'something else')
      await expect(filter.requestsSeen(pages(0, 3), 'page')).rejects.toThrow(/holds something else/)
      await redis.rename(`{${key}}:kept`, `{${key}}:${name}`)
    }
    expect(await filter.requestsSeen(pages(0, 3), 'other')).toEqual(fresh(3))
  })

  test('a worker that asks while another clears goes on, and is told everything is new', async () => {
    const key = bench.nextKey()
    const [filter, other] = [await bench.open(make, { key }), await bench.open(make, { key })]
    let isAsking = true
    let asked = 0
    const asking = (async () => {
      for (; isAsking; asked++) await filter.requestsSeen(pages(10 * asked, 10), `page ${asked}`)
    })()
    for (let n = 0; n < 20; n++) {
      const before = asked
      await vi.waitFor(() => expect(asked).toBeGreaterThan(before), { interval: 1 })
      await other.clear()
    }
    isAsking = false
    await asking
    await other.clear()
    expect(await filter.requestsSeen(pages(0, 10), 'again')).toEqual(fresh(10))
  })

  test('a page’s links are asked about in one round trip, settling included', async () => {
    await using proxy = await startTcpProxy({ target: bench.url })
    const filter = await bench.open(make, { redis: bench.connect(proxy.url) })
    await filter.requestsSeen(pages(0, 1), 'warm up')
    proxy.resetCounts()
    await filter.requestsSeen(pages(0, 300), 'page')
    await filter.settled('page')
    await filter.requestsSeen(pages(200, 300), 'next page')
    expect(proxy.roundTrips).toBe(2)
  })

  test('closing says what is settled', async () => {
    const redis = bench.connect()
    const key = bench.nextKey()
    const filter = await bench.open(make, { redis, key })
    await filter.requestsSeen(pages(0, 3), 'page')
    await filter.settled('page')
    await filter.close()
    expect(await redis.hget(`{${key}}:owners`, 'page')).toMatch(/^s /)
  })

  test('a Redis without memory refuses clearly, and later nothing is falsely seen', async () => {
    await using server = await startRedis({ maxmemory: '8mb' })
    const redis = bench.connect(server.url)
    const filter = await bench.open(make, { redis })
    await filter.requestsSeen(pages(0, 100), 'page')
    await filter.settled('page')
    await server.command('CONFIG', 'SET', 'maxmemory', '1mb')
    await expect(filter.requestsSeen(pages(90, 100), 'next page')).rejects.toThrow(/maxmemory/)
    await server.command('CONFIG', 'SET', 'maxmemory', '64mb')
    expect(await filter.requestsSeen(pages(90, 20), 'next page')).toEqual([
      ...new Array(10).fill(true),
      ...fresh(10),
    ])
  })

  test('the key of something else is refused at the start, and by name', async () => {
    const redis = bench.connect()
    const key = bench.nextKey()
    await redis.hset(key, 'field', 'value')
    await expect(bench.open(make, { redis, key })).rejects.toThrow(
      `SCHEDULER_DUPEFILTER_KEY is ${key}, a key that holds a hash`,
    )
    const other = bench.nextKey()
    await (kind === 'redis-set' ? redis.set(other, 'bits') : redis.sadd(other, 'member'))
    const right = kind === 'redis-set' ? 'redis-bloom' : 'redis-set'
    await expect(bench.open(make, { redis, key: other })).rejects.toThrow(`set DUPEFILTER_CLASS=${right}`)
  })

  test('the cache answers what is seen for good, and nothing that may change', async () => {
    await using proxy = await startTcpProxy({ target: bench.url })
    const key = bench.nextKey()
    // The same requests each time: the cache marks their URLs.
    const links = pages(0, 3)
    const hits = { inc: vi.fn() }
    const cached = { key, cacheSize: 100, stats: hits, redis: bench.connect(proxy.url) }
    const filter = await bench.open(make, { ...cached, pendingStaleMs: STALE_MS })
    // Held by an asker that is not settled: asked again each time.
    const heldByOthers = await bench.open(make, { key, pendingStaleMs: STALE_MS })
    await heldByOthers.requestsSeen(pages(0, 3), 'dead')
    await filter.requestsSeen(links, 'x')
    proxy.resetCounts()
    expect(await filter.requestsSeen(links, 'x')).toEqual(new Array(3).fill('in doubt'))
    expect(proxy.commandCount).toBe(1)
    // The holder itself, taken over by this worker, which knows that it is under way.
    expect(await filter.requestsSeen(links, 'dead')).toEqual(fresh(3))
    proxy.resetCounts()
    expect(await filter.requestsSeen(links, 'x')).toEqual(new Array(3).fill('in doubt'))
    expect(proxy.commandCount).toBe(0)
    // Waits: only time makes an asker stale.
    await wait(STALE_MS + 50)
    hits.inc.mockClear()
    expect(await filter.requestsSeen(links, 'y')).toEqual(fresh(3))
    expect(hits.inc.mock.calls).toEqual(new Array(3).fill(['dupefilter/taken_over']))
    // Held by nobody: what any crawler recorded before askers were kept.
    await filter.settled('y')
    await bench.connect().del(`{${key}}:pending`)
    await filter.requestsSeen(links, 'z')
    proxy.resetCounts()
    expect(await filter.requestsSeen(links, 'z')).toEqual(new Array(3).fill(true))
    expect(proxy.commandCount).toBe(0)
    expect(hits.inc).toHaveBeenCalledWith('dupefilter/cache_hits', 3)
    // Another worker clears the filter; the next answer tells, or a second passes.
    const other = await bench.open(make, { key })
    await other.clear()
    expect(hits.inc).not.toHaveBeenCalledWith('dupefilter/cache_emptied')
    await filter.requestsSeen(pages(7, 1), 'z')
    expect(hits.inc).toHaveBeenCalledWith('dupefilter/cache_emptied')
    expect(await filter.requestsSeen(links, 'z')).toEqual(fresh(3))
  })

  test('a page that runs again and yields less: the rest is new for other workers that had it from their cache', async () => {
    const key = bench.nextKey()
    const askers = await bench.open(make, { key })
    const other = await bench.open(make, { key, cacheSize: 100 })
    await askers.requestsSeen(pages(0, 3), 'page')
    expect(await other.requestsSeen(pages(0, 3), 'z')).toEqual(new Array(3).fill('in doubt'))
    expect(await askers.requestsSeen(pages(0, 2), 'page')).toEqual(fresh(2))
    await askers.settled('page')
    await askers.requestSeen(page(9))
    await other.requestSeen(page(8))
    expect(await other.requestsSeen(pages(0, 3), 'z')).toEqual([true, true, false])
  })

  test('a page that runs again elsewhere and yields only what the cache knows: the rest is new for others', async () => {
    const key = bench.nextKey()
    const first = await bench.open(make, { key })
    const second = await bench.open(make, { key, cacheSize: 100 })
    await first.requestsSeen([page(0)], 'page')
    await first.requestsSeen([page(1)], 'neighbour')
    await second.requestsSeen([page(1)], 'z')
    expect(await second.requestsSeen([page(1)], 'page')).toEqual(['in doubt'])
    await second.settled('page')
    await second.requestSeen(page(9))
    expect(await first.requestSeen(page(0), 'y')).toBe(false)
  })

  test('a Redis that lost everything empties the cache, too', async () => {
    await using server = await startRedis()
    const redis = bench.connect(server.url)
    const filter = await bench.open(make, { redis, key: 'a:dupefilter', cacheSize: 100 })
    await filter.requestsSeen(pages(0, 3), 'page')
    await redis.del('{a:dupefilter}:pending')
    await filter.settled('page')
    expect(await filter.requestsSeen(pages(0, 3), 'z')).toEqual(new Array(3).fill(true))
    await redis.flushall()
    await filter.requestsSeen(pages(7, 1), 'z')
    expect(await filter.requestsSeen(pages(0, 3), 'z')).toEqual(fresh(3))
  })

  test('has asks without recording', async () => {
    const filter = await bench.open(make)
    expect(await filter.has(page(1))).toBe(false)
    expect(await filter.has(page(1))).toBe(false)
    await filter.requestSeen(page(1))
    expect(await filter.has(page(1))).toBe(true)
  })

  test('with companions beside the main key in one slot', async () => {
    const redis = bench.connect()
    const filter = await bench.open(make, { redis, key: '{quotes}:dupefilter' })
    await filter.requestsSeen(pages(0, 3), 'page')
    await filter.settled('page')
    await filter.close()
    const keys = await redis.keys('{quotes}*')
    expect(keys).toContain('{quotes}:dupefilter:owners:page')
    await filter.clear()
    expect(await redis.keys('{quotes}*'), 'nothing is left').toEqual([])
    await expect(bench.open(make, { redis, key: 'a{b:dupefilter' })).rejects.toThrow(
      'SCHEDULER_DUPEFILTER_KEY is "a{b:dupefilter"',
    )
  })
})

// Most of these is waiting.
describe.concurrent.each(Object.entries(REDIS_FILTERS))('%s, beside others', (kind, make) => {
  test('what is settled is said after a second at the latest, without any further question', async () => {
    const redis = bench.connect()
    const key = bench.nextKey()
    const filter = await bench.open(make, { redis, key })
    await filter.requestsSeen(pages(0, 3), 'page')
    await filter.settled('page')
    expect(await redis.hget(`{${key}}:owners`, 'page')).toMatch(/^u /)
    await vi.waitFor(async () => expect(await redis.hget(`{${key}}:owners`, 'page')).toMatch(/^s /))
  })

  test('a page that runs again after its queue has come back older hands on what it then yields', async () => {
    let run = '1'
    const redisRunId = vi.fn(() => run)
    const filter = await bench.open(make, { redisRunId })
    await filter.requestsSeen(pages(0, 3), 'page')
    await filter.settled('page')
    await filter.requestsSeen(pages(50, 1), 'carries the settling')
    run = '2'
    // Waits: what a filter was told of the run counts for a second.
    await wait(1100)
    redisRunId.mockClear()
    await filter.requestsSeen(pages(51, 1), 'has the run id asked for')
    await vi.waitFor(() => expect(redisRunId).toHaveBeenCalled())
    expect(await filter.requestsSeen([page(0), page(7)], 'page')).toEqual(fresh(2))
    await filter.settled('page')
    expect(await filter.requestsSeen([page(0), page(1), page(7)], 'other')).toEqual([true, false, true])
  })

  test('a server that goes in the middle of a batch: the question fails, and later nothing is falsely seen', async () => {
    await using server = await startRedis({ appendonly: 'always' })
    await using proxy = await startTcpProxy({ target: server.url })
    const redis = bench.connect(proxy.url)
    redis.options.maxRetriesPerRequest = 0
    const filter = await bench.open(make, { redis })
    await filter.requestsSeen(pages(9000, 1), 'warm up')
    // Recorded, and not told; of the batch's other calls, each may have arrived or not.
    const fault = proxy.cutReplyOf(isScript)
    const refused = expect(filter.requestsSeen(pages(0, 1200), 'page')).rejects.toThrow()
    await vi.waitFor(() => expect(fault.count).toBe(1), { interval: 1 })
    await proxy.down()
    await refused
    fault.cancel()
    await server.kill()
    await server.restart()
    await proxy.up()
    await vi.waitFor(() => redis.ping())
    expect(await filter.requestsSeen(pages(0, 1200), 'page')).toEqual(fresh(1200))
  })

  test('a cache that hears nothing for a second asks', async () => {
    const key = bench.nextKey()
    const filter = await bench.open(make, { key, cacheSize: 100 })
    await filter.requestsSeen(pages(0, 3), 'page')
    await bench.connect().del(`{${key}}:pending`)
    await filter.requestsSeen(pages(0, 3), 'z')
    const other = await bench.open(make, { key })
    await other.clear()
    // Waits: the second of the title.
    await wait(1100)
    expect(await filter.requestsSeen(pages(0, 3), 'z')).toEqual(fresh(3))
  })

  test('the reply of every question is lost once: a crawl finds each page, and none twice', async () => {
    await using proxy = await startTcpProxy({ target: bench.url })
    const redis = bench.connect(proxy.url)
    const filter = await bench.open(make, { redis })
    await filter.requestsSeen([page(0)], 'start/0')
    await filter.settled('start/0')
    const [queue, crawled] = [[0], new Set<number>()]
    for (let n = queue.shift(); n !== undefined; n = queue.shift()) {
      expect(crawled.has(n), `page ${n} twice`).toBe(false)
      crawled.add(n)
      // Ten links: two new ones, others that are known, and the page itself.
      const links = [n, 2 * n + 1, 2 * n + 2, ...Array.from({ length: 7 }, (_, k) => Math.abs(n - k))].filter(
        (link) => link < 20,
      )
      const fault = proxy.cutReplyOf(isScript)
      const seen = await filter.requestsSeen(links.map(page), `page ${n}`)
      expect(fault.count).toBe(1)
      queue.push(...new Set(links.filter((_, at) => !seen[at])))
      await filter.settled(`page ${n}`)
    }
    expect(crawled.size).toBe(20)
  })

  test('marks of the present run go after five seconds, whoever made them; those of an earlier run stay', async () => {
    const redis = bench.connect()
    const key = bench.nextKey()
    let run = 'run 1'
    // One kind waits the five seconds, the other a second.
    const times = kind === 'redis-set' ? PROTOCOL_TIMES : scaledTimes(0.2)
    const shared = { redis, key, redisRunId: async () => run, times }
    const filter = await bench.open(make, shared)
    await filter.requestsSeen(pages(0, 5), 'earlier')
    await filter.settled('earlier')
    await filter.close()
    run = 'run 2'
    const next = await bench.open(make, shared)
    await next.requestsSeen(pages(10, 5), 'present')
    await next.settled('present')
    await next.close()
    expect(await redis.hlen(`{${key}}:pending`)).toBe(10)
    const third = await bench.open(make, shared)
    await vi.waitFor(
      async () => {
        expect(await third.requestsSeen(pages(10, 1), 'x')).toEqual([true])
        expect(await redis.hlen(`{${key}}:pending`)).toBe(5)
      },
      { interval: 100 },
    )
    expect(await third.requestsSeen(pages(10, 5), 'present'), 'seen for good').toEqual(
      new Array(5).fill(true),
    )
    expect(await third.requestsSeen(pages(0, 5), 'earlier'), 'the queue has come back').toEqual(fresh(5))
    expect(await redis.llen(`{${key}}:settled`)).toBe(0)
  })

  test('a link that was asked about is known by its URL, and fingerprinted no more', async () => {
    const fingerprinter = createFingerprinter()
    const filter = await bench.open(make, { key: bench.nextKey(), cacheSize: 100, fingerprinter })
    const links = pages(0, 3)
    await filter.requestsSeen(links, 'page')
    await filter.settled('page')
    const fingerprint = vi.spyOn(fingerprinter, 'fingerprint')
    expect(await filter.requestsSeen(links, 'other')).toEqual(new Array(3).fill(true))
    expect(fingerprint).not.toHaveBeenCalled()
  })

  test('a fingerprinter of somebody’s own may give a text and also its SHA-1: the cache takes neither for the other', async () => {
    const key = bench.nextKey()
    const fingerprinter = {
      name: 'by-path',
      fingerprint: ({ url }: Request) => url.slice(url.lastIndexOf('/') + 1),
    }
    const filter = await bench.open(make, { key, cacheSize: 100, fingerprinter })
    const [text, sha1] = ['a', hash('sha1', 'a')].map((path) => new Request(`http://a.test/${path}`))
    await (await bench.open(make, { key, fingerprinter })).requestSeen(text!)
    await bench.connect().del(`{${key}}:pending`)
    expect(await filter.requestSeen(text!)).toBe(true)
    expect(await filter.requestSeen(sha1!)).toBe(false)
  })
})
