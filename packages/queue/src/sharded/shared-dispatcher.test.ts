import { PROTOCOL_TIMES } from '@webloom/core'
import { expect, test } from 'vitest'
import type { BucketLease } from '../frontier/held-turn.ts'
import { SharedDispatcher } from './shared-dispatcher.ts'

const lease = (id: string, { suspect = false } = {}) =>
  ({ id, priority: 0, suspect, attempt: 2 }) as BucketLease
const something = async () => false
const turn = () => new Promise((resolve) => setImmediate(resolve))

function twoShards() {
  const shared = new SharedDispatcher(PROTOCOL_TIMES.engine)
  const said: string[] = []
  const has = { a: true, b: true }
  const shardOf = (name: 'a' | 'b') =>
    shared.of((one) => said.push(`${name} puts ${one.id}`))(
      {
        beginAlone: async ({ id }) => void said.push(`${name} begins ${id}`),
        endAlone: async ({ id }) => void said.push(`${name} ends ${id}`),
      },
      () => has[name],
    )
  const take = (max: number) => shared.take(max, undefined, something)
  return { a: shardOf('a'), b: shardOf('b'), has, said, take }
}

test('of what is wanted each shard with something to take takes a part, and one that is alone takes all', async () => {
  const { a, b, has, take } = twoShards()
  const waiting = take(9)
  expect([a.demand, b.demand]).toEqual([5, 5])
  has.a = false
  expect(b.demand).toBe(9)
  b.put(lease('1'))
  expect(await waiting).toMatchObject([{ id: '1' }])
  expect([a.demand, b.demand]).toEqual([0, 0])
})

test('what is wanted is taken from one shard, the next time from the next one, and from others what it does not have', async () => {
  const { a, b, take } = twoShards()
  const served: string[] = []
  a.onDemand(() => served.push('a'))
  b.onDemand(() => served.push('b'))
  const waiting = take(9)
  await turn()
  expect(served.splice(0)).toEqual(['a', 'b'])
  expect([a.unreserved, b.unreserved]).toEqual([9, 9])
  a.reserve(7)
  expect([a.unreserved, b.unreserved, a.wanted]).toEqual([9, 2, 9])
  a.reserve(0)
  expect(served.splice(0), 'nothing has come').toEqual(['b', 'a'])
  b.reserve(9)
  expect(a.unreserved).toBe(0)
  for (let n = 0; n < 9; n++) b.put(lease(`${n}`))
  b.reserve(0)
  expect(await waiting).toHaveLength(9)
  expect(served, 'enough has come').toEqual([])
})

test('places that become free in one turn of the event loop are filled in one go', async () => {
  const { a, take } = twoShards()
  const wanted: number[] = []
  a.onDemand(() => wanted.push(a.unreserved))
  const waiting = [take(1), take(1), take(2)]
  expect(wanted).toEqual([])
  await turn()
  expect(wanted).toEqual([4])
  for (let n = 0; n < 4; n++) a.put(lease(`${n}`))
  expect((await Promise.all(waiting)).map(({ length }) => length)).toEqual([1, 1, 2])
})

test('a suspect of one shard waits for the requests of all, and its own shard notes it', async () => {
  const { a, b, said, take } = twoShards()
  const one = lease('one')
  const suspect = lease('suspect', { suspect: true })
  a.put(one)
  expect(await take(1)).toEqual([one])
  b.put(suspect)
  const waiting = take(5)
  await turn()
  expect(said).toEqual(['a puts one', 'b puts suspect'])
  expect([a.demand, b.demand]).toEqual([0, 0])
  a.ended(one)
  expect(await waiting).toEqual([suspect])
  b.ended(suspect)
  await turn()
  expect(said.slice(2)).toEqual(['b begins suspect', 'b ends suspect'])
})
