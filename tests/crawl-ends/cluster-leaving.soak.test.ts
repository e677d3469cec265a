/** Workers that are killed while they leave, before each of their commands that cluster-leaving.test.ts leaves out. */

import { type RedisServer, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, test } from 'vitest'
import { killLastWorker } from './cluster-leaving.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

test.concurrent.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])(
  'the last worker is killed before its command number %i after it has left: the next crawl is whole, and leaves nothing',
  { timeout: 240_000 },
  (nth) => killLastWorker(nth, redis),
)
