/** A crawl of three workers over three masters, each with a replica, that is disturbed: every page is fetched, by whoever is left. */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type FakeWebOptions,
  type FakeWebProcess,
  InUse,
  type RedisCluster,
  type StartedProcess,
  startCluster,
  startFakeWebProcess,
  startProcess,
} from '@webloom/testkit'
import { expect } from 'vitest'
import { fetchCounts, freshCrawlId } from '../cluster/cluster-crawl.ts'
import type { ShardedWorkerOrder } from './sharded-worker.ts'

const WORKER = new URL('./sharded-worker.ts', import.meta.url).pathname
const WORKERS = 3
const ENDS_MS_MAX = 240_000

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
  /** Kills the `n`th worker, and starts another. */
  killWorker(n: number): void
}

/**
 * Calls `disturb` once the crawl is under way. Fails when a worker that was not killed does not end well, when a page was never fetched, and
 * when a worker says that links were lost.
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
  const killWorker = (n: number) => {
    workers[n]!.kill('SIGKILL')
    workers.push(worker())
  }
  await disturb({ web, cluster, crawlId, killWorker })
  const ended = await Promise.all(workers.map(({ exited }) => exited))
  for (const { signal, stdout, stderr } of ended)
    if (signal !== 'SIGKILL') expect(stdout, stderr).toBe('finished\n')
  const counts = fetchCounts(await web.hits())
  expect(
    [...web.linked()].filter((url) => !counts.has(url)),
    `seed ${seed}: pages never fetched`,
  ).toEqual([])
  expect(ended.filter(({ stderr }) => stderr.includes('has lost links'))).toEqual([])
}

/** Kills two of the three workers, one after the other. */
export async function killWorkers({ killWorker }: Round): Promise<void> {
  for (let n = 0; n < WORKERS - 1; n++) {
    killWorker(n)
    await sleep(3000) // Waits: while pages are fetched, whose links are under way.
  }
}

/** Kills the master that has `key`, waits until its replica has taken its place, and kills a worker then. */
export async function killMaster({ cluster, killWorker }: Round, key: string): Promise<void> {
  const master = (await cluster.masterOf(key))!
  await master.kill()
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
      ...{ CONCURRENT_REQUESTS: 8, PRIVATE_ADDRESSES_ALLOWED: ['*'], SCHEDULER_PERSIST: true },
    },
  }
  return startProcess(process.execPath, ['--conditions=webloom-source', WORKER, JSON.stringify(order)], {
    timeoutMs: ENDS_MS_MAX,
  })
}
