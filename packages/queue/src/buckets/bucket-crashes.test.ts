import { inFull, MachineLag, type StartedProcess, startProcess } from '@webloom/testkit'
import { describe, expect, test, vi } from 'vitest'
import { quarantined } from '../../testing/quarantined.ts'
import { redisOfFile } from '../../testing/redis-of-file.ts'
import { crawlTree, type TurnWorkerOptions } from '../../testing/workers/bucket-crawl.ts'
import { crawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import type { BucketPoint } from './queue-options.ts'
import { BucketScripts } from './scripts/bucket-scripts.ts'

const { server, redis } = await redisOfFile()

/** Of the protocol's times, where it does not matter how soon a dead worker is missed. */
const SHORT_TIMES = 0.2
/** On a busy machine a process needs its time to begin. */
const STARTING_MS_MAX = 30_000

let crawls = 0
/** A test that is tried again must not find the crawl of its first try. */
const freshSpider = (name: string) => `${name}-${++crawls}`

let workers = 0

function startWorker(options: Omit<TurnWorkerOptions, 'url' | 'workerId'>): StartedProcess {
  return startProcess(process.execPath, [
    new URL('../../testing/workers/bucket-worker.ts', import.meta.url).pathname,
    JSON.stringify({ url: server.url, workerId: `test:${++workers}:x`, ...options }),
  ])
}

/** What a worker in this process says, which goes on until nothing can come any more. */
async function crawled(tree: Omit<TurnWorkerOptions, 'url' | 'workerId'>): Promise<{ stdout: string }> {
  const lines: string[] = []
  const workerId = `test:${++workers}:x`
  await crawlTree({ url: server.url, workerId, ...tree }, (line) => lines.push(line))
  return { stdout: lines.join('\n') }
}

interface Told {
  readonly id: string
  readonly attempt: number
  readonly atMs: number
}

function starts(...told: readonly { readonly stdout: string }[]): Told[] {
  return told
    .flatMap(({ stdout }) => [...stdout.matchAll(/^start (\S+) (\d+) (\d+)$/gm)])
    .map(([, id, attempt, atMs]) => ({ id: id!, attempt: Number(attempt), atMs: Number(atMs) }))
}

function times(told: readonly Told[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { id } of told) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}

const countsOf = (spider: string) => {
  const keys = crawlRedisKeys({ spider, crawlId: null })
  return new BucketScripts({ redis, keys, order: 'priority' }).counts()
}
const EMPTY = { waiting: 0, delayed: 0, leased: 0, quarantined: 0 }

const POINTS: [BucketPoint | 'started', number][] = [
  ['pushed', 1],
  ['woken', 1],
  ['fetched', 3],
  ['begun', 3],
  ['taken', 4],
  ['started', 20],
  ['committed', 20],
  ['left', 3],
  ['completed', 3],
]
/** Before BullMQ is told of a turn, before Redis is, while pages are fetched, after one, and before BullMQ is told of the end. */
const SOME_POINTS = POINTS.filter(([point]) =>
  ['pushed', 'fetched', 'started', 'committed', 'left'].includes(point),
)

test.concurrent('what a killed worker held is run by another within ten seconds, each alone, then the rest', async () => {
  const tree = { spider: freshSpider('take-over'), pages: 127, hosts: 5 }
  await using first = startWorker({ ...tree, fetchMs: 2000 })
  await first.waitForOutput(/done p0/, STARTING_MS_MAX)
  await using second = startWorker({ ...tree, fetchMs: 20, stays: true })
  await second.waitForOutput(/ready/, STARTING_MS_MAX)
  using lag = new MachineLag()
  const killedAtMs = Date.now()
  first.kill('SIGKILL')
  await first.exited
  const begun = times(starts(first))
  await vi.waitFor(() => expect(times(starts(first, second)).size).toBe(127), {
    timeout: 60_000,
    interval: 100,
  })
  // What it had begun was committed, or runs again and says so.
  const again = starts(second).filter(({ id }) => begun.has(id))
  expect(again.length).toBeGreaterThan(1)
  for (const { id, attempt } of again) expect([id, attempt]).toEqual([id, 2])
  expect(Math.min(...again.map(({ atMs }) => atMs)) - killedAtMs).toBeLessThan(10_000 + lag.ms)
  // Alone: from its start until it was done, no line tells of another.
  for (const { id } of again) expect(second.stdout).toMatch(new RegExp(`start ${id} 2 \\d+\ndone ${id}\n`))
}, 90_000)

test.concurrent('a delay of DOWNLOAD_SLOTS that is longer than a lock holds after a kill, with nothing in flight', async () => {
  const ownDelayMs = 8000
  const tree = { spider: freshSpider('own-delay'), pages: 3, hosts: 1, ownDelayMs, factor: SHORT_TIMES }
  await using first = startWorker({ ...tree, killAt: 'committed' })
  await first.waitForOutput(/start p0/, STARTING_MS_MAX)
  await first.exited
  await using second = startWorker(tree)
  await second.waitForOutput(/start p1/, STARTING_MS_MAX)
  const [before, after] = starts(first, second)
  expect(after!.atMs - before!.atMs).toBeGreaterThan(ownDelayMs - 50)
}, 90_000)

test.concurrent('a request that kills its workers runs alone, is quarantined with its history, and its neighbours are done', async () => {
  const tree = {
    spider: freshSpider('poison'),
    pages: 63,
    hosts: 3,
    poison: ['p5'],
    factor: SHORT_TIMES,
  }
  const all: StartedProcess[] = []
  for (let deaths = 0; ; deaths++) {
    const worker = startWorker(tree)
    all.push(worker)
    const { signal } = await worker.exited
    if (signal !== 'SIGKILL') break
    expect(deaths).toBeLessThan(6)
  }
  // Once among others, three times alone.
  expect(all.length).toBe(5)
  expect(starts(...all).filter(({ id }) => id === 'p5')).toHaveLength(4)
  // All but the poison and what it alone links to.
  const below = (n: number): boolean => n === 5 || (n > 5 && below(Math.floor((n - 1) / 2)))
  const expected = Array.from({ length: 63 }, (_, n) => n).filter((n) => n === 5 || !below(n))
  expect([...times(starts(...all)).keys()].sort()).toEqual(expected.map((n) => `p${n}`).sort())
  const keys = crawlRedisKeys({ spider: tree.spider, crawlId: null })
  const [entry, ...others] = await quarantined({ redis, keys })
  expect(others).toEqual([])
  expect(entry).toMatchObject({
    id: 'p5',
    url: 'http://h2.test/5',
    reason: 'it killed 3 workers, running alone',
  })
  expect(entry!.history).toHaveLength(4)
  expect(entry!.history[1]!.worker).toMatch(/^test:\d+:x$/)
  expect(await countsOf(tree.spider)).toEqual({ ...EMPTY, quarantined: 1 })
}, 90_000)

test.concurrent('a worker that stood still for eight seconds is told that its leases are lost, and changes nothing', async () => {
  const tree = { spider: freshSpider('zombie'), pages: 31, hosts: 2, fetchMs: 3000 }
  await using zombie = startWorker({ ...tree, stays: true })
  await zombie.waitForOutput(/start p1 /, STARTING_MS_MAX)
  await zombie.waitForOutput(/start p2 /, STARTING_MS_MAX)
  zombie.kill('SIGSTOP')
  await using other = startWorker({ ...tree, fetchMs: 5 })
  await other.waitForOutput(/start p1 2/, STARTING_MS_MAX)
  await other.waitForOutput(/start p2 2/, STARTING_MS_MAX)
  zombie.kill('SIGCONT')
  expect((await other.exited).code).toBe(0)
  await zombie.waitForOutput(/lost p2 /)
  await zombie.waitForOutput(/lost p1 /)
  expect(zombie.stdout).not.toMatch(/done p[12]$/m)
  // Had its commits been taken, their children would have come twice.
  for (const [id, count] of times(starts(other).filter(({ attempt }) => attempt === 1)))
    expect([id, count]).toEqual([id, 1])
  expect(await countsOf(tree.spider)).toEqual(EMPTY)
})

describe.concurrent('a worker dies at any point of a turn', () => {
  test.each(inFull(POINTS, SOME_POINTS))(
    '%s: another does all that is left, and nothing twice that was committed',
    async (killAt, nth) => {
      const tree = { spider: freshSpider(`dies-${killAt}`), pages: 63, hosts: 7, factor: SHORT_TIMES }
      await using first = startWorker({ ...tree, killAt, nth })
      expect((await first.exited).signal).toBe('SIGKILL')
      const second = await crawled(tree)
      expect(times(starts(first, second)).size).toBe(63)
      const done = new Set(first.stdout.match(/^done \S+$/gm)?.map((line) => line.slice(5)))
      for (const { id, attempt } of starts(second)) {
        expect(done).not.toContain(id)
        // What comes a second time says so.
        if (times(starts(first)).has(id)) expect(attempt).toBeGreaterThan(1)
      }
      // Where it stood still for longer than its lock lasts, it was told so.
      const lost = [...second.stdout.matchAll(/^lost (\S+) true/gm)].map(([, id]) => id)
      for (const [id, count] of times(starts(second)))
        expect([id, count]).toEqual([id, 1 + lost.filter((one) => one === id).length])
      expect(await countsOf(tree.spider)).toEqual(EMPTY)
    },
  )
})
