/** A Redis that hangs at the end of a crawl; QUEUE_MODE=job in redis-hangs-at-the-end.soak.test.ts. */

import { MachineLag, startFakeWeb, startRedis, startTcpProxy } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { crawl, Spider } from 'webloom'
import type { Crawler, ItemPipeline, RedisClient } from 'webloom/ports'
import { endsThoughRedisHangs } from './redis-hangs-at-the-end.ts'

/** What components may ask a Redis that hangs for, all together. */
const COMPONENTS_S = 5

test.concurrent(
  'a worker whose Redis hangs ends in its time after SIGTERM, and says what was cut off',
  { timeout: 90_000 },
  () => endsThoughRedisHangs('turns'),
)

test.concurrent('components that ask a Redis which hangs when they are closed hold the crawl for 5 s, not each for COMPONENT_TIMEOUT', async () => {
  await using redis = await startRedis()
  await using proxy = await startTcpProxy({ target: redis.url })
  await using web = await startFakeWeb({ hosts: 1, pagesPerHost: 1 })
  const failed: string[] = []
  class Asking implements ItemPipeline {
    static fromCrawler({ redis }: Crawler): Asking {
      return new this(redis('items'))
    }
    readonly #redis: RedisClient
    constructor(redis: RedisClient) {
      this.#redis = redis
    }
    processItem(item: unknown): unknown {
      return item
    }
    async closeSpider(): Promise<void> {
      await this.#redis.incr('closed').catch((error: Error) => failed.push(error.message))
    }
  }
  class AskingToo extends Asking {}
  class OfThisWeb extends Spider {
    override name = 'asking'
    override startUrls = [...web.seeds]
    override parse(): void {
      proxy.hang()
    }
  }
  using lag = new MachineLag()
  const beganAt = performance.now()
  const { finishReason } = await crawl(OfThisWeb, {
    settings: {
      ITEMS_REDIS_URL: proxy.url,
      ITEM_PIPELINES: [
        [Asking, 1],
        [AskingToo, 2],
      ],
      LOG_LEVEL: 'CRITICAL',
    },
  })
  expect(finishReason).toBe('finished')
  expect(failed).toEqual(Array(2).fill(expect.stringContaining('Command timed out: the crawl is closing')))
  expect((performance.now() - beganAt) / 1000).toBeLessThan(1.7 * COMPONENTS_S + lag.ms / 1000)
})
