/** On Redis: pages of which FINGERPRINTER makes other fingerprints than before, and those that were forgotten. */

import { fingerprint, type KeptVisits, Request, type Visit } from '@webloom/core'
import { inFull } from '@webloom/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { BucketBench } from '../../testing/bucket-bench.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'

const bench = new BucketBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 1)
const VISIT: Visit = {
  ...{ visitedAt: START, dueAt: START + HOUR, contentHash: '01234567', visits: 4, changes: 2 },
  evidence: { stillHours: 0, seen: 0, gapLogs: 0, dated: 0 },
  ...{ failures: 0, goneAnswers: 0, callbackVersion: 7, isOutdated: false },
}
const URL = 'https://shop.example/'

type MakeFingerprint = (request: Request) => string
const renamed: MakeFingerprint = ({ url }) => `new ${url}`

let keys: CrawlRedisKeys
beforeEach(() => {
  keys = bench.nextKeys()
})

/** A worker whose FINGERPRINTER is this. */
async function worker(of: MakeFingerprint = fingerprint): Promise<KeptVisits> {
  return (await bench.queue({ keys, visits: { fingerprint: of }, isOutside: true })).visits!
}

function visited(
  dueAt = VISIT.dueAt,
  of = fingerprint as MakeFingerprint,
  url = URL,
  about: Partial<Visit> = {},
) {
  const request = new Request(url)
  return { fingerprint: of(request), request, visit: { ...VISIT, dueAt, ...about } }
}

/** Queues what is due. Resolves to the fingerprints of these pages. */
async function queued(visits: KeptVisits, now: number): Promise<string[]> {
  const fingerprints: string[] = []
  for (;;) {
    const due = await visits.due(now, 10)
    if (due.read === 0) return fingerprints
    if ((await visits.queueDue(due)) > 0) fingerprints.push(...due.pages.map((page) => page.fingerprint))
  }
}

test('a page that is due under another fingerprint comes with what is known of it, once', async () => {
  await (await worker()).record([visited()])
  const [one, other] = [await worker(renamed), await worker(renamed)]
  const read = [await one.due(START + HOUR, 10), await other.due(START + HOUR, 10)]
  expect(read[0]).toMatchObject({ moved: 1, pages: [{ fingerprint: `new ${URL}`, visit: VISIT }] })
  expect(await one.queueDue(read[0]!)).toBe(1)
  expect(await other.queueDue(read[1]!)).toBe(0)
  expect(await queued(other, START + 100 * HOUR)).toEqual([])
  expect(await other.find([visited().fingerprint, `new ${URL}`])).toMatchObject([
    undefined,
    { isInALine: true },
  ])
  expect(await other.totals()).toMatchObject({ pages: 1 })
})

test('an entry that its page has left behind brings no second visit of a page that has moved', async () => {
  const before = await worker()
  await before.record([visited(START + HOUR)])
  await before.record([visited(START + 3 * HOUR)])
  const now = await worker(renamed)
  expect(await now.moveAll(renamed)).toBe(1)
  expect(await queued(now, START + 2 * HOUR)).toEqual([])
  expect(await queued(now, START + 3 * HOUR)).toEqual([`new ${URL}`])
})

/** Pages that are due in several hours, with as many visits as their number says. */
const PAGES = Array.from({ length: inFull<number>(1200, 600) }, (_, n) => `https://shop.example/${n}`)
const ofPage = (n: number, of: MakeFingerprint) =>
  visited(START + (1 + (n % 3)) * HOUR, of, PAGES[n], { visits: n % 200 })

/** Of each page the fingerprint of another one: two swap, all move on by one in a ring, or some become one. */
const others: [string, MakeFingerprint][] = [
  ['two pages', ({ url }) => fingerprint(new Request(url.replace(/\d+$/, (n) => `${Number(n) ^ 1}`)))],
  [
    'a ring',
    ({ url }) => fingerprint(new Request(url.replace(/\d+$/, (n) => `${(Number(n) + 1) % PAGES.length}`))),
  ],
]

/** Each page is where its fingerprint says, and comes at its hour. */
async function expectAll(visits: KeptVisits, of: MakeFingerprint) {
  const expected = PAGES.map((_, n) => ofPage(n, of))
  const found = await visits.find(expected.map((page) => page.fingerprint))
  expect(found.map((visit) => [visit?.visits, visit?.dueAt])).toEqual(
    expected.map(({ visit }) => [visit.visits, visit.dueAt]),
  )
  expect(await visits.totals()).toMatchObject({ pages: PAGES.length })
  const listed = new Map<string, number>()
  for await (const pages of visits.waiting())
    for (const { request, visit } of pages) listed.set(request.url, visit.visits)
  expect(listed).toEqual(new Map(expected.map(({ request, visit }) => [request.url, visit.visits])))
  expect(await bench.redis.exists(`${keys.visits}:moving`)).toBe(0)
}

test.each(others)(
  '%s that change fingerprints with each other move with all that is known of them',
  async (_, other) => {
    const before = await worker()
    await before.record(PAGES.map((_, n) => ofPage(n, fingerprint)))
    expect(await before.someMoved(fingerprint)).toBe(false)
    const now = await worker(other)
    expect(await now.someMoved(other)).toBe(true)
    expect(await now.moveAll(other)).toBe(PAGES.length)
    await expectAll(now, other)
    expect(await now.someMoved(other)).toBe(false)
    expect(await now.moveAll(other)).toBe(0)
    expect(await queued(now, START + HOUR)).toHaveLength(PAGES.length / 3)
  },
)

test.each(inFull([1, 2, 3, 4, 5, 6], [2]))(
  'a worker that is killed at step %i as it moves pages leaves them to the next one, whatever that makes of them',
  async (steps) => {
    const [[, swapping], [, turning]] = others as [(typeof others)[0], (typeof others)[0]]
    await (await worker()).record(PAGES.map((_, n) => ofPage(n, fingerprint)))
    const killed = await worker(swapping)
    const kill = new AbortController()
    let made = 0
    const swappingUntil = (request: Request) => {
      // Each step reads some hundred entries.
      if (++made > steps * 150) kill.abort()
      return swapping(request)
    }
    await expect(killed.moveAll(swappingUntil, kill.signal)).rejects.toThrow()
    for (const [next, of] of [
      [await worker(turning), turning],
      [await worker(fingerprint), fingerprint],
    ] as const) {
      await next.moveAll(of)
      await expectAll(next, of)
    }
  },
)

test('workers that move pages at once: one does, and another that goes on all the same does no harm', async () => {
  const [[, other]] = others as [(typeof others)[0]]
  await (await worker()).record(PAGES.map((_, n) => ofPage(n, fingerprint)))
  const workers = await Promise.all(Array.from({ length: 4 }, () => worker(other)))
  const begun = Promise.withResolvers<void>()
  const first = workers[0]!.moveAll((request) => {
    begun.resolve()
    return other(request)
  })
  await begun.promise
  expect(await workers[1]!.moveAll(other)).toBe(undefined)
  // As when a worker stood still for so long that others take it for dead.
  await bench.redis.del(`${keys.visits}:moving`)
  const second = workers[2]!.moveAll(other)
  expect((await first)! + (await second)!).toBe(PAGES.length)
  await expectAll(workers[3]!, other)
})

test('pages that have one fingerprint now are one page, and a page in a line keeps its request', async () => {
  const before = await worker()
  const [a, b, c] = ['a', 'b', 'c'].map((name, n) =>
    visited(START + (n + 1) * HOUR, fingerprint, `https://shop.example/${name}`, { visits: n + 1 }),
  ) as [ReturnType<typeof visited>, ReturnType<typeof visited>, ReturnType<typeof visited>]
  await before.record([a, b, c])
  expect(await queued(before, START + HOUR)).toEqual([a.fingerprint])
  // b and c are c now, and d takes the name of a, which is in a line.
  const d = visited(START + 4 * HOUR, fingerprint, 'https://shop.example/d', { visits: 4 })
  await before.record([d])
  const of = (request: Request) => fingerprint(new Request(request.url.replace(/b$/, 'c').replace(/d$/, 'a')))
  const now = await worker(of)
  expect(await now.moveAll(of)).toBe(2)
  expect(await now.find([a, b, c, d].map((page) => page.fingerprint))).toMatchObject([
    { isInALine: true, visits: 1 },
    undefined,
    { isInALine: false, visits: 3 },
    undefined,
  ])
  expect(await queued(now, START + 3 * HOUR)).toEqual([c.fingerprint])
  const due = await now.due(START + 4 * HOUR, 10)
  expect(due.pages).toMatchObject([{ fingerprint: a.fingerprint, visit: { visits: 4 } }])
  expect(await now.queueDue(due)).toBe(1)
  expect(await now.totals()).toMatchObject({ pages: 2 })
})

test('a command whose FINGERPRINTER is newer than what is kept acts on the pages that it shows', async () => {
  await (await worker()).record(PAGES.slice(0, 10).map((_, n) => ofPage(n, fingerprint)))
  const [[, other]] = others as [(typeof others)[0]]
  const command = await worker(other)
  for await (const pages of command.waiting())
    await command.reschedule(
      pages.filter(({ request }) => /[02468]$/.test(request.url)),
      START,
    )
  const due = await (await worker()).due(START, 100)
  expect(due.pages.map(({ request, visit }) => [request.url, visit.visits])).toEqual(
    expect.arrayContaining([0, 2, 4, 6, 8].map((n) => [PAGES[n], n])),
  )
  expect(due.pages).toHaveLength(5)
})

test('a page that was forgotten does not come back, whatever entries it has left behind', async () => {
  const visits = await worker()
  for (const hours of [30, 2, 9]) await visits.record([visited(START + hours * HOUR)])
  const page = visited()
  expect(await visits.forget([page.fingerprint])).toEqual([page.fingerprint])
  const due = await visits.due(START + 2 * HOUR, 10)
  expect(due).toMatchObject({ pages: [], unknown: 1 })
  expect(await queued(visits, START + 30 * HOUR)).toEqual([])
})

test('a page that was forgotten and is met again is on its schedule again', async () => {
  const visits = await worker()
  const page = visited()
  await visits.record([page])
  await visits.forget([page.fingerprint])
  await visits.record([visited(START + 5 * HOUR)])
  expect(await queued(visits, START + 4 * HOUR)).toEqual([])
  expect(await queued(visits, START + 5 * HOUR)).toEqual([page.fingerprint])
})

test('a page on which FINGERPRINTER throws is tried again two hours later, with what is known of it', async () => {
  let throws = true
  const visits = await worker((request) => {
    if (throws) throw new Error('no name for this')
    return fingerprint(request)
  })
  await (await worker()).record([visited()])
  const due = await visits.due(START + 9 * HOUR, 10)
  expect(due).toMatchObject({ pages: [], read: 1, unnamed: [new Error('no name for this')] })
  expect(await visits.queueDue(due)).toBe(0)
  expect(await visits.due(START + 10 * HOUR, 10)).toMatchObject({ read: 0 })
  throws = false
  const again = await visits.due(START + 12 * HOUR, 10)
  expect(again).toMatchObject({ pages: [{ visit: { visits: 4 } }] })
  expect(await visits.queueDue(again)).toBe(1)
})

test('a page of which it cannot be read how to ask for it is forgotten', async () => {
  const visits = await worker()
  for (let n = 0; n < 6; n++)
    await visits.record([visited(START + HOUR, fingerprint, `https://shop.example/${n}`)])
  await bench.redis.del(`${keys.visits}:names`)
  const other = await worker()
  const due = await other.due(START + HOUR, 10)
  expect(due.unreadable).toHaveLength(3)
  expect(await other.queueDue(due)).toBe(3)
  expect(await other.totals()).toMatchObject({ pages: 3 })
})
