import { Request } from '@webloom/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StartAhead } from './start-ahead.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => vi.useRealTimers())

const requests = (count: number, bodyBytes = 0) =>
  Array.from({ length: count }, (_, n) => {
    const url = `https://a.test/${n}`
    return bodyBytes > 0
      ? new Request(url, { method: 'POST', body: 'x'.repeat(bodyBytes) })
      : new Request(url)
  })

test('a hundred times as many may wait once places have been free for a quarter of a second', () => {
  const ahead = new StartAhead(1000)
  ahead.read(requests(250))
  expect(ahead.marks).toEqual({ mark: 1000, whileHungry: 100_000 })
  vi.advanceTimersByTime(249)
  expect(ahead.marks.mark).toBe(1000)
  vi.advanceTimersByTime(1)
  expect(ahead.marks).toEqual({ mark: 100_000, whileHungry: 100_000 })
  ahead.full()
  expect(ahead.marks.mark).toBe(1000)
})

test('they take 64 MiB at the most, and never fewer than START_LOW_WATER may wait', () => {
  const ahead = new StartAhead(1000)
  vi.advanceTimersByTime(1000)
  ahead.read(requests(10, 2 ** 14))
  expect(ahead.marks.mark).toBeGreaterThan(4000)
  expect(ahead.marks.mark).toBeLessThan(4096)
  ahead.read(requests(10, 2 ** 20))
  expect(ahead.marks).toEqual({ mark: 1000, whileHungry: 1000 })
  ahead.read([])
  expect(ahead.marks.mark).toBe(1000)
})

test('nor is more read of requests that cannot be weighed', () => {
  const ahead = new StartAhead(1000)
  vi.advanceTimersByTime(1000)
  const round: Record<string, never> = {}
  Object.assign(round, { round })
  const [request] = requests(1)
  Object.assign(request!.meta, { round })
  ahead.read([request!])
  expect(ahead.marks.mark).toBe(1000)
})
