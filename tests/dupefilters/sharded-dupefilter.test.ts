/** Crawls whose dupefilter is spread over several real Redis servers, judged by what the fake web saw. */

import { type FakeWeb, type RedisServer, startFakeWeb, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { crawl, type Response, type SettingsInput, Spider } from 'webloom'
import type { Logger } from 'webloom/ports'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

let queue: RedisServer
let servers: RedisServer[]
beforeAll(async () => {
  ;[queue, ...servers] = (await Promise.all([
    startRedis(),
    startRedis({ appendonly: 'always' }),
    startRedis({ appendonly: 'always' }),
  ])) as [RedisServer, ...RedisServer[]]
})
afterAll(async () => {
  for (const server of [queue, ...servers]) await server.stop()
})
beforeEach(async () => {
  for (const server of [queue, ...servers]) await server.command('FLUSHALL')
})

const urls = () => servers.map(({ url }) => url)

function crawlOf(web: FakeWeb, settings: SettingsInput) {
  class Pages extends Spider {
    override name = 'pages'
    override startUrls = [...web.seeds]
    override *parse(response: Response): Generator<unknown> {
      yield* response.followAll()
    }
  }
  return crawl(Pages, {
    settings: { REDIS_URL: queue.url, DUPEFILTER_REDIS_URL: urls(), SCHEDULER_PERSIST: true, ...settings },
    logger: silent,
  })
}

test.each(['redis-set', 'splittable-bloom'])(
  '%s on two servers finds every page, each once',
  async (name) => {
    await using web = await startFakeWeb({ seed: 4, pagesPerHost: 60 })
    const { finishReason } = await crawlOf(web, { DUPEFILTER_CLASS: name })
    expect(finishReason).toBe('finished')
    for (const url of web.reachable()) expect(web.countOf(url), url).toBe(1)
    for (const server of servers) expect(Number(await server.command('DBSIZE'))).toBeGreaterThan(0)
    // Begun with this list, it is refused with another one.
    for (const list of [urls().reverse(), urls().slice(0, 1)])
      await expect(crawlOf(web, { DUPEFILTER_CLASS: name, DUPEFILTER_REDIS_URL: list })).rejects.toThrow(
        /must name the same servers in the same order/,
      )
  },
)

test('one of them is killed (-9) in the middle of a crawl and comes back: nothing is lost, nothing is crawled twice', async () => {
  await using web = await startFakeWeb({ seed: 5, hosts: 2, pagesPerHost: 60 })
  const running = crawlOf(web, { CONCURRENT_REQUESTS: 4 })
  await web.waitForHits(30)
  await servers[1]!.kill('SIGKILL')
  await servers[1]!.restart()
  expect((await running).finishReason).toBe('finished')
  for (const url of web.reachable()) expect(web.countOf(url), url).toBe(1)
})
