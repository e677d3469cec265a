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

const worker = (filterUrl: string, own = times) =>
  assemble(Pages, {
    layers: { command: { REDIS_URL: redis.url, DUPEFILTER_REDIS_URL: filterUrl, DOWNLOAD_DELAY: 60 } },
    folder: import.meta.dirname,
    createLogger: () => listeningLogger().logger,
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
