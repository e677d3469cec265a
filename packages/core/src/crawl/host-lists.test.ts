import { expect, test } from 'vitest'
import { HostListSources } from './host-list-sources.ts'
import {
  boundedHostLists,
  HOST_LIST_MAX,
  HOST_LISTS_BYTES_MAX,
  type HostLists,
  mergedHostLists,
  readableHostLists,
  shiftedHostLists,
} from './host-lists.ts'

const listed = (lists: Partial<HostLists>): HostLists => readableHostLists(lists)
const answering = (host: string, seenAtMs: number) => ({
  host,
  counts: { 200: 3, 503: 1 },
  errors: [{ reason: '503', atMs: seenAtMs }],
  sinceMs: 500,
  seenAtMs,
})
const failing = (host: string, failures: number, seenAtMs: number) => ({
  host,
  failures,
  reason: '500',
  seenAtMs,
})

test('of too many hosts those that matter most are kept, in that order', () => {
  const slowest = Array.from({ length: 1000 }, (_, n) => ({ host: `h${n}`, latencyMs: n, seenAtMs: 1 }))
  const bounded = boundedHostLists(listed({ slowest }))
  expect(bounded.slowest).toHaveLength(HOST_LIST_MAX)
  expect(bounded.slowest[0]).toEqual({ host: 'h999', latencyMs: 999, seenAtMs: 1 })
  expect(bounded.slowest.at(-1)).toEqual({ host: 'h800', latencyMs: 800, seenAtMs: 1 })
})

test('lists of long names stay within their bytes, and none is empty for it', () => {
  const long = (n: number) => `${n}${'\u0001'.repeat(5000)}`
  const of = <Entry>(entry: (n: number) => Entry) => Array.from({ length: 300 }, (_, n) => entry(n))
  const bounded = boundedHostLists({
    mostQueued: of((n) => ({ slot: long(n), waiting: n })),
    failing: of((n) => ({ host: long(n), failures: n, reason: long(n), seenAtMs: n })),
    slowest: of((n) => ({ host: long(n), latencyMs: n, seenAtMs: n })),
    unanswered: of((n) => ({ host: long(n), requests: n, sinceMs: n })),
    paused: of((n) => ({ host: long(n), untilMs: n, reason: long(n) })),
    givenUp: of((n) => ({ host: long(n), sinceMs: n, reason: long(n), seenAtMs: n })),
    recovered: of((n) => ({ host: long(n), seenAtMs: n })),
    answers: of((n) => ({ ...answering(long(n), n), errors: [{ reason: long(n), atMs: n }] })),
  })
  expect(Buffer.byteLength(JSON.stringify(bounded))).toBeLessThanOrEqual(HOST_LISTS_BYTES_MAX)
  for (const list of Object.values(bounded)) expect(list.length).toBeGreaterThan(0)
  expect(bounded.failing[0]!.failures).toBe(299)
})

test('of a host that several workers have asked, what was seen last counts, and not the worst', () => {
  const before = { failing: [failing('x', 9, 1000), failing('y', 1, 1000), failing('z', 4, 1000)] }
  const after = {
    failing: [failing('y', 2, 3000)],
    recovered: [{ host: 'x', seenAtMs: 2000 }],
    givenUp: [{ host: 'z', reason: '500', sinceMs: 2000, seenAtMs: 2000 }],
  }
  for (const all of [
    [before, after],
    [after, before],
  ]) {
    const merged = mergedHostLists(all)
    expect(merged.failing).toEqual([failing('y', 2, 3000)])
    expect(merged.recovered).toEqual([{ host: 'x', seenAtMs: 2000 }])
    expect(merged.givenUp).toEqual(after.givenUp)
  }
  const again = { failing: [failing('x', 1, 5000)] }
  expect(mergedHostLists([before, after, again])).toMatchObject({
    failing: [failing('y', 2, 3000), failing('x', 1, 5000)],
    recovered: [],
  })
})

test('the longer pause of a host, its newer latency, and what was gathered last of a slot are kept, once', () => {
  const older = {
    mostQueued: [
      { slot: 'moved', waiting: 5000 },
      { slot: 'stayed', waiting: 3 },
    ],
    slowest: [{ host: 'x', latencyMs: 9000, seenAtMs: 1 }],
    paused: [{ host: 'x', untilMs: 60_000, reason: 'it asked' }],
  }
  const newer = {
    mostQueued: [{ slot: 'moved', waiting: 40 }],
    slowest: [{ host: 'x', latencyMs: 700, seenAtMs: 2 }],
    paused: [{ host: 'x', untilMs: 50_000, reason: 'it failed' }],
  }
  expect(mergedHostLists([newer, older])).toMatchObject({
    mostQueued: [
      { slot: 'moved', waiting: 40 },
      { slot: 'stayed', waiting: 3 },
    ],
    slowest: newer.slowest,
    paused: older.paused,
  })
})

test('what a host has answered several workers is added up, with the last errors of all', () => {
  const one = answering('x', 1000)
  const other = { ...answering('x', 2000), counts: { 200: 4, 404: 1 }, sinceMs: 400 }
  expect(mergedHostLists([{ answers: [one] }, { answers: [other] }]).answers).toEqual([
    {
      host: 'x',
      counts: { 200: 7, 404: 1, 503: 1 },
      errors: [...other.errors, ...one.errors],
      sinceMs: 400,
      seenAtMs: 2000,
    },
  ])
  const strange = [{ ...one, counts: { 200: 'many' } }, { ...one, errors: [{ reason: 1 }] }, one]
  expect(readableHostLists({ answers: strange }).answers).toEqual([one])
})

test('a host that several workers wait for is listed once, the longest wait first', () => {
  const one = { unanswered: [{ host: 'x', requests: 2, sinceMs: 2000 }] }
  const other = {
    unanswered: [
      { host: 'x', requests: 1, sinceMs: 1000 },
      { host: 'y', requests: 9, sinceMs: 900 },
    ],
  }
  expect(mergedHostLists([one, other]).unanswered).toEqual([
    { host: 'y', requests: 9, sinceMs: 900 },
    { host: 'x', requests: 3, sinceMs: 1000 },
  ])
})

test('the moments of another machine are put right', () => {
  const lists = listed({
    mostQueued: [{ slot: 'x', waiting: 1 }],
    failing: [failing('x', 1, 1000)],
    slowest: [{ host: 'x', latencyMs: 700, seenAtMs: 1000 }],
    unanswered: [{ host: 'x', requests: 2, sinceMs: 400 }],
    paused: [{ host: 'x', untilMs: 2000, reason: '' }],
    givenUp: [{ host: 'x', reason: '', sinceMs: 500, seenAtMs: 1000 }],
    recovered: [{ host: 'x', seenAtMs: 1000 }],
    answers: [answering('x', 1000)],
  })
  expect(shiftedHostLists(lists, 50)).toEqual({
    mostQueued: [{ slot: 'x', waiting: 1 }],
    failing: [failing('x', 1, 1050)],
    slowest: [{ host: 'x', latencyMs: 700, seenAtMs: 1050 }],
    unanswered: [{ host: 'x', requests: 2, sinceMs: 450 }],
    paused: [{ host: 'x', untilMs: 2050, reason: '' }],
    givenUp: [{ host: 'x', reason: '', sinceMs: 550, seenAtMs: 1050 }],
    recovered: [{ host: 'x', seenAtMs: 1050 }],
    answers: [{ ...answering('x', 1050), sinceMs: 550 }],
  })
})

test('the parts of a crawl are asked when somebody looks, and what two of them know is listed once', () => {
  const sources = new HostListSources()
  expect(sources.now()).toEqual(listed({}))
  let asked = 0
  sources.add(() => {
    asked++
    return { paused: [{ host: 'x', untilMs: 9, reason: 'robots.txt' }] }
  })
  sources.add(() => ({ paused: [{ host: 'x', untilMs: 5, reason: '429' }], failing: [failing('x', 1, 1)] }))
  expect(asked).toBe(0)
  expect(sources.now()).toEqual(
    listed({ paused: [{ host: 'x', untilMs: 9, reason: 'robots.txt' }], failing: [failing('x', 1, 1)] }),
  )
  expect(asked).toBe(1)
})
