import { PROTOCOL_TIMES, scaledTimes } from '@webloom/core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import {
  adoptCrawl,
  type ClearCrawlOptions,
  clearCrawl,
  pauseCrawl,
  resumeCrawl,
  stopCrawl,
} from './crawl-control.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

test('where no crawl runs there is nothing to pause, resume or stop', async () => {
  const crawl = { redis: bench.redis, keys: bench.nextKeys() }
  expect(await pauseCrawl(crawl)).toBe(false)
  expect(await resumeCrawl(crawl)).toBe(false)
  expect(await stopCrawl(crawl)).toBe(false)
  expect(await bench.redis.exists(crawl.keys.record)).toBe(0)
})

test('a crawl whose workers were told to end is stopped by whoever says so after that', async () => {
  const crawl = { redis: bench.redis, keys: bench.nextKeys() }
  const reason = () => bench.redis.hget(crawl.keys.record, 'finishReason')
  await bench.record(crawl.keys).open()
  // As the last worker leaves it that was told to end.
  await bench.redis.hset(crawl.keys.record, { state: 'stopped', finishReason: 'shutdown' })
  expect(await stopCrawl(crawl)).toBe(true)
  expect(await reason()).toBe('stopped')
})

test('a run that is begun by an import has a name, which its workers have too', async () => {
  const keys = bench.nextKeys()
  const { found, runName } = await adoptCrawl({ redis: bench.redis, keys })
  expect(found).toBe('new')
  const record = bench.record(keys)
  await record.open()
  expect(record.runName).toBe(runName)
  expect(runName.startsWith(`${keys.queueName}/`)).toBe(true)
  expect(await adoptCrawl({ redis: bench.redis, keys })).toEqual({ found: 'running', runName })
})

test('a crawl of shards that was stopped before these were told of its run tells them when it is given work', async () => {
  const crawl = { redis: bench.redis, keys: bench.nextKeys() }
  const record = bench.record(crawl.keys, { shards: 3 })
  await record.open()
  expect(await bench.redis.hget(crawl.keys.record, 'todo')).toBe('shards')
  await stopCrawl(crawl)
  let told = 0
  await adoptCrawl(crawl, { shards: 3, tellShards: async () => void told++ })
  expect(told).toBe(1)
})

describe('clear', () => {
  const clearing = (
    keys: CrawlRedisKeys,
    clear = async () => {},
    force = false,
    more: Partial<ClearCrawlOptions> = {},
  ) => clearCrawl({ redis: bench.redis, keys, statsKey: bench.statsKey(keys), clear, force, ...more })

  test('is refused while workers are present, unless it is forced', async () => {
    const keys = bench.nextKeys()
    const worker = await bench.join(keys)
    const clear = () => Promise.reject(new Error('must not be called'))
    expect(await clearing(keys, clear)).toBe(1)
    expect(await bench.redis.hget(keys.record, 'state')).toBe('running')
    expect(await clearing(keys, async () => {}, true)).toBe(1)
    await worker.hears('stop: cleared')
    expect(await bench.redis.exists(keys.record)).toBe(0)
  })

  test('waits for workers that are silent, as after an outage of Redis, unless it is forced: one that speaks again is at work', async () => {
    const keys = bench.nextKeys()
    await bench.record(keys).open()
    const speaks = (at: number) => bench.redis.hset(keys.workers, 'other', JSON.stringify({ at }))
    await bench.redis.del(keys.workers)
    await speaks(Date.now() - 30_000)
    const clear = () => Promise.reject(new Error('must not be called'))
    const onSilent = vi.fn(() => void speaks(Date.now()))
    expect(await clearing(keys, clear, false, { onSilent })).toBe(1)
    expect(onSilent).toHaveBeenCalledTimes(1)
    expect(await bench.stateOf(keys)).toBe('running')
    await speaks(Date.now() - 30_000)
    const startedAt = performance.now()
    expect(await clearing(keys, async () => {}, true)).toBe(0)
    expect(performance.now() - startedAt).toBeLessThan(PROTOCOL_TIMES.members.lostAfterMs / 2)
    expect(await bench.stateOf(keys)).toBe(null)
  })

  test('does not wait for those that were killed for longer than they count as present, nor for those that signed off', async () => {
    const keys = bench.nextKeys()
    const record = bench.record(keys)
    await record.open()
    await bench.redis.hset(keys.workers, 'killed', JSON.stringify({ at: Date.now() - 30_000 }))
    await record.leave()
    await bench.redis.hset(keys.workers, 'killed', JSON.stringify({ at: Date.now() - 30_000 }))
    const onSilent = vi.fn()
    expect(await clearing(keys, async () => {}, false, { onSilent, times: scaledTimes(0.05) })).toBe(0)
    expect(onSilent).toHaveBeenCalledExactlyOnceWith(1, 500)
    expect(await bench.stateOf(keys)).toBe(null)
    await bench.begun(keys).then((begun) => begun.leave())
    expect(await clearing(keys, async () => {}, false, { onSilent })).toBe(0)
    expect(onSilent).toHaveBeenCalledTimes(1)
  })

  test('leaves no key of the crawl, and keys of others alone', async () => {
    const keys = bench.nextKeys()
    const worker = await bench.join(keys)
    worker.stats.inc('item_scraped_count', 5)
    await worker.heartbeat.close()
    await worker.record.leave()
    await bench.redis.hset(keys.quarantine, 'poison', '{}')
    await bench.redis.hset(keys.alone, 'dead:1:1', 'poison')
    await bench.redis.sadd(`${keys.noted}:seed/1`, 'a')
    const neighbour = bench.nextKeys()
    await bench.redis.sadd(`${neighbour.noted}:seed/1`, 'a')
    expect(await clearing(keys)).toBe(0)
    const left = await bench.redis.keys('*')
    expect(left.filter((key) => key.includes(keys.queueName) || key === bench.statsKey(keys))).toEqual([])
    expect(left).toContain(`${neighbour.noted}:seed/1`)
  })

  test('that fails in the middle leaves it to whoever begins next', async () => {
    const keys = bench.nextKeys()
    const first = bench.record(keys)
    await first.open()
    await first.leave()
    await expect(clearing(keys, () => Promise.reject(new Error('gone')))).rejects.toThrow('gone')
    const next = bench.record(keys)
    expect(await next.open()).toEqual({ begun: false, anew: true })
    expect(await bench.doOwed(keys)).toBe(true)
  })
})
