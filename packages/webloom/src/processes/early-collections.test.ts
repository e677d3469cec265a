import { expect, test } from 'vitest'
import { isWorthCollecting } from './early-collections.ts'

const heap = (used: number, external = 12) => ({
  used_heap_size: used * 2 ** 20,
  external_memory: external * 2 ** 20,
})

test('a heap is worth collecting when three quarters of what the last collection left have been added', () => {
  expect(isWorthCollecting(heap(60), heap(104))).toBe(false)
  expect(isWorthCollecting(heap(60), heap(106))).toBe(true)
})

test('of a very small one it takes 32 MB: so much is there of young objects', () => {
  expect(isWorthCollecting(heap(10), heap(41))).toBe(false)
  expect(isWorthCollecting(heap(10), heap(43))).toBe(true)
})

test('a program that has more in use than a crawl, on the heap or in buffers, is left to V8', () => {
  expect(isWorthCollecting(heap(117), heap(500))).toBe(false)
  expect(isWorthCollecting(heap(60), heap(500, 100))).toBe(false)
})
