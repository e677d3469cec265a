import { type Logger, silentLogger } from '@webloom/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import type { AlikeSettings } from './alike-settings.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

/** Settings of a worker, by what becomes of others. */
const settings = (fixed: string, together: string, told: string): AlikeSettings => ({
  fixed: [{ name: 'FIXED', value: fixed, why: 'it lies so' }],
  together: [{ name: 'TOGETHER', value: together, why: 'all would have it' }],
  told: [{ name: 'TOLD', value: told, why: 'it is odd' }],
  typed: (name, value) => `-s ${name}=${value}`,
})

function joining(keys: CrawlRedisKeys, alike?: AlikeSettings) {
  const words: string[] = []
  const logger: Logger = { ...silentLogger, warn: (text: unknown) => void words.push(String(text)) }
  const record = bench.record(keys, { persists: true, logger, ...(alike && { alike }) })
  return { record, words, opening: record.open() }
}

test('while a worker is at work, another one is compared with it; alone it goes on with its own', async () => {
  const keys = bench.nextKeys()
  const first = joining(keys, settings('a', 'a', 'a'))
  await first.opening
  await expect(joining(keys, settings('a', 'b', 'b')).opening).rejects.toThrow(
    /TOGETHER is b, and the workers at work on crawl .* have a: all would have it. Give this worker -s TOGETHER=a, or end the others first: webloom stop/,
  )
  await expect(joining(keys, settings('b', 'a', 'a')).opening).rejects.toThrow(/^FIXED is b, .* begun with a/)
  const second = joining(keys, settings('a', 'a', 'b'))
  await second.opening
  expect([first.words.length, second.words]).toEqual([
    0,
    [expect.stringMatching(/TOLD is b here and a there: it is odd. To have theirs: -s TOLD=a$/)],
  ])
  await first.record.close()
  await second.record.close()
  const third = joining(keys, settings('b', 'b', 'c'))
  await third.opening
  expect([third.words, await bench.redis.hget(keys.record, 'alike')]).toEqual([
    [],
    expect.stringContaining('"TOLD":"c"'),
  ])
})

test('as long as something waits, what is fixed stays; a record of an earlier release has the first that comes noted', async () => {
  const keys = bench.nextKeys()
  const first = joining(keys, settings('a', 'a', 'a'))
  await first.opening
  await first.record.close()
  await bench.redis.hset(keys.frontierCounts, 'delayed', 1)
  const other = () => joining(keys, settings('b', 'b', 'b'))
  await expect(other().opening).rejects.toThrow(
    /Go on with -s FIXED=a until nothing waits there, or begin it anew/,
  )
  await bench.redis.hdel(keys.record, 'alike')
  await other().opening
  await expect(joining(keys, settings('a', 'b', 'b')).opening).rejects.toThrow(/begun with b/)
  // One of an earlier release says nothing of it.
  await joining(keys).opening
})
