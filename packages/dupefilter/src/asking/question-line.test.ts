import type { Seen } from '@webloom/core'
import { casesOf, IN_FULL, startTcpProxy, type TcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FilterBench } from '../../testing/filter-bench.ts'
import { fresh, inDoubt, isScript, page, pages, seen } from '../../testing/pages.ts'
import { RedisBloomDupeFilter } from '../bloom/redis-bloom-dupefilter.ts'
import type { RedisDupeFilter } from '../redis/redis-dupefilter.ts'
import type { RedisDupeFilterOptions } from '../redis/redis-dupefilter-options.ts'
import { RedisKeyDupeFilter } from '../redis/redis-key-dupefilter.ts'
import { RedisSetDupeFilter } from '../redis/redis-set-dupefilter.ts'

const bench = new FilterBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const FILTERS: Record<string, (options: RedisDupeFilterOptions) => RedisDupeFilter> = {
  'redis-set': (options) => new RedisSetDupeFilter(options),
  'redis-key': (options) => new RedisKeyDupeFilter({ ...options, ttlMs: 3_600_000 }),
  'redis-bloom': (options) => new RedisBloomDupeFilter({ ...options, capacity: 200_000, errorRate: 1e-9 }),
}

/** The header of redis/ask.lua, of each call that passes from now on. */
function calls(proxy: TcpProxy): { count: number; ask: { owner: string }[] }[] {
  const headers: { count: number; ask: { owner: string }[] }[] = []
  proxy.judgeBy((command) => {
    if (isScript(command)) headers.push(JSON.parse(command[3 + Number(command[2])]!))
    return 'forward'
  })
  return headers
}

/** Always the same numbers, from 0 to `below`. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 48271) % 2147483647
    return state % below
  }
}

interface Asking {
  readonly asker: string
  readonly about: readonly number[]
}

describe.each(casesOf(FILTERS, 'redis-key', 'redis-bloom'))('%s', (_kind, make) => {
  /** Behind a proxy, and open: a question has been asked. */
  async function behindProxy(proxy: TcpProxy, key = bench.nextKey()): Promise<RedisDupeFilter> {
    const filter = await bench.open(make, { key, redis: bench.connect(proxy.url) })
    await filter.requestsSeen(pages(9000, 1), 'first')
    return filter
  }

  test('pages that ask at the same moment are one call, each under its own asker', async () => {
    await using proxy = await startTcpProxy({ target: bench.url })
    const filter = await behindProxy(proxy)
    const sent = calls(proxy)
    const asked = [0, 1, 2].map((n) => filter.requestsSeen(pages(10 * n, 10), `start/${n}`))
    expect(await Promise.all(asked)).toEqual([fresh(10), fresh(10), fresh(10)])
    expect(sent.map(({ ask }) => ask.map(({ owner }) => owner))).toEqual([['start/0', 'start/1', 'start/2']])
  })

  test('a link of two pages is new for the first, and in doubt for the second until the first is settled or goes back', async () => {
    const filter = await bench.open(make)
    const both = () =>
      Promise.all([filter.requestsSeen(pages(0, 3), 'start/0'), filter.requestsSeen(pages(1, 4), 'start/1')])
    expect(await both()).toEqual([fresh(3), [...inDoubt(2), ...fresh(2)]])
    expect(await both(), 'both run again').toEqual([fresh(3), [...inDoubt(2), ...fresh(2)]])
    await filter.givenBack('start/0')
    expect(await both(), 'the first has gone back, and runs again').toEqual([
      fresh(3),
      [...inDoubt(2), ...fresh(2)],
    ])
    await filter.settled('start/0')
    await filter.settled('start/1')
    expect(await filter.requestsSeen(pages(0, 6), 'start/2')).toEqual([...seen(5), false])
  })

  test('what pages are told at the same moment is what they are told one after the other', async () => {
    const random = numbers(4711)
    const shared = { redisRunId: () => 'run' }
    const together = await bench.open(make, shared)
    const alone = await bench.open(make, shared)
    for (let round = 0; round < (IN_FULL ? 100 : 25); round++) {
      const first = random(12)
      const asking: Asking[] = Array.from({ length: 1 + random(8) }, (_, n) => ({
        asker: `start/${(first + n) % 12}`,
        about: Array.from({ length: 1 + random(9) }, () => random(120)),
      }))
      const told = await Promise.all(
        asking.map(({ asker, about }) => together.requestsSeen(about.map(page), asker)),
      )
      const toldAlone: Seen[][] = []
      for (const { asker, about } of asking) toldAlone.push(await alone.requestsSeen(about.map(page), asker))
      expect(told, `round ${round}: ${JSON.stringify(asking)}`).toEqual(toldAlone)
      for (const { asker } of asking) {
        const end = random(3)
        for (const filter of [together, alone]) {
          if (end === 0) await filter.settled(asker)
          else if (end === 1) await filter.givenBack(asker)
        }
      }
    }
  })

  test('128 links a call at most: the pages of one moment never hold Redis up for long', async () => {
    await using proxy = await startTcpProxy({ target: bench.url })
    const filter = await behindProxy(proxy)
    const sent = calls(proxy)
    const asked = Array.from({ length: 64 }, (_, n) => filter.requestsSeen(pages(10 * n, 10), `start/${n}`))
    expect((await Promise.all(asked)).flat()).toEqual(fresh(640))
    expect(Math.max(...sent.map(({ count }) => count))).toBeLessThanOrEqual(128)
    expect(sent.length).toBeLessThanOrEqual(11)
  })

  test('what comes while a call is under way is the next call', async () => {
    await using proxy = await startTcpProxy({ target: bench.url })
    const filter = await behindProxy(proxy)
    const sent = calls(proxy)
    proxy.hang()
    const asked = [filter.requestsSeen(pages(0, 1), 'start/0')]
    for (let n = 1; n < 6; n++) {
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
      asked.push(filter.requestsSeen(pages(n, 1), `start/${n}`))
    }
    proxy.flow()
    expect((await Promise.all(asked)).flat()).toEqual(fresh(6))
    expect(sent.map(({ ask }) => ask.length)).toEqual([1, 5])
  })

  test('a reply that is lost loses no link of any page: all are told the same', async () => {
    await using proxy = await startTcpProxy({ target: bench.url })
    const key = bench.nextKey()
    const [filter, other] = [await behindProxy(proxy, key), await bench.open(make, { key })]
    const fault = proxy.cutReplyOf(isScript)
    const asked = [0, 1, 2].map((n) => filter.requestsSeen(pages(10 * n, 15), `start/${n}`))
    expect(await Promise.all(asked)).toEqual([
      fresh(15),
      [...inDoubt(5), ...fresh(10)],
      [...inDoubt(5), ...fresh(10)],
    ])
    expect(fault.count).toBe(1)
    for (const n of [0, 1, 2]) await filter.settled(`start/${n}`)
    await filter.requestsSeen(pages(8000, 1), 'carries the settling')
    expect(await other.requestsSeen(pages(0, 36), 'start/9')).toEqual([...seen(35), false])
  })

  test('a page whose own key holds something else fails alone: the pages that asked with it are told', async () => {
    const [redis, key] = [bench.connect(), bench.nextKey()]
    const filter = await bench.open(make, { redis, key })
    await redis.set(`{${key}}:owners:start/1`, 'something else')
    const [before, wrong, after] = await Promise.allSettled(
      [0, 1, 2].map((n) => filter.requestsSeen(pages(10 * n, 10), `start/${n}`)),
    )
    expect([before, after]).toEqual([
      { status: 'fulfilled', value: fresh(10) },
      { status: 'fulfilled', value: fresh(10) },
    ])
    expect(wrong).toMatchObject({ status: 'rejected' })
    await redis.del(`{${key}}:owners:start/1`)
    expect(await filter.requestsSeen(pages(10, 10), 'start/1'), 'nothing of it is lost').toEqual(fresh(10))
  })
})
