/** A look for lost turns may reach Redis long after it was sent: when its connection is back, with the locks run out. */

import { setTimeout as sleep } from 'node:timers/promises'
import { scaledTimes } from '@webloom/core'
import { MachineLag, startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { BucketBench } from '../../testing/bucket-bench.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { BucketScripts } from './scripts/bucket-scripts.ts'

const bench = new BucketBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const GAP_MS = 3000
/** So short that any look counts as one after a time without Redis. */
const NO_GAP_MS = -1
/** A crawl goes on within five seconds, of which a worker needs up to 1.5 until it has found a new master. */
const GIVEN_MS_MAX = 3500
const FACTOR = 0.4
const UNIT = 'a.test~0~1'

let keys: CrawlRedisKeys
let scripts: BucketScripts
const bull = (name: string) => `${keys.base}:${name}`
const active = () => bench.redis.lrange(bull('active'), 0, -1)
const waiting = () => bench.redis.lrange(bull('wait'), 0, -1)

beforeEach(async () => {
  keys = bench.nextKeys()
  scripts = new BucketScripts({ redis: bench.redis, keys, order: 'priority' })
  await bench.redis.rpush(bull('active'), UNIT)
})

test('a turn that had no lock at two looks is the next worker’s', async () => {
  await scripts.takeStalled(GAP_MS, 0)
  expect(await active()).toEqual([UNIT])
  await scripts.takeStalled(GAP_MS, 0)
  expect(await active()).toEqual([])
  expect(await waiting()).toEqual([UNIT])
  expect(await bench.redis.zscore(bull('marker'), '0')).toBe('0')
  expect(await scripts.sweep('a', 0, 0)).toMatchObject({ waiting: 1, unserved: 1 })
})

test('a look that comes after a time without Redis takes nothing, and counts as the first of two', async () => {
  await scripts.takeStalled(GAP_MS, 0)
  await scripts.takeStalled(NO_GAP_MS, 0)
  expect(await active()).toEqual([UNIT])
  await scripts.takeStalled(GAP_MS, 0)
  expect(await waiting()).toEqual([UNIT])
})

test('a turn whose lock was renewed between two looks is its worker’s', async () => {
  await scripts.takeStalled(GAP_MS, 0)
  await bench.redis.set(bull(`${UNIT}:lock`), 'token')
  await scripts.takeStalled(GAP_MS, 0)
  expect(await active()).toEqual([UNIT])
})

test('after a time without Redis nothing is taken before all workers may be back, whoever looks', async () => {
  const backMs = 300
  const sinceMs = performance.now()
  await scripts.takeStalled(NO_GAP_MS, backMs)
  await vi.waitFor(async () => {
    await scripts.takeStalled(GAP_MS, backMs)
    expect(await waiting()).toEqual([UNIT])
  })
  expect(performance.now() - sinceMs).toBeGreaterThanOrEqual(backMs)
})

test('a look that was under way when Redis went is followed by no other before all workers may be back, and by one soon after', async () => {
  const { turns, ...others } = scaledTimes(FACTOR)
  // As of a Redis with spares.
  const backMs = turns.sparedBackMs
  const times = { ...others, turns: { ...turns, backMs } }
  const { stalledGapMs, sweepEveryMs } = turns
  await bench.redis.set(bull(`${UNIT}:lock`), 'token')
  await using proxy = await startTcpProxy({ target: bench.server.url })
  const isTaking = (command: readonly string[]) =>
    command.at(-1) === String(backMs) && command.at(-2) === String(stalledGapMs)
  let looks = 0
  proxy.judgeBy((command) => {
    if (isTaking(command)) looks++
    return 'forward'
  })
  const fault = proxy.dropBefore(isTaking)
  await bench.queue({ keys, times, url: proxy.url })
  await vi.waitFor(() => expect(fault.count).toBe(1))
  await proxy.down()
  // The lock runs out while Redis is away.
  await bench.redis.del(bull(`${UNIT}:lock`))
  // Waits: so long Redis is away, that it would sweep several times.
  await sleep(2.5 * sweepEveryMs)
  const before = looks
  using lag = new MachineLag()
  const upAtMs = performance.now()
  await proxy.up()
  await vi.waitFor(() => expect(looks).toBeGreaterThan(before))
  // Waits: its holder needs a while longer to come back.
  await sleep(0.9 * backMs)
  expect(await active()).toContain(UNIT)
  await vi.waitFor(async () => expect(await active()).not.toContain(UNIT), { interval: 10 })
  const nowMs = performance.now()
  expect(nowMs - upAtMs).toBeLessThan(FACTOR * GIVEN_MS_MAX + lag.between(upAtMs, nowMs))
})
