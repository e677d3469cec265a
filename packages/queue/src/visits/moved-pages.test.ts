import { Request, type Visit } from '@webloom/core'
import { tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { JobDatabase } from '../jobdir/job-database.ts'
import { SqliteVisits } from '../jobdir/sqlite-visits.ts'
import type { LocalVisits } from './local-visits.ts'
import { MemoryVisits } from './memory-visits.ts'

const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 1)

function visitedOnce(hours: number): Visit {
  const counts = { visits: hours, changes: 0, failures: 0, goneAnswers: 0, callbackVersion: 1 }
  const evidence = { stillHours: 0, seen: 0, gapLogs: 0, dated: 0 }
  return { visitedAt: START, dueAt: START + hours * HOUR, ...counts, evidence, isOutdated: false }
}

async function inMemory() {
  return { visits: new MemoryVisits() as LocalVisits, [Symbol.asyncDispose]: async () => {} }
}

async function inJobDir() {
  const dir = await tempDir()
  const database = new JobDatabase({ folder: dir.path, spiderName: 's' })
  database.open()
  return {
    visits: new SqliteVisits({ database }) as LocalVisits,
    async [Symbol.asyncDispose]() {
      database.close()
      await dir.remove()
    },
  }
}

test.each([
  ['in memory', inMemory],
  ['in a JOBDIR', inJobDir],
])(
  '%s pages move to other fingerprints, due or in a line as they were, and make place for each other',
  async (_, opened) => {
    await using store = await opened()
    const { visits } = store
    visits.lieBeside(async (requests, isTaken) =>
      requests.filter(({ id }) => isTaken(id)).map(({ id }) => id),
    )
    // The page's path is its fingerprint, at first.
    const pages = ['a', 'b', 'c', 'd', 'e'].map((name, n) => ({
      fingerprint: name,
      request: new Request(`https://shop.example/${name}`),
      visit: visitedOnce(n + 1),
    }))
    await visits.record(pages)
    expect(await visits.queueDue(await visits.due(START + HOUR, 10))).toBe(1)
    const now: Record<string, string> = { a: 'b', b: 'c', c: 'a', d: 'e', e: 'e' }
    const moves = visits.move!(['b', 'd'], ({ url }) => now[url.at(-1)!])
    expect(Object.fromEntries(moves)).toEqual({ b: 'c', c: 'a', a: 'b', d: undefined })
    expect(await visits.find(['a', 'b', 'c', 'd', 'e'])).toMatchObject([
      { visits: 3, isInALine: false },
      { visits: 1, isInALine: true },
      { visits: 2, isInALine: false },
      undefined,
      { visits: 5, isInALine: false },
    ])
    for (const [hours, fingerprint] of [
      [2, 'c'],
      [3, 'a'],
      [5, 'e'],
    ] as const) {
      const due = await visits.due(START + hours * HOUR, 10)
      expect(due.pages).toMatchObject([{ fingerprint }])
      expect(await visits.queueDue(due)).toBe(1)
    }
  },
)
