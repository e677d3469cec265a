import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { PresentWorkers } from './present-workers.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

test('workers are counted by their heartbeats, wherever they listen; whoever looks counts at least itself', async () => {
  const keys = bench.nextKeys()
  const present = new PresentWorkers({ redis: bench.redis, keys })
  await present.open()
  expect(present.count).toBe(1)
  const [first] = [await bench.join(keys), await bench.join(keys), await bench.join(keys)]
  await bench.unheardFor(20_000, keys, first!.workerId)
  const later = new PresentWorkers({ redis: bench.redis, keys })
  await later.open()
  expect(later.count).toBe(2)
  for (const one of [present, later]) one.close()
})
