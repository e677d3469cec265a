/**
 * Some fifty crawls of three workers on small webs: none ends early, none hangs. And what cluster-ends.test.ts and
 * cluster-again.test.ts show for turns and for one limit, for the others.
 */

import { type RedisServer, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { finishRound } from '../cluster/cluster-crawl.ts'
import { clearedWhole, closedEarly, limited, stoppedEarly } from './cluster-ends.ts'

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

test('limits count for the cluster: CLOSESPIDER_ITEMCOUNT', () =>
  limited(redis, ['CLOSESPIDER_ITEMCOUNT', 60, 'closespider_itemcount', 'item_scraped_count']))

test('QUEUE_MODE=job: an early end of one that closes at so many pages warns of what is deleted', () =>
  closedEarly(redis, 'job'))

test('QUEUE_MODE=job: an early end of two workers that are stopped warns of what is deleted', () =>
  stoppedEarly(redis, 'job'))

test('QUEUE_MODE=job: webloom clear leaves no key of the crawl', () => clearedWhole(redis, 'job'))
