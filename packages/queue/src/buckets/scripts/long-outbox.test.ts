import { afterAll, beforeAll, expect, test } from 'vitest'
import { RedisBench } from '../../../testing/redis-bench.ts'
import { crawlRedisKeys } from '../../redis/crawl-redis-keys.ts'
import { ShardScripts } from './shard-scripts.ts'

const bench = new RedisBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

test('a long outbox is shortened in steps, so that its server serves others in between', async () => {
  const { redis } = bench
  const keys = crawlRedisKeys({ spider: 'pages', crawlId: null })
  const lists = { a: `${keys.frontier}:outbox:00`, b: `${keys.frontier}:outbox:01` }
  for (const list of Object.values(lists))
    await redis.rpush(list, ...Array.from({ length: 5000 }, (_, n) => `${n + 1}\nentry`))
  await redis.hset(`${keys.frontier}:sent`, '00', '1 e.1 5000', '01', '1 e.1 5000')
  await redis.hset(keys.frontierCounts, 'outbox', 100_000)
  await redis.config('RESETSTAT')
  const scripts = new ShardScripts({ redis, keys, order: 'priority' })
  const upTo = (number: number) => ({ epoch: 'e.1', number })
  expect(
    await scripts.trim([
      { receiver: '00', upTo: upTo(4500) },
      { receiver: '01', upTo: upTo(5000) },
    ]),
  ).toBe(9500)
  expect([await redis.llen(lists.a), await redis.llen(lists.b)]).toEqual([500, 0])
  expect(await redis.hgetall(`${keys.frontier}:sent`)).toEqual({
    '00': '4501 e.1 5000',
    '01': '5001 e.1 5000',
  })
  // Each of 10 000 counts as ten.
  expect(await redis.hget(keys.frontierCounts, 'outbox')).toBe('5000')
  expect(
    Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))![1]),
  ).toBeGreaterThanOrEqual(4)
})

test('entries with large bodies are read some megabyte at a time, and all of them in the end', async () => {
  const { redis } = bench
  const keys = crawlRedisKeys({ spider: 'bodies', crawlId: null })
  const body = 'b'.repeat(300_000)
  const list = `${keys.frontier}:outbox:00`
  for (let n = 1; n <= 100; n++) await redis.rpush(list, `${n}\n${body}`)
  await redis.hset(`${keys.frontier}:sent`, '00', '1 e.1 100')
  const scripts = new ShardScripts({ redis, keys, order: 'priority' })
  const numbers: number[] = []
  for (;;) {
    const read = await scripts.read('01', '00', numbers.length + 1, 500)
    const entries = read.flatMap((delivery) => delivery.entries)
    if (entries.length === 0) break
    expect(entries.length * body.length).toBeLessThan(5e6)
    numbers.push(...entries.map((entry) => Number.parseInt(entry, 10)))
  }
  expect(numbers).toEqual(Array.from({ length: 100 }, (_, n) => n + 1))
})
