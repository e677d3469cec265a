import { expect, test } from 'vitest'
import { fairShares } from './fair-shares.ts'

const sharesOf = (crawls: readonly string[], places: number, machine = 'a') =>
  crawls.map((crawl) => fairShares(crawls, places, machine).get(crawl))

test('places are shared out evenly, and each crawl has one at least', () => {
  expect(sharesOf(['books', 'quotes'], 4)).toEqual([2, 2])
  expect(sharesOf(['books', 'quotes', 'shop'], 2)).toEqual([1, 1, 1])
  expect(sharesOf(['books'], 4)).toEqual([4])
  expect(sharesOf([], 4)).toEqual([])
})

test('what cannot be shared out evenly goes to other crawls on other machines', () => {
  const crawls = ['books', 'quotes', 'shop']
  const machines = Array.from({ length: 30 }, (_, n) => sharesOf(crawls, 4, `machine-${n}`))
  for (const shares of machines) expect(shares.toSorted()).toEqual([1, 1, 2])
  for (const n of crawls.keys()) expect(machines.some((shares) => shares[n] === 2)).toBe(true)
})
