import type { GivenUp, RequestQueue } from '@webloom/core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { BucketBench, page, pages } from '../../testing/bucket-bench.ts'
import { JobBench } from '../../testing/job-bench.ts'
import { adoptCrawl } from '../outside/crawl-control.ts'
import { retryFailed } from '../outside/failed-requests.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { RedisFailures } from './redis-failures.ts'

const buckets = new BucketBench()
const jobs = new JobBench()
beforeAll(async () => {
  await Promise.all([buckets.start(), jobs.start()])
})
afterAll(() => Promise.all([buckets.stop(), jobs.stop()]))
afterEach(() => jobs.closeAll())

const failure: GivenUp = {
  reason: 'status',
  kind: 'HttpError',
  message: 'status 503',
  signature: 'status-503',
  status: 503,
}

async function giveUpAll(queue: RequestQueue, count: number): Promise<void> {
  for (let left = count, until = performance.now() + 20_000; left > 0; ) {
    expect(performance.now(), `${left} are not leased`).toBeLessThan(until)
    const leases = await queue.lease(32)
    await Promise.all(leases.map((lease) => queue.commit(lease, { failure })))
    left -= leases.length
  }
}

describe.each(['turns', 'job'])('QUEUE_MODE=%s', (mode) => {
  const open = async (options: {
    keys: CrawlRedisKeys
    failedMax?: number
    onTrimmed?: (n: number) => void
  }) =>
    mode === 'turns'
      ? buckets.queue({ failedMax: 1000, ...options })
      : jobs.open({ failedMax: 1000, ...options })
  const redisOf = () => (mode === 'turns' ? buckets.redis : jobs.connect())
  const nextKeys = () => (mode === 'turns' ? buckets.nextKeys() : jobs.nextKeys())

  test('in a crawl that has ended nothing is queued until it is reopened, and then each once', async () => {
    const keys = nextKeys()
    const redis = redisOf()
    const { failures, ...rest } = await ofTen(await open({ keys }))
    await adoptCrawl({ redis, keys })
    for (const fields of [
      { state: 'finished' },
      { state: 'stopped', emptied: '1', todo: 'all' },
      { state: 'running', todo: 'all 99 worker' },
    ]) {
      await redis.hset(keys.record, fields)
      expect(await failures.retry(await failures.find(['a/1']))).toBe('ended')
      expect((await rest.queue.counts()).waiting).toBe(0)
      await redis.hdel(keys.record, 'emptied', 'todo')
    }
    await redis.hset(keys.record, 'state', 'finished')
    let reopened = 0
    const reopen = async () => {
      // The second time, as the crawl ends just after the first.
      if (++reopened === 2) await adoptCrawl({ redis, keys })
    }
    const { queued } = await retryFailed(failures, {}, { reopen })
    expect(queued).toHaveLength(10)
    expect(reopened).toBe(2)
    expect((await rest.queue.counts()).waiting).toBe(10)
    expect(await retryFailed(failures, {}, { reopen })).toEqual({ queued: [], unreadable: [] })
    expect(reopened).toBe(2)
  })

  test('what fails again while all are retried stays in the ledger', async () => {
    const { failures, queue } = await ofTen(await open({ keys: nextKeys() }))
    let isFirst = true
    const mark = async () => {
      if (isFirst) {
        isFirst = false
        await failures.retry(await failures.find(['a/1']))
        const [lease] = await queue.lease(1)
        await queue.commit(lease!, { failure: { ...failure, signature: 'status-504' } })
      }
      return async () => {}
    }
    const { queued } = await retryFailed(failures, {}, { reopen: async () => {}, mark })
    expect(queued).toHaveLength(9)
    expect(await failures.counts()).toMatchObject({ kept: 1, total: 11 })
    expect((await queue.counts()).waiting).toBe(9)
  })

  test('how many were removed for FAILED_MAX is told', async () => {
    let trimmed = 0
    const onTrimmed = (count: number) => {
      trimmed += count
    }
    const queue = await open({ keys: nextKeys(), failedMax: 4, onTrimmed })
    await queue.push(pages('a', 10), 'o')
    await giveUpAll(queue, 10)
    expect(trimmed).toBe(6)
    expect(await queue.failures.counts()).toEqual({ kept: 4, total: 10, trimmed: 6, quarantined: 0 })
  })

  test('a page without a failure leaves no key of the ledger', async () => {
    const keys = nextKeys()
    const queue = await open({ keys })
    await queue.push(pages('a', 3), 'o')
    for (let left = 3, until = performance.now() + 20_000; left > 0; ) {
      expect(performance.now(), `${left} are not leased`).toBeLessThan(until)
      for (const lease of await queue.lease(3)) {
        await queue.commit(lease)
        left--
      }
    }
    expect((await redisOf().keys('*failures*')).filter((key) => key.includes(keys.queueName))).toEqual([])
  })

  test('a ledger that is only read refuses to retry', async () => {
    const keys = nextKeys()
    const { failures } = await ofTen(await open({ keys }))
    const reader = new RedisFailures({ redis: redisOf(), keys })
    expect(await reader.find(['a/1'])).toEqual(await failures.find(['a/1']))
    await expect(reader.retry(await reader.find(['a/1']))).rejects.toThrow('to be read')
  })

  test('on a full Redis a page is given up, and nothing is retried until there is room', async () => {
    const keys = nextKeys()
    const { failures, queue } = await ofTen(await open({ keys }))
    await queue.push([page('b', 1)], 'full')
    const [lease] = await queue.lease(1)
    const redis = redisOf()
    await redis.config('SET', 'maxmemory', '1')
    try {
      await queue.commit(lease!, { failure })
      expect((await failures.counts()).kept).toBe(11)
      await expect(failures.retry(await failures.find(['a/1', 'a/2']))).rejects.toThrow(/OOM|maxmemory/)
      expect((await failures.counts()).kept).toBe(11)
    } finally {
      await redis.config('SET', 'maxmemory', '0')
    }
    expect(await failures.retry(await failures.find(['a/1', 'a/2']))).toEqual(['a/1', 'a/2'])
  })
})

async function ofTen(queue: RequestQueue) {
  await queue.push(pages('a', 10), 'o')
  await giveUpAll(queue, 10)
  return { queue, failures: queue.failures }
}
