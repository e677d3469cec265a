import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { crawlRedisKeys, crawlsKey } from '../redis/crawl-redis-keys.ts'
import { forgetCrawl, noteCrawl, readCrawls } from './crawl-registry.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const noted = (spider: string, crawlId: string | null = null) =>
  noteCrawl(bench.redis, { spider, crawlId, statsKey: `${spider}:stats`, release: '1.2.3' })

test('a crawl that was joined is known by its name until it is forgotten; what cannot be read is left out', async () => {
  await noted('quotes')
  await noted('quotes', '2026-11')
  await bench.redis.hset(crawlsKey({}), '{odd}', 'no JSON')
  const crawls = await readCrawls(bench.redis)
  expect(crawls.map(({ queueName }) => queueName).sort()).toEqual(['{quotes@2026-11}', '{quotes}'])
  expect(crawls[0]).toMatchObject({ spider: 'quotes', statsKey: 'quotes:stats', release: '1.2.3' })
  await forgetCrawl(bench.redis, crawlRedisKeys({ spider: 'quotes', crawlId: '2026-11' }))
  expect(await readCrawls(bench.redis)).toHaveLength(1)
})

test('of more than a thousand crawls those are known that were joined last', async () => {
  await bench.redis.del(crawlsKey({}))
  const old = Array.from({ length: 1000 }, (_, n) => [
    `{old@${n}}`,
    JSON.stringify({ spider: 'old', crawlId: `${n}`, joinedAt: n }),
  ])
  await bench.redis.hset(crawlsKey({}), ...old.flat())
  await noted('quotes')
  const crawls = await readCrawls(bench.redis)
  expect(crawls).toHaveLength(1000)
  expect(crawls[0]?.spider).toBe('quotes')
  expect(crawls.at(-1)?.crawlId).toBe('1')
})
