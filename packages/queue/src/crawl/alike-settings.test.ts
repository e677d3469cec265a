import { type Logger, PROTOCOL_TIMES, scaledTimes, silentLogger } from '@webloom/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench, type JoinedWorker, stopped, waits } from '../../testing/crawl-bench.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { type AlikeSettings, comparableValue } from './alike-settings.ts'
import type { RedisCrawlRecordOptions } from './redis-crawl-record.ts'

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

function joining(
  keys: CrawlRedisKeys,
  alike?: AlikeSettings,
  options: Partial<RedisCrawlRecordOptions> = {},
) {
  const words: string[] = []
  const tell = (text: unknown) => void words.push(String(text))
  const logger: Logger = { ...silentLogger, warn: tell, info: tell }
  const record = bench.record(keys, { persists: true, logger, ...(alike && { alike }), ...options })
  return { record, words, opening: record.open() }
}

const times = scaledTimes(0.1)

/** Nobody speaks by itself. */
const SELDOM_MS = 600_000
const { members } = PROTOCOL_TIMES
const silently = {
  ...PROTOCOL_TIMES,
  members: { ...members, beatEveryMs: SELDOM_MS, beatOftenMs: SELDOM_MS },
}

/** Sends a heartbeat, as whoever is asked for what all have counted does at once. */
const speaks = ({ heartbeat }: JoinedWorker) => heartbeat.stat('any')

/** A crawl that a worker has begun which has counted as lost since, and which sends no heartbeat by itself. */
async function leftBySilent(persists: boolean, alike: AlikeSettings) {
  const keys = bench.nextKeys()
  const told: string[] = []
  const logger: Logger = { ...silentLogger, error: (text: unknown) => void told.push(String(text)) }
  const silent = await bench.join(keys, { alike, logger, persists, times: silently })
  await bench.unheardFor(15_000, keys, silent.workerId)
  return { keys, silent, told }
}

test('while a worker is at work, another one is compared with it; alone it goes on with its own', async () => {
  const keys = bench.nextKeys()
  const first = joining(keys, settings('a', 'a', 'a'))
  await first.opening
  await expect(joining(keys, settings('a', 'b', 'b')).opening).rejects.toThrow(
    /TOGETHER is b, and the workers at work on crawl .* have a: all would have it. Give this worker -s TOGETHER=a, end the others first: webloom stop/,
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

test('a value that is too long to type is told by its beginning, and the line does not repeat that', async () => {
  const keys = bench.nextKeys()
  const long = comparableValue('a'.repeat(500))
  await joining(keys, settings('a', 'a', long)).opening
  const second = joining(keys, settings('a', 'a', comparableValue(`${'a'.repeat(499)}b`)))
  await second.opening
  expect(second.words).toEqual([
    expect.stringMatching(
      /TOLD is a{400}… \(500 characters, SHA-256 \w+\) here and a{400}… .* To have theirs: TOLD as it is written there$/,
    ),
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

test.concurrent('what silent workers of a kept crawl may come back to is not deleted: a worker without SCHEDULER_PERSIST is refused', async () => {
  const { keys } = await leftBySilent(true, settings('a', 'a', 'a'))
  const other = joining(keys, settings('a', 'a', 'a'), { persists: false })
  await expect(other.opening).rejects.toThrow(
    /^SCHEDULER_PERSIST is false, and crawl .* is kept .*: a worker of it did not sign off, and was last heard on 20\d\d-.*Z, and may .* Give this worker -s SCHEDULER_PERSIST=true, or give the crawl up: webloom clear/,
  )
  await joining(keys, settings('a', 'a', 'a')).opening
})

test.concurrent('a worker with another setting waits while others are silent, and is refused when one of them speaks', async () => {
  const { keys, silent } = await leftBySilent(false, settings('a', 'a', 'a'))
  const watched = bench.watched()
  const other = joining(keys, settings('a', 'b', 'a'), { redis: watched.redis })
  await waits(other.opening, watched)
  speaks(silent)
  await expect(other.opening).rejects.toThrow(/TOGETHER is b, and the workers at work on crawl .* have a/)
  expect(other.words).toEqual([
    expect.stringMatching(/^a worker of this crawl is silent and did not sign off/),
  ])
  expect(silent.told).toEqual([])
})

test.concurrent('so does one that would empty the crawl first', async () => {
  const { keys, silent } = await leftBySilent(true, settings('a', 'a', 'a'))
  const watched = bench.watched()
  const other = joining(keys, settings('a', 'a', 'a'), {
    redis: watched.redis,
    flushes: true,
    persists: false,
  })
  await waits(other.opening, watched)
  speaks(silent)
  await other.opening
  expect(await bench.todoOf(keys)).toEqual([])
})

test.concurrent('when none of them speaks the crawl goes on with the other setting, and one that comes back ends', async () => {
  const { keys, silent, told } = await leftBySilent(false, settings('a', 'a', 'a'))
  const other = joining(keys, settings('a', 'b', 'a'), {
    times: { ...times, members: { ...times.members, lostAfterMs: 1 } },
  })
  await other.opening
  speaks(silent)
  await silent.hears('stop: other_settings')
  expect(told).toEqual([
    expect.stringMatching(
      /goes on with another TOGETHER, which is a here and b there: .* start it with -s TOGETHER=b$/,
    ),
  ])
})

test('a worker that ends with other_settings deletes nothing, though it is alone and keeps no crawl', async () => {
  const record = bench.record(bench.nextKeys(), { persists: false })
  await record.open()
  await record.ended('other_settings')
  expect(await record.leave()).toMatchObject({ last: true, owes: false })
})

test('a crawl that is kept by its record is deleted by no worker that would not keep it', async () => {
  const keys = bench.nextKeys()
  const record = bench.record(keys, { persists: false })
  await record.open()
  await bench.redis.hset(keys.record, 'persists', '1')
  expect(await stopped(record)).toMatchObject({ last: true, owes: false })
})

test('a worker is told of settings that workers at work have, and not of those of one that has left', async () => {
  const keys = bench.nextKeys()
  const told = async (value: string) => {
    const one = joining(keys, settings('a', 'a', value))
    await one.opening
    return one
  }
  const first = await told('1')
  const second = await told('2')
  expect(second.words).toEqual([expect.stringMatching(/TOLD is 2 here and 1 there.* -s TOLD=1$/)])
  await first.record.close()
  const third = await told('2')
  const fourth = await told('1')
  expect([third.words, fourth.words]).toEqual([[], [expect.stringMatching(/TOLD is 1 here and 2 there/)]])
  expect((await told('3')).words).toEqual([
    expect.stringMatching(/TOLD is 3 here and 2 or 1 there: .* To have theirs: -s TOLD=2$/),
  ])
  for (const one of [second, third, fourth]) await one.record.close()
})

test('a worker that is alone and keeps no crawl is told that it deletes one that was kept', async () => {
  const keys = bench.nextKeys()
  const words = async (persists: boolean) => {
    const one = joining(keys, settings('a', 'a', 'a'), { persists })
    await one.opening
    await one.record.ended('memusage_exceeded')
    await one.record.close()
    return one.words
  }
  expect(await words(true)).toEqual([])
  expect(await words(true)).toEqual([])
  expect(await words(false)).toEqual([
    expect.stringMatching(
      /was kept on Redis until now .* this worker will delete it: .*kill all its workers \(.*kill -9 \d+.* -s SCHEDULER_PERSIST=true$/,
    ),
  ])
  // It has noted that it keeps none.
  expect(await words(false)).toEqual([])
})

test('so is one that would empty it first, where that was done when the run began', async () => {
  const keys = bench.nextKeys()
  const kept = joining(keys, undefined, { flushes: true })
  await kept.opening
  await bench.redis.hset(keys.record, 'flushed', '1')
  await kept.record.ended('memusage_exceeded')
  await kept.record.close()
  const next = joining(keys, undefined, { flushes: true, persists: false })
  await next.opening
  expect(next.words).toEqual([expect.stringMatching(/this worker will delete it/)])
})
