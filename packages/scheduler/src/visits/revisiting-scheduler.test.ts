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
    ...{ queue, visits, fingerprinter, hosts, ends: true, lowWater: 10 },
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
