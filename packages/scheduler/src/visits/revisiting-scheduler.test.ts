import {
  createFingerprinter,
  type KeptVisits,
  KnownHosts,
  MemoryStatsCollector,
  Request,
  Signals,
  silentLogger,
  type Visit,
  WebloomError,
} from '@webloom/core'
import { MemoryDupeFilter } from '@webloom/dupefilter'
import { JobDir } from '@webloom/queue'
import { tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { unpacedClock } from '../../testing/scheduler-of.ts'
import { RevisitingScheduler } from './revisiting-scheduler.ts'
import { VisitPlanner } from './visit-planner.ts'

const VISIT: Visit = {
  visitedAt: Date.now(),
  dueAt: Date.now() + 86_400_000,
  visits: 1,
  changes: 0,
  evidence: { stillHours: 0, seen: 0, gapLogs: 0, dated: 0 },
  failures: 0,
  goneAnswers: 0,
  callbackVersion: 1,
  isOutdated: false,
}

test('start requests, and links past the filter, wait for visits that are away, and no visit is let go of before', async () => {
  await using dir = await tempDir()
  const jobDir = new JobDir({
    ...{ folder: dir.path, spiderName: 'test', clock: unpacedClock(), recrawls: true },
  })
  await jobDir.record.open()
  const { queue } = jobDir
  const events: string[] = []
  let failures = 0
  // As Redis may be for a moment.
  const visits = new Proxy(queue.visits!, {
    get(kept, name: keyof KeptVisits) {
      const act = (kept[name] as (...args: readonly unknown[]) => unknown).bind(kept)
      if (name !== 'find') return act
      return async (...args: readonly unknown[]) => {
        const isAway = failures-- > 0
        events.push(isAway ? 'away' : 'found')
        if (isAway) throw new WebloomError('WL_REDIS_AWAY', 'Connection is closed')
        return act(...args)
      }
    },
  })
  const fingerprinter = createFingerprinter()
  const hosts = new KnownHosts(visits)
  const hours = { meanHours: 24, minHours: 24, maxHours: 24 }
  const scheduler = new RevisitingScheduler({
    ...{ queue, visits, fingerprinter, hosts, ends: true, lowWater: 10, howToForget: '' },
    planner: new VisitPlanner({ store: visits, hosts, kind: 'fixed', ...hours }),
    underWay: {
      leased: () => {},
      take: async ({ request }) => {
        events.push('taken')
        return { fingerprint: fingerprinter.fingerprint(request), request, visit: VISIT }
      },
      drop: () => {},
    },
    filter: new MemoryDupeFilter(),
    signals: new Signals(() => {}),
    stats: new MemoryStatsCollector(),
    ...{ logger: silentLogger, spider: { name: 'test' } },
  })
  await scheduler.open()
  const page = new Request('https://shop.example/')
  failures = 1
  expect(await scheduler.enqueueStart(page, 'start/0')).toBe(1)
  const [lease] = await scheduler.next(1)
  failures = 1
  events.length = 0
  await scheduler.commit(lease!, [new Request('https://shop.example/login', { dontFilter: true })])
  expect(events).toEqual(['away', 'found', 'taken'])
  const [visit] = await queue.visits!.find([fingerprinter.fingerprint(page)])
  expect(visit).toMatchObject({ isInALine: false, visits: 1 })
  await scheduler.close()
  await jobDir.record.close()
})

/** A crawl in a JOBDIR whose fingerprints are made by that function. */
async function revisiting(folder: string, fingerprint?: (request: Request) => string) {
  const jobDir = new JobDir({ folder, spiderName: 'test', clock: unpacedClock(), recrawls: true })
  await jobDir.record.open()
  const { queue } = jobDir
  const visits = queue.visits!
  const usual = createFingerprinter()
  const hosts = new KnownHosts(visits)
  const stats = new MemoryStatsCollector()
  const scheduler = new RevisitingScheduler({
    ...{ queue, visits, hosts, ends: true, lowWater: 10, stats, howToForget: '' },
    fingerprinter: fingerprint ? { ...usual, fingerprint } : usual,
    planner: new VisitPlanner({
      ...{ store: visits, hosts, kind: 'fixed' as const, meanHours: 24, minHours: 24, maxHours: 24 },
    }),
    underWay: { leased: () => {}, take: async () => undefined, drop: () => {} },
    filter: new MemoryDupeFilter(),
    ...{ signals: new Signals(() => {}), logger: silentLogger, spider: { name: 'test' } },
  })
  await scheduler.open()
  return {
    ...{ scheduler, visits, stats, usual },
    async [Symbol.asyncDispose]() {
      await scheduler.close()
      await jobDir.record.close()
    },
  }
}

const DUE: Visit = { ...VISIT, visitedAt: Date.now() - 172_800_000, dueAt: Date.now() - 3_600_000 }

test('a page of which FINGERPRINTER makes another fingerprint than before is visited once, and is then known by that', async () => {
  await using dir = await tempDir()
  await using crawl = await revisiting(dir.path, ({ url }) => `new ${url}`)
  const { scheduler, visits, stats, usual } = crawl
  const [moved, met] = ['/moved', '/met'].map((path) => new Request(`https://shop.example${path}`))
  await visits.record([
    ...[moved!, met!].map((request) => ({ fingerprint: usual.fingerprint(request), request, visit: DUE })),
    // A link had led to it already.
    { fingerprint: `new ${met!.url}`, request: met!, visit: VISIT },
  ])
  const leases = await scheduler.next(10)
  expect(leases.map(({ request }) => request.url)).toEqual([moved!.url])
  expect(stats.get('recrawl/moved_count')).toBe(2)
  expect(await visits.find([moved!, met!].map((request) => usual.fingerprint(request)))).toEqual([
    undefined,
    undefined,
  ])
  expect(await visits.find([moved!, met!].map(({ url }) => `new ${url}`))).toMatchObject([
    { isInALine: true, visits: 1 },
    { isInALine: false },
  ])
})

test('pages that FINGERPRINTER makes one page are visited as one, also when they are due together', async () => {
  await using dir = await tempDir()
  await using crawl = await revisiting(dir.path, ({ url }) => url.replace(/\?.*/, ''))
  const { scheduler, visits, usual } = crawl
  const requests = ['?s=1', '?s=2', '?s=3'].map((query) => new Request(`https://shop.example/${query}`))
  await visits.record(
    requests.map((request, n) => ({
      ...{ fingerprint: usual.fingerprint(request), request },
      visit: { ...DUE, dueAt: DUE.dueAt + n * 1000 },
    })),
  )
  const leases = await scheduler.next(10)
  expect(leases.map(({ request }) => request.url)).toEqual([requests[0]!.url])
  expect(await visits.totals()).toMatchObject({ pages: 1 })
  await scheduler.commit(leases[0]!, [])
  expect(await scheduler.isEmpty(new AbortController().signal)).toBe(true)
})

test('a page that was in a line when FINGERPRINTER began to make another fingerprint of it leaves its old one', async () => {
  await using dir = await tempDir()
  const request = new Request('https://shop.example/')
  const usual = createFingerprinter()
  let fingerprint = usual.fingerprint
  await using crawl = await revisiting(dir.path, (one) => fingerprint(one))
  const { scheduler, visits } = crawl
  const old = fingerprint(request)
  await visits.record([{ fingerprint: old, request, visit: DUE }])
  await visits.queueDue(await visits.due(Date.now(), 10))
  fingerprint = ({ url }) => `new ${url}`
  const [lease] = await scheduler.next(1)
  expect(await visits.find([old])).toMatchObject([{ isInALine: true }])
  await scheduler.commit(lease!, [])
  expect(await visits.find([old])).toEqual([undefined])
})

test('a start request of a page that has left the schedule, as its entry could not be read, puts it back', async () => {
  await using dir = await tempDir()
  await using crawl = await revisiting(dir.path)
  const { scheduler, visits, usual } = crawl
  const request = new Request('https://shop.example/')
  const fingerprint = usual.fingerprint(request)
  await visits.record([{ fingerprint, request, visit: { ...DUE, dueAt: DUE.visitedAt + 1000 } }])
  await scheduler.enqueueStarts([request], 0)
  const [visit] = await visits.find([fingerprint])
  expect(Date.now() - visit!.dueAt).toBeLessThan(60_000)
})
