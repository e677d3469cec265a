import type { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { RedisBench } from '../../../queue/testing/redis-bench.ts'
import { newestItems } from './read-items.ts'

const bench = new RedisBench()
let redis: Redis
beforeAll(async () => {
  await bench.start()
  redis = bench.redis
})
afterAll(() => bench.stop())
beforeEach(() => redis.flushall())

const ITEMS = Array.from({ length: 7 }, (_, n) => `{"n":${n}}`)
const NEWEST = ITEMS.slice(2).reverse()
const jsonOf = async (key: string) => (await newestItems(redis, key))?.map(({ json }) => json)

test('the last five of a list or stream, the newest first; nothing where there is neither', async () => {
  expect(await newestItems(redis, 'items')).toBeNull()
  await redis.rpush('list', ...ITEMS)
  for (const [n, json] of ITEMS.entries())
    await redis.xadd('stream', `${1000 + (n >> 1)}-${n & 1}`, 'item', json)
  expect(await jsonOf('list')).toEqual(NEWEST)
  expect(await jsonOf('stream')).toEqual(NEWEST)
  expect((await newestItems(redis, 'stream'))![0]!.at).toBe('1970-01-01T00:00:01.003Z')
  await redis.ltrim('list', 0, 1)
  expect(await jsonOf('list')).toEqual(ITEMS.slice(0, 2).reverse())
})

test.each(['list', 'stream'])('of items with megabytes in a %s one is read', async (type) => {
  const large = `{"title":"${'x'.repeat(2 * 2 ** 20)}"}`
  for (let n = 0; n < 5; n++)
    await (type === 'list' ? redis.rpush('items', large) : redis.xadd('items', '*', 'item', large))
  const sent = async () => Number(/total_net_output_bytes:(\d+)/.exec(await redis.info('stats'))![1])
  const before = await sent()
  const [first, ...others] = (await newestItems(redis, 'items'))!
  expect(first!.json).toHaveLength(4001)
  expect(others).toEqual([])
  expect((await sent()) - before).toBeLessThan(2.5 * 2 ** 20)
})
