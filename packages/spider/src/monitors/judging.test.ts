import type { AlertSeen, PastRun, RunCheckpoint, RunClock, RunLook, RunSeen } from '@webloom/core'
import { expect, test } from 'vitest'
import type { Monitors } from '../monitor-rules.ts'
import { checkpointOf, judgeEnd, judgeNow, withCheckpoint } from './judging.ts'
import { clockAt } from './run-clock.ts'

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
  return {
    run: run(figures),
    past: past.map(run),
    stats: {},
    atMs: BEGUN + minutes * 60_000,
    runningSinceMs: BEGUN,
  }
}

const clockOf = (seen: RunLook) => clockAt(undefined, seen, false)

const atEnd = (monitors: Monitors, ...given: Parameters<typeof look>) =>
  judgeEnd(monitors, look(...given), clockOf(look(...given))).map(({ id }) => id)
const now = (monitors: Monitors, seen: RunLook, clock = clockOf(seen)) =>
  judgeNow(monitors, seen, { checkpoints: [], clock, alerts: [] }).findings.map(({ id }) => id)

test('of a recrawl the items of each page that is new or has changed are compared, with those of runs that came back, too', () => {
  const drop = { items: { drop: 0.3 } }
  const first = { pages: 1000, items: 3000 }
  const back = (items: number, itemPages = 50) => ({ pages: 1000, items, itemPages })
  // Fewer pages have changed, and each brings as much.
  expect(atEnd(drop, back(20, 25), [back(40), back(42), first])).toEqual([])
  expect(atEnd(drop, back(10), [back(40), back(42), first])).toEqual(['items/drop'])
  // With the first run nothing is compared, and of a few pages nothing follows.
  expect(atEnd(drop, back(10), [first])).toEqual([])
  expect(atEnd(drop, back(0, 19), [back(40)])).toEqual([])
  // `min` is for a run whose items are all written.
  const min = { items: { min: 100 } }
  expect(atEnd(min, back(10), [])).toEqual([])
  expect(atEnd(min, { pages: 20, items: 10 }, [])).toEqual(['items/min'])
})

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
  ['a class of statuses', { statuses: { '4xx': 5 } }, { statuses: { 404: 3, 429: 3 } }, ['statuses/4xx']],
  ['the other classes', { statuses: { '4xx': 5 } }, { statuses: { 200: 9, 404: 5, 500: 9, 4040: 9 } }, []],
  [
    'a large share of a class',
    { statuses: { '5xx': { share: 0.05 } } },
    { statuses: { 200: 90, 500: 3, 503: 3 } },
    ['statuses/5xx'],
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

test('of a run whose process was killed, items that may only not be counted are not told of as missing', () => {
  const monitors = { items: { min: 40, drop: 0.01 }, successes: 40 }
  const killed = { mayMiss: { before: new Date(BEGUN).toISOString(), seconds: 10 } }
  const some = (count: number) => ({ items: count, statuses: { 200: count } })
  const past = [{ items: 40 }]
  const all = ['items/min', 'successes', 'items/drop']
  expect(atEnd(monitors, some(38), past, 1)).toEqual(all)
  expect(atEnd(monitors, { ...some(38), ...killed }, past, 1)).toEqual([])
  expect(atEnd(monitors, { ...some(20), ...killed }, past, 1)).toEqual(all)
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

test('of a few items a drop is told of only when it is no chance; a share that was asked for holds for one', () => {
  const past = [900, 905, 898].map((price) => ({ items: 1000, fields: { price, title: 1000 } }))
  const found = (items: number, price: number, monitors: Monitors = { coverageDrop: 0.1 }) =>
    atEnd(monitors, { items, fields: { price, title: items } }, past)
  for (const [items, price] of [
    [1, 0],
    [2, 1],
    [3, 2],
    [5, 3],
  ] as const)
    expect(found(items, price)).toEqual([])
  expect(found(5, 0)).toEqual(['coverage/price'])
  expect(found(2, 1, { coverage: { price: 0.8 } })).toEqual(['coverage/price'])
  // Two items of thousands that all had it are no chance; of a handful they may be.
  const titles = (of: readonly Partial<RunSeen>[]) => atEnd({ coverageDrop: 0.1 }, { items: 2 }, of)
  expect(titles([{ items: 5000, fields: { title: 5000 } }])).toEqual(['coverage/title'])
  expect(titles([{ items: 5, fields: { title: 5 } }])).toEqual([])
})

const alert = (id: string, resolvedAt?: string): AlertSeen => ({
  id,
  words: '',
  at: '',
  ...(resolvedAt && { resolvedAt }),
})

/** A crawl of an item a second, looked at every ten seconds, whose items have a price as `has` says of the nth. */
function watched(has: (n: number) => boolean, items: number, past: readonly PastRun[] = []) {
  const monitors = { coverage: { price: 0.95 } }
  let checkpoints: readonly RunCheckpoint[] = []
  let price = 0
  let worst = 0
  for (let n = 1; n <= items; n++) {
    if (has(n)) price++
    if (n % 10 !== 0) continue
    const seen = { ...look({ items: n, fields: { price }, state: 'running' }), past }
    const judged = judgeNow(monitors, seen, { checkpoints, clock: clockOf(seen), alerts: [] })
    worst = Math.min(worst, judged.worst.price!)
    const [finding] = judged.findings
    if (finding) return { at: n, words: finding.words, worst }
    checkpoints = withCheckpoint(checkpoints, checkpointOf(monitors, seen), 40)
  }
  return { at: undefined, words: '', worst }
}

test('a layout that changes at item 5000 is told of within a minute, with the share of the latest items', () => {
  const { at, words } = watched((n) => n < 5000, 6000)
  expect(at! - 5000).toBeLessThanOrEqual(60)
  expect(words).toMatch(
    /^price: 0 % of the last \d\d items have it, and 100 % of the [\d,]+ before; at least 95 % must$/,
  )
})

test('items that lack a field by chance, within what is allowed, are not told of in 100 000', () => {
  let seed = 7
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  expect(watched(() => random() < 0.96, 100_000).at).toBeUndefined()
})

test('while the run goes on, what only its end can tell is not judged', () => {
  const monitors = { items: { min: 100, drop: 0.1 }, successes: 5, finishReasons: ['finished'] }
  expect(now(monitors, look({ state: 'running' }, [{ items: 50 }]))).toEqual([])
})

test('a run that takes long, and one that brings nothing for minutes, are told of while they go on', () => {
  const monitors = { maxMinutes: 30, items: { everyMinutes: 5 } }
  expect(now(monitors, look({ state: 'running' }, [], 4))).toEqual([])
  expect(now(monitors, look({ state: 'running' }, [], 31))).toEqual(['maxMinutes', 'items/everyMinutes'])
  const first = clockAt(undefined, look({ state: 'running', items: 9 }, [], 1), false)
  const later = (items: number) => {
    const seen = look({ state: 'running', items }, [], 7)
    return now(monitors, seen, clockAt(first, seen, false))
  }
  expect([later(9), later(10)]).toEqual([['items/everyMinutes'], []])
})

test('the time in which nobody crawled is no time without items, and none that the run took', () => {
  const at = (minutes: number, since = 0) => ({
    ...look({ items: 9 }, [], minutes),
    runningSinceMs: BEGUN + since * 60_000,
  })
  const stopped = clockAt(undefined, at(10), false)
  // Resumed after a night.
  const resumed = clockAt(stopped, at(602, 600), false)
  expect([resumed.ranMs / 60_000, resumed.quietMs / 60_000]).toEqual([12, 2])
  const paused = clockAt(resumed, at(702, 600), true)
  expect([paused.ranMs / 60_000, paused.quietMs / 60_000]).toEqual([12, 2])
})

test('nor is that in which all that is left waits for a budget of the next day', () => {
  const at = (minutes: number, requests: number, waited: number) => ({
    ...look({ items: 9, requests }, [], minutes),
    stats: { 'budgets/waited': waited },
  })
  const looks = [
    at(10, 50, 2),
    at(11, 60, 20),
    at(600, 60, 20),
    at(601, 60, 24),
    at(602, 61, 24),
    at(612, 61, 24),
  ]
  let clock: RunClock | undefined
  const minutes = looks.map((seen) => {
    clock = clockAt(clock, seen, false)
    return clock.ranMs / 60_000
  })
  // Slow at last, and nothing is sent back any more: that counts.
  expect(minutes).toEqual([10, 11, 11, 11, 12, 22])
})

test('a run that stays broken is told of again: a broken run is not what is usual', () => {
  const well = { items: 1000, fields: { price: 1000 } }
  const brokenItems = { items: 100, fields: { price: 100 }, alerts: [alert('items/drop')] }
  expect(atEnd({ items: { drop: 0.3 } }, { items: 100 }, [brokenItems, well])).toEqual(['items/drop'])
  const brokenField = { items: 1000, fields: {}, alerts: [alert('coverage/price')] }
  expect(atEnd({ coverageDrop: 0.1 }, { items: 1000 }, [brokenField, brokenField, well])).toEqual([
    'coverage/price',
  ])
})

test('a dip as improbable as one of the runs before is not told of; one that is more so is', () => {
  const dip = (n: number) => n < 5000 || n >= 5030
  const first = watched(dip, 10_000)
  expect(first.at).toBeLessThanOrEqual(5030)
  const whole = watched(dip, 10_000, [{ ...run({ items: 10_000 }), worst: { price: -300 } }])
  const before = {
    ...run({ items: 10_000 }),
    worst: { price: whole.worst },
    alerts: [alert('coverage/price', 'later')],
  }
  expect(watched(dip, 10_000, [before]).at).toBeUndefined()
  expect(watched((n) => n < 5000, 10_000, [before]).at! - 5000).toBeLessThanOrEqual(60)
  // One that stayed broken is no measure.
  const broken = { ...before, alerts: [alert('coverage/price')] }
  expect(watched(dip, 10_000, [broken]).at).toBe(first.at)
})

test('an alert of coverage stands until the latest items are well, and is found again in later items alone', () => {
  const monitors = { coverage: { price: 0.9 } }
  const found = (alerts: AlertSeen[], figures: Partial<RunSeen>, checkpoints: readonly RunCheckpoint[]) => {
    const seen = look({ state: 'running', ...figures })
    return judgeNow(monitors, seen, { checkpoints, clock: clockOf(seen), alerts }).findings.length
  }
  const checkpoint = (atMs: number, items: number, price: number) => ({ atMs, items, fields: { price } })
  const broken = [checkpoint(1000, 100, 100), checkpoint(2000, 200, 100)]
  const standing = [alert('coverage/price')]
  expect(found(standing, { items: 220, fields: { price: 101 } }, broken)).toBe(1)
  expect(found(standing, { items: 220, fields: { price: 120 } }, broken)).toBe(0)
  expect(found([], { items: 220, fields: { price: 120 } }, broken)).toBe(1)
  const over = [alert('coverage/price', new Date(2000).toISOString())]
  expect(found(over, { items: 220, fields: { price: 120 } }, broken)).toBe(0)
  expect(found(over, { items: 220, fields: { price: 100 } }, broken)).toBe(1)
})

test.for(['constructor', '__proto__'])('a field that is called %s is judged as any other', (field) => {
  const monitors: Monitors = JSON.parse(`{"coverageDrop": 0.3, "coverage": {"${field}": 0.9}}`)
  const had = JSON.parse(`{"${field}": 1000}`) as Record<string, number>
  const past = [{ items: 1000, fields: had }, { items: 1000 }, { items: 1000 }]
  expect(checkpointOf(monitors, look({ items: 100 }, past)).fields).toEqual(JSON.parse(`{"${field}": 0}`))
  expect(now(monitors, look({ state: 'running', items: 100 }, past))).toEqual([`coverage/${field}`])
  const [ended] = judgeEnd(monitors, look({ items: 100 }, past), clockOf(look({ items: 100 })))
  expect(ended?.words).toBe(`${field}: 0 % of 100 items have it; at least 90 % must`)
})

test('checkpoints are bounded, and keep the first moments of a long run', () => {
  let checkpoints: readonly RunCheckpoint[] = []
  for (let n = 0; n < 1000; n++)
    checkpoints = withCheckpoint(checkpoints, { atMs: n, items: n, fields: {} }, 40)
  expect(checkpoints.length).toBeLessThanOrEqual(41)
  expect([checkpoints[0]?.items, checkpoints.at(-1)?.items]).toEqual([0, 999])
})
