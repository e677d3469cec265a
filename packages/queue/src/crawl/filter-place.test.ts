import { PROTOCOL_TIMES, silentLogger } from '@webloom/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { isFilterShared } from './crawl-ending.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

/** A worker that joins gives up at once, and takes nobody for lost that this file does not make so. */
const times = {
  ...PROTOCOL_TIMES,
  members: { ...PROTOCOL_TIMES.members, lostAfterMs: 5000, beatEveryMs: -4900 },
  record: { ...PROTOCOL_TIMES.record, todoPollMs: 10 },
}

const joins = (keys: CrawlRedisKeys, place: string, workerId = bench.nextWorker()) =>
  isFilterShared(place, { redis: bench.redis, keys, workerId, times, logger: silentLogger })

test('a worker joins those that have its filter, and those that do not tell, and no others', async () => {
  const keys = bench.nextKeys()
  const silent = await bench.join(keys)
  expect(await joins(keys, 'somewhere')).toBe(true)
  await bench.join(keys, { tells: { filterPlace: () => 'here' } })
  expect([await joins(keys, 'elsewhere'), await joins(keys, 'here')]).toEqual([false, true])
  expect(Object.keys((await bench.view(keys)).workers[0]!)).not.toContain('filterPlace')
  await silent.heartbeat.close()
})

test('of two that begin a crawl together one is first, before either has sent a heartbeat; when it is lost the other may', async () => {
  const keys = bench.nextKeys()
  const first = bench.nextWorker()
  await bench.record(keys, { workerId: first }).open()
  expect(await joins(keys, 'here', first)).toBe(true)
  expect(await joins(keys, 'elsewhere')).toBe(false)
  await bench.unheardFor(6000, keys, first)
  expect(await joins(keys, 'elsewhere')).toBe(true)
})

test('when those at work find that their filter has lost its data, one that waits for that joins', async () => {
  const keys = bench.nextKeys()
  let place = 'before'
  await bench.join(keys, {
    tells: { filterPlace: () => place },
    times: { ...times, members: { ...times.members, beatEveryMs: 20 } },
  })
  const info = () => {
    place = 'after'
  }
  const patient = { ...times, members: { ...times.members, beatEveryMs: 0 } }
  const worker = { redis: bench.redis, keys, workerId: bench.nextWorker(), times: patient }
  expect(await isFilterShared('after', { ...worker, logger: { ...silentLogger, info } })).toBe(true)
})

test('a worker that is told to end waits no longer', async () => {
  const [keys, ending] = [bench.nextKeys(), new AbortController()]
  await bench.join(keys, { tells: { filterPlace: () => 'here' } })
  const info = () => ending.abort()
  const { signal } = ending
  const worker = { redis: bench.redis, keys, workerId: bench.nextWorker(), times: PROTOCOL_TIMES, signal }
  const shared = isFilterShared('elsewhere', { ...worker, logger: { ...silentLogger, info } })
  await expect(shared).rejects.toHaveProperty('name', 'AbortError')
})
