/**
 * What commands see and do of a crawl whose queue is in several shards (QUEUE_SHARDS). One Redis has them all here, as no server fails;
 * where some do, see tests/fail-over.
 */

import { scaledTimes, silentLogger } from '@webloom/core'
import { crawlRedisKeys, failedRequests, readLedger, readSettings, retryFailed } from '@webloom/queue'
import { type FakeWeb, startFakeWeb } from '@webloom/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { Request, type Response, type SettingsInput, Spider } from 'webloom'
import { CrawlShards } from '../../packages/queue/src/shards/crawl-shards.ts'
import { RedisBench } from '../../packages/queue/testing/redis-bench.ts'
import { assemble } from '../../packages/webloom/src/assembly/assemble.ts'
import { clearFromOutside } from '../../packages/webloom/src/assembly/clear-crawl.ts'
import {
  type CrawlFromOutside,
  withCrawlFromOutside,
} from '../../packages/webloom/src/assembly/crawl-from-outside.ts'
import { openDupefilter } from '../../packages/webloom/src/assembly/open-dupefilter.ts'
import { paceAsTold } from '../../packages/webloom/src/desk/hosts/paces.ts'
import { readStatus } from '../../packages/webloom/src/desk/read-status.ts'
import { noteTyped } from '../../packages/webloom/src/loading/typed-spider.ts'
import { withCrawlSource } from '../../packages/webloom/src/transfer/crawl-source.ts'
import { withRedisTarget } from '../../packages/webloom/src/transfer/crawl-target.ts'
import { listeningLogger } from '../crawls/crawl-web.ts'

const SHARDS = 3

const bench = new RedisBench()
let web: FakeWeb
beforeAll(async () => {
  await bench.start()
  web = await startFakeWeb({ seed: 5, hosts: 6, pagesPerHost: 15, linksPerPage: 4, crossHostLinks: 0.8 })
})
afterAll(async () => {
  await web[Symbol.asyncDispose]()
  await bench.stop()
})
beforeEach(async () => {
  await bench.redis.flushall()
  web.resetHits()
})

class Pages extends Spider {
  override name = 'pages'
  override startUrls = [...web.seeds]
  override *parse(response: Response): Generator<unknown> {
    yield* response.followAll()
  }
}

const settings = (more: SettingsInput) => ({
  ...{ REDIS_URL: bench.server.url, SCHEDULER_PERSIST: true, DOWNLOAD_DELAY: 0, HOST_BACKOFF_MAX: 0 },
  DUPEFILTER_SHARDS: 4,
  ...more,
})

/** Shards wait for each other's servers as long as these may lose something: here none does. */
const TIMES = scaledTimes(0.2)

const crawledBy = async (
  Class: typeof Pages,
  more: SettingsInput,
  { logger } = listeningLogger(),
  times = TIMES,
) =>
  (
    await assemble(Class, {
      layers: { command: settings({ QUEUE_SHARDS: SHARDS, ...more }) },
      folder: import.meta.dirname,
      createLogger: () => logger,
      times,
    })
  ).run()
const crawled = (more: SettingsInput) => crawledBy(Pages, more)

const config = (more: SettingsInput = {}) => ({
  ...{ path: '/none', folder: import.meta.dirname, spiders: [] },
  settings: settings(more),
})
/** As a command sees it: without the crawl's own settings, unless they are given. */
const seen = <T>(act: (crawl: CrawlFromOutside) => Promise<T>, more?: SettingsInput): Promise<T> =>
  withCrawlFromOutside(Pages, {}, config(more), act)
const exported = () =>
  withCrawlSource(Pages, {}, config(), async ({ entries, size, checkStill }) => {
    const all: string[] = []
    for await (const { request } of entries) all.push(request!.url)
    await checkStill()
    expect(all).toHaveLength(size)
    return all
  })

test('a crawl that was ended early: status counts what all shards have, export has it, another number of shards is refused, and clear leaves no key', async () => {
  const { stats, finishReason } = await crawled({ CLOSESPIDER_PAGECOUNT: 20 })
  expect(finishReason).toBe('closespider_pagecount')
  const status = await seen(readStatus)
  expect([status.shards, status.done, status.counts.leased]).toEqual([
    SHARDS,
    Number(stats.response_received_count),
    0,
  ])
  const left = await exported()
  expect(left).toHaveLength(status.counts.waiting + status.counts.delayed)

  await expect(crawled({ QUEUE_SHARDS: SHARDS + 1 })).rejects.toThrow(
    /QUEUE_SHARDS is 4, and crawl "pages" was begun with 3.*-s QUEUE_SHARDS=3, or begin it anew: webloom clear pages -s .*QUEUE_SHARDS=3$/,
  )
  class ByFile extends Pages {}
  noteTyped(ByFile, 'tree.ts')
  await expect(crawledBy(ByFile, { QUEUE_SHARDS: SHARDS + 1 })).rejects.toThrow(/webloom clear tree\.ts -s/)
  // A run before had more, and whoever was to empty them was killed.
  const former = await seen(async ({ redis, keys }) => {
    await redis.hset(keys.record, 'shardsBefore', '5')
    return new CrawlShards(keys, 5).keysOf('04').record
  })
  await bench.redis.hset(former, 'run', 'before')
  expect(await seen((one) => clearFromOutside(one))).toBe(0)
  // That the dupefilter was cleared on purpose is known for ten minutes.
  const kept = (key: string) => /#\d\d(?:\.\d+)?\}|:record$/.test(key) && !key.endsWith(':cleared')
  expect((await bench.redis.keys('*')).filter(kept)).toEqual([])
})

/** All keys on the Redis, with their contents. */
const everything = async () => {
  const keys = (await bench.redis.keys('*')).toSorted()
  return Promise.all(keys.map(async (key) => [key, (await bench.redis.dumpBuffer(key))?.toString('base64')]))
}

const inFilter = async (more: SettingsInput) => {
  const command = settings(more)
  const { filter, exists, close } = await openDupefilter(
    Pages,
    { layers: { command }, folder: import.meta.dirname, createLogger: () => silentLogger },
    { makes: false },
  )
  try {
    return exists && (await filter.has!(new Request(web.seeds[0]!)))
  } finally {
    await close()
  }
}

test('a worker with another dupefilter is refused, and commands find the one that the crawl was begun with', async () => {
  class OwnFilter {
    async requestSeen() {
      return false
    }
  }
  await crawled({ CLOSESPIDER_PAGECOUNT: 5 })
  for (const other of [
    { DUPEFILTER_CLASS: 'redis-bloom' },
    { SCHEDULER_DUPEFILTER_KEY: 'other' },
    { DUPEFILTER_CLASS: 'none' },
    { DUPEFILTER_CLASS: OwnFilter },
  ] as SettingsInput[])
    await expect(crawled(other)).rejects.toThrow(
      /was begun with redis-set under the key pages:dupefilter: .*Go on with .*webloom clear pages -s REDIS_URL=\S+$/,
    )
  expect((await bench.redis.keys('*')).filter((key) => /bloomfilter|other/.test(key))).toEqual([])
  expect(await inFilter({ DUPEFILTER_SHARDS: 1, DUPEFILTER_CLASS: 'redis-bloom' })).toBe(true)

  expect(await seen((one) => clearFromOutside(one), { DUPEFILTER_SHARDS: 1 })).toBe(0)
  expect((await bench.redis.keys('*dupefilter*')).filter((key) => !key.endsWith(':cleared'))).toEqual([])

  await crawled({ DUPEFILTER_CLASS: OwnFilter as never, CLOSESPIDER_PAGECOUNT: 5 })
  await expect(crawled({})).rejects.toThrow(/was begun with the class OwnFilter/)
})

test('a crawl of an earlier release notes no dupefilter: commands with other parts are refused, and who joins notes its own', async () => {
  await crawled({ CLOSESPIDER_PAGECOUNT: 5 })
  const record = await seen(async ({ keys }) => keys.record)
  expect(await bench.redis.hdel(record, 'filter', 'filterSettings')).toBe(2)
  const otherParts = /DUPEFILTER_SHARDS is 1, and the dupefilter pages:dupefilter was begun with 4/
  await expect(inFilter({ DUPEFILTER_SHARDS: 1 })).rejects.toThrow(otherParts)
  await expect(seen((one) => clearFromOutside(one), { DUPEFILTER_SHARDS: 1 })).rejects.toThrow(otherParts)
  await crawled({ CLOSESPIDER_PAGECOUNT: 5 })
  expect(await inFilter({ DUPEFILTER_SHARDS: 1 })).toBe(true)
  await expect(crawled({ DUPEFILTER_CLASS: 'redis-bloom' })).rejects.toThrow(/was begun with redis-set/)
})

test.each([
  ['job', 'turns'],
  ['turns', 'job'],
] as const)(
  'begun with QUEUE_MODE=%s: a worker with %s is refused and changes nothing, and commands go by the crawl’s',
  async (QUEUE_MODE, other) => {
    await crawled({ QUEUE_SHARDS: 1, QUEUE_MODE, CLOSESPIDER_PAGECOUNT: 5 })
    const record = await seen(async ({ keys }) => keys.record)
    const isRefused = async (more: SettingsInput = {}, shards = '') => {
      const before = await everything()
      await expect(crawled({ QUEUE_SHARDS: 1, QUEUE_MODE: other, ...more })).rejects.toThrow(
        new RegExp(
          `QUEUE_MODE is ${other}, and crawl "pages" was begun with ${QUEUE_MODE}: .*Go on with -s QUEUE_MODE=${QUEUE_MODE}${shards}, or begin it anew: webloom clear pages -s REDIS_URL=${bench.server.url}$`,
        ),
      )
      expect(await everything()).toEqual(before)
    }
    await isRefused()
    if (other === 'turns') await isRefused({ QUEUE_SHARDS: SHARDS }, ' -s QUEUE_SHARDS=1')

    const status = await seen(readStatus, { QUEUE_MODE: other })
    const left = await exported()
    expect([status.mode, status.counts.waiting + status.counts.delayed]).toEqual([QUEUE_MODE, left.length])
    const more = new Request(`${new URL(web.seeds[0]!).origin}/missing`)
    const imported = (one: CrawlFromOutside) =>
      withRedisTarget(one, async (target) => {
        await target.adopt({ startEnded: false })
        await target.push([{ id: target.fingerprinter.fingerprint(more), request: more }], 'import/1')
        await target.settled('import/1')
      })
    // A queue of jobs takes four seconds to close.
    if (QUEUE_MODE === 'turns') {
      await seen(imported, { QUEUE_MODE: other })
      const { counts } = await seen(readStatus)
      expect(counts.waiting + counts.delayed).toBe(left.length + 1)
    }

    // As an earlier build has begun it. Without counts of turns nothing tells, and who goes on with it notes its own.
    expect(await bench.redis.hdel(record, 'mode')).toBe(1)
    if (QUEUE_MODE === 'turns') await isRefused()
    await crawled({ QUEUE_SHARDS: 1, QUEUE_MODE, CLOSESPIDER_PAGECOUNT: 1 })
    await isRefused()
  },
)

test('a new run may have another QUEUE_MODE, after one that has finished and after one that was emptied', async () => {
  class Seeds extends Pages {
    override *parse(): Generator<unknown> {}
  }
  const run = async (more: SettingsInput) => {
    web.resetHits()
    const settings = { QUEUE_SHARDS: 1, SCHEDULER_PERSIST: false, ...more }
    const { finishReason } = await crawledBy(Seeds, settings)
    return [finishReason, web.seeds.filter((url) => web.countOf(url) === 1).length]
  }
  const ALL = ['finished', web.seeds.length]
  expect(await run({ QUEUE_MODE: 'turns' })).toEqual(ALL)
  expect(await run({ QUEUE_MODE: 'job' })).toEqual(ALL)
  expect((await run({ QUEUE_MODE: 'turns', CLOSESPIDER_PAGECOUNT: 1 }))[0]).toBe('closespider_pagecount')
  await crawled({ QUEUE_SHARDS: 1, QUEUE_MODE: 'job', CLOSESPIDER_PAGECOUNT: 5 })
  const { counts } = await seen(readStatus)
  // Those of turns are left from the run before.
  expect([counts.waiting > 0, counts.waiting + counts.delayed]).toEqual([true, (await exported()).length])
})

test('clear leaves nothing of shards that only earlier runs had', async () => {
  await crawled({ QUEUE_SHARDS: 1, CLOSESPIDER_PAGECOUNT: 1 })
  // The record has forgotten their number, and not those of another crawl.
  const [former, other] = await seen(async ({ keys }) =>
    [keys, crawlRedisKeys({ spider: 'pages2', crawlId: null })].map(
      (one) => new CrawlShards(one, 6).keysOf('05').frontierCounts,
    ),
  )
  for (const key of [former!, other!]) await bench.redis.hset(key, 'swept', 1)
  expect(await seen((one) => clearFromOutside(one), { QUEUE_SHARDS: 1 })).toBe(0)
  expect(await bench.redis.keys('webloom:{pages*#*')).toEqual([other])
})

test('scale goes by the pace that the workers have told, whatever it is where scale is typed', async () => {
  await crawled({ DOWNLOAD_DELAY: 0.4, CLOSESPIDER_PAGECOUNT: 1 })
  const pace = await seen(
    async ({ crawler, redis, keys }) => paceAsTold(crawler.settings, await readSettings(redis, keys)),
    { DOWNLOAD_DELAY: 5, CONCURRENT_REQUESTS: 3 },
  )
  expect([pace.getFloat('DOWNLOAD_DELAY'), pace.getInt('CONCURRENT_REQUESTS')]).toEqual([0.4, 16])
})

test('an import makes a crawl of shards, and its worker fetches what was imported; what failed is queued again after the end', async () => {
  const fails = `${new URL(web.seeds[0]!).origin}/missing`
  const urls = [...web.seeds, fails]
  await seen(
    (one) =>
      withRedisTarget(one, async (target) => {
        expect(await target.adopt({ startEnded: true })).toBe('new')
        const requests = urls.map((url) => new Request(url))
        const batch = requests.map((request) => ({ id: target.fingerprinter.fingerprint(request), request }))
        await target.push(batch, 'import/1')
        await target.settled('import/1')
      }),
    { QUEUE_SHARDS: SHARDS },
  )
  // Nobody brings more: the crawl need not wait for that.
  await seen(({ redis, keys }) => redis.hdel(keys.record, 'bringsUntil'))
  expect((await seen(readStatus)).shards).toBe(SHARDS)
  expect((await exported()).toSorted()).toEqual(urls.toSorted())
  const { finishReason, stats } = await crawled({ SCHEDULER_PERSIST: false })
  expect(finishReason).toBe('finished')
  expect((await seen(readStatus)).done).toBe(stats.response_received_count)
  expect([...web.reachable()].filter((url) => web.countOf(url) !== 1)).toEqual([])

  const failed = () =>
    seen(async ({ redis, keys }) => {
      const all: string[] = []
      for await (const some of failedRequests(await readLedger(redis, keys)))
        all.push(...some.map(({ url }) => url))
      return all
    })
  expect(await failed()).toEqual([fails])
  const { queued } = await seen((one) =>
    withRedisTarget(one, (target) =>
      retryFailed(
        target.failures,
        {},
        {
          reopen: () => target.adopt({ startEnded: false }),
          mark: (requests) => target.mark(requests),
        },
      ),
    ),
  )
  expect(queued).toHaveLength(1)
  expect([await failed(), await exported()]).toEqual([[], [fails]])
  await crawled({ CLOSESPIDER_PAGECOUNT: 1, CLOSESPIDER_ERRORCOUNT: 1 })
  expect(web.countOf(fails)).toBe(2)
})

test('a shard that is lost ends the crawl for its workers, with an ERROR that names it', async () => {
  const listening = listeningLogger()
  const ending = crawledBy(Pages, { DOWNLOAD_DELAY: 5, MONITORS: { items: { min: 1 } } }, listening)
  await web.waitForHits(1)
  const keys = await bench.redis.keys('*:{pages#01.*}:*')
  await bench.redis.del(...keys)
  expect((await ending).finishReason).toBe('crawl_lost')
  const errors = listening.lines.filter(({ level }) => level === 'error')
  expect(errors).toContainEqual(expect.objectContaining({ fields: { shards: ['01'] } }))
  expect(errors.map(({ message }) => message).join()).toContain('run webloom clear pages')
  expect(errors.filter(({ message }) => message.includes('is gone from its Redis'))).toHaveLength(1)
  expect((await seen(readStatus)).finishReason).toBe('crawl_lost')
  // So the next one is refused, and nothing is brought to it.
  web.resetHits()
  await expect(crawled({})).rejects.toThrow(/a shard of the crawl is gone.*run webloom clear pages/)
  const adopted = seen((one) => withRedisTarget(one, (target) => target.adopt({ startEnded: false })))
  await expect(adopted).rejects.toThrow(/Nothing was queued.*run webloom clear pages/)
  expect(web.hits).toEqual([])
  // Or begins from the start.
  const anew = { SCHEDULER_PERSIST: false, CLOSESPIDER_PAGECOUNT: web.seeds.length }
  expect((await crawled(anew)).finishReason).toBe('closespider_pagecount')
  expect(web.seeds.map((url) => web.countOf(url))).toContain(1)
})

test('it does so, too, when it had all that was left, and two looks at once find nothing', async () => {
  const ofOneHost = [...web.reachable()].filter((url) => url.startsWith(web.seeds[0]!))
  class Tail extends Pages {
    override startUrls = [web.seeds[0]!]
    override *parse(): Generator<unknown> {
      for (const url of ofOneHost) yield new Request(url)
    }
  }
  // As with replicas, which no worker need wait for.
  const soon = { ...TIMES, shards: { ...TIMES.shards, keptMs: 0 } }
  const ending = crawledBy(Tail, { DOWNLOAD_DELAY: 0.5 }, listeningLogger(), soon)
  await web.waitForHits(3)
  await bench.redis.del(...(await bench.redis.keys('*:{pages#*}:*')))
  expect((await ending).finishReason).toBe('crawl_lost')
})

test('what cannot be in shards is refused; one server for all is warned of; shards that the next run does not have are emptied', async () => {
  await expect(crawled({ QUEUE_MODE: 'job' })).rejects.toThrow(/QUEUE_SHARDS is 3, and QUEUE_MODE is job/)
  await expect(crawled({ RECRAWL: 'fixed' })).rejects.toThrow(/QUEUE_SHARDS is 3, and RECRAWL is on/)

  class Some extends Pages {
    override *parse(): Generator<unknown> {}
  }
  const run = async (more: SettingsInput) => {
    const listening = listeningLogger()
    await crawledBy(Some, { SCHEDULER_PERSIST: false, CLOSESPIDER_PAGECOUNT: 1, ...more }, listening)
    return listening.lines.map(({ message }) => message).join('\n')
  }
  expect(await run({ QUEUE_SHARDS: 5 })).toContain('QUEUE_SHARDS is 5, and the queue’s Redis is no cluster')
  const shards = async () =>
    new Set((await bench.redis.keys('*:{pages#*}:record')).map((key) => /#(\d+)\./.exec(key)![1]))
  expect((await shards()).size).toBe(5)
  await run({ QUEUE_SHARDS: 2 })
  expect(await shards()).toEqual(new Set(['00', '01']))
})
