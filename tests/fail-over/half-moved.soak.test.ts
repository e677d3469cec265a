/** What `webloom status` and `scale` say while a slot of a crawl's is half moved to another master. */

import { crawlRedisKeys } from '@webloom/queue'
import { type RedisCluster, startCluster, startFakeWeb } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CrawlShards } from '../../packages/queue/src/shards/crawl-shards.ts'
import { ClusterFolder } from '../cluster/cluster-crawl.ts'

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster({ replicas: 1 })
})
afterAll(() => cluster.stop())

/** Longer than people wait for an answer; the process starts in it, on a busy machine. */
const ANSWER_MS_MAX = 15_000

/** Resolves with what ends the move. */
async function halfMoved(key: string): Promise<() => Promise<unknown>> {
  const from = (await cluster.masterOf(key))!
  const to = cluster.nodes.slice(0, 3).find((node) => node !== from)!
  const slot = Number(await to.command('CLUSTER', 'KEYSLOT', key))
  await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(await from.command('CLUSTER', 'MYID')))
  await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(await to.command('CLUSTER', 'MYID')))
  const [moved] = (await from.command('CLUSTER', 'GETKEYSINSLOT', slot, 1)) as string[]
  await from.command('MIGRATE', '127.0.0.1', to.port, '', 0, 5000, 'KEYS', moved!)
  return () => cluster.moveSlot(key, to)
}

test('a shard of which some keys are gone is named, its crawl goes on, and where it is the record, that is said with code 3', async () => {
  await using web = await startFakeWeb({ seed: 1, hosts: 12, pagesPerHost: 40, crossHostLinks: 0.8 })
  await using folder = await ClusterFolder.of(web, {
    REDIS_URL: cluster.url,
    CRAWL_ID: 'halved',
    QUEUE_SHARDS: 6,
    DUPEFILTER_SHARDS: 4,
    DOWNLOAD_DELAY: 0.5,
  })
  const keys = new CrawlShards(crawlRedisKeys({ spider: 'pages', crawlId: 'halved' }), 6)
  const worker = folder.worker('a')
  await web.waitForHits(30)
  const asked = async (...words: string[]) => {
    const startedAt = performance.now()
    const { code, stdout, stderr } = await folder.start(...words).exited
    expect(performance.now() - startedAt).toBeLessThan(ANSWER_MS_MAX)
    return { code, stdout, stderr }
  }
  const endOfShard = await halfMoved(keys.keysOf('02').record)
  const status = await asked('status', 'pages', '--json')
  expect(status.code).toBe(0)
  expect(JSON.parse(status.stdout).silentShards).toMatchObject([{ shard: '02' }])
  expect((await asked('status', 'pages')).stdout).toContain('! shard 02 at 127.0.0.1:')
  const scale = await asked('scale', 'pages', '--json')
  expect([scale.code, JSON.parse(scale.stdout).words]).toEqual([0, expect.stringContaining('shard 02 at')])
  await web.waitForHits(web.hits.length + 10)
  await endOfShard()
  const endOfHome = await halfMoved(keys.home.record)
  const silent = await asked('status', 'pages')
  expect([silent.code, silent.stderr]).toEqual([3, expect.stringContaining('has not answered within 4 s')])
  await endOfHome()
  expect((await worker.exited).code).toBe(0)
  expect([...web.reachable()].filter((url) => web.countOf(url) !== 1)).toEqual([])
})
