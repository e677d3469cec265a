/** A worker that is told to end while its Redis hangs: the server is stopped, and its connections stay open. */

import { MachineLag, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect } from 'vitest'
import { ClusterFolder, freshCrawlId, seededSpider } from '../cluster/cluster-crawl.ts'

const GRACE_S = 3
/** What docs/deploy.md promises. */
const LONGER_S = 20

/** Ends in its time after SIGTERM, and says what was cut off. */
export async function endsThoughRedisHangs(mode: 'turns' | 'job'): Promise<void> {
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
  const worker = folder.workerProcess('one')
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
}
