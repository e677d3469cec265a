import assert from 'node:assert/strict'
import { fingerprint } from '../fingerprints/fingerprint.ts'
import type { FoundVisit, KeptVisits, Visit, VisitedPage } from '../ports/visit-store.ts'
import { Request } from '../requests/request.ts'
import { requestToJson } from '../requests/request-json.ts'
import { type ContractTests, type Deviation, runContract, type TestRunner } from './suite.ts'

/** The visits of one crawl beside its queue, for two of its workers. In one process both may be one object. */
export interface SharedVisits {
  readonly one: KeptVisits
  readonly other: KeptVisits
}

export interface VisitsImplementation {
  readonly name: string
  create(): Promise<SharedVisits & { dispose(): Promise<void> }>
  readonly deviations?: readonly Deviation[]
}

const HOUR = 3_600_000
// The stores keep seconds, and may gather what is due within some minutes.
const START = Date.UTC(2026, 0, 1)
const EVIDENCE = { stillHours: 30, seen: 2, gapLogs: 2 * Math.log(24), dated: 1 }

function pageOf(path: string, about: Partial<Visit> = {}): VisitedPage {
  const request = new Request(`https://shop.example${path}`, { callback: 'parseItem', meta: { depth: 2 } })
  const visit: Visit = {
    visitedAt: START,
    dueAt: START + HOUR,
    contentHash: '01234567',
    visits: 4,
    changes: 2,
    evidence: EVIDENCE,
    failures: 0,
    goneAnswers: 0,
    callbackVersion: 4711,
    isOutdated: false,
    ...about,
  }
  return { fingerprint: fingerprint(request), request, visit }
}

const paths = ({ pages }: { readonly pages: readonly VisitedPage[] }): string[] =>
  pages.map(({ request }) => new URL(request.url).pathname)

function assertNear(actual: Visit | FoundVisit | undefined, expected: Visit): void {
  assert.ok(actual)
  const { evidence, isInALine, ...rest } = { isInALine: false, ...actual }
  const { evidence: expectedEvidence, ...expectedRest } = expected
  assert.deepEqual(rest, expectedRest)
  for (const [name, value] of Object.entries(expectedEvidence))
    assert.ok(
      Math.abs(evidence[name as keyof typeof evidence] - value) <= Math.abs(value) / 100,
      `${name} is ${evidence[name as keyof typeof evidence]}, expected ${value}`,
    )
}

/** Queues what is due, step by step; resolves to how many pages that were. */
async function queuedWhileDue(visits: KeptVisits, now: number, max: number): Promise<number> {
  let queued = 0
  for (;;) {
    const due = await visits.due(now, max)
    if (due.read === 0) return queued
    queued += await visits.queueDue(due)
  }
}

const TESTS: ContractTests<SharedVisits> = {
  'a page that was never visited is unknown': async ({ one }) => {
    assert.deepEqual(await one.find([pageOf('/a').fingerprint]), [undefined])
    assert.equal((await one.due(START, 10)).read, 0)
    assert.deepEqual(await one.totals(), { pages: 0, perHour: 0 })
  },
  'a visit that one worker notes the other finds': async ({ one, other }) => {
    const page = pageOf('/a')
    await one.record([page])
    const [known, unknown] = await other.find([page.fingerprint, pageOf('/b').fingerprint])
    assertNear(known, page.visit)
    assert.equal(unknown, undefined)
  },
  'validators are kept as the server wrote them': async ({ one }) => {
    const kept = ['"33a64df551425fcc"', 'W/"5f3b-1a2"', `"${'0af'.repeat(10)}"`, '"Ünï"']
    for (const [n, etag] of kept.entries()) {
      const page = pageOf(`/${n}`, { etag, lastModifiedAt: START - 1000, isOutdated: n === 1 })
      await one.record([page])
      assertNear((await one.find([page.fingerprint]))[0], page.visit)
    }
  },
  'a visit that brought no page has no hash': async ({ one }) => {
    const { contentHash: _, ...visit } = pageOf('/a').visit
    const page = { ...pageOf('/a'), visit: { ...visit, failures: 3, goneAnswers: 1 } }
    await one.record([page])
    assertNear((await one.find([page.fingerprint]))[0], page.visit)
  },
  'a page comes due at its hour, with what is needed to ask again': async ({ one, other }) => {
    const page = pageOf('/a?q=1')
    await one.record([page])
    assert.equal((await other.due(START + HOUR / 2, 10)).read, 0)
    const due = await other.due(START + HOUR, 10)
    assert.equal(due.pages.length, 1)
    assert.equal(due.pages[0]!.fingerprint, page.fingerprint)
    assert.equal(due.pages[0]!.request.url, page.request.url)
    assert.equal(due.pages[0]!.request.callback, 'parseItem')
    assert.deepEqual(due.pages[0]!.request.meta, { depth: 2 })
    assertNear(due.pages[0]!.visit, page.visit)
  },
  'pages are asked for anew at their hours, and one in a line is not': async ({ one, other }) => {
    const [a, b, line] = [pageOf('/a'), pageOf('/b'), pageOf('/line', { dueAt: START })]
    await one.record([a, b, line])
    await one.queueDue(await one.due(START, 10))
    const anew = [a, line, pageOf('/unknown')].map(({ fingerprint, request }) => ({
      fingerprint,
      request: request.replace({ callback: 'parseAnew' }),
    }))
    assert.deepEqual(await other.askAnew(anew), [a.fingerprint])
    assertNear((await one.find([a.fingerprint]))[0], a.visit)
    const { pages } = await one.due(START + HOUR, 10)
    assert.deepEqual(
      pages.map(({ request: { url, callback } }) => [new URL(url).pathname, callback]).sort(),
      [
        ['/a', 'parseAnew'],
        ['/b', 'parseItem'],
      ],
    )
    assert.equal(await queuedWhileDue(one, START + HOUR, 10), 2)
  },
  'the most overdue come first, and no more than asked for': async ({ one }) => {
    const pages = [3, 1, 2].map((hours) => pageOf(`/${hours}`, { dueAt: START + hours * HOUR }))
    await one.record(pages)
    assert.deepEqual(paths(await one.due(START + 5 * HOUR, 1)), ['/1'])
    await one.queueDue(await one.due(START + 5 * HOUR, 1))
    assert.deepEqual(paths(await one.due(START + 5 * HOUR, 1)), ['/2'])
  },
  'what is not queued stays due, and what is queued is due no more': async ({ one, other }) => {
    const page = pageOf('/a')
    await one.record([page])
    await one.due(START + HOUR, 10)
    const due = await other.due(START + HOUR, 10)
    assert.equal(await other.queueDue(due), 1)
    assert.equal((await one.due(START + 100 * HOUR, 10)).read, 0)
    const [found] = await one.find([page.fingerprint])
    assertNear(found, page.visit)
    assert.equal(found?.isInALine, true)
  },
  'two workers that read the same pages queue each once': async ({ one, other }) => {
    const pages = Array.from({ length: 20 }, (_, n) => pageOf(`/${n}`))
    await one.record(pages)
    const [mine, theirs] = await Promise.all([one.due(START + HOUR, 15), other.due(START + HOUR, 20)])
    const [first, second] = await Promise.all([one.queueDue(mine), other.queueDue(theirs)])
    const rest = await queuedWhileDue(one, START + HOUR, 20)
    assert.equal(first + second + rest, pages.length)
    const found = await one.find(pages.map(({ fingerprint }) => fingerprint))
    assert.ok(found.every((visit) => visit?.isInALine))
  },
  'a page that is put back at the time of an entry that a worker has just read is queued all the same':
    async ({ one, other }) => {
      const page = pageOf('/a')
      await one.record([page])
      // Visited before its hour: on Redis its first entry stays where it was, and counts no more.
      await one.record([pageOf('/a', { visitedAt: START + HOUR / 2, dueAt: START + 5 * HOUR })])
      const read = await one.due(START + HOUR, 10)
      await other.reschedule([page], page.visit.dueAt)
      const queued = await one.queueDue(read)
      assert.equal(queued + (await queuedWhileDue(one, START + 100 * HOUR, 10)), 1)
      assert.equal((await one.find([page.fingerprint]))[0]?.isInALine, true)
    },
  'a visit puts a page that was queued at its next hour': async ({ one }) => {
    await one.record([pageOf('/a')])
    await one.queueDue(await one.due(START + HOUR, 10))
    await one.record([pageOf('/a', { visitedAt: START + HOUR, dueAt: START + 3 * HOUR, visits: 5 })])
    assert.equal((await one.find([pageOf('/a').fingerprint]))[0]?.isInALine, false)
    assert.equal((await one.due(START + 2 * HOUR, 10)).read, 0)
    assert.deepEqual(paths(await one.due(START + 3 * HOUR, 10)), ['/a'])
  },
  'a page that was visited before its hour is due at the new one only': async ({ one }) => {
    await one.record([pageOf('/a')])
    await one.record([pageOf('/a', { visitedAt: START + HOUR / 2, dueAt: START + 5 * HOUR })])
    const early = await one.due(START + 2 * HOUR, 10)
    assert.deepEqual(early.pages, [])
    await one.queueDue(early)
    const due = await one.due(START + 5 * HOUR, 10)
    assert.deepEqual(paths(due), ['/a'])
    assert.equal(await one.queueDue(due), 1)
    assert.equal((await one.due(START + 50 * HOUR, 10)).read, 0)
  },
  'a page that was visited twice in the hour of its old place is due once': async ({ one }) => {
    await one.record([pageOf('/a')])
    await one.record([pageOf('/a', { visitedAt: START + HOUR / 2 })])
    assert.equal(await queuedWhileDue(one, START + HOUR, 1), 1)
  },
  'a note that is sent twice changes nothing, also of a page that has gone into a line': async ({
    one,
    other,
  }) => {
    const page = pageOf('/a')
    await one.record([page])
    await one.record([page])
    assert.equal(await one.queueDue(await one.due(START + HOUR, 10)), 1)
    await other.record([page])
    assert.equal((await one.due(START + 100 * HOUR, 10)).pages.length, 0)
    assert.equal((await one.totals()).pages, 1)
  },
  'a page that is visited twice in a second is in a line no more': async ({ one }) => {
    const page = pageOf('/a')
    await one.record([page])
    await one.queueDue(await one.due(START + HOUR, 10))
    await one.record([pageOf('/a', { visits: page.visit.visits + 1 })])
    assert.deepEqual(paths(await one.due(START + HOUR, 10)), ['/a'])
  },
  'a page that was not visited, as nothing was sent, is in a line no more': async ({ one }) => {
    await one.record([pageOf('/a')])
    await one.queueDue(await one.due(START + HOUR, 10))
    await one.record([pageOf('/a', { dueAt: START + 3 * HOUR })])
    assert.deepEqual(paths(await one.due(START + 3 * HOUR, 10)), ['/a'])
  },
  'a page that is forgotten is neither due nor known': async ({ one, other }) => {
    const [a, b] = [pageOf('/a'), pageOf('/b')]
    await one.record([a, b])
    assert.deepEqual(await one.forget([a.fingerprint, pageOf('/c').fingerprint]), [a.fingerprint])
    assert.deepEqual(await other.find([a.fingerprint]), [undefined])
    assert.deepEqual(paths(await other.due(START + HOUR, 10)), ['/b'])
    assert.equal((await other.totals()).pages, 1)
  },
  'a page that is forgotten after it was read is not queued': async ({ one, other }) => {
    const page = pageOf('/a')
    await one.record([page])
    const due = await one.due(START + HOUR, 10)
    await other.forget([page.fingerprint])
    assert.equal(await one.queueDue(due), 0)
  },
  'a page that is put at another moment is due then, as it is asked for now; one in a line stays there':
    async ({ one, other }) => {
      const [a, b, c] = [pageOf('/a'), pageOf('/b', { dueAt: START + 30 * HOUR }), pageOf('/c')]
      await one.record([a])
      await one.queueDue(await one.due(START + HOUR, 10))
      await one.record([b])
      const asked = {
        fingerprint: b.fingerprint,
        request: new Request(b.request.url, { callback: 'parseNow' }),
      }
      assert.deepEqual(await other.reschedule([a, asked, c], START + 2 * HOUR), [
        a.fingerprint,
        b.fingerprint,
      ])
      const due = await one.due(START + 2 * HOUR, 10)
      assert.deepEqual(paths(due), ['/b'])
      assert.equal(due.pages[0]!.request.callback, 'parseNow')
      assert.equal(await one.queueDue(due), 1)
      assert.equal((await one.due(START + 50 * HOUR, 10)).pages.length, 0)
    },
  'the pages that wait for their hours can be listed, each once': async ({ one, other }) => {
    await one.record(
      Array.from({ length: 700 }, (_, n) => pageOf(`/${n}`, { dueAt: START + (1 + (n % 7)) * HOUR })),
    )
    await one.queueDue(await one.due(START + HOUR, 10))
    await one.record([pageOf('/6', { visitedAt: START + 1000, dueAt: START + 20 * HOUR })])
    const listed: string[] = []
    for await (const pages of other.waiting()) listed.push(...pages.map(({ fingerprint }) => fingerprint))
    assert.equal(listed.length, 690)
    assert.equal(new Set(listed).size, 690)
  },
  'a page that is put at another moment while all are listed is listed once': async ({ one, other }) => {
    const hours = [1, 2, 3, 4, 5]
    await one.record(
      Array.from({ length: 1100 }, (_, n) => pageOf(`/${n}`, { dueAt: START + hours[n % 5]! * HOUR })),
    )
    let listed = 0
    for await (const pages of one.waiting()) {
      listed += pages.length
      await other.reschedule(pages, START + 3 * HOUR)
    }
    assert.equal(listed, 1100)
    assert.equal(await queuedWhileDue(one, START + 3 * HOUR, 500), 1100)
  },
  'a note is kept until another takes its place': async ({ one, other }) => {
    assert.deepEqual(await one.notes(['plan']), [undefined])
    await one.note(new Map([['plan', '1']]))
    await one.note(
      new Map([
        ['plan', '2'],
        ['host/shop.example:8080', '3'],
      ]),
    )
    await one.note(new Map())
    assert.deepEqual(await other.notes(['plan', 'other', 'host/shop.example:8080']), ['2', undefined, '3'])
  },
  'all pages together ask for as many visits as their intervals say': async ({ one }) => {
    await one.record([pageOf('/a', { dueAt: START + 2 * HOUR }), pageOf('/b', { dueAt: START + 4 * HOUR })])
    await one.record([pageOf('/a', { visitedAt: START + 2 * HOUR, dueAt: START + 3 * HOUR })])
    const { pages, perHour } = await one.totals()
    assert.equal(pages, 2)
    assert.ok(Math.abs(perHour - 1.25) < 1e-3, `${perHour} visits an hour`)
  },
  'a sample has each page once at the most, as it was visited last, whether it is visited often or seldom':
    async ({ one, other }) => {
      const pages = Array.from({ length: 100 }, (_, n) => pageOf(`/${n}`))
      await one.record(pages)
      for (let n = 1; n <= 20; n++)
        await one.record([pageOf('/7', { visitedAt: START + n * HOUR, dueAt: START + (n + 1) * HOUR })])
      assert.equal((await other.sample(30)).length, 30)
      const all = await other.sample(1000)
      // A store may keep fewer for this than there are.
      assert.ok(all.length > 50 && all.length <= 100, `${all.length} of 100 pages`)
      const often = all.filter(({ visitedAt }) => visitedAt !== START)
      assert.ok(often.length <= 1 && often.every(({ visitedAt }) => visitedAt === START + 20 * HOUR))
    },
  'requests of any kind come back as they were': async ({ one }) => {
    const made = [
      (n: number) =>
        new Request(`https://shop.example/search/${n}`, { method: 'POST', body: 'q=tables', priority: 3 }),
      (n: number) =>
        new Request(`https://shop.example/x?n=${n}`, { headers: { 'x-a': 'b' }, cbKwargs: { page: 2 } }),
      (n: number) => new Request(`http://other.example:8080/?n=${n}#part`),
    ]
    // So many that what they share may be kept once.
    const pages = made.flatMap((make) =>
      Array.from({ length: 12 }, (_, n) => {
        const request = make(n)
        return { ...pageOf('/'), request, fingerprint: fingerprint(request) }
      }),
    )
    await one.record(pages)
    const due = await one.due(START + HOUR, 100)
    const urls = (of: readonly VisitedPage[]) =>
      of.map(({ fingerprint, request }) => JSON.stringify([fingerprint, requestToJson(request)]))
    assert.deepEqual(urls(due.pages).sort(), urls(pages).sort())
  },
  'what is cleared is gone': async ({ one, other }) => {
    await one.record(Array.from({ length: 20 }, (_, n) => pageOf(`/${n}`)))
    await one.clear()
    assert.equal((await other.due(START + HOUR, 10)).read, 0)
    assert.deepEqual(await other.totals(), { pages: 0, perHour: 0 })
    assert.deepEqual(await other.sample(10), [])
  },
}

/** Every KeptVisits runs this. */
export function visitStoreContract(
  runner: TestRunner,
  { name, create, deviations }: VisitsImplementation,
): void {
  runContract<SharedVisits>(runner, 'VisitStore', TESTS, {
    name,
    ...(deviations && { deviations }),
    create: async () => {
      const { dispose, ...subject } = await create()
      return { subject, dispose }
    },
  })
}
