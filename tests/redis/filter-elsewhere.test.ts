/** A worker whose DUPEFILTER_REDIS_URL names another Redis than that of the workers at work. */

import { PROTOCOL_TIMES } from '@webloom/core'
import { type FakeWeb, type RedisServer, startFakeWeb, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Response, Spider } from 'webloom'
import { assemble } from '../../packages/webloom/src/assembly/assemble.ts'
import { listeningLogger } from '../crawls/crawl-web.ts'

let redis: RedisServer
let other: RedisServer
let web: FakeWeb
beforeAll(async () => {
  ;[redis, other, web] = await Promise.all([
    startRedis(),
    startRedis(),
    startFakeWeb({ seed: 5, hosts: 2, pagesPerHost: 5, linksPerPage: 4 }),
  ])
})
afterAll(() => Promise.all([redis.stop(), other.stop(), web[Symbol.asyncDispose]()]))

class Pages extends Spider {
  override name = 'pages'
  override startUrls = [...web.seeds]
  override *parse(response: Response): Generator<unknown> {
    yield* response.followAll()
  }
}

/** How long a joining worker waits for those at work to have its filter. */
const WAITS_MS = 600
const { members } = PROTOCOL_TIMES
const times = { ...PROTOCOL_TIMES, members: { ...members, beatEveryMs: 100 } }
const joining = { ...times, members: { ...members, beatEveryMs: WAITS_MS - members.lostAfterMs } }

const worker = (filterUrl: string, own = times, spider = Pages, { logger } = listeningLogger(), delay = 60) =>
  assemble(spider, {
    layers: { command: { REDIS_URL: redis.url, DUPEFILTER_REDIS_URL: filterUrl, DOWNLOAD_DELAY: delay } },
    folder: import.meta.dirname,
    createLogger: () => logger,
    times: own,
  })

test('it is refused, as is another one with it, and fetches nothing; one that names the same server in another way joins', async () => {
  const first = await worker(redis.url)
  const crawled = first.run()
  await web.waitForHits(2)
  const wrong = await Promise.all([worker(other.url, joining), worker(other.url, joining)])
  await Promise.all(
    wrong.map((one) =>
      expect(one.run()).rejects.toThrow(
        /the dupefilter at redis:.* is not that of the workers at work on crawl "pages".*DUPEFILTER_REDIS_URL/,
      ),
    ),
  )
  const second = await worker(redis.url.replace('127.0.0.1', 'localhost'))
  const joined = second.run()
  await vi.waitFor(async () => {
    const entries = (await redis.command('HVALS', 'webloom:{pages}:workers')) as string[]
    const places = entries.map((entry) => JSON.parse(entry).filterPlace)
    expect(places).toEqual([expect.any(String), places[0]])
  }, 10_000)
  first.stop('enough')
  expect((await crawled).finishReason).toBe('enough')
  expect((await joined).finishReason).toBe('enough')
  expect(web.hits).toHaveLength(2)
})

test('one with another filter goes on with the crawl of those that have left; the next crawl on theirs lacks no page', async () => {
  class Left extends Pages {
    override name = 'left'
    // Nothing is fetched before the seeds.
    override customSettings = { ROBOTSTXT_OBEY: false }
  }
  const { filter } = PROTOCOL_TIMES
  const soon = { ...times, filter: { ...filter, silenceMs: 50, crawlNotedEveryMs: 200 } }
  const from = web.hits.length
  // So slow that much is left when both have ended.
  const DELAY_S = 3
  const first = await worker(redis.url, soon, Left, listeningLogger(), DELAY_S)
  const crawled = first.run()
  await web.waitForHits(from + 2)
  await vi.waitUntil(
    async () => Number(await redis.command('SCARD', 'left:dupefilter')) > web.seeds.length,
    10_000,
  )
  const told = listeningLogger()
  const second = await worker(`${redis.url}/1`, soon, Left, told, DELAY_S)
  const waits = vi.waitFor(
    () => expect(told.lines.some(({ message }) => /has other data than that/.test(message))).toBe(true),
    10_000,
  )
  const joined = second.run()
  await waits
  first.stop('shutdown')
  await crawled
  await vi.waitFor(async () => {
    const entries = (await redis.command('HVALS', 'webloom:{left}:workers')) as string[]
    expect(entries.map((entry) => typeof JSON.parse(entry).filterPlace)).toEqual(['string'])
  }, 10_000)
  second.stop('shutdown')
  await joined
  const before = web.hits.length
  const next = listeningLogger()
  const { finishReason } = await (await worker(redis.url, soon, Left, next, 0)).run()
  expect(finishReason).toBe('finished')
  expect(next.lines.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('workers with another DUPEFILTER_REDIS_URL went on with it'),
  )
  const urls = new Set(web.hits.slice(before).map(({ url }) => url))
  expect([...web.reachable()].filter((url) => !urls.has(url))).toEqual([])
})

/** Resolves when nobody has asked this server's part of the filter anything for longer than a page waits to be settled. */
async function untilAskedNothing(server: RedisServer) {
  let known = ''
  await vi.waitFor(
    async () => {
      const before = known
      known = String(await server.command('INFO', 'commandstats'))
        .match(/cmdstat_eval.*calls=\d+/g)!
        .join()
      expect(known).toBe(before)
    },
    { timeout: 10_000, interval: 2 * PROTOCOL_TIMES.filter.settleWithinMs },
  )
}

test('one part of a filter has lost its data and is asked nothing: a worker joins, and one with another filter does not', async () => {
  // The hosts wait a minute for the next request of a crawl.
  class Tail extends Pages {
    override name = 'tail'
  }
  const both = `${redis.url},${other.url}`
  const before = web.hits.length
  const first = await worker(both, times, Tail)
  const crawled = first.run()
  await web.waitForHits(before + 2)
  await untilAskedNothing(other)
  await other.command('FLUSHALL')
  const wrong = await worker(`${redis.url}/1`, joining, Tail)
  await expect(wrong.run()).rejects.toThrow(/is not that of the workers at work/)
  const soon = { ...times, members: { ...times.members, lostAfterMs: 2000 } }
  const told = listeningLogger()
  const second = await worker(both, soon, Tail, told)
  const joined = second.run()
  const emptied = () =>
    told.lines.filter(({ message }) => /found empty when this worker joined/.test(message))
  await Promise.race([joined, vi.waitFor(() => expect(emptied()).toHaveLength(1), 10_000)])
  first.stop('enough')
  expect((await crawled).finishReason).toBe('enough')
  expect((await joined).finishReason).toBe('enough')
  expect(web.hits).toHaveLength(before + 2)
})
