/** What looking for due pages takes where many wait, and what visits take in a crawl that has none. */

import { fingerprint, Request, type VisitedPage } from '@webloom/core'
import { tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BucketBench } from '../../testing/bucket-bench.ts'
import { JobDatabase } from '../jobdir/job-database.ts'
import { JobDir } from '../jobdir/job-dir.ts'
import { SqliteVisits } from '../jobdir/sqlite-visits.ts'
import { MemoryHostClock } from '../politeness/memory-host-clock.ts'
import { RedisVisits } from './redis-visits.ts'

const bench = new BucketBench()
beforeAll(() => bench.start())
afterAll(() => bench.stop())

const VISITED = Date.UTC(2026, 0, 1)
const HOUR_MS = 3_600_000

/** Pages of which `due` are due an hour after their visits, and the others in the 100 hours after that. */
function pagesOf(count: number, due: number): VisitedPage[] {
  return Array.from({ length: count }, (_, n) => {
    const request = new Request(`https://shop.example/${n}`)
    const dueAt = VISITED + HOUR_MS * (n < due ? 1 : 2 + (n % 100))
    const counts = { visits: 1, changes: 0, failures: 0, goneAnswers: 0, callbackVersion: 1 }
    const evidence = { stillHours: 0, seen: 0, gapLogs: 0, dated: 0 }
    const visit = { visitedAt: VISITED, dueAt, ...counts, evidence, isOutdated: false }
    return { fingerprint: fingerprint(request), request, visit }
  })
}

test('on Redis a look at due pages takes as many commands among three thousand pages as among thirty', async () => {
  const commands: number[] = []
  for (const count of [30, 3000]) {
    const visits = new RedisVisits({ redis: bench.redis, keys: bench.nextKeys(), fingerprint })
    await visits.record(pagesOf(count, 5))
    // Its scripts are known to Redis from here on.
    await visits.due(VISITED, 10)
    await bench.redis.config('RESETSTAT')
    expect((await visits.due(VISITED + HOUR_MS, 10)).pages).toHaveLength(5)
    const stats = await bench.redis.info('commandstats')
    const calls = [...stats.matchAll(/^cmdstat_(?!config)\S+:calls=(\d+)/gm)]
    commands.push(calls.reduce((sum, [, times]) => sum + Number(times), 0))
  }
  expect(commands[0]).toBeGreaterThan(0)
  expect(commands[1]).toBe(commands[0])
})

test('in a JOBDIR due pages are found by their index', async () => {
  await using dir = await tempDir()
  class Explained extends JobDatabase {
    readonly steps: string[] = []

    override each<Row>(sql: string, ...values: never[]): IterableIterator<Row> {
      for (const { detail } of super.each<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values))
        this.steps.push(detail)
      return super.each(sql, ...values)
    }
  }
  const database = new Explained({ folder: dir.path, spiderName: 's' })
  database.open()
  const visits = new SqliteVisits({ database })
  await visits.record(pagesOf(100, 5))
  expect((await visits.due(VISITED + HOUR_MS, 10)).pages).toHaveLength(5)
  database.close()
  expect(database.steps.filter((step) => /SCAN|SEARCH/.test(step))).toEqual([
    'SEARCH visits USING INDEX visits_due (due_s<?)',
  ])
})

test('a JOBDIR without RECRAWL has no table of visits, also when it is asked how many it keeps', async () => {
  await using dir = await tempDir()
  const clock = new MemoryHostClock({ pace: { delayMs: 0, concurrency: 0, randomize: false } })
  const { record, queue, visits } = new JobDir({ folder: dir.path, spiderName: 's', clock, recrawls: false })
  await record.open()
  await queue.open()
  expect(queue.visits).toBeUndefined()
  await queue.push([{ id: 'a', request: new Request('https://shop.example/') }], 'start')
  const [lease] = await queue.lease(1)
  await queue.commit(lease!)
  expect(await visits.totals()).toEqual({ pages: 0, perHour: 0 })
  await queue.close()
  await record.close()
  const database = new JobDatabase({ folder: dir.path, spiderName: 's' })
  database.open()
  const tables = [
    ...database.each<{ name: string }>("SELECT name FROM sqlite_master WHERE name LIKE '%visit%'"),
  ]
  database.close()
  expect(tables).toEqual([])
})
