/**
 * A callback whose loop never ends: what it has goes to others, and in the end to quarantine; its process is replaced. And one
 * that blocks for twice as long as a lock lasts: nobody else gets what its worker has.
 */

import { startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { ClusterFolder, followingSpider } from '../cluster/cluster-crawl.ts'
import { blockedForLong } from './cluster-blocked.ts'

test.each(['turns', 'job'])(
  'QUEUE_MODE=%s: a page whose callback never ends is quarantined, and the others are crawled',
  { timeout: 240_000 },
  async (mode) => {
    await using redis = await startRedis()
    await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 10, crossHostLinks: 0.2 })
    const endless = web.pageUrl(1, 1)
    const settings = {
      REDIS_URL: redis.url,
      QUEUE_MODE: mode,
      LOG_FORMAT: 'json',
      WORKER_BLOCKED_MAX: 2,
      QUARANTINE_AFTER: 1,
      SCHEDULER_PERSIST: true,
    }
    const spider = followingSpider(web).replace(
      'yield { url: response.url }',
      `while (response.url === ${JSON.stringify(endless)});
    yield { url: response.url }`,
    )
    await using folder = await ClusterFolder.of(web, settings, spider)

    const ended = await folder.worker('all', '--processes', '2').exited
    expect(ended.code, ended.stderr).toBe(0)
    expect(ended.stderr).toMatch(/blocked for longer than WORKER_BLOCKED_MAX; it is killed/)
    const listed = JSON.parse((await folder.run('quarantine', 'list', 'pages', '--json')).stdout)
    expect(listed).toMatchObject([{ url: endless, reason: expect.stringMatching(/killed 1 workers/) }])
    const without = new Set(web.reachable())
    without.delete(endless)
    expect(new Set(folder.itemUrls())).toEqual(without)
  },
)

test.each(['turns', 'job'] as const)(
  'QUEUE_MODE=%s: a callback blocks its worker for twice as long as a lock lasts: each page is fetched once, and the worker is not lost',
  { timeout: 240_000 },
  async (mode) => {
    await using redis = await startRedis()
    await blockedForLong(redis, mode)
  },
)
