/**
 * The master of a crawl's Redis is killed while its first workers start: they wait, and every page is crawled. A command waits four seconds for a
 * master of a cluster that it has never heard of, which a fail-over may take longer than; typed again it does what it is to do.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { InUse, startFakeWebProcess } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { ClusterFolder, expectComplete, followingSpider, freshCrawlId } from '../cluster/cluster-crawl.ts'
import { CONCURRENCY, cluster, mayRepeat, sentinels } from './failing-over.ts'

/** Processes start in about half a second, and the crawl is over two seconds later. */
const KILLED_BY_MS = 2500
const ROUNDS = 10
/** The exit code of what could not reach its Redis. */
const UNREACHABLE = 3

describe.each([
  ['Sentinels', 1, () => sentinels()],
  ['a cluster', 1, cluster],
  ['a cluster', 6, cluster],
] as const)('%s, QUEUE_SHARDS=%i', (_, shards, start) => {
  test.each(Array.from({ length: ROUNDS }, (_one, n) => Math.round(((n + 0.5) * KILLED_BY_MS) / ROUNDS)))(
    'the master is killed after %i ms: workers, status and import end well',
    async (killedAfterMs) => {
      await using used = new InUse()
      const redis = used.use(await start())
      const web = used.use(
        await startFakeWebProcess({ seed: killedAfterMs, hosts: 3, pagesPerHost: 12, crossHostLinks: 0.3 }),
      )
      const crawlId = freshCrawlId('starting')
      const settings = {
        ...{ REDIS_URL: redis.url, CRAWL_ID: crawlId, QUEUE_SHARDS: shards },
        ...{ CONCURRENT_REQUESTS: CONCURRENCY, LOG_FORMAT: 'json' },
      }
      const folder = used.use(await ClusterFolder.of(web, settings, followingSpider(web)))
      const workers = [folder.workerProcess('a'), folder.workerProcess('b')]
      const commands = [
        ['status', 'pages', '--json'],
        ['import', 'scrapy-redis', 'pages'],
      ].map((words) => ({ words, started: folder.start(...words) }))
      await sleep(killedAfterMs) // Waits: they may be anywhere in their start.
      const { goneAtMs } = await redis.failOver(`{pages@${crawlId}}`)
      for (const { code, stderr } of await Promise.all(workers.map(({ exited }) => exited)))
        expect(code, stderr).toBe(0)
      for (const { words, started } of commands) {
        const first = await started.exited
        if (first.code === UNREACHABLE) expect(first.stderr).toContain('and then type this again')
        const { code, stderr } = first.code === UNREACHABLE ? await folder.start(...words).exited : first
        expect(code, stderr).toBe(0)
      }
      const hits = await web.hits()
      await expectComplete(web, folder, { more: mayRepeat(hits, { goneAtMs, untilMs: goneAtMs }, web) })
    },
  )
})
