/** Workers that are killed while they leave, before one of their commands; before the others: cluster-leaving.soak.test.ts. */

import { type RedisServer, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, test } from 'vitest'
import { killLastWorker } from './cluster-leaving.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

test.concurrent.each([13])(
  'the last worker is killed before its command number %i after it has left: the next crawl is whole, and leaves nothing',
  { timeout: 240_000 },
  (nth) => killLastWorker(nth, redis),
)
