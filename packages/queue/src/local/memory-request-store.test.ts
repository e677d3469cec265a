import { Request } from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { requestStoreContract } from '../../testing/request-store-contract.ts'
import { MemoryRequestStore } from './memory-request-store.ts'

for (const [name, wholeMax] of [
  ['MemoryRequestStore', undefined],
  ['MemoryRequestStore, of whose requests all but two are compact', 2],
] as const)
  requestStoreContract(
    { describe, test },
    {
      name,
      deviations: [
        {
          test: 'a step that fails leaves nothing of what it did, and the next run goes on without it',
          reason: 'no step in memory can fail half way, and there is no next run',
        },
      ],
      create: async () => ({
        make: (order) => new MemoryRequestStore(order, wholeMax),
        dispose: async () => {},
      }),
    },
  )

test('so many requests wait as they are, and those beyond are compact until there is room again', () => {
  const line = new MemoryRequestStore('fifo', 2).line()
  const pages = ['a', 'b', 'c', 'd'].map((id) => ({ id, request: new Request(`http://x.test/${id}`) }))
  for (const page of pages.slice(0, 3)) line.add(page)
  const isAsItWas = (n: number) => line.take()?.request === pages[n]!.request
  expect([isAsItWas(0), isAsItWas(1), isAsItWas(2)]).toEqual([true, true, false])
  line.add(pages[3]!)
  expect(isAsItWas(3)).toBe(true)
})

test('requests that come back count, too, and clear forgets all', () => {
  const store = new MemoryRequestStore('fifo', 1)
  const line = store.line()
  const [a, b] = ['a', 'b'].map((id) => ({ id, request: new Request(`http://x.test/${id}`) }))
  line.add(a!)
  line.requeue(line.take()!)
  line.add(b!)
  expect(line.take()!.request).toBe(a!.request)
  expect(line.take()!.request).not.toBe(b!.request)
  line.add(a!)
  store.clear()
  const fresh = store.line()
  fresh.add(b!)
  expect(fresh.take()!.request).toBe(b!.request)
})
