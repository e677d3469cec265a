import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { RecentBytes } from './recent-bytes.ts'

test('past its bytes the value used longest ago goes; one that was asked for stays', () => {
  const forgotten: string[] = []
  const kept = new RecentBytes<string, number>(300, (key) => void forgotten.push(key))
  for (const key of ['a', 'b', 'c']) kept.set(key, 1, 100)
  kept.get('a')
  kept.set('d', 1, 150)
  expect(forgotten).toEqual(['b', 'c'])
  expect([kept.bytes, kept.size]).toEqual([250, 2])
})

test('past so many values the one used longest ago goes, however little they weigh', () => {
  const forgotten: string[] = []
  const kept = new RecentBytes<string, number>(300, (key) => void forgotten.push(key), 2)
  for (const key of ['a', 'b', 'b', 'c']) kept.set(key, 1, 1)
  expect(forgotten).toEqual(['a'])
  expect([kept.bytes, kept.size]).toEqual([2, 2])
})

test('a large map forgets a sixty-fourth of its values at once, so that what is full costs no more than what is not', () => {
  const forgotten: number[] = []
  const kept = new RecentBytes<number, true>(640, (key) => void forgotten.push(key))
  for (let key = 0; key < 640; key++) kept.set(key, true, 1)
  kept.get(0)
  expect(forgotten).toEqual([])
  kept.set(640, true, 1)
  expect(forgotten).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  for (let key = 641; key < 650; key++) kept.set(key, true, 1)
  expect([forgotten.length, kept.bytes, kept.size]).toEqual([10, 640, 640])
})

test('a value that is set again weighs what it weighs now, and what was deleted nothing', () => {
  const kept = new RecentBytes<string, number>(300)
  kept.set('a', 1, 200)
  kept.set('a', 2, 50)
  kept.set('b', 3, 60)
  kept.delete('b')
  kept.delete('b')
  expect([kept.get('a'), kept.get('b'), kept.bytes]).toEqual([2, undefined, 50])
})

test('a value that is too heavy stays until the next comes', () => {
  const kept = new RecentBytes<string, number>(10)
  kept.set('a', 1, 100)
  expect(kept.get('a')).toBe(1)
  kept.set('b', 2, 5)
  expect([kept.get('a'), kept.get('b')]).toEqual([undefined, 2])
})

test('a look at one value is no use of it', () => {
  const kept = new RecentBytes<string, number>(300)
  for (const key of ['a', 'b', 'c']) kept.set(key, 1, 100)
  expect([kept.peek('a'), kept.peek('d')]).toEqual([1, undefined])
  kept.set('d', 1, 100)
  expect(kept.peek('a')).toBeUndefined()
})

test('all entries can be looked at, which is no use of them', () => {
  const kept = new RecentBytes<string, number>(300)
  for (const key of ['a', 'b', 'c']) kept.set(key, key.charCodeAt(0), 100)
  expect([...kept.entries()]).toEqual([
    ['a', 97],
    ['b', 98],
    ['c', 99],
  ])
  kept.set('d', 1, 100)
  expect([...kept.entries()].map(([key]) => key)).toEqual(['b', 'c', 'd'])
})

test('a key that is part of a long text does not keep that text in memory, nor does asking for it', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const kept = new RecentBytes<string, true>(1_000_000)
  const hostOf = (n: number) => `http://${n}.site.example/${'x'.repeat(1_000_000)}`.slice(0, 21)
  collect()
  const before = process.memoryUsage().heapUsed
  for (let n = 100; n < 200; n++) kept.set(hostOf(n), true, 128)
  for (let n = 100; n < 200; n++) expect(kept.get(hostOf(n))).toBe(true)
  collect()
  expect(kept.size).toBe(100)
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20_000_000)
})
