import {
  createFingerprinter,
  type Lease,
  Request,
  scaledTimes,
  silentLogger,
  WebloomError,
} from '@webloom/core'
import { MemoryBloomDupeFilter, MemoryDupeFilter } from '@webloom/dupefilter'
import { JobDir, MemoryRequestQueue } from '@webloom/queue'
import { type TempDir, tempDir } from '@webloom/testkit'
import { describe, expect, test, vi } from 'vitest'
import { schedulerOf, unpacedClock } from '../testing/scheduler-of.ts'
import type { Scheduler } from './scheduler.ts'

const SHORT_TIMES = scaledTimes(0.01)

function schedulerUnderTest(logEveryDuplicate = false, make?: (request: Request) => string) {
  const fingerprinter = make ? { name: 'own', fingerprint: make } : createFingerprinter()
  const logged: object[] = []
  const { scheduler, stats } = schedulerOf({
    filter: new MemoryDupeFilter({ fingerprinter }),
    fingerprinter,
    logger: { ...silentLogger, debug: (fields: object | string) => void logged.push(fields as object) },
    logEveryDuplicate,
  })
  return { scheduler, stats, logged }
}

const page = (n: number, init = {}) => new Request(`https://example.com/${n}`, init)

test('what was seen before is dropped and counted, the rest is queued in order', async () => {
  const { scheduler, stats } = schedulerUnderTest()
  expect(await scheduler.enqueue([page(1), page(2), page(1)], 'start/0')).toBe(2)
  expect(await scheduler.enqueue([page(2), page(3)], 'start/1')).toBe(1)
  expect(stats.get('dupefilter/filtered')).toBe(2)
  expect(stats.get('scheduler/enqueued')).toBe(3)
  const leases = await scheduler.next(10)
  expect(leases.map(({ request }) => request.url)).toEqual([1, 2, 3].map((n) => `https://example.com/${n}`))
  expect(stats.get('scheduler/dequeued/memory')).toBe(3)
})

test('a link that is not new is not fingerprinted for its id', async () => {
  const fingerprinter = createFingerprinter()
  const fingerprint = vi.spyOn(fingerprinter, 'fingerprint')
  const filter = new MemoryDupeFilter({ fingerprinter: createFingerprinter({ algorithm: 'scrapy-redis' }) })
  const { scheduler } = schedulerOf({ filter, fingerprinter })
  await scheduler.enqueue([page(1), page(2)], 'page')
  fingerprint.mockClear()
  await scheduler.enqueue([page(1), page(2), page(3)], 'other')
  expect(new Set(fingerprint.mock.calls.map(([{ url }]) => url))).toEqual(new Set([page(3).url]))
})

test('a start request goes past the filter and leaves its mark there', async () => {
  const { scheduler } = schedulerUnderTest()
  expect(await scheduler.enqueueStart(page(1, { dontFilter: true }), 'start/0')).toBe(1)
  expect(await scheduler.enqueueStart(page(1, { dontFilter: true }), 'start/1')).toBe(1)
  expect(await scheduler.enqueue([page(1)], 'page'), 'a link back to it').toBe(0)
})

test('a link with dontFilter goes past the filter and leaves no mark, as in Scrapy', async () => {
  const { scheduler } = schedulerUnderTest()
  await scheduler.enqueueStart(page(1, { dontFilter: true }), 'start/0')
  const [start] = await scheduler.next(1)
  await scheduler.commit(start as Lease, [page(2, { dontFilter: true }), page(2)])
  expect((await scheduler.counts()).waiting).toBe(2)
})

test('ids are derived: the fingerprint, or the place where an unfiltered request was found', async () => {
  const { scheduler } = schedulerUnderTest()
  await scheduler.enqueueStart(page(1, { dontFilter: true }), 'start/7')
  const [start] = await scheduler.next(1)
  expect(start?.id).toBe('start/7/page')
  await scheduler.commit(start as Lease, [
    page(2),
    page(2, { dontFilter: true }),
    page(2, { dontFilter: true }),
  ])
  const children = await scheduler.next(10)
  expect(children[0]?.id).toBe(createFingerprinter().fingerprint(page(2)))
  expect(new Set(children.map(({ id }) => id)).size).toBe(3)
})

test('links of a page that runs again before it is committed are told new again', async () => {
  const { scheduler } = schedulerUnderTest()
  await scheduler.enqueue([page(1)], 'start/0')
  const [first] = await scheduler.next(1)
  await scheduler.requeue(first as Lease)
  const [again] = await scheduler.next(1)
  await scheduler.commit(again as Lease, [page(2)])
  expect((await scheduler.counts()).waiting).toBe(1)
})

test('the first duplicate is logged, and with DUPEFILTER_DEBUG every one', async () => {
  for (const [logEveryDuplicate, lines] of [
    [false, 1],
    [true, 3],
  ] as const) {
    const { scheduler, logged } = schedulerUnderTest(logEveryDuplicate)
    await scheduler.enqueue([page(1), page(1), page(1), page(1)], 'start/0')
    expect(logged).toHaveLength(lines)
  }
})

test('a FINGERPRINTER that throws for one request costs that request only', async () => {
  const { scheduler, stats } = schedulerUnderTest(false, (request) => {
    if (request.url.endsWith('/2')) throw new Error('not this one')
    return request.url
  })
  expect(await scheduler.enqueue([page(1), page(2), page(3)], 'page')).toBe(2)
  expect(stats.get('scheduler/no_fingerprint_count')).toBe(1)
})

test.each([true, false])(
  'a page that goes back ends doubts at once where queue and filter are in this process: %s',
  async (endsDoubtsAtOnce) => {
    const [filter, queue] = [new MemoryDupeFilter(), new MemoryRequestQueue({ clock: unpacedClock() })]
    const { scheduler } = schedulerOf({
      filter,
      queue,
      endsDoubtsAtOnce,
    })
    const looked = vi.spyOn(queue.doubts, 'take')
    await scheduler.enqueue([page(0), page(1)], 'start/0')
    const [first, other] = (await scheduler.next(2)) as [Lease, Lease]
    await filter.requestsSeen([page(10)], first.id)
    await scheduler.commit(other, [page(10)])
    await scheduler.requeue(first)
    // Waits: whoever looks does it by setImmediate; that nobody does can only be waited for.
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(looked.mock.calls.length > 0).toBe(endsDoubtsAtOnce)
  },
)

/** A filter and queue that go together. */
async function storesOf(kind: 'memory' | 'memory-bloom' | 'JOBDIR', dir: TempDir) {
  const clock = unpacedClock()
  if (kind === 'JOBDIR') {
    const { filter, queue, record } = new JobDir({ folder: dir.path, spiderName: 's', clock })
    await record.open()
    return { filter, queue, close: () => record.close() }
  }
  const filter = kind === 'memory' ? new MemoryDupeFilter() : new MemoryBloomDupeFilter({ capacity: 1000 })
  return { filter, queue: new MemoryRequestQueue({ clock }), close: async () => {} }
}

describe.each(['memory', 'memory-bloom', 'JOBDIR'] as const)('%s', (kind) => {
  test('the first links of a page that went back for want of room, and then yields others, are not lost', async () => {
    await using dir = await tempDir()
    const { filter, queue, close } = await storesOf(kind, dir)
    let isFull = true
    const commit = queue.commit.bind(queue)
    queue.commit = async (lease, options = {}) => {
      if (isFull && options.children?.length) throw new WebloomError('WL_QUEUE_FULL', 'full')
      return commit(lease, options)
    }
    const { scheduler } = schedulerOf({
      filter,
      queue,
      times: SHORT_TIMES,
    })
    await scheduler.open()
    await scheduler.enqueue([page(0), page(1)], 'start/0')
    const [changing, other] = (await scheduler.next(2)) as [Lease, Lease]
    await scheduler.commit(changing, [page(10), page(11)])
    isFull = false
    const [again] = (await scheduler.next(1)) as [Lease]
    await scheduler.commit(again, [page(20)])
    await scheduler.commit(other, [page(10), page(11), page(20)])
    expect((await scheduler.next(9)).map(({ request }) => request.url).sort()).toEqual(
      [10, 11, 20].map((n) => `https://example.com/${n}`),
    )
    await scheduler.close()
    await close()
  })
})

test('a page that asks once more, as its queue was away meanwhile, queues no link twice', async () => {
  class OutdatedFilter extends MemoryDupeFilter {
    mayBeOutdated(): boolean {
      return true
    }
  }
  const { scheduler } = schedulerOf({
    filter: new OutdatedFilter(),
  })
  await scheduler.enqueueStarts([page(0, { dontFilter: true })], 0)
  await scheduler.enqueue([page(3)], 'start/1')
  const [start] = (await scheduler.next(1)) as [Lease]
  await scheduler.commit(start, [page(1), page(2), page(0), page(2, { dontFilter: true })])
  expect((await scheduler.next(9)).map(({ request }) => request.url).sort()).toEqual(
    [1, 2, 2, 3].map((n) => `https://example.com/${n}`),
  )
})

test('links of a page that waits for the queue stay its own, and no longer than that', async () => {
  const kept: string[] = []
  class KeepingFilter extends MemoryDupeFilter {
    keepUnsettled(asker: string): () => void {
      kept.push(asker)
      return () => void kept.splice(kept.indexOf(asker), 1)
    }
  }
  const waits = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  class SlowQueue extends MemoryRequestQueue {
    override async commit(...given: Parameters<MemoryRequestQueue['commit']>): Promise<void> {
      reached.resolve()
      await waits.promise
      return super.commit(...given)
    }
  }
  const { scheduler } = schedulerOf({
    filter: new KeepingFilter(),
    queue: new SlowQueue({ clock: unpacedClock() }),
  })
  await scheduler.enqueue([page(0)], 'start/0')
  expect(kept).toEqual([])
  const [lease] = (await scheduler.next(1)) as [Lease]
  const committing = scheduler.commit(lease, [page(1)])
  await reached.promise
  expect(kept).toEqual([lease.id])
  waits.resolve()
  await committing
  expect(kept).toEqual([])
})

test('a lease that is lost while the filter is full is lost: its crawl does not end for that', async () => {
  const filter = new MemoryDupeFilter()
  const { scheduler } = schedulerOf({
    filter,
    times: SHORT_TIMES,
  })
  await scheduler.open()
  await scheduler.enqueue([page(0)], 'start/0')
  const [lease] = (await scheduler.next(1)) as [Lease]
  filter.requestsSeen = async () => {
    throw new WebloomError('WL_REDIS_FULL', 'full')
  }
  const losing = new AbortController()
  const lost = Object.create(lease, { signal: { value: losing.signal } }) as Lease
  const committing = scheduler.commit(lost, [page(1)])
  losing.abort(new WebloomError('WL_LEASE_LOST', 'lost'))
  await expect(committing).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
})

test('a link in doubt that its page has given back is queued by the page that asks once more', async () => {
  class OutdatedFilter extends MemoryDupeFilter {
    mayBeOutdated(asker: string): boolean {
      return asker === 'start/0/page'
    }
  }
  const filter = new OutdatedFilter()
  /** The first page gives its links back while those of the second one are on their way. */
  class SlowQueue extends MemoryRequestQueue {
    override async commit(...given: Parameters<MemoryRequestQueue['commit']>): Promise<void> {
      await super.commit(...given)
      await filter.givenBack('the first page')
    }
  }
  const queue = new SlowQueue({ clock: unpacedClock() })
  const { scheduler } = schedulerOf({
    filter,
    queue,
    times: SHORT_TIMES,
  })
  await scheduler.enqueueStarts([page(0, { dontFilter: true })], 0)
  await filter.requestsSeen([page(1)], 'the first page')
  const [second] = (await scheduler.next(1)) as [Lease]
  await scheduler.commit(second, [page(1)])
  await scheduler.open()
  await expect.poll(async () => (await scheduler.counts()).delayed).toBe(0)
  expect((await scheduler.next(9)).map(({ request }) => request.url)).toEqual(['https://example.com/1'])
  await scheduler.close()
})

test('a page that its worker has lost, as it stood still, asks the filter nothing', async () => {
  const filter = new MemoryDupeFilter()
  class LockedQueue extends MemoryRequestQueue {
    confirm(_lease: Lease): (() => Promise<void>) | undefined {
      return async () => {
        throw new WebloomError('WL_LEASE_LOST', 'lost')
      }
    }
  }
  const { scheduler } = schedulerOf({
    filter,
    queue: new LockedQueue({ clock: unpacedClock() }),
  })
  await scheduler.enqueue([page(0)], 'start/0')
  const [lease] = (await scheduler.next(1)) as [Lease]
  await expect(scheduler.commit(lease, [page(1)])).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
  expect(await filter.requestSeen(page(1))).toBe(false)
})

test('whose links a queue has lost, as it came back older, is told to the filter, once it answers again', async () => {
  let tries = 0
  const told: string[][] = []
  class UnsettlingFilter extends MemoryDupeFilter {
    async unsettled(askers: readonly string[]): Promise<void> {
      if (++tries === 1) throw new WebloomError('WL_REDIS_AWAY', 'away')
      told.push([...askers])
    }
  }
  let lose = (_askers: readonly string[]) => {}
  class OlderQueue extends MemoryRequestQueue {
    onAskersLost(listener: (askers: readonly string[]) => void): void {
      lose = listener
    }
  }
  const { scheduler } = schedulerOf({
    filter: new UnsettlingFilter(),
    queue: new OlderQueue({ clock: unpacedClock() }),
    times: SHORT_TIMES,
  })
  await scheduler.open()
  lose(['page', 'start/3'])
  await vi.waitFor(() => expect(told).toEqual([['page', 'start/3']]))
  await scheduler.close()
})

test('a page without links ends once its Redis takes it, as one with links does', async () => {
  let tries = 0
  class FailingOver extends MemoryRequestQueue {
    override async commit(...args: Parameters<MemoryRequestQueue['commit']>): Promise<void> {
      if (++tries === 1) throw new WebloomError('WL_REDIS_AWAY', 'NOREPLICAS')
      await super.commit(...args)
    }
  }
  const queue = new FailingOver({ clock: unpacedClock() })
  const { scheduler } = schedulerOf({ queue, times: SHORT_TIMES })
  await scheduler.enqueue([page(0)], 'seed/1')
  const [lease] = (await scheduler.next(1)) as [Lease]
  await scheduler.commit(lease, [])
  expect(tries).toBe(2)
  expect(await queue.isEmpty()).toBe(true)
})

describe.each<['retry' | 'requeue' | 'reject', (scheduler: Scheduler, lease: Lease) => Promise<void>]>([
  ['retry', (scheduler, lease) => scheduler.retry(lease, lease.request, 0)],
  ['requeue', (scheduler, lease) => scheduler.requeue(lease)],
  ['reject', async (scheduler, lease) => void (await scheduler.reject(lease, 'no callback'))],
])('a page that goes back by %s', (outcome, goBack) => {
  /** The first `refused` tries are refused. */
  async function goingBack(refused: number) {
    const tries = { count: 0 }
    const queue = new MemoryRequestQueue({ clock: unpacedClock() })
    const taken = queue[outcome].bind(queue) as (...given: unknown[]) => Promise<void>
    Object.assign(queue, {
      [outcome]: async (...given: unknown[]) => {
        if (++tries.count <= refused) throw new WebloomError('WL_REDIS_AWAY', 'NOREPLICAS')
        return taken(...given)
      },
    })
    const { scheduler } = schedulerOf({ queue, times: SHORT_TIMES })
    await scheduler.enqueue([page(0)], 'seed/1')
    const [lease] = (await scheduler.next(1)) as [Lease]
    return { scheduler, lease, tries }
  }

  test('waits for a Redis that takes nothing now', async () => {
    const { scheduler, lease, tries } = await goingBack(2)
    await goBack(scheduler, lease)
    expect(tries.count).toBe(3)
    const { waiting, delayed, quarantined, leased } = await scheduler.counts()
    expect([waiting + delayed + quarantined, leased]).toEqual([1, 0])
  })

  test('is lost to its worker, and no more, where others have taken it meanwhile', async () => {
    const { scheduler, lease } = await goingBack(Number.POSITIVE_INFINITY)
    const losing = new AbortController()
    const lost = Object.create(lease, { signal: { value: losing.signal } }) as Lease
    const going = goBack(scheduler, lost)
    losing.abort(new WebloomError('WL_LEASE_LOST', 'lost'))
    await expect(going).rejects.toMatchObject({ code: 'WL_LEASE_LOST' })
  })
})

test('that a start request or a seed has settled is told to the queue until its Redis takes it', async () => {
  let tries = 0
  class FailingOver extends MemoryRequestQueue {
    override async settled(asker: string): Promise<void> {
      if (++tries === 1) throw new WebloomError('WL_REDIS_AWAY', 'NOREPLICAS')
      await super.settled(asker)
    }
  }
  const queue = new FailingOver({ clock: unpacedClock() })
  const { scheduler } = schedulerOf({ queue, times: SHORT_TIMES })
  expect(await scheduler.enqueue([page(0)], 'seed/1')).toBe(1)
  expect(tries).toBe(2)
})
