import { REJECTIONS_MAX } from '@webloom/core'
import { beforeEach, expect, test } from 'vitest'
import { redisOfFile } from '../../testing/redis-of-file.ts'
import { workerEntry } from '../crawl/crawl-worker.ts'
import { crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { historyKey } from './quarantine-history.ts'
import { nobodyCanDo } from './rejections.ts'

const keys = crawlRedisKeys({ spider: 'pages', crawlId: null })
const NOW = 1_700_000_000_000
const { redis } = await redisOfFile()
beforeEach(() => redis.flushall())

const present = (id: string, at = NOW) =>
  redis.hset(keys.workers, id, `{"at":${at},${workerEntry(id, new Date(NOW)).slice(1)}`)
const rejectedBy = (...workers: string[]) =>
  redis.hset(
    historyKey(keys),
    'page',
    workers.map((worker) => JSON.stringify({ at: NOW, worker, what: 'no callback' })).join('\n'),
  )
const asked = (rejections: number) => nobodyCanDo({ redis, keys, id: 'page', workerId: 'old', rejections })

test('a request that every worker rejected is given up, but not before REJECTIONS_MAX rejections', async () => {
  await present('old')
  expect(await asked(REJECTIONS_MAX - 1)).toBe(false)
  expect(await asked(REJECTIONS_MAX)).toBe(true)
})

test('as long as a worker is present that has not had it, it is not given up, however often others reject', async () => {
  await present('old')
  await present('new')
  await rejectedBy('old', 'old', 'old')
  expect(await asked(50 * REJECTIONS_MAX)).toBe(false)
  await rejectedBy('old', 'new')
  expect(await asked(REJECTIONS_MAX)).toBe(true)
})

test('a lost worker is not waited for', async () => {
  await present('old')
  await present('lost', NOW - 60_000)
  expect(await asked(REJECTIONS_MAX)).toBe(true)
})
