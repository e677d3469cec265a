import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { luaScript } from '../redis/lua.ts'
import { CrawlStats, readTold, readWholeTotals } from './crawl-stats.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

/** Of its own for each try of each test. */
const nextStatsKey = () => bench.statsKey(bench.nextKeys())

const run = { id: 'run', begunAt: 1_000_000, runningSince: 1_000_000 }

const totalsOf = async (statsKey: string, { begunAt }: { begunAt: number }) =>
  (await readTold(bench.redis, statsKey, new Date(begunAt))).totals

test('a copy of a write that comes late, behind newer ones, is passed over', async () => {
  const statsKey = nextStatsKey()
  const script = luaScript('members/totals.lua', 'members/stats.lua')
  const write = (beat: number, items: number) => {
    const stats = items > 0 ? [['item_scraped_count', 'sum', String(items)]] : []
    const ask = { name: 'a:1:1', beat, begunAt: '1000000', runningSince: '1000000', stats, asked: [] }
    return script.run(bench.redis, [statsKey], [JSON.stringify(ask)])
  }
  for (const [beat, items] of [
    [1, 0],
    [2, 5],
    [3, 7],
    [2, 5],
    [1, 0],
  ] as const)
    await write(beat, items)
  expect(await totalsOf(statsKey, run)).toEqual({ item_scraped_count: 7 })
  // The worker has left: nothing of it is there, and nothing of it comes back.
  await bench.redis.hdel(statsKey, 'beat|a:1:1', 'a:1:1|item_scraped_count')
  expect(await write(3, 7)).toEqual([0])
  expect(await totalsOf(statsKey, run)).toEqual({ item_scraped_count: 7 })
})

test('more stats than go into one write are all there at the end', async () => {
  const counted = Object.fromEntries(
    Array.from({ length: 1700 }, (_, n) => [`stat/${String(n).padStart(4, '0')}`, n + 1]),
  )
  const [statsKey, stats] = [nextStatsKey(), { snapshot: () => counted }]
  const worker = new CrawlStats({ redis: bench.redis, statsKey, workerId: 'a:1:1', stats })
  await worker.write(run)
  await worker.end(run)
  expect(await totalsOf(statsKey, run)).toEqual(counted)
})

test('whole totals are there when each worker has told all, and never after one was killed', async () => {
  const statsKey = nextStatsKey()
  const of = (count: number, workerId: string) => {
    const stats = { snapshot: () => ({ item_scraped_count: count }) }
    return new CrawlStats({ redis: bench.redis, statsKey, workerId, stats })
  }
  const whole = () => readWholeTotals(bench.redis, statsKey, run.begunAt)
  const [a, b, killed] = [of(5, 'a:1:1'), of(1, 'b:1:1'), of(2, 'killed:1:1')]
  await a.write(run)
  await b.end(run)
  expect(await whole()).toBeUndefined()
  await a.end(run)
  expect(await whole()).toEqual({ all: { item_scraped_count: 6 }, sinceResumed: { item_scraped_count: 6 } })
  const resumed = { ...run, runningSince: run.runningSince + 1 }
  const next = of(2, 'next:1:1')
  await next.write(resumed)
  await next.end(resumed)
  expect(await whole()).toEqual({ all: { item_scraped_count: 8 }, sinceResumed: { item_scraped_count: 2 } })
  expect(await readWholeTotals(bench.redis, statsKey, run.begunAt + 1)).toBeUndefined()
  await killed.write(run)
  expect(await whole()).toBeUndefined()
  await a.forgetAllBut([])
  expect(await whole()).toBeUndefined()
})

test('a late worker of the last run writes nothing into the next', async () => {
  const statsKey = nextStatsKey()
  const of = (count: number, workerId: string) => {
    const stats = { snapshot: () => ({ item_scraped_count: count }) }
    return new CrawlStats({ redis: bench.redis, statsKey, workerId, stats })
  }
  const next = { id: 'next', begunAt: 2_000_000, runningSince: 2_000_000 }
  const old = of(5, 'old:1:1')
  await old.write(run)
  const young = of(1, 'young:1:1')
  await young.end(next)
  await old.end(run)
  expect(await totalsOf(statsKey, next)).toEqual({ item_scraped_count: 1 })
  expect(await totalsOf(statsKey, run)).toEqual({})
})

test('totals stand under their plain names, too, where scrapy-redis’s collector and people look for them', async () => {
  const statsKey = nextStatsKey()
  const of = (counted: Record<string, number>, workerId: string) =>
    new CrawlStats({ redis: bench.redis, statsKey, workerId, stats: { snapshot: () => counted } })
  const [a, b] = [
    of({ item_scraped_count: 5, 'host:8080/pages': 1, begunAt: 7 }, 'a:1:1'),
    of({ item_scraped_count: 4, 'own|stat': 3 }, 'b:1:1'),
  ]
  await a.end(run)
  await b.end(run)
  await a.forgetAllBut([])
  expect(await bench.redis.hgetall(statsKey)).toEqual({
    item_scraped_count: '9',
    'total|item_scraped_count': '9',
    'host:8080/pages': '1',
    'total|host:8080/pages': '1',
    'total|own|stat': '3',
    'total|begunAt': '7',
    begunAt: String(run.begunAt),
    runningSince: String(run.runningSince),
  })
})
