import {
  createFingerprinter,
  type Fingerprinter,
  type KeptVisits,
  MemoryStatsCollector,
  Request,
  silentLogger,
  type Visit,
} from '@webloom/core'
import { JobDir } from '@webloom/queue'
import { tempDir } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { unpacedClock } from '../../testing/scheduler-of.ts'
import { MovingPages } from './moving-pages.ts'

const HOUR = 3_600_000
const VISIT: Visit = {
  ...{ visitedAt: Date.UTC(2026, 0, 1), dueAt: Date.UTC(2026, 0, 2), visits: 3, changes: 0 },
  evidence: { stillHours: 0, seen: 0, gapLogs: 0, dated: 0 },
  ...{ failures: 0, goneAnswers: 0, callbackVersion: 1, isOutdated: false },
}
const [a, b] = ['a', 'b'].map((name) => new Request(`https://shop.example/${name}`)) as [Request, Request]

async function keptVisits() {
  const dir = await tempDir()
  const jobDir = new JobDir({
    ...{ folder: dir.path, spiderName: 'test', clock: unpacedClock(), recrawls: true },
  })
  await jobDir.record.open()
  return {
    visits: jobDir.queue.visits!,
    async [Symbol.asyncDispose]() {
      await jobDir.record.close()
      await dir.remove()
    },
  }
}

const usual: Fingerprinter = { ...createFingerprinter(), fingerprint: ({ url }) => url, source: 'usual' }
const swapping: Fingerprinter = {
  ...usual,
  fingerprint: ({ url }) => url.replace(/[ab]$/, (name) => (name === 'a' ? 'b' : 'a')),
  source: 'swapping',
}

function worker(visits: KeptVisits, { fingerprint, ...rest }: Fingerprinter) {
  const stats = new MemoryStatsCollector()
  const moving = new MovingPages({
    ...{ visits, fingerprinter: { ...rest, fingerprint }, fingerprint, stats, logger: silentLogger },
  })
  return { moving, stats }
}

/** Two pages, kept by the usual fingerprints. */
async function recorded(visits: KeptVisits): Promise<void> {
  await worker(visits, usual).moving.open()
  await visits.record(
    [a, b].map((request, n) => ({
      ...{ fingerprint: request.url, request },
      visit: { ...VISIT, dueAt: VISIT.dueAt + n * HOUR },
    })),
  )
}

test('another FINGERPRINTER is noticed by its text, also when no page that is looked at shows it', async () => {
  await using kept = await keptVisits()
  const { visits } = kept
  await recorded(visits)
  const unseen = new Proxy(visits, {
    get: (target, name: keyof KeptVisits) =>
      name === 'someMoved'
        ? async () => false
        : (target[name] as (...args: readonly unknown[]) => unknown).bind(target),
  })
  const { moving, stats } = worker(unseen, swapping)
  await moving.open()
  expect(stats.get('recrawl/moved_count')).toBe(2)
  expect(await visits.find([b.url])).toMatchObject([{ dueAt: VISIT.dueAt }])
})

test('pages that another FINGERPRINTER of the same text names otherwise move, too', async () => {
  await using kept = await keptVisits()
  const { visits } = kept
  await recorded(visits)
  const { moving, stats } = worker(visits, { ...swapping, source: 'usual' })
  await moving.open()
  expect(stats.get('recrawl/moved_count')).toBe(2)
})

test('a worker whose FINGERPRINTER is older than that by which pages were moved ends, and says why', async () => {
  await using kept = await keptVisits()
  const { visits } = kept
  await recorded(visits)
  const [old, newer] = [worker(visits, usual), worker(visits, swapping)]
  await old.moving.open()
  await newer.moving.open()
  await expect(old.moving.due()).rejects.toThrow('start this worker again, with the newest')
  expect(await newer.moving.due()).toBe(false)
})

test('a worker that finds that another was killed as it moved pages moves the rest', async () => {
  await using kept = await keptVisits()
  const { visits } = kept
  await recorded(visits)
  const kill = new AbortController()
  kill.abort()
  await expect(worker(visits, swapping).moving.open(kill.signal)).rejects.toThrow()
  const { moving, stats } = worker(visits, swapping)
  await moving.open()
  expect(stats.get('recrawl/moved_count')).toBe(2)
  expect(await visits.find([b.url])).toMatchObject([{ dueAt: VISIT.dueAt }])
})
