/** Some fifty crawls of three workers on small webs: none ends early, none hangs. */

import { type RedisServer, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { finishRound } from '../cluster/cluster-crawl.ts'

const ROUNDS = 50

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

describe.each(['turns', 'job'] as const)('QUEUE_MODE=%s', (mode) => {
  test.each([3, 4, ...Array.from({ length: ROUNDS }, (_, n) => 100 + n)])('round %i', (seed) =>
    finishRound(seed, { redis, mode }),
  )
})
