/** Users are made at each node of a cluster by itself: a replica that lacks the crawl's takes its master's place. */

import { InUse, startCluster, startFakeWebProcess } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { crawlRedisKeys } from '../../packages/queue/src/redis/crawl-redis-keys.ts'
import { CrawlShards } from '../../packages/queue/src/shards/crawl-shards.ts'
import { ClusterFolder, expectComplete, freshCrawlId } from '../cluster/cluster-crawl.ts'

const SHARDS = 6

test.each([
  ['the home’s', 0],
  ['a shard’s', 3],
])(
  '%s master is replaced by a node without the user: the crawl names it, waits, and goes on by the line that is told',
  async (_whose, part) => {
    await using used = new InUse()
    const cluster = used.use(await startCluster({ replicas: 1, password: 'admin' }))
    const web = used.use(
      await startFakeWebProcess({ seed: 1, hosts: 12, pagesPerHost: 10, crossHostLinks: 0.5 }),
    )
    for (const node of cluster.nodes.slice(0, 3))
      await node.command('ACL', 'SETUSER', 'loom', 'on', '>pw', '~*', '&*', '+@all')
    const crawlId = freshCrawlId('userless')
    await using folder = await ClusterFolder.of(web, {
      REDIS_URL: cluster.url.replace(/\/\/:[^@]+@/, '//loom:pw@'),
      ...{ QUEUE_SHARDS: SHARDS, DUPEFILTER_SHARDS: 4, CRAWL_ID: crawlId, DOWNLOAD_DELAY: 0.2 },
    })
    const workers = ['a', 'b'].map((name) => folder.workerProcess(name))
    await web.waitForHits(30, 60_000)
    const { home, queues } = new CrawlShards(crawlRedisKeys({ spider: 'pages', crawlId }), SHARDS)
    const key = [home, ...queues][part]!.record
    const gone = (await cluster.masterOf(key))!
    await gone.kill()
    // Of the same slot.
    const next = await cluster.untilWritable(`${key}:probe`, gone)
    const lines = await Promise.all(
      workers.map((worker) =>
        worker.waitForOutput(
          /its node (\S+) does not let this process in.*: ACL (SETUSER loom .*?) \(docs/,
          30_000,
        ),
      ),
    )
    for (const [line, node] of lines) {
      expect(node).toBe(`127.0.0.1:${next.port}`)
      expect(line).not.toContain('REDIS_URL')
    }
    await next.command('ACL', ...lines[0]![2]!.replace('<password>', 'pw').split(' '))
    for (const { exited } of workers) {
      const { code, stderr } = await exited
      expect(code, stderr).toBe(0)
      expect(stderr).toContain('Redis lets this process in again')
    }
    await expectComplete(web, folder, { more: 30 })
  },
)
