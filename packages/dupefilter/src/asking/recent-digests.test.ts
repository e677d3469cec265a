import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { RecentDigests } from './recent-digests.ts'

const digest = (n: number) => hash('sha1', String(n))

/** How many of these numbers’ digests are known. */
function knownOf(digests: RecentDigests, from: number, to: number): number {
  let known = 0
  for (let n = from; n < to; n++) if (digests.has(digest(n))) known++
  return known
}

function addTo(digests: RecentDigests, from: number, to: number): void {
  for (let n = from; n < to; n++) digests.add(digest(n))
}

test('has what was added, once, until it is cleared', () => {
  const digests = new RecentDigests(100, true)
  addTo(digests, 1, 3)
  addTo(digests, 1, 3)
  expect([knownOf(digests, 1, 3), digests.has(digest(3)), digests.size]).toEqual([2, false, 2])
  digests.clear()
  expect([knownOf(digests, 1, 3), digests.size]).toEqual([0, 0])
})

// A link that is taken for another one is never crawled. With room for eight all have the same group.
test('takes none for another that differs in one digit', () => {
  const one = digest(1)
  for (let at = 0; at < 40; at++)
    for (const digit of '0123456789abcdef') {
      if (digit === one[at]) continue
      const other = `${one.slice(0, at)}${digit}${one.slice(at + 1)}`
      const digests = new RecentDigests(8, true)
      digests.add(one)
      expect(digests.has(other), other).toBe(false)
      digests.add(other)
      expect([digests.has(one), digests.has(other), digests.size]).toEqual([true, true, 2])
    }
})

test('the last of a group makes room; one that is met again in the rear half comes first', () => {
  const digests = new RecentDigests(8, true)
  addTo(digests, 1, 9)
  // From the front: 8 7 6 5 4 3 2 1.
  expect(digests.has(digest(1))).toBe(true)
  addTo(digests, 9, 11)
  expect([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].filter((n) => digests.has(digest(n)))).toEqual([
    1, 4, 5, 6, 7, 8, 9, 10,
  ])
  expect(digests.size).toBe(8)
})

test('knows nearly all while there is room, and then nearly all of the last ones', () => {
  const digests = new RecentDigests(10_000, true)
  addTo(digests, 0, 5000)
  expect(knownOf(digests, 0, 5000), 'half full').toBeGreaterThan(4900)
  addTo(digests, 5000, 30_000)
  expect(digests.size).toBe(10_000)
  expect(knownOf(digests, 25_000, 30_000), 'the last ones').toBeGreaterThan(4500)
  expect(knownOf(digests, 0, 10_000), 'the first ones').toBeLessThan(500)
})
