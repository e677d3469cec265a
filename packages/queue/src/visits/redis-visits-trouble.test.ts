import { fingerprint, Request, type Visit } from '@webloom/core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { RedisBench } from '../../testing/redis-bench.ts'
import { RedisVisits } from './redis-visits.ts'

const bench = new RedisBench()
beforeAll(() => bench.start({ config: { 'replica-serve-stale-data': 'no' } }))
afterAll(() => bench.stop())

let visits: RedisVisits
beforeEach(() => {
  visits = new RedisVisits({ redis: bench.redis, keys: bench.nextKeys(), fingerprint })
})

const VISIT: Visit = {
  visitedAt: Date.UTC(2026, 0, 1),
  dueAt: Date.UTC(2026, 0, 2),
  visits: 1,
  changes: 0,
  evidence: { stillHours: 24, seen: 0, gapLogs: 0, dated: 0 },
  failures: 0,
  goneAnswers: 0,
  callbackVersion: 1,
  isOutdated: false,
}

function pageOf(url: string) {
  const request = new Request(url)
  return { fingerprint: fingerprint(request), request, visit: VISIT }
}

async function listed(): Promise<number> {
  let pages = 0
  for await (const some of visits.waiting()) pages += some.length
  return pages
}

test('a Redis that refuses all for a while says so by a code, whatever the visits are asked', async () => {
  const page = pageOf('https://shop.example/')
  await visits.record([page])
  const asked = {
    find: () => visits.find([page.fingerprint]),
    due: () => visits.due(VISIT.dueAt, 10),
    sample: () => visits.sample(10),
    totals: () => visits.totals(),
    waiting: listed,
    notes: () => visits.notes(['host/shop.example']),
    note: () => visits.note(new Map([['host/shop.example', '1']])),
    clear: () => visits.clear(),
  }
  // As after a fail-over: what was the master is a replica now. No server listens on port 1.
  await bench.server.command('REPLICAOF', '127.0.0.1', '1')
  try {
    for (const [name, ask] of Object.entries(asked))
      await expect(ask(), name).rejects.toMatchObject({ code: 'WL_REDIS_AWAY' })
  } finally {
    await bench.server.command('REPLICAOF', 'NO', 'ONE')
  }
  expect(await listed()).toBe(1)
})

test('a Redis that is full refuses a note by a code', async () => {
  await bench.server.command('CONFIG', 'SET', 'maxmemory', '1')
  try {
    const noted = visits.note(new Map([['host/shop.example', '1']]))
    await expect(noted).rejects.toMatchObject({ code: 'WL_REDIS_FULL' })
  } finally {
    await bench.server.command('CONFIG', 'SET', 'maxmemory', '0')
  }
})
