import { createFingerprinter, Request } from '@webloom/core'
import { startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { FilterBench } from '../testing/filter-bench.ts'
import { RedisBloomDupeFilter } from './redis-bloom-dupefilter.ts'
import type { RedisDupeFilter } from './redis-dupefilter.ts'
import type { RedisDupeFilterOptions } from './redis-dupefilter-options.ts'
import { RedisSetDupeFilter } from './redis-set-dupefilter.ts'

const bench = new FilterBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const page = (n: number) => new Request(`https://example.com/page/${n}`)
const pages = (from: number, count: number) => Array.from({ length: count }, (_, n) => page(from + n))
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const fresh = (count: number) => new Array<boolean>(count).fill(false)
const seen = (count: number) => new Array<boolean>(count).fill(true)

const FILTERS: Record<string, (options: RedisDupeFilterOptions) => RedisDupeFilter> = {
  'redis-set': (options) => new RedisSetDupeFilter(options),
  'redis-bloom': (options) => new RedisBloomDupeFilter({ ...options, capacity: 200_000, errorRate: 1e-9 }),
}

/** A web of 3000 pages with ten links each, and a queue that refuses nothing, as lines on Redis do. */
class ModelCrawl {
  static readonly PAGES = 3000
  readonly line = [0]
  readonly fetches = new Array<number>(ModelCrawl.PAGES).fill(0)
  readonly #idOf = createFingerprinter({ algorithm: 'scrapy' })

  links(n: number): number[] {
    return Array.from({ length: 10 }, (_, k) => (n * 7 + k * k * 31 + k + 1) % ModelCrawl.PAGES)
  }

  /** Fetches so many pages at once, asks about their links, and queues them; answers their ids, which are to be settled. */
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

describe.each(Object.entries(FILTERS))('%s', (_kind, make) => {
  test('issue 15: all workers die with pages unsettled; only the new links of those are fetched again', async () => {
    const key = bench.nextKey()
    const shared = { key, queueRunId: () => 'run', pendingStaleMs: 300 }
    const [dead, next] = [await bench.open(make, shared), await bench.open(make, shared)]
    const crawl = new ModelCrawl()
    await crawl.run(dead, 80)
    const before = crawl.line.length
    // Committed, and never settled: the worker is gone.
    const lost = await crawl.commit(dead, 8)
    const newLinks = crawl.line.length - before + lost.length
    await wait(350)
    await crawl.run(next)
    expect(crawl.fetches.filter((count) => count === 0)).toEqual([])
    // One that stands twice among the eight of a moment is answered twice.
    expect(crawl.repeats).toBeLessThanOrEqual(newLinks + 8)
  })

  test('a page that was settled and runs again is told "new" only by a queue that has come back', async () => {
    const key = bench.nextKey()
    let run = '1'
    const shared = { key, queueRunId: () => run }
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

  test('issue 15: what a page yielded before it went back is new for whoever meets it next, at once', async () => {
    const key = bench.nextKey()
    const [filter, other] = [await bench.open(make, { key }), await bench.open(make, { key })]
    await filter.requestsSeen(pages(0, 3), 'page')
    await filter.givenBack('page')
    expect(await other.requestsSeen(pages(0, 1), 'other')).toEqual([false])
    expect(await filter.requestsSeen(pages(10, 2), 'page')).toEqual(fresh(2))
    await filter.settled('page')
    await filter.requestsSeen(pages(50, 1), 'carries the settling')
    expect(await other.requestsSeen([...pages(0, 3), ...pages(10, 2)], 'third')).toEqual([
      true,
      ...fresh(2),
      ...seen(2),
    ])
  })

  test('a page that goes back takes nothing from the worker that runs it again', async () => {
    const key = bench.nextKey()
    const [filter, other] = [await bench.open(make, { key }), await bench.open(make, { key })]
    await filter.requestsSeen(pages(0, 3), 'page')
    expect(await other.requestsSeen(pages(0, 2), 'page'), 'its lease was lost').toEqual(fresh(2))
    await filter.givenBack('page')
    expect(await filter.requestsSeen(pages(0, 3), 'x')).toEqual([true, true, false])
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
    await vi.waitFor(async () => expect(await other.requestsSeen(pages(0, 1), 'x')).toEqual([false]), 5000)
  })
})
