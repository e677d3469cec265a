import { hostname } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { noteCrawl } from './crawl-registry.ts'
import { stuckWorkers } from './stuck-workers.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const note = (spider: string) =>
  noteCrawl(bench.redis, { spider, crawlId: null, statsKey: `${spider}:stats`, release: '1.2.3' })

test('a worker that is silent is found, however many crawls were joined since it was', async () => {
  const keys = bench.nextKeys()
  await note(keys.queueName.slice(1, -1))
  for (let n = 0; n < 50; n++) await note(`later${n}`)
  const { workerId } = await bench.join(keys)
  expect(await stuckWorkers(bench.redis, hostname())).toEqual([])
  await bench.unheardFor(20_000, keys, workerId)
  expect(await stuckWorkers(bench.redis, hostname())).toMatchObject([
    { id: workerId, why: 'sends no heartbeat' },
  ])
  expect(await stuckWorkers(bench.redis, 'another')).toEqual([])
})
