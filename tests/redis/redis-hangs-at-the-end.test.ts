/** A worker that is told to end while its Redis hangs: the server is stopped, and its connections stay open. */

import { MachineLag, startFakeWeb, startFakeWebProcess, startRedis, startTcpProxy } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { crawl, Spider } from 'webloom'
import type { Crawler, ItemPipeline, RedisClient } from 'webloom/ports'
import { ClusterFolder, freshCrawlId, seededSpider } from '../cluster/cluster-crawl.ts'

const GRACE_S = 3
/** What docs/deploy.md promises. */
const LONGER_S = 20
/** The same of what components ask a Redis that hangs, all together. */
const COMPONENTS_S = 5

test.concurrent.each(['turns', 'job'])(
  'QUEUE_MODE=%s: a worker whose Redis hangs ends in its time after SIGTERM, and says what was cut off',
  { timeout: 90_000 },
  async (mode) => {
    await using redis = await startRedis()
    await using web = await startFakeWebProcess({ hosts: 4, pagesPerHost: 200, latencyMs: 50 })
    await using folder = await ClusterFolder.of(
      web,
      {
        REDIS_URL: redis.url,
        CRAWL_ID: freshCrawlId(`hangs-${mode}`),
        QUEUE_MODE: mode,
        SHUTDOWN_GRACE: GRACE_S,
      },
      seededSpider(web.seeds),
    )
    const worker = folder.worker('one')
    await web.waitForHits(20, 60_000)
    await redis.pause()
    using lag = new MachineLag()
    const askedAt = performance.now()
    worker.kill('SIGTERM')
    const { code, stderr } = await worker.exited
    expect((performance.now() - askedAt) / 1000).toBeLessThan(GRACE_S + LONGER_S + lag.ms / 1000)
    expect(code, stderr).toBe(143)
    expect(stderr).toContain(`SIGTERM: finishing what is in flight (${GRACE_S} s at the most)`)
    expect(stderr).toContain('SHUTDOWN_GRACE is over: what is still in flight is given up')
    expect(stderr).toContain('leaving the crawl: no answer for 5000 ms')
    expect(stderr).toContain('crawl ended: shutdown')
  },
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
