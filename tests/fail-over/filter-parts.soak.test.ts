/**
 * A crawl whose dupefilter is in eight parts of a cluster of three masters, each with a replica: its workers and the masters are killed,
 * parts of 8 MiB move from master to master, and every page is fetched, by whoever is left.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type FakeWebProcess,
  InUse,
  type RedisCluster,
  type StartedProcess,
  startCluster,
  startFakeWebProcess,
  startProcess,
} from '@webloom/testkit'
import { expect, test } from 'vitest'
import { fetchCounts, freshCrawlId } from '../cluster/cluster-crawl.ts'
import type { ShardedWorkerOrder } from './sharded-worker.ts'

const WORKER = new URL('./sharded-worker.ts', import.meta.url).pathname
const PARTS = 8
const WORKERS = 3
const ENDS_MS_MAX = 240_000
/** 2 ** 29 bits are 64 MiB. */
const FILTER = { DUPEFILTER_SHARDS: PARTS, DUPEFILTER_CLASS: 'redis-bloom', BLOOMFILTER_BIT: 29 }

interface Round {
  readonly web: FakeWebProcess
  readonly cluster: RedisCluster
  readonly crawlId: string
  readonly used: InUse
}

const partOf = ({ crawlId }: Round, n: number) => `{pages:${crawlId}:bloomfilter#0${n % PARTS}}:record`

function worker({ web, cluster, crawlId, used }: Round): StartedProcess {
  const order: ShardedWorkerOrder = {
    startUrls: web.seeds,
    settings: {
      ...FILTER,
      ...{ REDIS_URL: cluster.url, CRAWL_ID: crawlId, ROBOTSTXT_OBEY: false },
      ...{ CONCURRENT_REQUESTS: 8, PRIVATE_ADDRESSES_ALLOWED: ['*'], SCHEDULER_PERSIST: true },
    },
  }
  return used.use(
    startProcess(process.execPath, ['--conditions=webloom-source', WORKER, JSON.stringify(order)], {
      timeoutMs: ENDS_MS_MAX,
    }),
  )
}

async function isCrawled(
  seed: number,
  disturb: (round: Round, workers: StartedProcess[]) => Promise<void>,
): Promise<void> {
  await using used = new InUse()
  const cluster = used.use(await startCluster({ replicas: 1 }))
  const web = used.use(
    await startFakeWebProcess({
      ...{ seed, hosts: 24, pagesPerHost: 60, linksPerPage: 6 },
      ...{ crossHostLinks: 0.8, latencyMs: [0, 40] },
    }),
  )
  const round = { web, cluster, crawlId: freshCrawlId('parts'), used }
  const workers = Array.from({ length: WORKERS }, () => worker(round))
  await web.waitForHits(100, 60_000)
  await disturb(round, workers)
  const ended = await Promise.all(workers.map(({ exited }) => exited))
  for (const { signal, stdout, stderr } of ended)
    if (signal !== 'SIGKILL') expect(stdout, stderr).toBe('finished\n')
  const counts = fetchCounts(await web.hits())
  expect(
    [...web.linked()].filter((url) => !counts.has(url)),
    `seed ${seed}: pages never fetched`,
  ).toEqual([])
}

test.each([1, 2, 3])(
  'seed %i: workers are killed, one after the other: each page is fetched',
  async (seed) => {
    await isCrawled(seed, async (round, workers) => {
      for (let n = 0; n < WORKERS - 1; n++) {
        workers[n]!.kill('SIGKILL')
        workers.push(worker(round))
        await sleep(3000) // While pages are fetched, whose links are in all parts.
      }
    })
  },
)

test.each([4, 5, 6])(
  'seed %i: a master is killed and its replica takes its place, and a worker is killed then: each page is fetched',
  async (seed) => {
    await isCrawled(seed, async (round, workers) => {
      const { cluster } = round
      const part = partOf(round, seed)
      const master = (await cluster.masterOf(part))!
      await master.kill()
      await cluster.untilWritable(`${part}:testkit`, master)
      workers[0]!.kill('SIGKILL')
      workers.push(worker(round))
    })
  },
)

test.each([7, 8])(
  'seed %i: all parts move to another master, one after the other, and a worker is killed meanwhile: the crawl never stands still for a second',
  async (seed) => {
    const moves: number[] = []
    await isCrawled(seed, async (round, workers) => {
      const { cluster, web } = round
      const masters = cluster.nodes.slice(0, 3)
      const begunAt = (await web.log()).hits.length
      for (let n = 0; n < PARTS; n++) {
        const part = partOf(round, n)
        const from = masters.indexOf((await cluster.masterOf(part))!)
        moves.push(await cluster.moveSlot(part, masters[(from + 1) % masters.length]!))
        await sleep(300) // Pages are fetched meanwhile.
        if (n === 2) {
          workers[0]!.kill('SIGKILL')
          workers.push(worker(round))
        }
      }
      const during = (await web.hits()).slice(begunAt).map(({ atMs }) => atMs)
      const gaps = during.slice(1).map((atMs, n) => atMs - during[n]!)
      console.info(
        `moves of ${moves.map(Math.round).join(', ')} ms; the longest pause was ${Math.max(...gaps)} ms, of ${during.length} pages`,
      )
      expect(during.length).toBeGreaterThan(PARTS)
      expect(Math.max(...gaps)).toBeLessThan(1000)
    })
    expect(Math.max(...moves)).toBeLessThan(1000)
  },
)
