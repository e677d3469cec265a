import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench, until } from '../../testing/crawl-bench.ts'
import { startCrawlWorker } from '../../testing/workers/crawl-processes.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start({ appendonly: 'always' }))
afterAll(() => bench.stop())

const totalOf = async (keys: CrawlRedisKeys, stat: string) => (await bench.view(keys)).stats[stat]

test('the stats of a worker that is killed stay in the totals', async () => {
  const keys = bench.nextKeys()
  const survivor = await bench.join(keys)
  survivor.stats.inc('item_scraped_count', 2)
  await using victim = startCrawlWorker(bench.server.url, keys, 'count')
  const [id] = await victim.waitForOutput(/\S+:\d+:x/)
  await until(async () => (await totalOf(keys, 'item_scraped_count')) === 9, 15_000)
  victim.kill('SIGKILL')
  await victim.exited
  const killedAt = performance.now()
  const lost = async () => (await bench.view(keys)).workers.find((worker) => worker.id === id)!.lost
  expect(await lost()).toBe(false)
  await until(lost, 15_000)
  // Ten seconds after its last heartbeat, of which there is one every three.
  expect(performance.now() - killedAt).toBeGreaterThan(6000)
  expect(await totalOf(keys, 'item_scraped_count')).toBe(9)
  // Its own fields are of no use any more; the next worker that tidies up deletes them.
  await bench.unheardFor(700_000, keys, id)
  const heard = `${keys.frontier}:heard`
  await bench.redis.hset(heard, { [id!]: 7, [survivor.workerId]: 3 })
  const tidy = await bench.join(keys)
  expect((await bench.view(keys)).workers.map((worker) => worker.id)).not.toContain(id)
  await until(
    async () => (await bench.redis.hkeys(bench.statsKey(keys))).every((field) => !field.includes(id)),
    10_000,
  )
  expect(await bench.redis.hgetall(heard)).toEqual({ [survivor.workerId]: '3' })
  expect(await totalOf(keys, 'item_scraped_count')).toBe(9)
  expect(tidy.heartbeat.stat('item_scraped_count')).toBe(0)
})
