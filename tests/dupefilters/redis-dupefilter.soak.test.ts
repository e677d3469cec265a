/** A crawl whose queue and filter are on one Redis, which is killed. Most of it is waiting: for what that may have lost. */

import { startFakeWeb, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { crawl, type Response, Spider } from 'webloom'

test('a Redis that is killed and comes back costs no page', async () => {
  await using redis = await startRedis({ appendonly: 'always' })
  await using web = await startFakeWeb({ seed: 5, pagesPerHost: 150, latencyMs: 5 })
  class Pages extends Spider {
    override name = 'pages'
    override startUrls = [...web.seeds]
    override *parse(response: Response): Generator<unknown> {
      yield { url: response.url }
      yield* response.followAll()
    }
  }
  const running = crawl(Pages, { settings: { REDIS_URL: redis.url, CONCURRENT_REQUESTS: 4 } })
  await web.waitForHits(30)
  await redis.kill('SIGKILL')
  await redis.restart()
  expect((await running).finishReason).toBe('finished')
  for (const url of web.reachable()) expect(web.countOf(url), url).toBeGreaterThanOrEqual(1)
  expect(web.hits.length).toBe(web.reachable().size)
})
