/** A list whose beginning is all of one host that must wait: the hosts after it do not wait for that one. */

import { silentLogger } from '@webloom/core'
import { type RedisServer, startFakeWeb, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CloseSpider, crawl, Request, type Response, Spider } from 'webloom'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

const START_LOW_WATER = 100
const OTHERS = 20

test.each(['in one process', 'on Redis'])('%s', async (where) => {
  await using web = await startFakeWeb({ hosts: 1 + OTHERS, pagesPerHost: 20 * START_LOW_WATER })
  const slow = new URL(web.origins[0]!).hostname
  const met = { slow: 0, others: 0 }
  class Sorted extends Spider {
    override name = 'sorted'
    override *start() {
      for (let n = 0; n < 20 * START_LOW_WATER; n++) yield new Request(web.pageUrl(0, n))
      for (let host = 1; host <= OTHERS; host++) yield new Request(web.pageUrl(host, 0))
    }
    override parse(response: Response): void {
      met[new URL(response.url).hostname === slow ? 'slow' : 'others']++
      // All others, or so many of the slow host that there is no hope for them.
      if (met.others === OTHERS || met.slow === 40) throw new CloseSpider('enough')
    }
  }

  await crawl(Sorted, {
    settings: {
      ...(where === 'on Redis' && { REDIS_URL: redis.url }),
      START_LOW_WATER,
      ROBOTSTXT_OBEY: false,
      DOWNLOAD_SLOTS: { [slow]: { delay: 0.2 } },
    },
    logger: silentLogger,
  })

  expect(met.others).toBe(OTHERS)
  // The slow host's turn comes five times a second.
  expect(met.slow).toBeLessThan(30)
})

test('while all places of a worker are taken, no more is read than START_LOW_WATER says', async () => {
  await using web = await startFakeWeb({ hosts: 1, pagesPerHost: 500, latencyMs: 700 })
  let yielded = 0
  class Slow extends Spider {
    override name = 'slow'
    override *start() {
      for (let n = 0; n < 500; n++) {
        yielded++
        yield new Request(web.pageUrl(0, n))
      }
    }
    override parse(): void {}
  }

  await crawl(Slow, {
    settings: {
      START_LOW_WATER: 20,
      CONCURRENT_REQUESTS: 2,
      ROBOTSTXT_OBEY: false,
      CLOSESPIDER_PAGECOUNT: 5,
    },
    logger: silentLogger,
  })

  // What waits, a batch more, one that is read ahead, and what has been handed out.
  expect(yielded).toBeLessThan(20 + 5 + 5 + 7 + 1)
})
