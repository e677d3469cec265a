import { Request } from '@webloom/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StartAhead, type StartAheadOptions } from './start-ahead.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => vi.useRealTimers())

const aheadOf = (options: Partial<StartAheadOptions> = {}) =>
  new StartAhead({ lowWater: 1000, max: 100_000, othersAreHungry: () => false, ...options })

const requests = (count: number, bodyBytes = 0) =>
  Array.from({ length: count }, (_, n) => {
    const url = `https://a.test/${n}`
    return bodyBytes > 0
      ? new Request(url, { method: 'POST', body: 'x'.repeat(bodyBytes) })
      : new Request(url)
  })

test('START_AHEAD_MAX counts once a place has been free for a quarter of a second, and until all are taken', () => {
  const ahead = aheadOf()
  ahead.read(requests(250))
  ahead.places(2)
  vi.advanceTimersByTime(249)
  ahead.places(1)
  expect(ahead.mark).toBe(1000)
  vi.advanceTimersByTime(1)
  expect(ahead.mark).toBe(100_000)
  ahead.places(0)
  expect(ahead.mark).toBe(1000)
  vi.advanceTimersByTime(5000)
  expect(ahead.mark, 'nobody has said that there is a free one').toBe(1000)
})

test('and while another worker has nothing to do', () => {
  let areHungry = true
  const ahead = aheadOf({ othersAreHungry: () => areHungry })
  expect(ahead.mark).toBe(100_000)
  areHungry = false
  expect(ahead.mark).toBe(1000)
})

test('what is read ahead takes 64 MiB at the most, by the last thousand; START_LOW_WATER counts whatever it takes', () => {
  const ahead = aheadOf({ othersAreHungry: () => true })
  ahead.read(requests(10, 2 ** 14))
  expect(ahead.mark).toBeGreaterThan(4000)
  expect(ahead.mark).toBeLessThan(4096)
  ahead.read([])
  expect(ahead.mark).toBeLessThan(4096)
  for (let n = 0; n < 100; n++) ahead.read(requests(10, 2 ** 20))
  expect(ahead.mark).toBe(1000)
})

test('one that is large among others changes little', () => {
  const ahead = aheadOf({ othersAreHungry: () => true })
  for (let n = 0; n < 300; n++) ahead.read(requests(4))
  ahead.read(requests(1, 600_000))
  expect(ahead.mark).toBeGreaterThan(80_000)
})

test('the next ones come at 2 MiB a second', () => {
  const ahead = aheadOf()
  ahead.read(requests(100, 2 ** 20))
  expect(ahead.gapMs).toBeGreaterThan(50_000)
  ahead.read(requests(10, 10_000))
  expect(ahead.gapMs).toBeGreaterThan(45)
  expect(ahead.gapMs).toBeLessThan(55)
})

test('a START_AHEAD_MAX below START_LOW_WATER reads nothing ahead, nor do requests that cannot be weighed', () => {
  expect(aheadOf({ max: 0, othersAreHungry: () => true }).mark).toBe(1000)
  const ahead = aheadOf({ othersAreHungry: () => true })
  const round: Record<string, unknown> = {}
  round.round = round
  const [request] = requests(1)
  Object.assign(request!.meta, { round })
  ahead.read([request!])
  expect(ahead.mark).toBe(1000)
})
