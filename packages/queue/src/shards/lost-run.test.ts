import { type ProtocolTimes, scaledTimes, silentLogger } from '@webloom/core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { stopCrawl } from '../outside/crawl-control.ts'
import { lostRunFor } from './lost-run.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

test.each([
  { persists: false, flushes: false, begins: true },
  { persists: true, flushes: false, begins: false },
  // Nothing of what is kept is wanted.
  { persists: true, flushes: true, begins: true },
])(
  'a crawl with a lost shard is begun anew: $begins, persists: $persists, flushes: $flushes',
  async ({ begins, ...own }) => {
    const keys = bench.nextKeys()
    await bench.redis.hset(keys.record, { run: 'r', state: 'stopped', shards: '2' })
    const refusal = () => new Error('a shard is gone')
    const run = lostRunFor({ redis: bench.redis, keys, shards: 2, refusal, logger: silentLogger, ...own })
    if (begins) expect(await run).toBe('r')
    else await expect(run).rejects.toThrow('a shard is gone')
  },
)

const times = scaledTimes(0.1)

/** A wait that is no shorter fails the test by its timeout. */
const LONG_MS = 600_000
const { members } = times
const lostLate = { ...times, members: { ...members, lostAfterMs: LONG_MS } }

async function waiting(given: { times?: ProtocolTimes; signal?: AbortSignal } = {}) {
  const keys = bench.nextKeys()
  await bench.redis.hset(keys.record, { run: 'r', state: 'running', shards: '2' })
  const beats = async () => {
    const at = await bench.redis.time()
    await bench.redis.hset(
      keys.workers,
      'killed',
      `{"at":${at[0]}${String(at[1]).padStart(6, '0').slice(0, 3)}}`,
    )
  }
  await beats()
  const told = Promise.withResolvers<void>()
  const [found, waits] = [vi.fn(), vi.fn()]
  const run = lostRunFor({
    ...{
      redis: bench.redis,
      keys,
      shards: 2,
      persists: false,
      flushes: false,
      times,
      onWait: waits,
      ...given,
    },
    refusal: () => new Error('a shard is gone'),
    logger: { ...silentLogger, info: () => told.resolve() },
  })
  run.then(found, found)
  await told.promise
  return { keys, beats, run, found, waits }
}

test('a worker of that crawl that was killed looks present: it is waited for until it counts as lost', async () => {
  const { run, found } = await waiting({ times: { ...times, members: { ...members, beatEveryMs: LONG_MS } } })
  expect(found).not.toHaveBeenCalled()
  expect(await run).toBe('r')
})

test('one that ends is not waited for any longer; who finds that another run has begun joins that', async () => {
  const [ended, begun] = [await waiting({ times: lostLate }), await waiting({ times: lostLate })]
  await bench.redis.del(ended.keys.workers)
  expect(await ended.run).toBe('r')
  await bench.redis.hset(begun.keys.record, { run: 'next', todo: 'all' })
  expect(await begun.run).toBeUndefined()
})

test('one that neither ends nor is lost is joined in the end: it knows better', async () => {
  const { run, found, beats } = await waiting()
  while (found.mock.calls.length === 0) {
    await beats()
    await new Promise((resolve) => setImmediate(resolve))
  }
  // The record then does not begin another run, as that worker is there.
  expect(await run).toBe('r')
})

test('a worker that is told to end waits for none', async () => {
  const ending = new AbortController()
  const { keys, run } = await waiting({ signal: ending.signal })
  ending.abort()
  await expect(run).rejects.toBe(ending.signal.reason)
  expect(await bench.redis.hkeys(keys.workers)).toEqual(['killed'])
})

test('a worker whose crawl is stopped while it waits ends as those of it do, and says until then for what', async () => {
  const { keys, run, waits } = await waiting()
  expect(waits).toHaveBeenLastCalledWith(expect.stringMatching(/^until a worker .*lost a shard/))
  await stopCrawl({ redis: bench.redis, keys }, 'enough')
  await expect(run).rejects.toMatchObject({ reason: 'enough' })
})
