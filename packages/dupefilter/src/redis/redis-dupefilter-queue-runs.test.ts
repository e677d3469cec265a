/** What counts as queued, and what may have been lost, when the queue's Redis has begun another run. */

import { inDoubtAsker, PROTOCOL_TIMES } from '@webloom/core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { FilterBench, REDIS_FILTERS, wait } from '../../testing/filter-bench.ts'
import { fresh, pages } from '../../testing/pages.ts'

const bench = new FilterBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe.each(Object.entries(REDIS_FILTERS))('%s', (_kind, make) => {
  test('once the queue has gone back, what a page had queued lately is in doubt for others: it may run again and show other links', async () => {
    const key = bench.nextKey()
    let run = '1'
    const back: (() => void)[] = []
    const shared = {
      key,
      redisRunId: () => run,
      onQueueBack: (listener: () => void) => void back.push(listener),
      cacheSize: 100,
    }
    const [filter, other] = [await bench.open(make, shared), await bench.open(make, shared)]
    await filter.requestsSeen(pages(0, 3), 'page')
    await filter.settled('page')
    await filter.requestsSeen(pages(50, 1), 'carries the settling')
    run = '2'
    for (const isBack of back) isBack()
    await nextTurn()
    expect(await other.requestsSeen(pages(0, 3), 'x')).toEqual(['in doubt', 'in doubt', 'in doubt'])
    expect(await filter.requestsSeen(pages(0, 1), 'y'), 'the cache has forgotten').toEqual(['in doubt'])
    expect(await other.requestsSeen(pages(1, 2), 'page'), 'the page runs again').toEqual(fresh(2))
    await other.settled('page')
    await other.requestsSeen(pages(51, 1), 'carries the settling')
    expect(await filter.requestsSeen(pages(0, 3), 'doubt/x')).toEqual([false, true, true])
  })

  test('what was set aside and queued is new again, once the queue has gone back, whichever page has it set aside then', async () => {
    const key = bench.nextKey()
    let run = '1'
    const back: (() => void)[] = []
    const filterTimes = { ...PROTOCOL_TIMES.filter, lostCommitMs: 400 }
    const shared = {
      key,
      redisRunId: () => run,
      onQueueBack: (listener: () => void) => void back.push(listener),
      times: { ...PROTOCOL_TIMES, filter: filterTimes },
      cacheSize: 100,
    }
    const [filter, other] = [await bench.open(make, shared), await bench.open(make, shared)]
    const setAsideBy = (inDoubt: string) => inDoubtAsker({ id: '0', inDoubt })
    expect(await filter.requestsSeen(pages(0, 1), setAsideBy('page'))).toEqual([false])
    await filter.settled(setAsideBy('page'))
    await filter.requestsSeen(pages(50, 1), 'carries the settling')
    expect(await other.requestsSeen(pages(0, 1), 'x')).toEqual([true])
    run = '2'
    for (const isBack of back) isBack()
    await nextTurn()
    for (const one of [filter, other])
      expect(await one.requestsSeen(pages(0, 1), 'page')).toEqual(['in doubt'])
    expect(await other.requestsSeen(pages(0, 1), setAsideBy('another page'))).toEqual([false])
  })

  test('a page is outdated when the queue came back with another run, not when only its connection was made anew', async () => {
    let run: string | Error = '1'
    const back: (() => void)[] = []
    const filter = await bench.open(make, {
      key: bench.nextKey(),
      redisRunId: async () => {
        if (run instanceof Error) throw run
        return run
      },
      onQueueBack: (listener: () => void) => void back.push(listener),
    })
    await filter.requestsSeen(pages(0, 1), 'page')
    const isOutdatedOnceBack = async (now: string | Error) => {
      run = now
      for (const isBack of back) isBack()
      return filter.mayBeOutdated('page')
    }
    expect(await filter.mayBeOutdated('page')).toBe(false)
    expect(await isOutdatedOnceBack('1')).toBe(false)
    expect(await isOutdatedOnceBack(new Error('no answer'))).toBe(true)
    expect(await isOutdatedOnceBack('2')).toBe(true)
  })

  test('what the queue is known to have lost is new for the next asker, however late, unless its page has run again', async () => {
    const key = bench.nextKey()
    let run = '1'
    const back: (() => void)[] = []
    const shared = {
      key,
      pendingStaleMs: 300,
      redisRunId: () => run,
      onQueueBack: (listener: () => void) => void back.push(listener),
      // It is over at once, which stands for a page that runs again later.
      times: { ...PROTOCOL_TIMES, filter: { ...PROTOCOL_TIMES.filter, lostCommitMs: 1 } },
      cacheSize: 100,
    }
    const [filter, other] = [await bench.open(make, shared), await bench.open(make, shared)]
    for (const [n, asker] of ['late', 'again', 'kept'].entries()) {
      await filter.requestsSeen(pages(10 * n, 1), asker)
      await filter.settled(asker)
    }
    await filter.requestsSeen(pages(50, 1), 'carries the settlings')
    run = '2'
    for (const isBack of back) isBack()
    await nextTurn()
    expect(await other.requestsSeen(pages(10, 1), 'again'), 'its page runs again').toEqual([false])
    await other.settled('again')
    await other.requestsSeen(pages(51, 1), 'carries the settling')
    await filter.unsettled(['late', 'again'])
    expect(await other.requestsSeen(pages(0, 1), 'x')).toEqual(['in doubt'])
    // Waits: until the asker is stale: nothing tells of it.
    await wait(350)
    expect(await other.requestsSeen([...pages(0, 1), ...pages(10, 1), ...pages(20, 1)], 'y')).toEqual([
      false,
      true,
      true,
    ])
  })

  test('while a crawl stands still, what was settled before its queue went back counts as lost for longer', async () => {
    let run = '1'
    const back: (() => void)[] = []
    const filter = await bench.open(make, {
      key: bench.nextKey(),
      redisRunId: () => run,
      onQueueBack: (listener: () => void) => void back.push(listener),
      times: { ...PROTOCOL_TIMES, filter: { ...PROTOCOL_TIMES.filter, lostCommitMs: 400 } },
      cacheSize: 100,
    })
    await filter.requestsSeen(pages(0, 1), 'page')
    await filter.settled('page')
    run = '2'
    for (const isBack of back) isBack()
    await nextTurn()
    // Waits: a queue without room: nothing is asked meanwhile.
    await wait(600)
    // Its page may run again only now, and show other links.
    expect(await filter.requestsSeen(pages(0, 1), 'other')).toEqual(['in doubt'])
    await vi.waitFor(async () => {
      expect(await filter.requestsSeen(pages(0, 1), 'another')).toEqual([true])
    })
  })

  test('what another crawl, with a queue elsewhere, has set aside and queued is seen', async () => {
    const key = bench.nextKey()
    const make2 = (crawl: string) =>
      bench.open(make, {
        key,
        crawl: () => crawl,
        redisRunId: () => `queue of ${crawl}`,
        onQueueBack: () => {},
      })
    const [filter, other] = [await make2('a run-1'), await make2('b run-1')]
    for (const one of [filter, other]) await one.joined(false)
    expect(await filter.requestsSeen(pages(0, 1), 'doubt/0/page')).toEqual([false])
    await filter.settled('doubt/0/page')
    await filter.requestsSeen(pages(50, 1), 'carries the settling')
    expect(await other.requestsSeen(pages(0, 1), 'doubt/0/x')).toEqual([true])
  })
})
