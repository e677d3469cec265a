import { scaledTimes } from '@webloom/core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { FilterBench, REDIS_FILTERS } from '../../testing/filter-bench.ts'
import { pages } from '../../testing/pages.ts'

const bench = new FilterBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

describe.concurrent.each(Object.entries(REDIS_FILTERS))('%s', (_kind, make) => {
  test('marks go also where there are more than one call takes: of one asker, and of many', async () => {
    const [redis, key] = [bench.connect(), bench.nextKey()]
    const options = { redis, key, cacheSize: 0, redisRunId: async () => 'run', times: scaledTimes(0.02) }
    const filter = await bench.open(make, options)
    await filter.requestsSeen(pages(0, 1100), 'large')
    await filter.settled('large')
    const small = async (n: number) => {
      await filter.requestsSeen(pages(2000 + n, 1), `small ${n}`)
      await filter.settled(`small ${n}`)
    }
    await Promise.all(Array.from({ length: 250 }, (_, n) => small(n)))
    await vi.waitFor(
      async () => {
        expect(await filter.requestsSeen(pages(0, 1), 'x')).toEqual([true])
        for (const name of ['pending', 'owners', 'settled'])
          expect(await redis.keys(`{${key}}:${name}*`)).toEqual([])
      },
      { interval: 5, timeout: 10_000 },
    )
  })

  test('a list that cannot be read, as a cluster moves it, costs none of the marks before it', async () => {
    const [redis, key] = [bench.connect(), bench.nextKey()]
    const options = { redis, key, cacheSize: 0, redisRunId: async () => 'run', times: scaledTimes(0.02) }
    const filter = await bench.open(make, options)
    const list = `{${key}}:owners:asker 1`
    for (const n of [0, 1, 2]) await filter.requestsSeen(pages(n, 1), `asker ${n}`)
    await redis.rename(list, `{${key}}:moved`)
    await redis.set(list, 'not a list')
    for (const n of [0, 1, 2]) await filter.settled(`asker ${n}`)
    const marks = () => Promise.all([redis.hlen(`{${key}}:pending`), redis.hlen(`{${key}}:owners`)])
    const ask = () => filter.requestsSeen(pages(0, 1), 'x')
    await vi.waitFor(() => expect(ask()).rejects.toThrow('WRONGTYPE'), { interval: 5, timeout: 10_000 })
    expect(await marks()).toEqual([2, 2])
    await redis.rename(`{${key}}:moved`, list)
    await vi.waitFor(
      async () => {
        expect(await ask()).toEqual([true])
        expect(await marks()).toEqual([0, 0])
        expect(await redis.exists(list, `{${key}}:settled`)).toBe(0)
      },
      { interval: 5, timeout: 10_000 },
    )
  })
})
