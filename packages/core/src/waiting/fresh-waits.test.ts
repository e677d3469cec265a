import { expect, test } from 'vitest'
import { FreshWaits } from './fresh-waits.ts'

test('waits count from their beginning to their end, or for a moment', () => {
  const waits = new FreshWaits()
  const [first, second] = [waits.begin(0), waits.begin(10), waits.begin(20)]
  expect(waits.count(20, 100)).toBe(3)
  waits.end(second)
  waits.end(second)
  expect(waits.count(20, 100)).toBe(2)
  expect(waits.count(100, 100)).toBe(1)
  waits.end(first)
  expect(waits.count(119, 100)).toBe(1)
  expect(waits.count(120, 100)).toBe(0)
})

test('what was no moment ago once is not counted again where a moment is longer', () => {
  const waits = new FreshWaits()
  waits.begin(0)
  expect(waits.count(50, 50)).toBe(0)
  expect(waits.count(50, 1000)).toBe(0)
})
