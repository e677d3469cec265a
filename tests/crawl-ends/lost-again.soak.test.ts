/**
 * A crawl is lost, all of it or a shard, on each kind of Redis, and its worker is started again and again, as a supervisor does. No start says that
 * the crawl is finished when it has hardly any pages, and what a worker that does not begin tells to type makes it begin.
 */

import { writeFileSync } from 'node:fs'
import {
  type FakeWebProcess,
  InUse,
  type ProcessResult,
  type RedisServer,
  startCluster,
  startFakeWebProcess,
  startRedis,
  startSentinels,
} from '@webloom/testkit'
import { expect, test } from 'vitest'
import { crawlRedisKeys } from '../../packages/queue/src/redis/crawl-redis-keys.ts'
import { CrawlShards } from '../../packages/queue/src/shards/crawl-shards.ts'
import { ClusterFolder, followingSpider, freshCrawlId, SHORT_TIMES } from '../cluster/cluster-crawl.ts'

const SHARDS = 6
const STARTS = 3

interface Place {
  readonly settings: Readonly<Record<string, unknown>>
  /** Loses the crawl, or a part of it. */
  readonly lose: () => Promise<unknown>
}

const flushed = (server: RedisServer | undefined) => server!.command('FLUSHALL')

async function clusterOf(used: InUse, crawlId: string) {
  const cluster = used.use(await startCluster({ replicas: 1 }))
  const settings = { REDIS_URL: cluster.url, QUEUE_SHARDS: SHARDS, DUPEFILTER_SHARDS: 4 }
  const { home, queues } = new CrawlShards(crawlRedisKeys({ spider: 'pages', crawlId }), SHARDS)
  return { cluster, settings, home, queues }
}

const PLACES: Readonly<Record<string, (used: InUse, crawlId: string) => Promise<Place>>> = {
  async 'the home’s master of a cluster'(used, crawlId) {
    const { cluster, settings, home } = await clusterOf(used, crawlId)
    return { settings, lose: async () => flushed(await cluster.masterOf(home.record)) }
  },
  async 'another master of a cluster'(used, crawlId) {
    const { cluster, settings, home, queues } = await clusterOf(used, crawlId)
    const other = async () => {
      const masters = await Promise.all(queues.map(({ record }) => cluster.masterOf(record)))
      const first = await cluster.masterOf(home.record)
      return masters.find((master) => master !== first)
    }
    return { settings, lose: async () => flushed(await other()) }
  },
  async 'a master with Sentinels'(used) {
    const trio = used.use(await startSentinels())
    const filter = used.use(await startRedis())
    const settings = { REDIS_URL: trio.url, DUPEFILTER_REDIS_URL: filter.url }
    return { settings, lose: async () => flushed(await trio.master()) }
  },
  async 'the queue’s Redis'(used) {
    const [queue, filter] = [used.use(await startRedis()), used.use(await startRedis())]
    const settings = { QUEUE_REDIS_URL: queue.url, DUPEFILTER_REDIS_URL: filter.url }
    return { settings, lose: () => flushed(queue) }
  },
}

interface Lost {
  readonly name: string
  readonly persists: boolean
  readonly words?: readonly string[]
  /** SCHEDULER_FLUSH_ON_START of the workers that come after it. */
  readonly flushes?: boolean
  /** No worker lives to see it. */
  readonly isKilled?: boolean
}

const CASES: readonly Lost[] = Object.keys(PLACES).flatMap((name) =>
  [true, false].flatMap((persists) => [
    { name, persists },
    { name, persists, words: ['--new'] },
    { name, persists, isKilled: true },
    ...(persists ? [false, true].map((isKilled) => ({ name, persists, flushes: true, isKilled })) : []),
  ]),
)

/** A crawl that has lost what was queued, and the commands that are given then. */
class LostCrawl {
  readonly web: FakeWebProcess
  readonly folder: ClusterFolder
  readonly told: string[] = []
  /** Since it was lost. */
  readonly fetched = new Set<string>()

  constructor(web: FakeWebProcess, folder: ClusterFolder) {
    this.web = web
    this.folder = folder
  }

  async run(...words: readonly string[]): Promise<ProcessResult> {
    const from = (await this.web.hits()).length
    const result = await this.folder.run(...words)
    const urls = (await this.web.hits()).slice(from).map(({ url }) => url)
    this.told.push(`${words.join(' ')}: ${result.code}, ${urls.length} pages`)
    for (const url of urls) this.fetched.add(url)
    return result
  }

  get lacking(): readonly string[] {
    return [...this.web.reachable()].filter((url) => !this.fetched.has(url))
  }
}

async function lostCrawl(
  used: InUse,
  { name, persists, flushes = false, isKilled = false }: Lost,
): Promise<LostCrawl> {
  const web = used.use(
    await startFakeWebProcess({ seed: 1, hosts: 12, pagesPerHost: 8, crossHostLinks: 0.5 }),
  )
  const crawlId = freshCrawlId('again')
  const { settings, lose } = await PLACES[name]!(used, crawlId)
  const own = { CRAWL_ID: crawlId, SCHEDULER_PERSIST: persists, DOWNLOAD_DELAY: 0.5, LOG_FORMAT: 'json' }
  const folder = used.use(
    await ClusterFolder.of(web, { ...settings, ...own }, followingSpider(web), SHORT_TIMES),
  )
  const worker = folder.workerProcess('a')
  await web.waitForHits(14, 60_000)
  if (isKilled) worker.kill('SIGKILL')
  else await lose()
  const { code, stderr } = await worker.exited
  if (isKilled) await lose()
  else expect(code, stderr).toBe(1)
  folder.configure({ DOWNLOAD_DELAY: 0, SCHEDULER_FLUSH_ON_START: flushes })
  return new LostCrawl(web, folder)
}

test.each(CASES)(
  '$name is emptied, SCHEDULER_PERSIST=$persists, $words, flushes: $flushes, killed: $isKilled',
  async (lost) => {
    await using used = new InUse()
    const crawl = await lostCrawl(used, lost)
    const isRefused = lost.persists && !lost.flushes
    try {
      let last: ProcessResult | undefined
      // The first that begins does so also where killed workers look present.
      for (let n = 0; n < (isRefused ? STARTS : 1); n++)
        last = await crawl.run('worker', 'pages', ...(lost.words ?? []))
      expect(last!.code, last!.stderr).toBe(isRefused ? 2 : 0)
      if (isRefused) {
        expect([...crawl.fetched]).toEqual([])
        const [, clear, worker] =
          /run webloom (clear [^,]*), then webloom (worker [^.]*?)\. To prevent/.exec(last!.stderr) ?? []
        // A killed worker counts as present for ten seconds.
        await expect
          .poll(async () => (await crawl.run(...clear!.split(' '))).code, { timeout: 30_000 })
          .toBe(0)
        expect((await crawl.run(...worker!.split(' '))).code).toBe(0)
      }
      expect(crawl.lacking).toEqual([])
    } finally {
      console.info(`${JSON.stringify(lost)}\n${crawl.told.join('\n')}`)
    }
  },
)

test('what is lost is told by runs, and by status and scale after a worker was refused, also with --new', async () => {
  await using used = new InUse()
  const web = used.use(await startFakeWebProcess({ hosts: 2, pagesPerHost: 10 }))
  const redis = used.use(await startRedis())
  const crawlId = freshCrawlId('told')
  const settings = { REDIS_URL: redis.url, CRAWL_ID: crawlId, DUPEFILTER_SHARDS: 2 }
  const folder = used.use(
    await ClusterFolder.of(web, { ...settings, DOWNLOAD_DELAY: 0.2 }, followingSpider(web), SHORT_TIMES),
  )
  const worker = folder.workerProcess('a')
  await web.waitForHits(4, 60_000)
  await redis.command('DEL', crawlRedisKeys({ spider: 'pages', crawlId }).record)
  expect((await worker.exited).code).toBe(1)
  const fetched = (await web.hits()).length
  expect((await folder.run('runs', 'pages')).stdout).toMatch(/ lost /)
  for (const words of [[], ['--new']]) {
    const { code, stderr } = await folder.run('worker', 'pages', '-s', 'SCHEDULER_PERSIST=true', ...words)
    expect(code, stderr).toBe(2)
  }
  expect((await web.hits()).length).toBe(fetched)
  expect((await folder.run('status', 'pages')).stdout).toMatch(/ stopped, .*\(crawl_lost\)\n/)
  expect(JSON.parse((await folder.run('scale', 'pages', '--json')).stdout)).toMatchObject({
    desired: 1,
    words: expect.stringContaining('is gone from its Redis'),
  })
})

test.each(
  ['the home’s master of a cluster', 'another master of a cluster', 'the queue’s Redis'].flatMap((name) =>
    [true, false].map((persists) => ({ name, persists })),
  ),
)('import is refused once $name is emptied, SCHEDULER_PERSIST=$persists', async (lost) => {
  await using used = new InUse()
  const crawl = await lostCrawl(used, lost)
  const file = crawl.folder.path('more.jsonl')
  const imported = `${crawl.web.seeds[0]}?imported`
  writeFileSync(file, `${JSON.stringify({ v: 1, url: imported })}\n`)
  try {
    for (const words of [[], ['--no-start']]) {
      const { code, stderr } = await crawl.run('import', file, 'pages', ...words)
      expect(code, stderr).toBe(2)
      expect(stderr).toContain('Nothing was queued')
    }
    const [, clear] =
      /run webloom (clear [^,]*),/.exec((await crawl.run('import', file, 'pages')).stderr) ?? []
    expect((await crawl.run(...clear!.split(' '))).code).toBe(0)
    expect((await crawl.run('import', file, 'pages')).code).toBe(0)
    expect((await crawl.run('worker', 'pages')).code).toBe(0)
    expect(crawl.lacking).toEqual([])
    expect(crawl.fetched).toContain(imported)
  } finally {
    console.info(`${JSON.stringify(lost)}\n${crawl.told.join('\n')}`)
  }
})

test.each([true, false])(
  'queue and filter are emptied together: no start that ends as finished lacks a page, nor does a new crawl: SCHEDULER_PERSIST=%s',
  async (persists) => {
    // Pages in flight may ask the emptied filter, or not: that depends on the moment.
    for (let n = 0; n < 4; n++) {
      await using used = new InUse()
      const web = used.use(
        await startFakeWebProcess({
          seed: n,
          hosts: 12,
          pagesPerHost: 8,
          crossHostLinks: 0.5,
          latencyMs: 200,
        }),
      )
      const redis = used.use(await startRedis())
      const settings = { REDIS_URL: redis.url, CRAWL_ID: freshCrawlId('both'), SCHEDULER_PERSIST: persists }
      const folder = used.use(
        await ClusterFolder.of(web, { ...settings, DOWNLOAD_DELAY: 0.5 }, followingSpider(web)),
      )
      const crawl = new LostCrawl(web, folder)
      const worker = folder.workerProcess('a')
      await web.waitForHits(14 + n, 60_000)
      await flushed(redis)
      const { code, stderr } = await worker.exited
      expect(code, stderr).toBe(1)
      folder.configure({ DOWNLOAD_DELAY: 0 })
      const first = await crawl.run('worker', 'pages')
      if (persists && first.code === 2) {
        const [, clear] = /run webloom (clear [^,]*),/.exec(first.stderr) ?? []
        expect((await crawl.run(...clear!.split(' '))).code).toBe(0)
        expect((await crawl.run('worker', 'pages')).code).toBe(0)
      } else expect(first.code, first.stderr).toBe(0)
      expect(crawl.lacking, crawl.told.join('\n')).toEqual([])
      if (persists) continue
      crawl.fetched.clear()
      expect((await crawl.run('worker', 'pages', '--new')).code).toBe(0)
      expect(crawl.lacking, crawl.told.join('\n')).toEqual([])
    }
  },
)

test.each([true, false])(
  'a filter that is emptied under its crawl costs pages, and none is lacking: SCHEDULER_PERSIST=%s',
  async (persists) => {
    await using used = new InUse()
    const web = used.use(
      await startFakeWebProcess({ seed: 1, hosts: 12, pagesPerHost: 8, crossHostLinks: 0.5 }),
    )
    const [queue, filter] = [used.use(await startRedis()), used.use(await startRedis())]
    const settings = {
      QUEUE_REDIS_URL: queue.url,
      DUPEFILTER_REDIS_URL: filter.url,
      CRAWL_ID: freshCrawlId('filter'),
    }
    const folder = used.use(
      await ClusterFolder.of(
        web,
        { ...settings, SCHEDULER_PERSIST: persists, DOWNLOAD_DELAY: 0.3 },
        followingSpider(web),
        SHORT_TIMES,
      ),
    )
    const worker = folder.workerProcess('a')
    await web.waitForHits(14, 60_000)
    await flushed(filter)
    const { code, stderr } = await worker.exited
    expect(code, stderr).toBe(0)
    expect(stderr).toContain('was found empty while the crawl was running')
    const urls = new Set((await web.hits()).map(({ url }) => url))
    expect([...web.reachable()].filter((url) => !urls.has(url))).toEqual([])
  },
)
