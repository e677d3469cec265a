import { Request } from '@webloom/core'
import { dupeFilterContract, withoutSharedStore } from '@webloom/core/contract'
import { describe, expect, test } from 'vitest'
import { MemoryDupeFilter } from './memory-dupefilter.ts'

dupeFilterContract(
  { describe, test },
  {
    name: 'MemoryDupeFilter',
    deviations: withoutSharedStore('it is in the memory of one process'),
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

test('what other pages were told "seen" of is new again once it is forgotten, and after clear', async () => {
  const filter = new MemoryDupeFilter()
  const ask = async (asker: string) => {
    const [seen] = await filter.requestsSeen([new Request('https://example.com/often')], asker)
    await filter.settled(asker)
    return seen
  }
  expect([await ask('a'), await ask('b'), await ask('c')]).toEqual([false, true, true])
  await filter.forget(new Request('https://example.com/often'))
  expect([await ask('d'), await ask('e'), await ask('f')]).toEqual([false, true, true])
  await filter.clear()
  expect([await ask('g'), await ask('h')]).toEqual([false, true])
})

test('what one filter has seen another has not', async () => {
  const url = 'https://example.com/both'
  for (const filter of [new MemoryDupeFilter(), new MemoryDupeFilter()]) {
    expect(await filter.requestsSeen([new Request(url)], 'a')).toEqual([false])
    await filter.settled('a')
    expect(await filter.requestsSeen([new Request(url)], 'b')).toEqual([true])
  }
})
