/**
 * A crawl over six shards of a cluster of three masters, each with a replica: its workers and the masters are killed, one after the
 * other, shards move from master to master, and every page is fetched, by whoever is left.
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
import { crawlRedisKeys } from '../../packages/queue/src/redis/crawl-redis-keys.ts'
import { CrawlShards } from '../../packages/queue/src/shards/crawl-shards.ts'
import { fetchCounts, freshCrawlId } from '../cluster/cluster-crawl.ts'
import type { ShardedWorkerOrder } from './sharded-worker.ts'

const WORKER = new URL('./sharded-worker.ts', import.meta.url).pathname
const SHARDS = 6
const WORKERS = 3
const ENDS_MS_MAX = 240_000

interface Round {
  readonly web: FakeWebProcess
  readonly cluster: RedisCluster
  readonly crawlId: string
  readonly used: InUse
}

const shardsOf = (crawlId: string) => new CrawlShards(crawlRedisKeys({ spider: 'pages', crawlId }), SHARDS)

function worker({ web, cluster, crawlId, used }: Round): StartedProcess {
  const order: ShardedWorkerOrder = {
    startUrls: web.seeds,
    settings: {
      ...{ QUEUE_SHARDS: SHARDS, REDIS_URL: cluster.url, CRAWL_ID: crawlId, ROBOTSTXT_OBEY: false },
      ...{ CONCURRENT_REQUESTS: 8, PRIVATE_ADDRESSES_ALLOWED: ['*'], SCHEDULER_PERSIST: true },
    },
  }
  return used.use(
    startProcess(process.execPath, ['--conditions=webloom-source', WORKER, JSON.stringify(order)], {
      timeoutMs: ENDS_MS_MAX,
    }),
  )
}

async function isCrawled(seed: number, kill: (round: Round, workers: StartedProcess[]) => Promise<void>) {
  await using used = new InUse()
  const cluster = used.use(await startCluster({ replicas: 1 }))
  const web = used.use(
    await startFakeWebProcess({
      ...{ seed, hosts: 24, pagesPerHost: 40, linksPerPage: 4 },
      ...{ crossHostLinks: 0.8, latencyMs: [0, 40] },
    }),
  )
  const round = { web, cluster, crawlId: freshCrawlId('shards'), used }
  const workers = Array.from({ length: WORKERS }, () => worker(round))
  await web.waitForHits(100, 60_000)
  await kill(round, workers)
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

test.each([1, 2, 3])(
  'seed %i: workers are killed, one after the other: each page is fetched',
  async (seed) => {
    await isCrawled(seed, async (round, workers) => {
      for (let n = 0; n < WORKERS - 1; n++) {
        workers[n]!.kill('SIGKILL')
        workers.push(worker(round))
        await sleep(3000) // While pages are fetched: some of their links are under way to other shards.
      }
    })
  },
)

test.each([4, 5, 6])(
  'seed %i: a master is killed and its replica takes its place, and a worker is killed then: each page is fetched',
  async (seed) => {
    await isCrawled(seed, async (round, workers) => {
      const { cluster, crawlId } = round
      const key = shardsOf(crawlId).queues[seed % SHARDS]!.record
      const master = (await cluster.masterOf(key))!
      await master.kill()
      await cluster.untilWritable(`${key}:testkit`, master)
      workers[0]!.kill('SIGKILL')
      workers.push(worker(round))
    })
  },
)

test.each([7, 8])(
  'seed %i: the shards and the home move to another master, one after the other, and a worker is killed meanwhile: none stands still for a second',
  async (seed) => {
    const moves: number[] = []
    await isCrawled(seed, async (round, workers) => {
      const { cluster, crawlId } = round
      const masters = cluster.nodes.slice(0, 3)
      for (const [n, { record: key }] of shardsOf(crawlId).parts.entries()) {
        const from = masters.indexOf((await cluster.masterOf(key))!)
        moves.push(await cluster.moveSlot(key, masters[(from + 1) % masters.length]!))
        if (n === 2) {
          workers[0]!.kill('SIGKILL')
          workers.push(worker(round))
        }
      }
    })
    expect(Math.max(...moves)).toBeLessThan(1000)
  },
)
