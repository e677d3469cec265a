import { expect, test } from 'vitest'
import {
  boundedHostLists,
  HOST_LIST_MAX,
  HOST_LISTS_BYTES_MAX,
  type HostLists,
  mergedHostLists,
} from './host-lists.ts'

const NONE: HostLists = { mostQueued: [], failing: [], slowest: [], paused: [], givenUp: [] }

test('of too many hosts those that matter most are kept, in that order', () => {
  const slowest = Array.from({ length: 1000 }, (_, n) => ({ host: `h${n}`, latencyMs: n }))
  const bounded = boundedHostLists({ ...NONE, slowest })
  expect(bounded.slowest).toHaveLength(HOST_LIST_MAX)
  expect(bounded.slowest[0]).toEqual({ host: 'h999', latencyMs: 999 })
  expect(bounded.slowest.at(-1)).toEqual({ host: 'h800', latencyMs: 800 })
})

test('lists of long names stay within their bytes, and none is empty for it', () => {
  const long = (n: number) => `${n}${'\u0001'.repeat(5000)}`
  const of = <Entry>(entry: (n: number) => Entry) => Array.from({ length: 300 }, (_, n) => entry(n))
  const bounded = boundedHostLists({
    mostQueued: of((n) => ({ slot: long(n), waiting: n })),
    failing: of((n) => ({ host: long(n), failures: n, lastError: long(n) })),
    slowest: of((n) => ({ host: long(n), latencyMs: n })),
    paused: of((n) => ({ host: long(n), untilMs: n, why: long(n) })),
    givenUp: of((n) => ({ host: long(n), sinceMs: n, why: long(n) })),
  })
  expect(Buffer.byteLength(JSON.stringify(bounded))).toBeLessThanOrEqual(HOST_LISTS_BYTES_MAX)
  for (const list of Object.values(bounded)) expect(list.length).toBeGreaterThan(0)
  expect(bounded.failing[0]!.failures).toBe(299)
})

test('of a host that two workers list, the worst is kept, once', () => {
  const a = { ...NONE, failing: [{ host: 'x', failures: 2, lastError: '500' }] }
  const b = { ...NONE, failing: [...a.failing, { host: 'x', failures: 7, lastError: '503' }] }
  const c = { ...NONE, failing: [{ host: 'y', failures: 3, lastError: '500' }] }
  expect(mergedHostLists([a, b, c]).failing).toEqual([b.failing[1], c.failing[0]])
  expect(mergedHostLists([a, b, c], 1).failing).toEqual([b.failing[1]])
})
