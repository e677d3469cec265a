import { silentLogger } from '@webloom/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
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
