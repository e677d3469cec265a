import { createFingerprinter, scaledTimes } from '@webloom/core'
import { casesOf, MachineLag, startRedis, startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { FilterBench, REDIS_FILTERS, wait } from '../../testing/filter-bench.ts'
import { fresh, page, pages, seen } from '../../testing/pages.ts'
import type { RedisDupeFilter } from './redis-dupefilter.ts'

const bench = new FilterBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

/** A web of 400 pages with ten links each, and a queue that refuses nothing, as lines on Redis do. */
class ModelCrawl {
  static readonly PAGES = 400
  readonly line = [0]
  readonly fetches = new Array<number>(ModelCrawl.PAGES).fill(0)
  readonly #idOf = createFingerprinter({ algorithm: 'scrapy' })

  links(n: number): number[] {
    return Array.from({ length: 10 }, (_, k) => (n * 7 + k * k * 31 + k + 1) % ModelCrawl.PAGES)
  }

  /** Fetches so many pages at once, asks about their links, and queues them; returns their ids, which are to be settled. */
  async commit(filter: RedisDupeFilter, count: number): Promise<string[]> {
    const batch = this.line.splice(0, count)
    return Promise.all(
      batch.map(async (n) => {
        this.fetches[n]!++
        const id = this.#idOf.fingerprint(page(n))
        const links = this.links(n)
        const answers = await filter.requestsSeen(links.map(page), id)
        this.line.push(...links.filter((_link, at) => !answers[at]))
        return id
      }),
    )
  }

  async run(filter: RedisDupeFilter, until = Number.POSITIVE_INFINITY): Promise<void> {
    for (let fetched = 0; this.line.length > 0 && fetched < until; fetched += 8) {
      for (const id of await this.commit(filter, 8)) await filter.settled(id)
    }
  }

  get repeats(): number {
    return this.fetches.reduce((sum, count) => sum + Math.max(0, count - 1), 0)
  }
}

// What guarantee 1 rests on.
describe.each(Object.entries(REDIS_FILTERS))('%s', (_kind, make) => {
  test('all workers die with pages unsettled; only the new links of those are fetched again', async () => {
    const key = bench.nextKey()
    const shared = { key, redisRunId: () => 'run', pendingStaleMs: 300 }
    const [dead, next] = [await bench.open(make, shared), await bench.open(make, shared)]
    const crawl = new ModelCrawl()
    await crawl.run(dead, 80)
    const before = crawl.line.length
    // Committed, and never settled: the worker is gone.
    const lost = await crawl.commit(dead, 8)
    const newLinks = crawl.line.length - before + lost.length
    // Waits: until the askers of the dead worker are stale.
    await wait(350)
    await crawl.run(next)
    expect(crawl.fetches.filter((count) => count === 0)).toEqual([])
    // One that stands twice among the eight of a moment is answered twice.
    expect(crawl.repeats).toBeLessThanOrEqual(newLinks + 8)
  })

  test.concurrent('a time in which nobody could ask makes no asker stale; it goes stale after it, if it is never settled', async () => {
    const shared = { key: bench.nextKey(), pendingStaleMs: 1000, times: scaledTimes(0.02) }
    const [filter, other] = [await bench.open(make, shared), await bench.open(make, shared)]
    await filter.requestsSeen(pages(0, 3), 'lives')
    await filter.requestsSeen(pages(10, 3), 'dead')
    // Waits: its settling waits as long as Redis is away.
    await wait(1100)
    expect(await other.requestsSeen([page(0), page(10)], 'x')).toEqual(['in doubt', 'in doubt'])
    await filter.settled('lives')
    await filter.requestsSeen(pages(50, 1), 'carries the settling')
    expect(await other.requestsSeen(pages(0, 3), 'x')).toEqual(seen(3))
    using lag = new MachineLag()
    const asking = performance.now()
    while ((await other.requestsSeen([page(10)], 'doubt/x'))[0] !== false) {
      expect(performance.now() - asking).toBeLessThan(5000 + lag.ms)
      // Waits: as a worker with a link in doubt asks, again and again.
      await wait(50)
    }
    expect(performance.now() - asking).toBeGreaterThan(800)
  })
})

describe.each(casesOf(REDIS_FILTERS, 'redis-bloom'))('%s', (_kind, make) => {
  test('a page that was settled and runs again is told "new" only by a queue that has come back', async () => {
    const key = bench.nextKey()
    let run = '1'
    const shared = { key, redisRunId: () => run }
    const [filter, other] = [await bench.open(make, shared), await bench.open(make, shared)]
    await filter.requestsSeen(pages(0, 3), 'page')
    await filter.settled('page')
    await filter.requestsSeen(pages(50, 1), 'carries the settling')
    expect(await other.requestsSeen(pages(0, 4), 'page'), 'it stood twice in the queue').toEqual([
      ...seen(3),
      false,
    ])
    await other.settled('page')
    await other.requestsSeen(pages(51, 1), 'carries the settling')
    expect(await other.requestsSeen(pages(0, 4), 'x'), 'all are queued').toEqual(seen(4))
    run = '2'
    expect(await other.requestsSeen(pages(0, 4), 'page')).toEqual(fresh(4))
  })

  test('what a page yielded before it went back is new for whoever meets it next, at once', async () => {
    const key = bench.nextKey()
    const [filter, other] = [await bench.open(make, { key }), await bench.open(make, { key })]
    await filter.requestsSeen(pages(0, 3), 'page')
    await filter.givenBack('page')
    expect(await other.requestsSeen(pages(0, 1), 'other')).toEqual([false])
    expect(await filter.requestsSeen(pages(10, 2), 'page')).toEqual(fresh(2))
    await filter.settled('page')
    await filter.requestsSeen(pages(50, 1), 'carries the settling')
    expect(await other.requestsSeen([...pages(0, 3), ...pages(10, 2)], 'third')).toEqual([
      'in doubt',
      ...fresh(2),
      ...seen(2),
    ])
  })

  test('a page that was settled and stands twice is told nothing new again, though it asks in parts', async () => {
    const key = bench.nextKey()
    const shared = { key, redisRunId: () => 'run' }
    const [filter, other] = [await bench.open(make, shared), await bench.open(make, shared)]
    await filter.requestsSeen(pages(0, 6), 'page')
    await filter.settled('page')
    await filter.requestsSeen(pages(50, 1), 'carries the settling')
    expect(await other.requestsSeen([...pages(0, 3), page(20)], 'page')).toEqual([...seen(3), false])
    expect(await other.requestsSeen([...pages(3, 3), page(21)], 'page'), 'its second part').toEqual([
      ...seen(3),
      false,
    ])
    expect(
      await filter.requestsSeen([...pages(0, 6), page(20)], 'x'),
      'as whoever is asked meanwhile',
    ).toEqual([...seen(6), 'in doubt'])
    await other.settled('page')
    await other.requestsSeen(pages(51, 1), 'carries the settling')
    expect(await filter.requestsSeen([...pages(0, 6), ...pages(20, 2)], 'x')).toEqual(seen(8))
  })

  test('a page that was settled and stands twice, three runs of it at once: nothing that is queued comes free', async () => {
    const key = bench.nextKey()
    const shared = { key, redisRunId: () => 'run' }
    const [filter, second, third] = [
      await bench.open(make, shared),
      await bench.open(make, shared),
      await bench.open(make, shared),
    ]
    await filter.requestsSeen(pages(0, 3), 'page')
    await filter.settled('page')
    await filter.requestsSeen(pages(50, 1), 'carries the settling')
    expect(await second.requestsSeen([...pages(0, 2), page(20)], 'page')).toEqual([...seen(2), false])
    expect(await third.requestsSeen([...pages(0, 2), page(20)], 'page')).toEqual([...seen(2), false])
    await third.settled('page')
    await third.requestsSeen(pages(51, 1), 'carries the settling')
    expect(await filter.requestsSeen([...pages(0, 3), page(20)], 'x')).toEqual(seen(4))
  })

  test.concurrent('a time in which Redis is full, and takes only what tidies up, makes no asker stale', async () => {
    const server = await startRedis()
    const shared = {
      key: bench.nextKey(),
      pendingStaleMs: 600,
      times: scaledTimes(0.02),
      redisRunId: () => 'run',
    }
    const [filter, other] = await Promise.all(
      [1, 2].map(() => bench.open(make, { ...shared, redis: bench.connect(server.url) })),
    )
    await filter!.requestsSeen(pages(0, 3), 'lives')
    const askedUntilMs = performance.now() + 650
    let settled = 0
    for (; performance.now() < askedUntilMs; settled++) {
      await other!.requestsSeen([page(100 + settled)], `settled ${settled}`)
      await other!.settled(`settled ${settled}`)
    }
    await server.command('CONFIG', 'SET', 'maxmemory', '1')
    const fullUntilMs = performance.now() + 150
    for (let n = 0; performance.now() < fullUntilMs; n++) {
      await filter!.requestsSeen([page(100 + n)], `met ${n}`)
      // Waits: as a worker asks that has little to do.
      await wait(10)
    }
    await server.command('CONFIG', 'SET', 'maxmemory', '0')
    expect(await other!.requestsSeen([page(0)], 'x')).toEqual(['in doubt'])
    await server.stop()
  })

  test.concurrent('several times in which nobody could ask make no asker stale, with one question in between', async () => {
    const shared = { key: bench.nextKey(), pendingStaleMs: 300, times: scaledTimes(0.02) }
    const [filter, other] = [await bench.open(make, shared), await bench.open(make, shared)]
    await filter.requestsSeen(pages(0, 3), 'lives')
    for (let n = 1; n <= 3; n++) {
      // Waits: longer than what makes an asker stale, if others ask.
      await wait(350)
      expect(await other.requestsSeen([page(0)], `x${n}`)).toEqual(['in doubt'])
    }
  })

  test.concurrent('a crawl that asks seldom has askers go stale all the same', async () => {
    const shared = { key: bench.nextKey(), pendingStaleMs: 300, times: scaledTimes(0.02) }
    const [dead, other] = [await bench.open(make, shared), await bench.open(make, shared)]
    await dead.requestsSeen(pages(0, 1), 'dead')
    const answers = []
    for (let n = 0; n < 8; n++) {
      // Waits: longer than what makes an asker stale.
      await wait(350)
      answers.push(...(await other.requestsSeen([page(0)], `x${n}`)))
    }
    expect(answers).toContain(false)
  })

  test.concurrent('one that was settled, runs again and goes back is settled as before', async () => {
    const key = bench.nextKey()
    const shared = { key, redisRunId: () => 'run', pendingStaleMs: 200 }
    const [filter, other] = [await bench.open(make, shared), await bench.open(make, shared)]
    await filter.requestsSeen(pages(0, 3), 'page')
    await filter.settled('page')
    await filter.requestsSeen(pages(50, 1), 'carries the settling')
    expect(await other.requestsSeen([...pages(0, 2), page(20)], 'page')).toEqual([...seen(2), false])
    await other.givenBack('page')
    // Waits: longer than what makes an asker stale.
    await wait(250)
    expect(await filter.requestsSeen([...pages(0, 3), page(20)], 'x')).toEqual([...seen(3), false])
  })

  test('what the lost worker of a page was told is new stays no one’s, though the page’s second run asks about nothing', async () => {
    const key = bench.nextKey()
    const [lost, filter] = [await bench.open(make, { key }), await bench.open(make, { key })]
    for (const asks of [true, false]) {
      expect(await lost.requestsSeen(pages(0, 2), `page ${asks}`)).toEqual(fresh(2))
      expect(await filter.requestsSeen(pages(0, 1), 'x')).toEqual(['in doubt'])
      if (asks) expect(await filter.requestsSeen([], `page ${asks}`)).toEqual([])
      await filter.settled(`page ${asks}`)
      expect(await filter.requestsSeen(pages(0, 2), 'doubt/0/x')).toEqual(fresh(2))
      await filter.givenBack('doubt/0/x')
    }
  })

  test('a link in doubt that one worker took over from another is queued by either: nobody else is told that it is new', async () => {
    for (const queuedBy of [0, 1]) {
      const key = bench.nextKey()
      const workers = [await bench.open(make, { key }), await bench.open(make, { key })] as const
      for (const worker of workers)
        expect(await worker.requestsSeen(pages(0, 1), 'doubt/0/page')).toEqual([false])
      await workers[queuedBy]!.settled('doubt/0/page')
      await workers[queuedBy]!.requestsSeen(pages(50, 1), 'carries the settling')
      // The other one finds it set aside no longer.
      await workers[1 - queuedBy]!.givenBack('doubt/0/page')
      expect(await workers[0].requestsSeen(pages(0, 1), 'x'), `by ${queuedBy}`).toEqual([true])
    }
  })

  test('a reply that is lost costs nothing: a settled page is answered the same', async () => {
    await using proxy = await startTcpProxy({ target: bench.url })
    const key = bench.nextKey()
    const shared = { key, redisRunId: () => 'run' }
    const filter = await bench.open(make, shared)
    const other = await bench.open(make, { ...shared, redis: bench.connect(proxy.url) })
    await filter.requestsSeen(pages(0, 3), 'page')
    await filter.settled('page')
    await filter.requestsSeen(pages(50, 1), 'carries the settling')
    const fault = proxy.cutReplyOf(([name]) => name === 'EVALSHA' || name === 'EVAL')
    expect(await other.requestsSeen([...pages(0, 3), page(20)], 'page')).toEqual([...seen(3), false])
    expect(fault.count).toBe(1)
  })

  test('what an earlier release noted of an asker is read as it was meant', async () => {
    const key = bench.nextKey()
    const filter = await bench.open(make, { key, redisRunId: () => 'run', pendingStaleMs: 1000 })
    const askers = `{${key}}:owners`
    const redis = bench.connect()
    await filter.requestsSeen(pages(0, 2), 'page')
    await redis.hset(askers, 'page', `u ${Date.now()} +old.1`)
    expect(await filter.requestsSeen(pages(0, 2), 'x')).toEqual(['in doubt', 'in doubt'])
    await redis.hset(askers, 'page', `s ${Date.now()} run`)
    expect(await filter.requestsSeen(pages(0, 2), 'x')).toEqual(seen(2))
  })

  test('a page that goes back when it is stale leaves its links to the next asker, which counts them', async () => {
    const key = bench.nextKey()
    const stats = { inc: vi.fn() }
    const shared = { key, pendingStaleMs: 300 }
    const [filter, other] = [await bench.open(make, shared), await bench.open(make, { ...shared, stats })]
    await filter.requestsSeen(pages(0, 3), 'page')
    // Waits: until its asker is stale.
    await wait(350)
    await filter.givenBack('page')
    expect(await other.requestsSeen(pages(0, 3), 'x')).toEqual(fresh(3))
    expect(stats.inc.mock.calls).toEqual(new Array(3).fill(['dupefilter/taken_over']))
  })

  test('a page that goes back takes nothing from the worker that runs it again', async () => {
    const key = bench.nextKey()
    const [filter, other] = [await bench.open(make, { key }), await bench.open(make, { key })]
    await filter.requestsSeen(pages(0, 3), 'page')
    expect(await other.requestsSeen(pages(0, 2), 'page'), 'its lease was lost').toEqual(fresh(2))
    await filter.givenBack('page')
    expect(await filter.requestsSeen(pages(0, 3), 'x')).toEqual(['in doubt', 'in doubt', false])
  })

  test('a page that two workers run at one moment: what both were told is new is queued by either, and new for nobody else', async () => {
    for (const first of [0, 1]) {
      const shared = { key: bench.nextKey(), redisRunId: () => 'run' }
      const workers = [await bench.open(make, shared), await bench.open(make, shared)] as const
      expect(await workers[0].requestsSeen(pages(0, 3), 'page')).toEqual(fresh(3))
      expect(await workers[1].requestsSeen([...pages(0, 2), page(20)], 'page')).toEqual(fresh(3))
      await workers[first]!.settled('page')
      await workers[first]!.requestsSeen(pages(50, 1), 'carries the settling')
      const byOneAlone = first === 0 ? [true, false] : [false, true]
      expect(
        await workers[first]!.requestsSeen([...pages(0, 3), page(20)], 'x'),
        `settled by ${first}`,
      ).toEqual([...seen(2), ...byOneAlone])
    }
  })

  test('a page that two workers run at one moment, of which one has it go back: the other has its links', async () => {
    for (const back of [0, 1]) {
      const shared = { key: bench.nextKey(), redisRunId: () => 'run' }
      const workers = [await bench.open(make, shared), await bench.open(make, shared)] as const
      for (const worker of workers) expect(await worker.requestsSeen(pages(0, 2), 'page')).toEqual(fresh(2))
      await workers[back]!.givenBack('page')
      expect(await workers[back]!.requestsSeen(pages(0, 1), 'x'), `given back by ${back}`).toEqual([
        'in doubt',
      ])
      await workers[1 - back]!.settled('page')
      await workers[1 - back]!.requestsSeen(pages(50, 1), 'carries the settling')
      expect(await workers[back]!.requestsSeen(pages(0, 2), 'x')).toEqual(seen(2))
    }
  })

  test('a Redis that is away when a page goes back is told when it is there again', async () => {
    await using proxy = await startTcpProxy({ target: bench.url })
    const [key, redis] = [bench.nextKey(), bench.connect(proxy.url)]
    redis.options.maxRetriesPerRequest = 0
    const filter = await bench.open(make, { redis, key })
    const other = await bench.open(make, { key })
    await filter.requestsSeen(pages(0, 3), 'page')
    await proxy.down()
    await filter.givenBack('page')
    await proxy.up()
    await vi.waitFor(async () => expect(await other.requestsSeen(pages(0, 1), 'x')).toEqual([false]))
  })
})
