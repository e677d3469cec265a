import type { RunLook, RunMark, RunSeen } from '@webloom/core'
import { expect, test } from 'vitest'
import type { Monitors } from '../monitor-rules.ts'
import { judgeEnd, judgeNow, markOf, withMark } from './judging.ts'

const BEGUN = Date.parse('2026-11-26T00:00:00.000Z')

function run(figures: Partial<RunSeen> = {}): RunSeen {
  return {
    run: 'now',
    state: 'finished',
    begunAt: new Date(BEGUN).toISOString(),
    requests: 0,
    pages: 0,
    items: 0,
    errors: 0,
    givenUp: 0,
    filtered: 0,
    bytes: 0,
    statuses: {},
    fields: {},
    ...figures,
  }
}

function look(figures: Partial<RunSeen>, past: readonly Partial<RunSeen>[] = [], minutes = 0): RunLook {
  return { run: run(figures), past: past.map(run), stats: {}, atMs: BEGUN + minutes * 60_000, isWhole: true }
}

const atEnd = (monitors: Monitors, ...given: Parameters<typeof look>) =>
  judgeEnd(monitors, look(...given)).map(({ id }) => id)
const now = (monitors: Monitors, seen: RunLook, marks: readonly RunMark[] = []) =>
  judgeNow(monitors, seen, marks).map(({ id }) => id)

test.each<[string, Monitors, Partial<RunSeen>, string[]]>([
  ['too few items', { items: { min: 100 } }, { items: 99 }, ['items/min']],
  ['enough items', { items: { min: 100 } }, { items: 100 }, []],
  ['errors', { errors: 0 }, { errors: 1 }, ['errors']],
  ['warnings', { warnings: 1 }, { warnings: 2 }, ['warnings']],
  ['criticals', { criticals: 0 }, { criticals: 1 }, ['criticals']],
  ['downloads without an answer', { exceptions: 3 }, { exceptions: 4 }, ['exceptions']],
  ['retries that did not help', { retries: 0 }, { exhausted: 1 }, ['retries']],
  ['too many requests', { requests: 10 }, { requests: 11 }, ['requests']],
  ['items that their schema refuses', { invalidItems: 0 }, { invalid: 2 }, ['invalidItems']],
  ['few successes', { successes: 10 }, { statuses: { 200: 9, 404: 80 } }, ['successes']],
  [
    'an end that nobody expected',
    { finishReasons: ['finished'] },
    { finishReason: 'closespider_errorcount' },
    ['finishReasons'],
  ],
  ['an end that was expected', { finishReasons: ['finished'] }, { finishReason: 'finished' }, []],
  ['a status too often', { statuses: { 403: 5 } }, { statuses: { 200: 90, 403: 6 } }, ['statuses/403']],
  [
    'a large share of a status',
    { statuses: { 403: { share: 0.05 } } },
    { statuses: { 200: 90, 403: 6 } },
    ['statuses/403'],
  ],
  ['a small share of it', { statuses: { 403: { share: 0.1 } } }, { statuses: { 200: 90, 403: 6 } }, []],
  [
    'a field that some items lack',
    { coverage: { 'author.name': 0.95 } },
    { items: 100, fields: { 'author.name': 94 } },
    ['coverage/author.name'],
  ],
  ['a field that enough have', { coverage: { price: 0.95 } }, { items: 100, fields: { price: 95 } }, []],
  ['a field without any items', { coverage: { price: 0.95 } }, {}, []],
  [
    'a run that took long',
    { maxMinutes: 30 },
    { endedAt: new Date(BEGUN + 31 * 60_000).toISOString() },
    ['maxMinutes'],
  ],
])('at the end, %s', (_, monitors, figures, ids) => {
  expect(atEnd(monitors, figures)).toEqual(ids)
})

test('a run that brings less than those before is told of; one as small as the least of them is not', () => {
  const past = [1000, 1010, 600, 990, 1005].map((items) => ({ items }))
  const monitors = { items: { drop: 0.3 } }
  expect(atEnd(monitors, { items: 500 }, past)).toEqual(['items/drop'])
  // 40 % less than usual, but that has been before.
  expect(atEnd(monitors, { items: 610 }, past)).toEqual([])
  expect(atEnd(monitors, { items: 0 }, [])).toEqual([])
  expect(atEnd(monitors, { items: 500 }, [{ items: 1000, state: 'stopped' }])).toEqual([])
})

test('a field that falls below what runs before had is told of; a dip within their spread is not', () => {
  const past = [0.9, 0.7, 0.92].map((share) => ({
    items: 1000,
    fields: { price: share * 1000, title: 1000 },
  }))
  const monitors = { coverageDrop: 0.1 }
  expect(atEnd(monitors, { items: 1000, fields: { price: 720, title: 1000 } }, past)).toEqual([])
  expect(atEnd(monitors, { items: 1000, fields: { price: 650, title: 1000 } }, past)).toEqual([
    'coverage/price',
  ])
  expect(atEnd(monitors, { items: 1000, fields: { price: 900 } }, past)).toEqual(['coverage/title'])
})

/** A crawl of an item a second, looked at every ten seconds, whose items have a price as `has` says of the nth. */
function firstAlarm(has: (n: number) => boolean, items: number): { at: number; words: string } | undefined {
  const monitors = { coverage: { price: 0.95 } }
  let marks: readonly RunMark[] = []
  let price = 0
  for (let n = 1; n <= items; n++) {
    if (has(n)) price++
    if (n % 10 !== 0) continue
    const seen = look({ items: n, fields: { price }, state: 'running' })
    const [finding] = judgeNow(monitors, seen, marks)
    if (finding) return { at: n, words: finding.words }
    marks = withMark(marks, markOf(monitors, seen), 40)
  }
  return undefined
}

test('a layout that changes at item 5000 is told of within a minute, with the share of the latest items', () => {
  const alarm = firstAlarm((n) => n < 5000, 6000)!
  expect(alarm.at - 5000).toBeLessThanOrEqual(60)
  expect(alarm.words).toMatch(
    /^price: 0 % of the last \d\d items have it, and 100 % of the [\d,]+ before; at least 95 % must$/,
  )
})

test('items that lack a field by chance, within what is allowed, are not told of in 100 000', () => {
  let seed = 7
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  expect(firstAlarm(() => random() < 0.96, 100_000)).toBeUndefined()
})

test('while the run goes on, what only its end can tell is not judged', () => {
  const monitors = { items: { min: 100, drop: 0.1 }, successes: 5, finishReasons: ['finished'] }
  expect(now(monitors, look({ state: 'running' }, [{ items: 50 }]))).toEqual([])
})

test('a run that takes long, and one that brings nothing for minutes, are told of while they go on', () => {
  const monitors = { maxMinutes: 30, items: { everyMinutes: 5 } }
  expect(now(monitors, look({ state: 'running' }, [], 4))).toEqual([])
  expect(now(monitors, look({ state: 'running' }, [], 31))).toEqual(['maxMinutes', 'items/everyMinutes'])
  const mark = { atMs: BEGUN + 60_000, items: 9, fields: {} }
  expect(now(monitors, look({ state: 'running', items: 9 }, [], 7), [mark])).toEqual(['items/everyMinutes'])
  expect(now(monitors, look({ state: 'running', items: 10 }, [], 7), [mark])).toEqual([])
})

test('the line that tells of an alarm is no error of the crawl', () => {
  const seen = { ...look({ errors: 2 }), stats: { 'monitors/alarm_count/items': 2 } }
  expect(judgeEnd({ errors: 0 }, seen)).toEqual([])
})

test('marks are bounded, and keep the first moments of a long run', () => {
  let marks: readonly RunMark[] = []
  for (let n = 0; n < 1000; n++) marks = withMark(marks, { atMs: n, items: n, fields: {} }, 40)
  expect(marks.length).toBeLessThanOrEqual(41)
  expect([marks[0]?.items, marks.at(-1)?.items]).toEqual([0, 999])
})
