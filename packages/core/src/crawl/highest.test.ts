import { expect, test } from 'vitest'
import { highest } from './highest.ts'

const itself = (n: number) => n

test('the highest come first, however they are mixed, and of equal ones the first', () => {
  const mixed = Array.from({ length: 1000 }, (_, n) => (n * 7919) % 1000)
  expect(highest(mixed, 3, itself)).toEqual([999, 998, 997])
  const named = ['a', 'b', 'c', 'd', 'e'].map((name, n) => ({ name, rank: n === 4 ? 2 : 1 }))
  expect(highest(named, 2, ({ rank }) => rank).map(({ name }) => name)).toEqual(['e', 'a'])
})

test('fewer than asked for are all there, and none of none', () => {
  expect(highest([1, 3, 2], 10, itself)).toEqual([3, 2, 1])
  expect(highest([], 10, itself)).toEqual([])
  expect(highest([1, 2], 0, itself)).toEqual([])
})
