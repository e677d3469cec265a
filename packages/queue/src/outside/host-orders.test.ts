import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { orderHost, readHostOrders } from './host-orders.ts'

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
