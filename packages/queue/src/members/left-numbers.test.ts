import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlBench } from '../../testing/crawl-bench.ts'
import { LeftNumbers } from './left-numbers.ts'

const bench = new CrawlBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

test('the number of an import that sends nothing more is deleted; workers and imports at work keep theirs', async () => {
  const { redis } = bench
  const keys = bench.nextKeys()
  const heard = `${keys.frontier}:heard`
  await redis.hset(heard, { worker: 5, killed: 7, import: 1 })
  const left = new LeftNumbers({ redis, keys, silentMsMax: 600_000 })
  const workers = new Set(['worker'])
  await left.sweep(workers, 1_000_000)
  await redis.hset(heard, { import: 2 })
  await left.sweep(workers, 1_300_000)
  expect(Object.keys(await redis.hgetall(heard)).toSorted()).toEqual(['import', 'killed', 'worker'])
  await left.sweep(workers, 1_600_000)
  expect(await redis.hgetall(heard)).toEqual({ worker: '5', import: '2' })
  await left.sweep(workers, 1_900_000)
  expect(await redis.hgetall(heard)).toEqual({ worker: '5' })
})
