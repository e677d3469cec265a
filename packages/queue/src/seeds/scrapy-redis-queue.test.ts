import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { ScrapyRedisQueue } from './scrapy-redis-queue.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

test.each(['zset', 'list'] as const)(
  'large entries of a %s are read in order, a few at a time, and Redis loads no more of them',
  async (type) => {
    const queue = new ScrapyRedisQueue({ redis: bench.redis, key: `large:${type}` })
    const entry = (n: number) =>
      Buffer.from(
        String(n)
          .padStart(3, '0')
          .padEnd(1024 * 1024, 'x'),
      )
    for (let n = 0; n < 60; n++) await queue.push(type, [{ data: entry(n), priority: -n }])
    const luaBytes = async () => Number(/used_memory_lua:(\d+)/.exec(await bench.redis.info('memory'))![1])
    const entries = await queue.read(type, { from: 2, count: 500 })
    expect(entries.map(({ data }) => Number(data!.subarray(0, 3)))).toEqual([2, 3, 4, 5])
    expect(await luaBytes()).toBeLessThan(20 * 1024 * 1024)
    expect((await queue.read(type, { from: 59, count: 500 })).length).toBe(1)
    expect(await queue.read(type, { from: 60, count: 500 })).toEqual([])
  },
)
