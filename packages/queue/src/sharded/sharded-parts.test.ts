/** Parts of a crawl's shards that are shown as one. */

import type { FailureLedger, LedgerEntry, LinkDoubts, QueuedRequest } from '@webloom/core'
import { expect, test } from 'vitest'
import { laterThan } from '../failures/failed-entry.ts'
import { ShardedFailures } from '../failures/sharded-failures.ts'
import { retryFailed } from '../outside/failed-requests.ts'
import { ShardedDoubts } from './sharded-doubts.ts'

function doubtsOf(...ids: string[]): LinkDoubts & { readonly ended: unknown[] } {
  const ended: unknown[] = []
  return {
    ended,
    take: async (max) => ids.splice(0, max).map((id) => ({ id }) as QueuedRequest),
    end: async (fresh, seen, still = [], failed = []) => {
      ended.push(
        [fresh, still, failed].map((some) => some.map((one) => (typeof one === 'string' ? one : one.id))),
        seen,
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

/** A shard's ledger of requests that can be retried. A retry makes one fail again at once, with the next number. */
function retryingLedger(ids: readonly string[], failsAgain = false) {
  const request = { v: 1, url: 'http://a.test/' }
  let total = 0
  const failed = (id: string) =>
    ({ id, key: `f${++total}`, url: request.url, request }) as unknown as LedgerEntry
  const entries = ids.map(failed)
  const state = { hasEnded: false }
  const find = async (wanted: readonly string[]) => entries.filter(({ id }) => wanted.includes(id))
  const ledger: Partial<FailureLedger> = {
    find,
    laterThanNow: async () => laterThan(total),
    page: async (_max, { cursor } = {}) => {
      const at = Number(cursor ?? 0)
      const some = entries.slice(at, at + 1)
      return { entries: some, ...(at + 1 < entries.length && { cursor: String(at + 1) }) }
    },
    retry: async (some) => {
      if (state.hasEnded) return 'ended'
      const there = some.filter((entry) => entries.includes(entry))
      for (const entry of there)
        entries.splice(entries.indexOf(entry), 1, ...(failsAgain ? [failed(entry.id)] : []))
      return there.map(({ id }) => id)
    },
  }
  return { ledger: ledger as FailureLedger, state }
}

test('what fails again in a shard with few failures, while those of others are retried, stays where it is', async () => {
  const [few, many] = [retryingLedger(['a', 'b'], true), retryingLedger(['c', 'd', 'e', 'f', 'g'])]
  const failures = new ShardedFailures([many.ledger, few.ledger])
  const isLater = await failures.laterThanNow()
  await failures.retry(await failures.find(['a', 'b']))
  const again = await failures.find(['a', 'b'])
  expect(again.map(({ key }) => key)).toEqual(['f3', 'f4'])
  expect(again.map(isLater)).toEqual([true, true])
  expect((await failures.find(['c', 'g'])).map(isLater)).toEqual([false, false])
})

test('a shard that has ended when another has not is retried when the crawl goes on', async () => {
  const [one, two] = [retryingLedger(['a']), retryingLedger(['b'])]
  two.state.hasEnded = true
  let reopened = 0
  const reopen = async () => {
    if (++reopened > 1) two.state.hasEnded = false
  }
  const failures = new ShardedFailures([one.ledger, two.ledger])
  expect((await retryFailed(failures, {}, { reopen })).queued.toSorted()).toEqual(['a', 'b'])
  expect(reopened).toBe(2)
})
