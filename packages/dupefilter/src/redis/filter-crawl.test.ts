import { MemoryStatsCollector, PROTOCOL_TIMES, scaledTimes, silentLogger } from '@webloom/core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { FilterBench } from '../../testing/filter-bench.ts'
import { fresh, inDoubt, pages, seen } from '../../testing/pages.ts'
import { RedisBloomDupeFilter } from '../bloom/redis-bloom-dupefilter.ts'
import type { RedisDupeFilter } from './redis-dupefilter.ts'
import type { RedisDupeFilterOptions } from './redis-dupefilter-options.ts'
import { RedisSetDupeFilter } from './redis-set-dupefilter.ts'

const bench = new FilterBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const PAGE = 'da39a3ee5e6b4b0d3255bfef95601890afd80709'

const FILTERS: Record<string, (options: RedisDupeFilterOptions) => RedisDupeFilter> = {
  'redis-set': (options) => new RedisSetDupeFilter(options),
  'redis-bloom': (options) => new RedisBloomDupeFilter({ ...options, capacity: 20_000, errorRate: 1e-9 }),
}

describe.each(Object.entries(FILTERS))('%s', (_kind, make) => {
  /** Workers of crawls on one filter; each crawl has a queue of its own. */
  async function joined(key: string, crawl: string, more: Partial<RedisDupeFilterOptions> = {}) {
    const options = { key, crawl: () => crawl, redisRunId: () => `queue of ${crawl}`, ...more }
    const filter = await bench.open(make, options)
    await filter.joined(false)
    return filter
  }

  test('of two crawls on one filter exactly one is told a link is new, though their pages have the same names', async () => {
    const key = bench.nextKey()
    const [a, b] = [await joined(key, 'a run-1'), await joined(key, 'b run-1')]
    for (const [n, asker] of ['start/0', PAGE, 'seed/1'].entries()) {
      const links = pages(10 * n, 5)
      expect(await a.requestsSeen(links, asker)).toEqual(fresh(5))
      expect(await b.requestsSeen(links, asker), asker).toEqual(inDoubt(5))
      await a.settled(asker)
      await a.requestsSeen(pages(50 + n, 1), 'carries the settling')
      expect(await b.requestsSeen(links, asker)).toEqual(seen(5))
    }
    expect(await (await joined(key, 'a run-1')).requestsSeen(pages(0, 5), 'start/9')).toEqual(seen(5))
  })

  test('whoever takes over a page of its own crawl is told the same; a page of an unnamed crawl has its own name', async () => {
    const key = bench.nextKey()
    const [one, other] = [await joined(key, 'a run-1'), await joined(key, 'a run-1')]
    await one.requestsSeen(pages(0, 2), PAGE)
    expect(await other.requestsSeen(pages(0, 2), PAGE)).toEqual(fresh(2))
    const [old, next] = [await joined(key, ''), await joined(key, '')]
    await old.requestsSeen(pages(10, 2), PAGE)
    expect(await next.requestsSeen(pages(0, 2), PAGE)).toEqual(inDoubt(2))
    expect(await next.requestsSeen(pages(10, 2), PAGE), 'a run of an earlier release').toEqual(fresh(2))
  })

  test('what an unnamed crawl has left unsettled goes to the next who asks', async () => {
    const key = bench.nextKey()
    const old = await joined(key, '')
    await old.requestsSeen(pages(0, 2), PAGE)
    expect(await (await joined(key, 'a run-1')).requestsSeen(pages(0, 1), PAGE)).toEqual(inDoubt(1))
    const hasty = await joined(key, 'a run-1', { pendingStaleMs: 50 })
    await vi.waitFor(async () => expect(await hasty.requestsSeen(pages(0, 2), PAGE)).toEqual(fresh(2)))
  })

  test('whoever empties it for a crawl is told of the others that use it, not of earlier ones of its own name, nor of those that are over or lost', async () => {
    const key = bench.nextKey()
    const [own, over, lost] = [
      await joined(key, '{a}/1 run'),
      await joined(key, '{b}/1 run'),
      await joined(key, '{c}/1 run'),
    ]
    await Promise.all([joined(key, '{d}/1 run'), joined(key, '{d}/1 run-2')])
    const { silenceMs, crawlNotedEveryMs } = PROTOCOL_TIMES.filter
    const earlierMs = Date.now() - silenceMs - crawlNotedEveryMs
    await bench.connect().hset(`{${key}}:record`, 'crawl:earlier', `${earlierMs} {a}/2 run`)
    await over.crawlEnded()
    await lost.crawlLost()
    const command = await bench.open(make, { key, crawl: () => '' })
    expect([
      await command.crawlsBesides('{a}', '{a}/1 run'),
      await own.crawlsBesides('{d}', '{d}/1 run'),
    ]).toEqual([['{d}'], ['{a}']])
    await bench.connect().hset(`{${key}}:record`, 'crawl:later', '1000 {e}/1 run')
    expect(await command.crawlsBesides('{a}', '{a}/1 run'), 'silent for ten minutes').toEqual(['{d}'])
  })

  test('one of the same name on another queue’s Redis is told as long as it speaks, and so is one whose record is gone', async () => {
    const [key, redis] = [bench.nextKey(), bench.connect()]
    const now = Date.now()
    await joined(key, '{a}/1 run-1')
    await joined(key, '{a}/1 run-2')
    const command = await bench.open(make, { key, crawl: () => '' })
    expect([await command.crawlsBesides('{a}', '{a}/1 run-2'), await command.crawlsBesides('{a}')]).toEqual([
      [],
      ['{a}'],
    ])
    const { silenceMs, crawlNotedEveryMs } = PROTOCOL_TIMES.filter
    const noteOther = (silentMs: number) =>
      redis.hset(`{${key}}:record`, 'crawl:other', `${now - silentMs} {a}/2 run-1`)
    await noteOther(1000)
    expect(await command.crawlsBesides('{a}', '{a}/1 run-2')).toEqual(['{a}'])
    await noteOther(silenceMs + crawlNotedEveryMs)
    expect(await command.crawlsBesides('{a}', '{a}/1 run-2'), 'an earlier one').toEqual([])
  })

  test('workers of one filter read one place, whatever they ask it by, and another one once its data is lost', async () => {
    const key = bench.nextKey()
    const [a, b] = [await joined(key, 'a run-1'), await joined(key, 'a run-1', { redis: bench.connect() })]
    const place = await a.place()
    expect(await b.place()).toBe(place)
    expect(await (await joined(bench.nextKey(), 'a run-1')).place()).not.toBe(place)
    const redis = bench.connect()
    await redis.del(await redis.keys(`*${key}*`))
    await a.requestsSeen(pages(0, 1), PAGE)
    expect(await a.place()).not.toBe(place)
    expect(await b.place(), 'which has asked nothing').toBe(await a.place())
    await a.clear()
    await b.requestsSeen(pages(0, 1), PAGE)
    expect(await b.place()).toBe(await a.place())
  })

  test('a worker that asks nothing reads the place of the next that joins once the data is lost, and writes none itself', async () => {
    const [key, redis] = [bench.nextKey(), bench.connect()]
    const a = await joined(key, 'a run-1')
    const place = await a.place()
    await redis.del(await redis.keys(`*${key}*`))
    expect(await a.place(), 'that of nobody yet').toBe(place)
    expect(await redis.keys(`*${key}*`)).toEqual([])
    const next = await bench.open(make, { key, crawl: () => 'a run-1' })
    const others = await next.place()
    expect([others === place, await a.place()]).toEqual([false, others])
  })

  test('two crawls on two queues clean each their own marks, and nobody’s else', async () => {
    const [key, redis, times] = [bench.nextKey(), bench.connect(), scaledTimes(0.02)]
    const a = await joined(key, 'a run-1', { times })
    let run = 'first'
    const b = await joined(key, 'b run-1', { times, redisRunId: () => run })
    await b.requestsSeen(pages(100, 5), PAGE)
    await b.settled(PAGE)
    await b.requestsSeen([], 'nothing')
    run = 'second'
    await a.requestsSeen(pages(0, 5), PAGE)
    await a.settled(PAGE)
    await vi.waitFor(
      async () => {
        await a.requestsSeen(pages(0, 1), 'x')
        expect(await redis.hlen(`{${key}}:pending`), 'those of b, whose queue has come back').toBe(5)
      },
      { interval: 30 },
    )
    expect(await b.requestsSeen(pages(100, 5), PAGE)).toEqual(fresh(5))
  })

  test('whoever ends a crawl leaves the filter and nothing else, and takes nothing from another crawl', async () => {
    const [key, redis] = [bench.nextKey(), bench.connect()]
    const [a, b] = [await joined(key, 'a run-1'), await joined(key, 'b run-1')]
    for (let n = 0; n < 250; n++) {
      await a.requestsSeen(pages(3 * n, 3), `page ${n}`)
      await a.settled(`page ${n}`)
    }
    await a.requestsSeen(pages(5000, 2), 'failed')
    await b.requestsSeen(pages(9000, 3), 'page of b')
    await a.crawlEnded()
    expect(await redis.hlen(`{${key}}:owners`)).toBe(1)
    expect((await redis.keys(`{${key}}:owners:*`)).length).toBe(1)
    expect(await redis.exists(...(await redis.keys(`{${key}}:settled*`)), 'none')).toBe(0)
    expect(await b.requestsSeen(pages(9000, 3), 'page of b'), 'still its own').toEqual(fresh(3))
    expect(await b.requestsSeen(pages(0, 750), 'another')).toEqual(seen(750))
    expect(await b.requestsSeen(pages(5000, 2), 'another'), 'never queued').toEqual(fresh(2))
    await b.settled('page of b')
    await b.settled('another')
    await b.crawlEnded()
    expect(await redis.keys(`{${key}}:owners*`)).toEqual([])
    expect(await redis.keys(`{${key}}:settled*`)).toEqual([])
    expect(await redis.hkeys(`{${key}}:record`)).not.toContainEqual(expect.stringMatching(/^crawl:/))
    expect(await redis.exists(`{${key}}:pending`)).toBe(0)
  })

  test('emptying a filter that another crawl uses leaves it what was seen; an earlier run of the same crawl is over', async () => {
    const key = bench.nextKey()
    const [a, b] = [await joined(key, 'a run-1'), await joined(key, 'b run-1')]
    await a.requestsSeen(pages(0, 3), PAGE)
    await a.settled(PAGE)
    await a.clear()
    expect(await b.requestsSeen(pages(0, 3), 'x')).toEqual(seen(3))
    await b.crawlEnded()
    const again = await joined(key, 'a run-2')
    await again.clear()
    expect(await again.requestsSeen(pages(0, 3), 'x')).toEqual(fresh(3))
  })

  test('a crawl that ends right after a page went back empties its filter: it does not take itself for another', async () => {
    const key = bench.nextKey()
    const filter = await joined(key, 'redis://one {a}/1 run')
    await filter.requestsSeen(pages(0, 2), PAGE)
    await filter.givenBack(PAGE)
    await filter.requestsSeen(pages(2, 2), 'the next page')
    await filter.clear()
    expect(await filter.exists()).toBe(false)
  })

  test('a crawl that asks nothing for long, as it is paused, keeps its filter; one that is gone does not', async () => {
    const [key, redis] = [bench.nextKey(), bench.connect()]
    const filterTimes = { ...PROTOCOL_TIMES.filter, crawlGoneMs: 300, crawlNotedEveryMs: 30 }
    const times = { ...PROTOCOL_TIMES, filter: filterTimes }
    const [a, b] = [await joined(key, '{a}/1 run', { times }), await joined(key, '{a}/2 run', { times })]
    await a.requestsSeen(pages(0, 3), PAGE)
    await a.settled(PAGE)
    // It would be gone by then, had it not been noted again.
    const notedAtMs = async () => {
      const notes = await redis.hvals(`{${key}}:record`)
      return Number.parseInt(notes.find((note) => / \{a\}\/1 run$/.test(note))!, 10)
    }
    const askedAtMs = Date.now()
    await vi.waitFor(async () => expect(await notedAtMs()).toBeGreaterThan(askedAtMs + 300))
    await b.clear()
    expect(await a.requestsSeen(pages(0, 3), 'x')).toEqual(seen(3))
    await a.close()
    await b.joined(false)
    await vi.waitFor(async () => {
      await b.clear()
      expect(await b.requestsSeen(pages(0, 3), 'x')).toEqual(fresh(3))
    })
  })

  describe('a crawl that its queue has lost', () => {
    /** Silent after 0.6 s, or 0.06 s where it is known to be lost. */
    const soon = scaledTimes(0.01)
    const begins = async (key: string, crawl: string) => {
      const filter = await bench.open(make, { key, crawl: () => crawl, times: soon })
      return filter.knowsLostCrawl()
    }

    test('is known to the next of its name, whether or not a worker lived to note it, until the filter is emptied', async () => {
      for (const isNoted of [true, false]) {
        const key = bench.nextKey()
        const lost = await joined(key, '{a}/1 run')
        await lost.requestsSeen(pages(0, 3), PAGE)
        if (isNoted) await lost.crawlLost()
        await lost.close()
        expect(await begins(key, '{a}/2 run')).toBe(true)
        expect(await begins(key, '{a}/2 run'), 'each time').toBe(true)
        expect(await begins(key, '{b}/3 run'), 'another spider’s').toBe(false)
        expect(await begins(key, '{a}/1 next'), 'its queue knows it').toBe(false)
        // Its own note does not keep the filter.
        await (await bench.open(make, { key, crawl: () => '{a}/2 run', times: soon })).clear()
        expect(await begins(key, '{a}/2 run')).toBe(false)
      }
    })

    test('is known also where the filter was lost with it, and its worker has asked about pages in flight since', async () => {
      for (const isNotedFirst of [false, true]) {
        const [key, redis] = [bench.nextKey(), bench.connect()]
        // Its second question notes the crawl once more, and none after that does.
        const seldom = { ...PROTOCOL_TIMES.filter, runIdEveryMs: 1e9 }
        const lost = await joined(key, '{a}/1 run', { times: { ...PROTOCOL_TIMES, filter: seldom } })
        for (const asker of [PAGE, 'another']) await lost.requestsSeen(pages(0, 3), asker)
        await redis.del(await redis.keys(`*${key}*`))
        if (isNotedFirst) await lost.crawlLost()
        await lost.requestsSeen(pages(3, 3), 'in flight')
        if (!isNotedFirst) await lost.crawlLost()
        const tags = (await redis.hkeys(`{${key}}:record`)).filter((field) => /^(crawl|lost):/.test(field))
        expect(new Set(tags.map((field) => field.split(':')[0]))).toEqual(new Set(['crawl', 'lost']))
        await lost.close()
        expect(await begins(key, '{a}/2 run')).toBe(true)
        const next = await bench.open(make, { key, crawl: () => '{a}/2 run', times: soon })
        await next.clear()
        expect(await next.requestsSeen(pages(0, 6), PAGE)).toEqual(fresh(6))
      }
    })

    test('is not noted by pages that end after it where the filter was lost with it, and they ask nothing: nobody waits for such a note', async () => {
      const [key, redis] = [bench.nextKey(), bench.connect()]
      // Each question would note the crawl once more.
      const often = { ...PROTOCOL_TIMES.filter, runIdEveryMs: 0 }
      const lost = await joined(key, '{a}/1 run', { times: { ...PROTOCOL_TIMES, filter: often } })
      await lost.requestsSeen(pages(0, 3), PAGE)
      await redis.del(await redis.keys(`*${key}*`))
      await lost.crawlLost()
      await lost.settled(PAGE)
      // What is to be settled goes with it.
      await lost.close()
      expect((await redis.hkeys(`{${key}}:record`)).filter((field) => field.startsWith('crawl:'))).toEqual([])
    })

    test('is none that has ended, nor one whose filter is gone, nor what no crawl has brought', async () => {
      const key = bench.nextKey()
      expect(await begins(key, '{a}/2 run'), 'a first crawl').toBe(false)
      await (await bench.open(make, { key })).requestSeen(pages(9, 1)[0]!)
      expect(await begins(key, '{a}/2 run'), 'imported').toBe(false)
      const ended = await joined(key, '{a}/1 run')
      await ended.requestsSeen(pages(0, 3), PAGE)
      await ended.crawlEnded()
      await ended.crawlLost()
      expect(await begins(key, '{a}/2 run')).toBe(false)
    })

    test('is not noted in a filter that is emptied just then: what is gone stays gone', async () => {
      const [key, redis, other] = [bench.nextKey(), bench.connect(), bench.connect()]
      await (await joined(key, '{a}/1 run')).crawlLost()
      const record = `{${key}}:record`
      const read = redis.hgetall.bind(redis) as (key: string) => Promise<Record<string, string>>
      const emptied = async (asked: string) => {
        const notes = await read(asked)
        await other.unlink(record)
        return notes
      }
      Object.assign(redis, { hgetall: emptied })
      const times = { ...soon, filter: { ...soon.filter, silenceMs: 0 } }
      const next = await bench.open(make, { key, redis, crawl: () => '{a}/2 run', times })
      await next.knowsLostCrawl()
      expect(await other.exists(record)).toBe(0)
    })

    test('is waited for no longer when this worker is told to end, and is not noted as lost then', async () => {
      const [key, redis, ending] = [bench.nextKey(), bench.connect(), new AbortController()]
      await (await joined(key, '{a}/1 run')).close()
      const told = Promise.withResolvers<string>()
      const logger = { ...silentLogger, info: (line: unknown) => told.resolve(String(line)) }
      const next = await bench.open(make, { key, crawl: () => '{a}/2 run', logger })
      const knows = next.knowsLostCrawl(ending.signal)
      expect(await told.promise).toMatch(/known to be over, 66 s at the most$/)
      ending.abort()
      await expect(knows).rejects.toBe(ending.signal.reason)
      expect(await redis.hkeys(`{${key}}:record`)).not.toContainEqual(expect.stringMatching(/^lost:/))
    })

    test('is none that goes on at another queue: it still speaks', async () => {
      const key = bench.nextKey()
      await joined(key, '{a}/1 run', { times: soon })
      expect(await begins(key, '{a}/2 run')).toBe(false)
    })

    test('does not keep its filter from being emptied; another crawl does', async () => {
      const [key, own] = [bench.nextKey(), { times: soon }]
      await (await joined(key, '{a}/1 run')).crawlLost()
      const other = await joined(key, '{b}/1 run')
      await other.requestsSeen(pages(0, 3), PAGE)
      const next = await bench.open(make, { key, crawl: () => '{a}/2 run', ...own })
      await next.clear()
      expect(await other.requestsSeen(pages(0, 3), 'x'), 'of another').toEqual(inDoubt(3))
      expect(await next.knowsLostCrawl()).toBe(true)
      await other.crawlEnded()
      await next.clear()
      expect(await next.knowsLostCrawl()).toBe(false)
      expect(await next.exists()).toBe(false)
    })
  })

  test('a filter that is found empty, though no crawl has cleared it, is warned of once', async () => {
    const [key, redis, stats] = [bench.nextKey(), bench.connect(), new MemoryStatsCollector()]
    const warn = vi.fn()
    const logger = { debug() {}, info() {}, warn, error() {}, child: () => logger }
    const [a, b] = [
      await joined(key, 'a run-1', { logger, stats }),
      await joined(key, 'a run-1', { logger, stats }),
    ]
    await a.requestsSeen(pages(0, 3), PAGE)
    expect(warn).not.toHaveBeenCalled()
    await redis.unlink(...(await redis.keys(`*${key}*`)))
    for (const [n, filter] of [a, b, a].entries()) await filter.requestsSeen(pages(0, 3), `after ${n}`)
    expect(stats.get('dupefilter/emptied')).toBe(1)
    const told = warn.mock.calls.map(([, text]) => String(text)).filter((text) => /no crawl/.test(text))
    expect(told).toEqual([expect.stringContaining(`${key} was found empty while the crawl was running`)])
    // A worker that joins what goes on.
    await redis.unlink(...(await redis.keys(`*${key}*`)))
    const next = await bench.open(make, { key, crawl: () => 'a run-1', logger, stats })
    await next.joined(true)
    expect(stats.get('dupefilter/emptied')).toBe(2)
    // Emptied on purpose, by a command.
    await (await bench.open(make, { key })).clear()
    await a.requestsSeen(pages(0, 3), 'x')
    expect(stats.get('dupefilter/emptied')).toBe(2)
  })
})
