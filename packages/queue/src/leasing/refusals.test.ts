import { REFUSALS_MAX } from '@webloom/core'
import { beforeEach, expect, test } from 'vitest'
import { redisOfFile } from '../../testing/redis-of-file.ts'
import { workerEntry } from '../members/crawl-worker.ts'
import { crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { historyKey } from './quarantine.ts'
import { nobodyCanDo } from './refusals.ts'

const keys = crawlRedisKeys({ spider: 'pages', crawlId: null })
const NOW = 1_700_000_000_000
const { redis } = await redisOfFile()
beforeEach(() => redis.flushall())

const present = (id: string, at = NOW) =>
  redis.hset(keys.workers, id, `{"at":${at},${workerEntry(id, new Date(NOW)).slice(1)}`)
const refusedBy = (...workers: string[]) =>
  redis.hset(
    historyKey(keys),
    'page',
    workers.map((worker) => JSON.stringify({ at: NOW, worker, what: 'no callback' })).join('\n'),
  )
const asked = (refusals: number) => nobodyCanDo({ redis, keys, id: 'page', workerId: 'old', refusals })

test('a request that every worker refused is given up, but not before REFUSALS_MAX refusals', async () => {
  await present('old')
  expect(await asked(REFUSALS_MAX - 1)).toBe(false)
  expect(await asked(REFUSALS_MAX)).toBe(true)
})

test('as long as a worker is present that has not had it, it is not given up, however often others refuse', async () => {
  await present('old')
  await present('new')
  await refusedBy('old', 'old', 'old')
  expect(await asked(50 * REFUSALS_MAX)).toBe(false)
  await refusedBy('old', 'new')
  expect(await asked(REFUSALS_MAX)).toBe(true)
})

test('a lost worker is not waited for', async () => {
  await present('old')
  await present('lost', NOW - 60_000)
  expect(await asked(REFUSALS_MAX)).toBe(true)
})
