/** Workers that join a crawl whose Redis is at its maxmemory. */

import { startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { ClusterFolder, messagesOf } from '../cluster/cluster-crawl.ts'

const LONG = { timeout: 120_000 }
/** Less than a Redis needs when it is empty. */
const FULL = '500kb'

test.concurrent.each(['turns', 'job'])(
  'QUEUE_MODE=%s: one waits until there is room, and another ends when it is told to',
  LONG,
  async (mode) => {
    const redis = await startRedis()
    try {
      await using web = await startFakeWebProcess({ hosts: 1, pagesPerHost: 10 })
      const settings = { REDIS_URL: redis.url, QUEUE_MODE: mode, LOG_FORMAT: 'json' }
      await using folder = await ClusterFolder.of(web, settings)
      await redis.command('CONFIG', 'SET', 'maxmemory', FULL)
      const workers = [folder.worker('a'), folder.worker('b')] as const
      for (const worker of workers)
        await worker.waitForOutput(/joining the crawl must wait: Redis has reached its maxmemory.*CONFIG SET/)
      workers[1].kill('SIGTERM')
      const told = await workers[1].exited
      expect(messagesOf(told).at(-1)).toBe('crawl ended: shutdown')
      expect(told.stderr).not.toContain('unexpected error')
      await redis.command('CONFIG', 'SET', 'maxmemory', '0')
      const { code, stderr } = await workers[0].exited
      expect(code, stderr).toBe(0)
      expect((await web.hits()).length).toBe(web.linked().size)
    } finally {
      await redis.stop()
    }
  },
)
