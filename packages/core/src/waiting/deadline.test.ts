import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { withDeadline } from './deadline.ts'

const late = () => new Error('too late')
const never = new Promise<number>(() => {})

test('a wait settles as the work does', async () => {
  const { signal } = new AbortController()
  expect(await withDeadline(60_000, Promise.resolve(7), late, signal)).toBe(7)
  await expect(withDeadline(60_000, Promise.reject(new Error('no')), late, signal)).rejects.toThrow('no')
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('a wait ends at its deadline, and what the work says later is ignored', async () => {
  const { signal } = new AbortController()
  const { promise, reject } = Promise.withResolvers<number>()
  await expect(withDeadline(1, promise, late, signal)).rejects.toThrow('too late')
  expect(getEventListeners(signal, 'abort')).toEqual([])
  reject(new Error('nobody waits for this'))
  await new Promise(setImmediate)
})

test('a wait ends when its signal fires, and at once when that has fired', async () => {
  const stopping = new AbortController()
  const { promise, reject } = Promise.withResolvers<number>()
  const waits = [promise, never].map((work) => withDeadline(60_000, work, late, stopping.signal))
  stopping.abort(new Error('the crawl ends'))
  for (const wait of waits) await expect(wait).rejects.toThrow('the crawl ends')
  reject(new Error('nobody waits for this'))
  await expect(withDeadline(60_000, Promise.resolve(7), late, stopping.signal)).rejects.toThrow(
    'the crawl ends',
  )
  expect(getEventListeners(stopping.signal, 'abort')).toEqual([])
})
