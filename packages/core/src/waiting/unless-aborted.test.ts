import { expect, test } from 'vitest'
import { unlessAborted } from './unless-aborted.ts'

test('work that ends first is answered', async () => {
  const { signal } = new AbortController()
  expect(await unlessAborted(signal, Promise.resolve(7))).toBe(7)
  await expect(unlessAborted(signal, Promise.reject(new Error('no')))).rejects.toThrow('no')
})

test('a signal that fires first, or has fired, is answered with undefined, and what the work throws then is nobody’s', async () => {
  const stopping = new AbortController()
  const { promise, reject } = Promise.withResolvers<number>()
  const answer = unlessAborted(stopping.signal, promise)
  stopping.abort()
  expect(await answer).toBeUndefined()
  reject(new Error('too late'))
  expect(await unlessAborted(stopping.signal, Promise.reject(new Error('too late, too')))).toBeUndefined()
})
