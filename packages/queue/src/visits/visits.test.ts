import { fingerprint, Request, type Visit, visitFromBytes, visitToBytes } from '@webloom/core'
import { visitStoreContract } from '@webloom/core/contract'
import { tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BucketBench } from '../../testing/bucket-bench.ts'
import { JobDatabase } from '../jobdir/job-database.ts'
import { JobDir } from '../jobdir/job-dir.ts'
import { SqliteVisits } from '../jobdir/sqlite-visits.ts'
import { MemoryRequestQueue } from '../local/memory-request-queue.ts'
import { MemoryHostClock } from '../politeness/memory-host-clock.ts'
import { MemoryVisits } from './memory-visits.ts'
import { RedisVisits } from './redis-visits.ts'

const bench = new BucketBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const clockOf = () => new MemoryHostClock({ pace: { delayMs: 0, concurrency: 0, randomize: false } })

visitStoreContract(
  { describe, test },
  {
    name: 'a queue in memory',
    create: async () => {
      const queue = new MemoryRequestQueue({ clock: clockOf(), visits: new MemoryVisits() })
      const visits = queue.visits!
      return { one: visits, other: visits, dispose: () => queue.close() }
    },
  },
)
visitStoreContract(
  { describe, test },
  {
    name: 'a JOBDIR',
    create: async () => {
      const dir = await tempDir()
      const { record, queue } = new JobDir({
        ...{ folder: dir.path, spiderName: 's', clock: clockOf(), recrawls: true },
      })
      await record.open()
      await queue.open()
      const visits = queue.visits!
      const dispose = async () => {
        await queue.close()
        await record.close()
        await dir.remove()
      }
      return { one: visits, other: visits, dispose }
    },
  },
)
visitStoreContract(
  { describe, test },
  {
    name: 'queues of two workers on Redis',
    create: async () => {
      const keys = bench.nextKeys()
      const [one, other] = await Promise.all(
        [1, 2].map(() => bench.queue({ keys, visits: { fingerprint }, isOutside: true })),
      )
      return { one: one!.visits!, other: other!.visits!, dispose: async () => {} }
    },
  },
)

const VISIT: Visit = {
  visitedAt: Date.UTC(2026, 0, 1),
  dueAt: Date.UTC(2026, 0, 2),
  contentHash: 'fedcba98',
  visits: 300,
  changes: 2,
  evidence: { stillHours: 8760, seen: 0, gapLogs: 0, dated: 0 },
  failures: 99,
  goneAnswers: 0,
  callbackVersion: 1,
  isOutdated: false,
}

test('a record never has more than the 64 bytes that Redis packs: a longer tag is not kept', () => {
  for (let length = 1; length < 120; length++)
    for (const etag of [`"${'!'.repeat(length)}"`, `W/"${'z'.repeat(length)}"`])
      expect(visitToBytes({ ...VISIT, etag, lastModifiedAt: 0 }).length).toBeLessThanOrEqual(64)
  expect(visitFromBytes(visitToBytes({ ...VISIT, etag: `"${'!'.repeat(40)}"` }))).not.toHaveProperty('etag')
  const sha256 = `W/"${'0123456789abcdef'.repeat(4)}"`
  expect(visitFromBytes(visitToBytes({ ...VISIT, etag: sha256, lastModifiedAt: 0 })).etag).toBe(sha256)
})

test('numbers that a record has no room for stop at the most that it can hold', () => {
  expect(visitFromBytes(visitToBytes(VISIT))).toMatchObject({ visits: 255, failures: 15 })
})

test('a record of a newer form is refused, with what to do', () => {
  const bytes = visitToBytes(VISIT)
  bytes[0] = 3
  expect(() => visitFromBytes(bytes)).toThrow('a visit has form 3; this release knows 2')
  bytes[0] = 1
  expect(() => visitFromBytes(bytes)).toThrow('clear the crawl and begin it anew')
})

test('a crawl that a build before the release has begun is refused, with what to do', async () => {
  const keys = bench.nextKeys()
  const visits = new RedisVisits({ redis: bench.redis, keys, fingerprint })
  await bench.redis.zadd(`${keys.visits}:spans`, 0, '0')
  await bench.redis.rpush(`${keys.visits}:due:0`, Buffer.from('ff23456789abcdef00', 'hex'))
  await expect(visits.due(VISIT.dueAt, 10)).rejects.toThrow('clear the crawl and begin it anew')
})

test('a worker that has never met a host can ask for its pages', async () => {
  const keys = bench.nextKeys()
  const [one, other] = [1, 2].map(() => new RedisVisits({ redis: bench.connect(), keys, fingerprint }))
  const pages = Array.from({ length: 10 }, (_, n) => {
    const request = new Request(`https://shop.example/${n}`, { callback: 'parseItem' })
    return { fingerprint: fingerprint(request), request, visit: VISIT }
  })
  for (const page of pages) await one!.record([page])
  // The first ones were written before the host was known to have more.
  const { pages: due } = await other!.due(VISIT.dueAt, 100)
  expect(due.map(({ request }) => request.url)).toEqual(pages.map(({ request }) => request.url))
  expect(due.map(({ fingerprint }) => fingerprint)).toEqual(pages.map(({ fingerprint }) => fingerprint))
})

test('on Redis nothing of it is left once it is cleared', async () => {
  const keys = bench.nextKeys()
  const visits = new RedisVisits({ redis: bench.redis, keys, fingerprint })
  const request = new Request('https://shop.example/')
  await visits.record([{ fingerprint: fingerprint(request), request, visit: VISIT }])
  expect(await bench.redis.keys(`${keys.visits}*`)).not.toEqual([])
  await visits.clear()
  expect(await bench.redis.keys(`${keys.visits}*`)).toEqual([])
})

test('in a JOBDIR a page of which it cannot be read how to ask for it is told, and forgotten', async () => {
  await using dir = await tempDir()
  const database = new JobDatabase({ folder: dir.path, spiderName: 's' })
  database.open()
  const visits = new SqliteVisits({ database })
  visits.lieBeside(async () => [])
  const request = new Request('https://shop.example/')
  await visits.record([{ fingerprint: fingerprint(request), request, visit: VISIT }])
  database.run("UPDATE visits SET request = '{'")
  for await (const pages of visits.waiting()) expect(pages).toEqual([])
  const due = await visits.due(VISIT.dueAt, 10)
  expect(due).toMatchObject({ pages: [], read: 1, unreadable: [expect.any(Error)] })
  await visits.queueDue(due)
  expect(await visits.due(VISIT.dueAt, 10)).toMatchObject({ read: 0 })
  expect(await visits.find([fingerprint(request)])).toEqual([undefined])
  database.close()
})

test('in a JOBDIR a row that is due at another time than its visit says is put right, and is due then', async () => {
  await using dir = await tempDir()
  const database = new JobDatabase({ folder: dir.path, spiderName: 's' })
  database.open()
  const visits = new SqliteVisits({ database })
  const pages = ['now', 'later'].map((path, n) => {
    const request = new Request(`https://shop.example/${path}`)
    return {
      fingerprint: fingerprint(request),
      request,
      visit: { ...VISIT, dueAt: VISIT.dueAt + n * 3_600_000 },
    }
  })
  await visits.record(pages)
  database.run('UPDATE visits SET due_s = 7')
  const due = await visits.due(VISIT.dueAt, 10)
  expect(due).toMatchObject({ pages: [{ fingerprint: pages[0]!.fingerprint }], read: 2 })
  expect(visits.takeDue(due)).toEqual([pages[0]!.fingerprint])
  expect(await visits.due(VISIT.dueAt, 10)).toMatchObject({ pages: [], read: 0 })
  expect(await visits.due(pages[1]!.visit.dueAt, 10)).toMatchObject({
    pages: [{ fingerprint: pages[1]!.fingerprint }],
  })
  database.close()
})

test('a JOBDIR has its visits when it is opened again', async () => {
  await using dir = await tempDir()
  const request = new Request('https://shop.example/')
  const opened = () => {
    const database = new JobDatabase({ folder: dir.path, spiderName: 's' })
    database.open()
    return database
  }
  const before = opened()
  await new SqliteVisits({ database: before }).record([
    { fingerprint: fingerprint(request), request, visit: VISIT },
  ])
  before.close()
  const after = opened()
  expect((await new SqliteVisits({ database: after }).due(VISIT.dueAt, 10)).pages).toHaveLength(1)
  after.close()
})
