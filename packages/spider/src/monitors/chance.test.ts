import { expect, test } from 'vitest'
import { chanceOf, logChanceOf } from './chance.ts'

test('small probabilities are those of the binomial distribution', () => {
  // Ten of ten without what 95 of 100 have; none or one of three with what half have.
  expect(chanceOf(0, 10, 0.95)).toBeCloseTo(0.05 ** 10, 20)
  expect(chanceOf(1, 3, 0.5)).toBeCloseTo(0.5, 4)
  expect(chanceOf(9, 10, 0.9)).toBe(1)
})

test('what is too small for a number has its logarithm: a longer stretch is always less probable', () => {
  expect(logChanceOf(0, 4000, 0.5)).toBeCloseTo(4000 * Math.log10(0.5), 6)
  expect(logChanceOf(10, 12_000, 0.5)).toBeLessThan(logChanceOf(10, 4500, 0.5))
  expect(logChanceOf(9, 10, 1)).toBe(Number.NEGATIVE_INFINITY)
})
