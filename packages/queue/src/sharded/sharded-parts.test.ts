/** Parts of a crawl's shards that are shown as one. */

import type { FailureLedger, LedgerEntry, LinkDoubts, QueuedRequest } from '@webloom/core'
import { expect, test } from 'vitest'
import { ShardedFailures } from '../failures/sharded-failures.ts'
import { ShardedDoubts } from './sharded-doubts.ts'

function doubtsOf(...ids: string[]): LinkDoubts & { readonly ended: unknown[] } {
  const ended: unknown[] = []
  return {
    ended,
    take: async (max) => ids.splice(0, max).map((id) => ({ id }) as QueuedRequest),
    end: async (fresh, met, still = [], failed = []) => {
      ended.push(
        [fresh, still, failed].map((some) => some.map((one) => (typeof one === 'string' ? one : one.id))),
        met,
      )
      return fresh.map(({ id }) => id)
    },
  }
}

test('a doubt ends where it was set aside', async () => {
  const [one, two] = [doubtsOf('a', 'b'), doubtsOf('c', 'd')]
  const doubts = new ShardedDoubts([one, two])
  const taken = [...(await doubts.take(3)), ...(await doubts.take(3))]
  expect(taken.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c', 'd'])
  const of = (...ids: string[]) => taken.filter(({ id }) => ids.includes(id))
  expect((await doubts.end(of('a', 'd'), ['c'], ['b'])).sort()).toEqual(['a', 'd'])
  expect(one.ended).toEqual([[['a'], ['b'], []], []])
  expect(two.ended).toEqual([[['d'], [], []], ['c']])
})

test('a link that lies in two shards is taken from one of them until its doubt has ended there', async () => {
  const [one, two] = [doubtsOf('a'), doubtsOf('a', 'b')]
  const doubts = new ShardedDoubts([one, two])
  const taken = await doubts.take(9)
  expect(taken.map(({ id }) => id)).toEqual(['a', 'b'])
  await doubts.end(taken, [])
  expect(one.ended).toEqual([[['a'], [], []], []])
  expect(two.ended).toEqual([[['b'], [], []], []])
})

test('failures of all shards are read page by page, and each goes where it was read', async () => {
  const ledgerOf = (...ids: string[]) => {
    const dropped: string[] = []
    const ledger: Partial<FailureLedger> = {
      page: async (_max, { cursor } = {}) => {
        const at = Number(cursor ?? 0)
        const entries = [{ id: ids[at] } as LedgerEntry]
        return { entries, ...(at + 1 < ids.length && { cursor: String(at + 1) }) }
      },
      drop: async (entries) => {
        dropped.push(...entries.map(({ id }) => id))
        return dropped
      },
    }
    return { ledger: ledger as FailureLedger, dropped }
  }
  const [one, two] = [ledgerOf('a', 'b'), ledgerOf('c')]
  const failures = new ShardedFailures([one.ledger, two.ledger])
  const all: LedgerEntry[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page = await failures.page(1, cursor === '' ? {} : { cursor })
    all.push(...page.entries)
    cursor = page.cursor
  }
  expect(all.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
  await failures.drop(all)
  expect([one.dropped, two.dropped]).toEqual([['a', 'b'], ['c']])
})
