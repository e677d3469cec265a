import { Request } from '@webloom/core'
import { dupeFilterContract } from '@webloom/core/contract'
import { describe, expect, test } from 'vitest'
import { MemoryDupeFilter } from './memory-dupefilter.ts'

dupeFilterContract(
  { describe, test },
  {
    name: 'MemoryDupeFilter',
    create: async () => {
      const subject = new MemoryDupeFilter()
      await subject.open()
      return { subject, dispose: () => subject.close() }
    },
  },
)

test('as in RFPDupeFilter, dontFilter is the scheduler’s business: the filter answers for every request', async () => {
  const filter = new MemoryDupeFilter()
  const request = new Request('https://example.com/', { dontFilter: true })
  expect(await filter.requestSeen(request)).toBe(false)
  expect(await filter.requestSeen(request)).toBe(true)
})

test('a forgotten request can be met again', async () => {
  const filter = new MemoryDupeFilter()
  const request = new Request('https://example.com/')
  await filter.requestSeen(request)
  await filter.forget(request)
  expect(await filter.requestSeen(request)).toBe(false)
})
