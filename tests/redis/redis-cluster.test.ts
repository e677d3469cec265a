/** A crawl on a Redis Cluster, as a user who has the rights that docs/deploy.md names, and no others. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Request, Settings } from '@webloom/core'
import { RedisSetDupeFilter } from '@webloom/dupefilter'
import { crawlRedisKeys, sampleSlots } from '@webloom/queue'
import { type RedisCluster, startCluster, startFakeWeb } from '@webloom/testkit'
import { Cluster } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { crawl, type SettingsInput } from 'webloom'
import { CrawlShards } from '../../packages/queue/src/shards/crawl-shards.ts'
import { withCrawlFromOutside } from '../../packages/webloom/src/assembly/crawl-from-outside.ts'
import { readStatus } from '../../packages/webloom/src/desk/read-status.ts'
import { RegistryDesks } from '../../packages/webloom/src/desk/registry-desks.ts'
import { checkRedisServers } from '../../packages/webloom/src/doctor/redis-checkup.ts'
import { deskServers } from '../../packages/webloom/src/redis/desk-servers.ts'
import { aclLine } from '../../packages/webloom/src/redis/redis-rights.ts'
import { ClusterFolder } from '../cluster/cluster-crawl.ts'
import { FollowAll } from '../crawls/crawl-web.ts'
import { keepingLogger, SEEDED_PAGES_FILE, SeededPages } from '../seeds/seeded-pages.ts'

const ROLES = ['queue', 'dupefilter', 'seeds', 'items'] as const

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster({ password: 'admin' })
  const line = aclLine(ROLES, { spider: 'pages', isCluster: true })
    .replace('<user>', 'loom')
    .replace('<password>', 'pw')
  for (const node of cluster.nodes) await node.command(...line.split(' '))
})
afterAll(() => cluster.stop())

const settings = (more: SettingsInput): SettingsInput => ({
  // Of some nodes the others are known.
  REDIS_URL: cluster.url.replace(':admin@', 'loom:pw@').split(',')[0]!,
  ITEM_PIPELINES: [['redis', 300]],
  COOKIES_SHARED: true,
  ROBOTSTXT_OBEY: true,
  PRIVATE_ADDRESSES_ALLOWED: ['*'],
  ...more,
})

async function onNodeOf(key: string, ...command: string[]) {
  return (await cluster.masterOf(key))!.command(...(command as [string, ...string[]]))
}

// With turns: fail-over/fail-over.test.ts, and with redis-set rights/cluster-rights.soak.test.ts.
test.concurrent('all pages are crawled, with job and redis-bloom', async () => {
  const mode = { QUEUE_MODE: 'job', DUPEFILTER_CLASS: 'redis-bloom', DUPEFILTER_SHARDS: 12 } as const
  await using web = await startFakeWeb({ seed: 1, pagesPerHost: 8 })
  const CRAWL_ID = `${mode.QUEUE_MODE}-${mode.DUPEFILTER_CLASS}`
  const seeds = `pages:${CRAWL_ID}:start_urls`
  await onNodeOf(seeds, 'RPUSH', seeds, ...web.seeds)
  const lines: string[] = []
  const { finishReason, stats } = await crawl(SeededPages, {
    settings: settings({ ...mode, CRAWL_ID }),
    logger: keepingLogger(lines),
  })
  expect(lines.filter((line) => /NOPERM|ACL|CROSSSLOT|MOVED|cannot be reached/.test(line))).toEqual([])
  expect(finishReason).toBe('finished')
  const pages = web.hits.map(({ url }) => url).filter((url) => !url.endsWith('/robots.txt'))
  expect(new Set(pages)).toEqual(web.linked())
  const items = `pages:${CRAWL_ID}:items`
  expect(await onNodeOf(items, 'LLEN', items)).toBe(stats.item_scraped_count)
  const key = `pages:${CRAWL_ID}:bloomfilter`
  const parts = await Promise.all(cluster.nodes.map((node) => node.command('KEYS', `{${key}#*}:record`)))
  expect(parts.filter((keys) => (keys as string[]).length > 0)).toHaveLength(3)
  expect(parts.flat()).toHaveLength(mode.DUPEFILTER_SHARDS)
})

test.concurrent('commands look at the crawl and tell it something, and clear leaves nothing on any node', async () => {
  await using web = await startFakeWeb({ seed: 1, pagesPerHost: 1 })
  const project = settings({ CRAWL_ID: 'told' })
  await using folder = await ClusterFolder.of(web, project, SEEDED_PAGES_FILE)
  const worker = folder.worker('a')
  const tell = async (...words: string[]) => {
    const { code, stderr } = await folder.run(...words)
    expect(code, `${words.join(' ')}\n${stderr}`).toBe(0)
  }
  await tell('seed', 'pages', web.seeds[0]!)
  // The crawl runs: a worker says what it is going to do before it joins.
  await web.waitForHits(1)
  await tell('pause', 'pages')
  await tell('seed', 'pages', 'http://a.test/')
  await tell('stop', 'pages')
  expect((await worker.exited).code).toBe(0)
  const { stdout } = await folder.run('status', 'pages', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ state: 'stopped' })
  expect((await folder.run('clear', 'pages')).code).toBe(0)
  const keys = await Promise.all(cluster.nodes.map((node) => node.command('KEYS', '*told*')))
  const isSeed = (key: unknown) => String(key).includes('start_urls')
  expect(keys.flat().filter((key) => !isSeed(key))).toEqual(['webloom:{pages@told}:runs'])
})

test.concurrent('a question to a filter whose slot is being moved waits for the end of the move', async () => {
  const nodes = cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
  const redis = new Cluster(nodes, { redisOptions: { password: 'admin' } })
  const key = 'moved:dupefilter'
  const filter = new RedisSetDupeFilter({ redis, key })
  await filter.open()
  await filter.requestsSeen([new Request('http://a.test/1')], 'first')
  await filter.settled('first')
  await filter.requestsSeen([new Request('http://a.test/2')], 'second')
  const from = (await cluster.masterOf(key))!
  const to = cluster.nodes.find((node) => node !== from)!
  const slot = String(await to.command('CLUSTER', 'KEYSLOT', key))
  await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(await to.command('CLUSTER', 'MYID')))
  // The list of this asker is not there.
  const asked = filter.requestsSeen([new Request('http://a.test/3')], 'third')
  // Waits: nothing tells that a question waits.
  expect(await Promise.race([asked, sleep(300, 'waits')])).toBe('waits')
  expect(await cluster.moveSlot(key, to)).toBeLessThan(1000)
  expect(await asked).toEqual([false])
  expect(
    await filter.requestsSeen(
      [1, 2, 3].map((n) => new Request(`http://a.test/${n}`)),
      'other',
    ),
  ).toEqual([true, 'in doubt', 'in doubt'])
  await filter.close()
  redis.disconnect()
})

test.concurrent('while a shard’s slot is half moved, the others are told of, and that one is named', async () => {
  await using web = await startFakeWeb({ seed: 1, pagesPerHost: 4, crossHostLinks: 0.8 })
  class Halved extends FollowAll {
    override name = 'pages'
    override startUrls = [...web.seeds]
  }
  const own = settings({
    CRAWL_ID: 'halved',
    QUEUE_SHARDS: 3,
    SCHEDULER_PERSIST: true,
    CLOSESPIDER_PAGECOUNT: 3,
  })
  await crawl(Halved, { settings: own, logger: keepingLogger([]) })
  const config = { path: '/none', folder: import.meta.dirname, spiders: [], settings: own }
  const look = () =>
    withCrawlFromOutside(Halved, {}, config, async (crawl) => {
      const [status, sample] = await Promise.all([readStatus(crawl), sampleSlots(crawl.redis, crawl.keys)])
      return { status, sample }
    })
  const whole = await look()
  expect(whole.status.silentShards).toEqual([])
  const { record } = new CrawlShards(crawlRedisKeys({ spider: 'pages', crawlId: 'halved' }), 3).keysOf('01')
  const from = (await cluster.masterOf(record))!
  const to = cluster.nodes.find((node) => node !== from)!
  const slot = String(await to.command('CLUSTER', 'KEYSLOT', record))
  await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(await to.command('CLUSTER', 'MYID')))
  const { status, sample } = await look()
  expect(status.silentShards).toEqual([{ shard: '01', server: `127.0.0.1:${from.port}` }])
  expect(status.counts.waiting).toBeLessThanOrEqual(whole.status.counts.waiting)
  expect(sample.others.length).toBeLessThanOrEqual(whole.sample.others.length)
  const desks = new RegistryDesks(deskServers({ redis: [cluster.url] }, undefined))
  expect((await desks.crawls()).find(({ crawlId }) => crawlId === 'halved')).toMatchObject({
    state: 'stopped',
  })
  expect(await desks.answers()).toBe(true)
  await desks.close()
  await cluster.moveSlot(record, to)
  expect((await look()).status.counts).toEqual(whole.status.counts)
})

test('doctor finds no right missing at any node, and tells the line for those that are', async () => {
  const look = () => checkRedisServers(Settings.fromLayers({ command: settings({}) }), 'pages')
  expect((await look()).filter(({ check }) => check === 'Redis rights')).toEqual([])
  await cluster.nodes[1]!.command('ACL', 'SETUSER', 'loom', '-hset')
  const [missing, ...more] = (await look()).filter(({ check }) => check === 'Redis rights')
  expect(more).toEqual([])
  expect(missing?.found).toContain(`127.0.0.1:${cluster.nodes[1]!.port} of redis+cluster:`)
  expect(missing?.type).toMatch(/ACL SETUSER loom .*\+cluster\|slots/)
})
