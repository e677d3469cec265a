/** A crawl of three workers over three masters, each with a replica, that is disturbed: every page is fetched, by whoever is left. */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type FakeWebOptions,
  type FakeWebProcess,
  type Hit,
  InUse,
  type RedisCluster,
  type StartedProcess,
  startCluster,
  startFakeWebProcess,
  startProcess,
} from '@webloom/testkit'
import { expect } from 'vitest'
import { fetchCounts, freshCrawlId, repeatsIn, repeatsOfSimultaneous } from '../cluster/cluster-crawl.ts'
import { CONCURRENCY, mayRepeat } from './failing-over.ts'
import type { ShardedWorkerEnd, ShardedWorkerOrder } from './sharded-worker.ts'

const WORKER = new URL('./sharded-worker.ts', import.meta.url).pathname
const WORKERS = 3
const ENDS_MS_MAX = 240_000
const DELAY_MS = 100
/** Timers and the network may bring one request early and the next late. */
const GAP_SLACK_MS = 25
/** Of 24 hosts together something comes each 10 ms. */
const SILENT_MS = 25
/** What a worker counts of pages that were fetched again. */
const REPEATS = ['scheduler/redelivered', 'dupefilter/taken_over', 'scheduler/postponed']

/** What the crawls of one file have in common. */
export interface DisturbedCrawl {
  readonly name: string
  readonly settings: ShardedWorkerOrder['settings']
  readonly pages: Pick<FakeWebOptions, 'pagesPerHost' | 'linksPerPage'>
}

export interface Round {
  readonly web: FakeWebProcess
  readonly cluster: RedisCluster
  readonly crawlId: string
  /** Notes that what a master took at that time may be lost, and done again. */
  loses(lost: Lost): void
  /** Kills the `n`th worker, and starts another. */
  killWorker(n: number): void
}

/** When a master went, and until when it may have taken what nobody else has. */
interface Lost {
  readonly goneAtMs: number
  readonly untilMs: number
}

/**
 * Calls `disturb` once the crawl is under way. Fails when a worker that was not killed does not end well, when a page was never fetched,
 * when a worker says that links were lost, when more pages were fetched again than what was lost explains, and when a host was asked too soon.
 */
export async function isCrawled(
  { name, settings, pages }: DisturbedCrawl,
  seed: number,
  disturb: (round: Round) => Promise<void>,
): Promise<void> {
  await using used = new InUse()
  const cluster = used.use(await startCluster({ replicas: 1 }))
  const web = used.use(
    await startFakeWebProcess({ seed, hosts: 24, ...pages, crossHostLinks: 0.8, latencyMs: [0, 40] }),
  )
  const crawlId = freshCrawlId(name)
  const worker = (): StartedProcess => used.use(startWorker({ cluster, web, crawlId }, settings))
  const workers = Array.from({ length: WORKERS }, worker)
  await web.waitForHits(100, 60_000)
  const lost: Lost[] = []
  const loses = (one: Lost) => void lost.push(one)
  const killWorker = (n: number) => {
    workers[n]!.kill('SIGKILL')
    workers.push(worker())
  }
  await disturb({ web, cluster, crawlId, loses, killWorker })
  const ended = await Promise.all(workers.map(({ exited }) => exited))
  const ends = ended
    .filter(({ signal }) => signal !== 'SIGKILL')
    .map(({ stdout, stderr }) => {
      const end = JSON.parse(stdout) as ShardedWorkerEnd
      expect(end.finishReason, stderr).toBe('finished')
      return end
    })
  const hits = await web.hits()
  const counts = fetchCounts(hits)
  expect(
    [...web.linked()].filter((url) => !counts.has(url)),
    `seed ${seed}: pages never fetched`,
  ).toEqual([])
  expect(ended.filter(({ stderr }) => stderr.includes('has lost links'))).toEqual([])
  const killed = ended.length - ends.length
  const counted = ends.flatMap(({ stats }) => REPEATS.map((stat) => Number(stats[stat] ?? 0)))
  const explained = [
    ...counted,
    // What they had counted themselves.
    killed * 2 * CONCURRENCY,
    repeatsOfSimultaneous(web, hits),
    ...lost.map((one) => mayRepeat(hits, one, web)),
  ].reduce((sum, count) => sum + count, 0)
  const early = tooSoon(hits)
  console.info(
    `seed ${seed}: ${repeatsIn(hits)} pages fetched again, ${explained} explained; masters went at ${lost.map(({ goneAtMs }) => Math.round(goneAtMs))}`,
  )
  expect(repeatsIn(hits), 'pages fetched again').toBeLessThanOrEqual(explained)
  expect(early, 'sooner than the delay after the request before').toEqual([])
}

/** Requests that came too soon after the one before at their host. */
function tooSoon(hits: readonly Hit[]): string[] {
  const sorted = [...hits].sort((a, b) => a.atMs - b.atMs)
  const lastAtMs = new Map<number, number>()
  let silentFromMs = Number.NEGATIVE_INFINITY
  let heardFromMs = Number.NEGATIVE_INFINITY
  return sorted.flatMap(({ host, url, atMs }, n) => {
    const beforeMs = sorted[n - 1]?.atMs ?? atMs
    if (atMs - beforeMs >= SILENT_MS) {
      silentFromMs = beforeMs
      heardFromMs = atMs
    }
    const gapMs = atMs - (lastAtMs.get(host) ?? Number.NEGATIVE_INFINITY)
    // The site may have stood still, with all that came to it meanwhile.
    lastAtMs.set(host, atMs - heardFromMs < SILENT_MS ? silentFromMs : atMs)
    return gapMs >= DELAY_MS - GAP_SLACK_MS
      ? []
      : [`${url} after ${Math.round(gapMs)} ms, at ${Math.round(atMs)}`]
  })
}

/** Kills two of the three workers, one after the other. */
export async function killWorkers({ killWorker }: Round): Promise<void> {
  for (let n = 0; n < WORKERS - 1; n++) {
    killWorker(n)
    await sleep(3000) // Waits: while pages are fetched, whose links are under way.
  }
}

/** Kills the master that has `key`, waits until its replica has taken its place, and kills a worker then. */
export async function killMaster({ cluster, loses, killWorker }: Round, key: string): Promise<void> {
  const master = (await cluster.masterOf(key))!
  const goneAtMs = performance.now()
  await master.kill()
  loses({ goneAtMs, untilMs: performance.now() })
  await cluster.untilWritable(`${key}:testkit`, master)
  killWorker(0)
}

/** Moves the slots of `keys` to another master, one after the other, kills a worker after the third, and returns how many ms each took. */
export async function moveSlots(
  { cluster, killWorker }: Round,
  keys: readonly string[],
  pauseMs = 0,
): Promise<number[]> {
  const masters = cluster.nodes.slice(0, 3)
  const moves: number[] = []
  for (const [n, key] of keys.entries()) {
    const from = masters.indexOf((await cluster.masterOf(key))!)
    moves.push(await cluster.moveSlot(key, masters[(from + 1) % masters.length]!))
    if (pauseMs > 0) await sleep(pauseMs) // Waits: pages are fetched meanwhile.
    if (n === 2) killWorker(0)
  }
  return moves
}

function startWorker(
  { cluster, web, crawlId }: Pick<Round, 'cluster' | 'web' | 'crawlId'>,
  settings: ShardedWorkerOrder['settings'],
): StartedProcess {
  const order: ShardedWorkerOrder = {
    startUrls: web.seeds,
    settings: {
      ...settings,
      ...{ REDIS_URL: cluster.url, CRAWL_ID: crawlId, ROBOTSTXT_OBEY: false },
      ...{ DOWNLOAD_DELAY: DELAY_MS / 1000, RANDOMIZE_DOWNLOAD_DELAY: false },
      ...{ CONCURRENT_REQUESTS: CONCURRENCY, PRIVATE_ADDRESSES_ALLOWED: ['*'], SCHEDULER_PERSIST: true },
    },
  }
  return startProcess(process.execPath, ['--conditions=webloom-source', WORKER, JSON.stringify(order)], {
    timeoutMs: ENDS_MS_MAX,
  })
}
