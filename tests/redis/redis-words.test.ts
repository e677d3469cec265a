/** What workers say of the Redis that they are given. */

import { type RedisServer, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ClusterFolder, freshCrawlId } from '../cluster/cluster-crawl.ts'

const LONG = { timeout: 120_000 }

let evicting: RedisServer
beforeAll(async () => {
  evicting = await startRedis({ maxmemoryPolicy: 'allkeys-lru' })
})
afterAll(() => evicting.stop())

test.each(['turns', 'job'])(
  'QUEUE_MODE=%s: a Redis that evicts is one warning in the log, and BullMQ writes nothing of its own',
  LONG,
  async (mode) => {
    await using web = await startFakeWebProcess({ pagesPerHost: 3 })
    await using folder = await ClusterFolder.of(web, {
      REDIS_URL: evicting.url,
      CRAWL_ID: freshCrawlId('evicts'),
      QUEUE_MODE: mode,
    })
    const { code, stdout, stderr } = await folder.worker('a').exited
    expect(code, stderr).toBe(0)
    expect(stdout).toBe('')
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: string; msg: string })
    expect(lines.filter(({ msg }) => /eviction|maxmemory-policy/i.test(msg))).toMatchObject([
      {
        level: 'WARNING',
        msg: expect.stringMatching(/queue’s Redis: maxmemory-policy is allkeys-lru: .*Set/),
      },
    ])
  },
)
