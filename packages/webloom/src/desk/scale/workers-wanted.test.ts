import type { WorkerSeen } from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { madeUpWorker, STATUS } from '../../../../dashboard/testing/made-up-crawl.ts'
import { type PacedSlot, workersWanted } from './workers-wanted.ts'

const slotsLike = (count: number, more: Partial<PacedSlot>) => [
  {
    weight: count,
    slot: { waiting: 1000, leased: 0, pausedMs: 0, delayMs: 0, concurrency: 8, ...more },
  },
]
const working = (count: number, more: Partial<WorkerSeen>) =>
  Array.from({ length: count }, (_, n) => madeUpWorker(n, { downloading: 4, busy: 1, ...more }))
const wanted = (
  workers: readonly WorkerSeen[],
  slots: ReturnType<typeof slotsLike> | undefined,
  more: Partial<typeof STATUS> = {},
) =>
  workersWanted({
    status: { ...STATUS, seeds: null, ...more, workers },
    concurrency: 4,
    ...(slots && { slots }),
  })

const seedsWaiting = (waiting: number) => ({ waiting, inWork: 0, invalid: 0 })
const NOTHING_QUEUED = {
  counts: { ...STATUS.counts, waiting: 0, delayed: 0, leased: 0 },
  start: { cursor: 1, ended: true, worker: null },
}

describe('polite hosts', () => {
  // Four places at a site that answers after 200 ms: twenty pages a second.
  const full = { pagesPerMinute: 1200 }

  test.each([
    [1, 3],
    [3, 8],
    [8, 8],
  ])(
    'that allow 150 pages a second want eight workers, and no more than three times as many as the %i that there are: %i',
    (present, desired) => {
      const pagesPerMinute = Math.min(1200, (150 * 60) / present)
      const workers = working(present, { pagesPerMinute, busy: pagesPerMinute / 1200 })
      expect(wanted(workers, slotsLike(5000, { delayMs: 33_333 }))).toMatchObject({
        desired,
        present,
        perWorkerPerSecond: 20,
        allowedPerSecond: 150,
      })
    },
  )

  test('that allow 25 pages a second never want more than two, however much is queued', () => {
    expect(wanted(working(1, full), slotsLike(50, { delayMs: 2000, waiting: 1e6 })).desired).toBe(2)
    expect(
      wanted(working(9, { pagesPerMinute: 166, busy: 0.14 }), slotsLike(50, { delayMs: 2000 })).desired,
    ).toBe(2)
  })

  test('that have little left want no more workers than a minute’s work', () => {
    expect(wanted(working(2, full), slotsLike(5000, { delayMs: 100, waiting: 1 })).desired).toBe(5)
  })

  test('that are paused want none now, and the part of the minute after their pause', () => {
    expect(wanted(working(1, full), slotsLike(100, { delayMs: 100, pausedMs: 600_000 })).desired).toBe(1)
    expect(
      wanted(working(1, full), slotsLike(100, { delayMs: 100, pausedMs: 30_000 })).allowedPerSecond,
    ).toBe(500)
  })
})

describe('workers that are slow', () => {
  // Eight that do four pages a second each.
  const slow = { pagesPerMinute: 240, loopLagMs: 0 }
  const many = slotsLike(5000, { delayMs: 33_333 })

  test('as the site is, want more, a step at a time', () => {
    const { desired, words } = wanted(working(8, slow), many)
    expect(desired).toBe(24)
    expect(words).toMatch(/That makes 38; at most 3 times as many at a time/)
  })

  test('as their processors are busy, want few more', () => {
    const { desired, words } = wanted(working(8, { ...slow, loopLagMs: 300 }), many)
    expect(desired).toBe(9)
    expect(words).toMatch(/That makes 38; but the processors are busy/)
  })
})

test('workers that wait until they may take part are not called idle: as many as there are', () => {
  const waits = 'until another is over'
  const joining = working(2, { pagesPerMinute: 0, downloading: 0, busy: 0, waits })
  expect(wanted(joining, [], NOTHING_QUEUED)).toMatchObject({
    desired: 2,
    words: 'no worker takes part yet, each waits until another is over: as many as there are',
  })
  const one = [joining[0]!, madeUpWorker(2, { pagesPerMinute: 0, downloading: 0, busy: 0 })]
  expect(wanted(one, [], NOTHING_QUEUED)).toMatchObject({
    words: expect.stringMatching(/next to nothing to do/),
  })
})

test('a host without delay wants what its concurrency takes', () => {
  // Eight at once, each for 200 ms.
  expect(wanted(working(1, { pagesPerMinute: 1200 }), slotsLike(1, { waiting: 1e6 }))).toMatchObject({
    allowedPerSecond: 40,
    desired: 2,
  })
})

test('a host that answers slowly wants no more workers than its concurrency keeps in use', () => {
  // Eight at once, each for 5 s; a worker has four places.
  expect(wanted(working(1, { pagesPerMinute: 48 }), slotsLike(1, { waiting: 1e6 }))).toMatchObject({
    allowedPerSecond: 1.6,
    perWorkerPerSecond: 0.8,
    desired: 2,
  })
})

test('without a bound on downloads answers take as long as those under way say', () => {
  const status = { ...STATUS, seeds: null, workers: working(1, { pagesPerMinute: 1200, downloading: 4 }) }
  const slots = slotsLike(1, { waiting: 1e6 })
  expect(workersWanted({ status, concurrency: 0, slots }).allowedPerSecond).toBe(40)
})

test('without lines of hosts it is what would leave nothing queued in a minute', () => {
  const counts = { ...STATUS.counts, waiting: 6000 }
  expect(wanted(working(2, { pagesPerMinute: 1200 }), undefined, { counts, mode: 'job' })).toMatchObject({
    allowedPerSecond: 100,
    desired: 5,
  })
})

test('while a shard does not answer, no worker is sent away, and that is said', () => {
  const silentShards = [{ shard: '02', server: '10.0.4.4:6379' }]
  const workers = working(9, { pagesPerMinute: 166, busy: 0.14 })
  const few = slotsLike(50, { delayMs: 2000 })
  expect(wanted(workers, few, { silentShards })).toMatchObject({
    desired: 9,
    words:
      'shard 02 at 10.0.4.4:6379 does not answer, and what waits there is not known: no fewer than there are',
  })
  expect(wanted(workers, few, { silentShards, ...NOTHING_QUEUED, seeds: seedsWaiting(0) }).desired).toBe(9)
  const full = working(1, { pagesPerMinute: 1200 })
  expect(wanted(full, slotsLike(50, { delayMs: 2000, waiting: 1e6 }), { silentShards })).toMatchObject({
    desired: 2,
    words: expect.stringContaining('But shard 02'),
  })
})

describe('one worker', () => {
  const many = slotsLike(5000, { delayMs: 33_333 })

  test('is wanted while none has been measured', () => {
    expect(wanted([], many).desired).toBe(1)
    expect(wanted(working(3, { busy: 0.01, pagesPerMinute: 1 }), many).desired).toBe(1)
  })

  test('of those that are blocked, or lost, nothing is measured', () => {
    expect(
      wanted([...working(1, { busy: 0.01, pagesPerMinute: 1 }), ...working(3, { lost: true })], many),
    ).toMatchObject({
      desired: 1,
      perWorkerPerSecond: null,
    })
    expect(wanted(working(3, { lost: true }), many)).toMatchObject({ desired: 1, present: 0 })
  })

  test('less is not wanted while all are busy and no answer comes', () => {
    expect(wanted(working(3, { blocked: true }), many).desired).toBe(3)
    expect(wanted(working(3, { pagesPerMinute: 0 }), many).desired).toBe(3)
  })

  test('is enough for what is left of a crawl that runs', () => {
    expect(wanted(working(4, { pagesPerMinute: 60 }), slotsLike(1, { waiting: 1 })).desired).toBe(1)
  })
})

test.each([
  [{ paused: true }, 3, /paused/],
  [{ state: 'stopped' as const, finishReason: 'stopped' }, 0, /was stopped/],
  [{ state: 'stopped' as const, finishReason: 'stopped', seeds: seedsWaiting(2) }, 0, /was stopped/],
  [{ state: 'stopped' as const, finishReason: 'shutdown' }, 1, /told to end.*goes on/],
  [{ state: 'stopped' as const, finishReason: 'shutdown', ...NOTHING_QUEUED }, 0, /nothing is queued/],
  [
    { state: 'stopped' as const, finishReason: 'shutdown', ...NOTHING_QUEUED, seeds: seedsWaiting(1) },
    1,
    /1 start URL waits/,
  ],
  [{ state: 'stopped' as const, finishReason: 'crawl_lost', ...NOTHING_QUEUED }, 1, /gone from its Redis/],
  [{ state: 'stopped' as const, finishReason: 'not_opened' }, 1, /could not begin/],
  [{ ...NOTHING_QUEUED, seeds: seedsWaiting(0) }, 0, /nothing is queued, and no start URL/],
  [{ state: 'finished' as const }, 0, /finished/],
  [{ state: 'finished' as const, seeds: seedsWaiting(2) }, 1, /2 start URLs wait/],
  [{ state: 'idle' as const }, 1, /begins it/],
  [{ state: 'idle' as const, seeds: seedsWaiting(0) }, 0, /no start URL/],
])('a crawl that is %o wants %i', (more, desired, words) => {
  const seen = wanted(working(3, { pagesPerMinute: 1200 }), slotsLike(5000, {}), more)
  expect(seen.desired).toBe(desired)
  expect(seen.words).toMatch(words)
})
