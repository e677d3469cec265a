/** On Redis: pages of which FINGERPRINTER makes other fingerprints than before, and those that were forgotten. */

import { fingerprint, type KeptVisits, Request, type Visit } from '@webloom/core'
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
const renamed = ({ url }: Request) => `new ${url}`

let keys: CrawlRedisKeys
beforeEach(() => {
  keys = bench.nextKeys()
})

/** A worker whose FINGERPRINTER is this. */
async function worker(of: (request: Request) => string = fingerprint): Promise<KeptVisits> {
  return (await bench.queue({ keys, visits: { fingerprint: of }, isOutside: true })).visits!
}

function visited(dueAt = VISIT.dueAt, of: (request: Request) => string = fingerprint, url = URL) {
  const request = new Request(url)
  return { fingerprint: of(request), request, visit: { ...VISIT, dueAt } }
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

test('a page comes at its hour under its new fingerprint, once, as one that was never visited', async () => {
  await (await worker()).record([visited()])
  const [one, other] = [await worker(renamed), await worker(renamed)]
  const read = [await one.due(START + HOUR, 10), await other.due(START + HOUR, 10)]
  expect(read[0]).toMatchObject({ moved: 1, pages: [{ fingerprint: `new ${URL}`, visit: { visits: 0 } }] })
  expect(await one.queueDue(read[0]!)).toBe(1)
  expect(await other.queueDue(read[1]!)).toBe(0)
  expect(await queued(other, START + 100 * HOUR)).toEqual([])
  expect(await other.find([`new ${URL}`])).toMatchObject([{ isInALine: true }])
})

test('an entry that its page has left behind brings no second visit of a page that has moved', async () => {
  const before = await worker()
  await before.record([visited(START + HOUR)])
  await before.record([visited(START + 3 * HOUR)])
  const now = await worker(renamed)
  expect(await queued(now, START + HOUR)).toEqual([`new ${URL}`])
  await now.record([visited(START + 30 * HOUR, renamed)])
  expect(await queued(now, START + 29 * HOUR)).toEqual([])
  expect(await queued(now, START + 30 * HOUR)).toEqual([`new ${URL}`])
})

test('a page whose old fingerprint is made again comes with what was known of it then', async () => {
  const [usual, other] = [await worker(), await worker(renamed)]
  await usual.record([visited()])
  expect(await queued(other, START + HOUR)).toEqual([`new ${URL}`])
  await other.record([visited(START + 30 * HOUR, renamed)])
  const due = await usual.due(START + 30 * HOUR, 10)
  expect(due).toMatchObject({
    moved: 1,
    pages: [{ ...visited(), visit: { visits: 4, contentHash: '01234567' } }],
  })
  expect(await usual.queueDue(due)).toBe(1)
  expect(await queued(usual, START + 100 * HOUR)).toEqual([])
})

test('a page that was forgotten does not come back, whatever entries it has left behind; then nothing is left of it', async () => {
  const visits = await worker()
  for (const hours of [30, 2, 9]) await visits.record([visited(START + hours * HOUR)])
  const page = visited()
  expect(await visits.forget([page.fingerprint])).toEqual([page.fingerprint])
  const due = await visits.due(START + 2 * HOUR, 10)
  expect(due).toMatchObject({ pages: [], unknown: 1 })
  expect(await queued(visits, START + 29 * HOUR)).toEqual([])
  expect(await bench.redis.zcard(`${keys.visits}:forgotten`)).toBe(1)
  expect(await queued(visits, START + 30 * HOUR)).toEqual([])
  expect(await bench.redis.exists(`${keys.visits}:forgotten`)).toBe(0)
})

test('a page that is forgotten under its new fingerprint before its hour does not come back', async () => {
  await (await worker()).record([visited()])
  const now = await worker(renamed)
  expect(await now.forget([`new ${URL}`])).toEqual([])
  expect(await queued(now, START + HOUR)).toEqual([])
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

test('a page that was in a line when its old record was forgotten can have that fingerprint again', async () => {
  const [usual, other] = [await worker(), await worker(renamed)]
  const page = visited()
  await usual.record([page])
  expect(await queued(usual, START + HOUR)).toEqual([page.fingerprint])
  await other.forget([page.fingerprint])
  await other.record([visited(START + 5 * HOUR, renamed)])
  expect(await queued(usual, START + 5 * HOUR)).toEqual([page.fingerprint])
})

test('a page on which FINGERPRINTER throws is tried again two hours later, with what is known of it', async () => {
  let throws = true
  const visits = await worker((request) => {
    if (throws) throw new Error('no name for this')
    return fingerprint(request)
  })
  await visits.record([visited()])
  const due = await visits.due(START + 9 * HOUR, 10)
  expect(due).toMatchObject({ pages: [], read: 1, unnamed: [new Error('no name for this')] })
  expect(await visits.queueDue(due)).toBe(0)
  expect(await visits.due(START + 10 * HOUR, 10)).toMatchObject({ read: 0 })
  throws = false
  const again = await visits.due(START + 12 * HOUR, 10)
  expect(again).toMatchObject({ pages: [{ visit: { visits: 4 } }] })
  expect(await visits.queueDue(again)).toBe(1)
})
