import { leastTimeMs } from '@webloom/queue'
import { expect, test } from 'vitest'
import { STATUS } from '../../../dashboard/testing/made-up-crawl.ts'
import { timeLeftOf } from './time-left.ts'

test('the longest line at its delay is a lower bound, with or without a rate; that of a lost worker is none', () => {
  const [worker] = STATUS.workers
  const holding = (host: string, ms: number, lost = false) => ({
    ...worker!,
    lost,
    seenAt: STATUS.readAt,
    longestHost: host,
    longestMs: ms,
  })
  const seen = {
    ...STATUS,
    workers: [holding('a.example', 60_000), holding('b.example', 1_800_000), holding('c.example', 9e9, true)],
  }
  expect(timeLeftOf(seen)).toMatchObject({
    atLeastMs: 1_800_000,
    words: expect.stringMatching(/at this rate; .* 30 min at least: the delay of b\.example allows no more$/),
  })
  const fast = { ...seen, pagesPerMinute: 1_000_000 }
  expect(timeLeftOf(fast).words, 'the rate of all hosts is not that of the slowest').toMatch(
    /^30 min at least: the delay of b\.example allows no more; new links make it more$/,
  )
  expect(timeLeftOf({ ...seen, paused: true })).toMatchObject({ atLeastMs: 1_800_000, atThisRateMs: null })
  expect(timeLeftOf({ ...seen, workers: [holding('', 0)] }).atLeastMs).toBeNull()
})

test('so many starts take no less than their delays: drawn ones, learned ones, ordered ones', () => {
  const pace = { delayMs: 1000, concurrency: 8, randomize: false }
  expect(leastTimeMs(pace, 101)).toBe(100_000)
  expect(leastTimeMs({ ...pace, randomize: true }, 101)).toBeGreaterThan(90_000)
  expect(leastTimeMs({ ...pace, randomize: true }, 101)).toBeLessThan(92_000)
  expect(leastTimeMs({ ...pace, randomize: true }, 2)).toBe(500)
  expect(leastTimeMs(pace, 101, 5000)).toBe(500_000)
  expect(leastTimeMs({ ...pace, isOrdered: true }, 101, 5000)).toBe(100_000)
  expect([leastTimeMs(pace, 1), leastTimeMs(pace, 0)]).toEqual([0, 0])
})
