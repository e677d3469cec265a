import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { HOST_ORDERS_MAX, orderHost, readHostOrders } from './host-orders.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

test('several who order something of one host at the same moment: all of it holds', async () => {
  const crawl = { redis: bench.redis, keys: bench.nextKeys() }
  expect(await orderHost(crawl, 'a.test', { boost: true })).toBe('no crawl')
  await bench.record(crawl.keys).open()
  const changes = [{ delayMs: 2000 }, { pauseMs: 60_000 }, { boost: true }]
  const ordered = await Promise.all(changes.map((change) => orderHost(crawl, 'a.test', change)))
  expect(ordered).toEqual(['ordered', 'ordered', 'ordered'])
  const order = (await readHostOrders(crawl)).get('a.test')
  expect(order).toMatchObject({ delayMs: 2000, isBoosted: true })
  expect(order!.pauseMs).toBeGreaterThan(50_000)
  await Promise.all(
    [{ delayMs: null }, { pauseMs: null }, { boost: false }].map((change) =>
      orderHost(crawl, 'a.test', change),
    ),
  )
  expect(await readHostOrders(crawl)).toEqual(new Map())
})

test('a pause that nobody has ordered is ended by workers that learn of it within seconds, and not by one that comes later', async () => {
  const crawl = { redis: bench.redis, keys: bench.nextKeys() }
  await bench.record(crawl.keys).open()
  await orderHost(crawl, 'a.test', { pauseMs: null })
  expect((await readHostOrders(crawl)).get('a.test')).toMatchObject({ pauseMs: 0 })
  // Another order in the same moment takes nothing from it.
  await orderHost(crawl, 'a.test', { boost: true })
  expect((await readHostOrders(crawl)).get('a.test')).toMatchObject({ pauseMs: 0, isBoosted: true })
  const kept = JSON.parse((await bench.redis.hget(crawl.keys.hostOrders, 'a.test'))!)
  const later = { ...kept, resumedAtMs: kept.resumedAtMs - 60_000 }
  await bench.redis.hset(crawl.keys.hostOrders, 'a.test', JSON.stringify(later))
  expect((await readHostOrders(crawl)).get('a.test')).toEqual({ at: kept.at, isBoosted: true })
})

test('orders of which nothing holds any more make room for others', async () => {
  const crawl = { redis: bench.redis, keys: bench.nextKeys() }
  await bench.record(crawl.keys).open()
  const over = JSON.stringify({ at: 1, resumedAtMs: 1 })
  const full = Array.from({ length: HOST_ORDERS_MAX }, (_, n) => [`h${n}.test`, over])
  await bench.redis.hset(crawl.keys.hostOrders, ...full.flat())
  expect(await orderHost(crawl, 'a.test', { boost: true })).toBe('ordered')
  expect(await bench.redis.hlen(crawl.keys.hostOrders)).toBe(1)
})
