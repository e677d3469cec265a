/**
 * What was recorded of workers on a machine that had no time for them: 5 000 hosts that allow 150 pages a second together, a site that
 * answers after 200 ms, four requests at once. On a quiet machine a worker does twenty pages a second, and eight do all.
 */

import { describe, expect, test } from 'vitest'
import { madeUpWorker, STATUS } from '../../../../dashboard/testing/made-up-crawl.ts'
import { ShownSpeeds } from './shown-speeds.ts'
import { workersWanted } from './workers-wanted.ts'

/** Of a worker: pages a minute, the part in use, how late its timers were. */
type Reported = readonly [pagesPerMinute: number, busy: number, loopLagMs: number]
/** Of the crawl: seconds, workers, pages a minute of all. */
type Sampled = readonly [atS: number, workers: number, pagesPerMinute: number]

const QUIET: readonly Sampled[] = [
  [0, 1, 0],
  [10, 1, 1195],
  [20, 1, 1200],
  [30, 3, 3420],
  [40, 3, 3590],
]

/** From one worker to three to eight, while the load was 20 to 30. */
const BUSY: readonly Sampled[] = [
  ...([
    [0, 1, 0],
    [12, 1, 366],
    [24, 1, 339],
    [35, 2, 308],
    [46, 3, 1156],
    [56, 3, 1254],
  ] as const),
  ...([
    [67, 3, 729],
    [78, 3, 690],
    [88, 3, 721],
    [99, 8, 575],
    [115, 6, 58],
    [127, 8, 117],
  ] as const),
]
const LATER: readonly Sampled[] = [
  ...([
    [136, 7, 0],
    [145, 8, 91],
    [156, 8, 1230],
    [166, 8, 2023],
    [177, 8, 818],
    [187, 8, 661],
  ] as const),
  ...([
    [199, 8, 636],
    [209, 8, 376],
    [218, 8, 512],
    [229, 8, 773],
    [239, 8, 638],
    [250, 8, 475],
  ] as const),
]

const ONE: readonly Reported[] = [[330, 0.91, 297]]
const THREE: readonly Reported[] = [
  ...([
    [416, 0.86, 335],
    [526, 0.79, 325],
    [515, 0.77, 160],
  ] as const),
]
const EIGHT: readonly Reported[] = [
  ...([
    [50, 0.81, 1352],
    [89, 0.66, 241],
    [81, 0.74, 403],
    [14, 1, 363],
  ] as const),
  ...([
    [66, 0.79, 510],
    [78, 0.84, 286],
    [96, 0.76, 451],
    [70, 0.65, 1424],
  ] as const),
]
/** Their timers are in time: it is the site that gets no processor. */
const inTime = (workers: readonly Reported[]) => workers.map(([pages, busy]): Reported => [pages, busy, 20])

function wanted(workers: readonly Reported[], samples: readonly Sampled[]) {
  const shown = new ShownSpeeds(
    samples.map(([atS, workers, pagesPerMinute]) => ({ atMs: atS * 1000, workers, pagesPerMinute })),
    0,
  )
  return workersWanted({
    status: {
      ...STATUS,
      seeds: null,
      workers: workers.map(([pagesPerMinute, busy, loopLagMs], n) =>
        madeUpWorker(n, { pagesPerMinute, busy, loopLagMs, downloading: 4 }),
      ),
    },
    concurrency: 4,
    slots: [
      { weight: 5000, slot: { waiting: 1000, leased: 0, pausedMs: 0, delayMs: 33_333, concurrency: 8 } },
    ],
    shown,
  })
}

describe('workers that have shown twenty pages a second, and are starved now', () => {
  test.each([
    ['one', ONE, 2],
    ['three', THREE, 8],
    ['eight', EIGHT, 8],
  ] as const)('%s: never more are asked for than eight', (_, workers, most) => {
    expect(wanted(workers, QUIET).desired).toBeLessThanOrEqual(most)
    expect(wanted(inTime(workers), QUIET).desired).toBeLessThanOrEqual(8)
  })

  test('what they have done is told beside what they do', () => {
    expect(wanted(EIGHT, QUIET)).toMatchObject({
      desired: 8,
      words: expect.stringMatching(/a worker has done 20 in the last 10 minutes, and does 1.45 now/),
    })
  })
})

describe('workers that were starved from the beginning', () => {
  test('one may be followed by a second', () => {
    expect(wanted(ONE, BUSY.slice(0, 2)).desired).toBe(2)
  })

  test('are no more when so many do not more than fewer did', () => {
    const { desired, words } = wanted(EIGHT, [...BUSY, ...LATER])
    expect(desired).toBe(8)
    expect(words).toMatch(/the processors are busy, and so many are no faster than fewer were/)
  })

  test('are a tenth more when more have helped, never above what the best speed shown needs', () => {
    const helped: readonly Sampled[] = [...BUSY, [140, 8, 2500], [150, 8, 2400]]
    expect(wanted(EIGHT, helped).desired).toBe(9)
    // A worker has shown 19 pages a second.
    expect(wanted(EIGHT, [...helped, [160, 1, 1140], [170, 1, 1140]]).desired).toBe(8)
  })
})
