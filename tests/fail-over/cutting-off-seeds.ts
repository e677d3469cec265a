/**
 * Seeds of another Redis that are queued at a master just when it is cut off: it answers for longer than what it took is there. When a
 * run's word alone removes them some are lost, with Sentinels and on a cluster.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { InUse, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect } from 'vitest'
import { ClusterFolder, freshCrawlId } from '../cluster/cluster-crawl.ts'
import { fail, type Spared, startSpared, type Topology } from './cutting-off.ts'
import { heal, SIDE } from './namespace.ts'

/**
 * A host is asked so seldom that most seeds of the last moments are still queued when the old master is given up, and with it what it
 * has of them: a page that was fetched is lost to nobody.
 */
const DELAY_S = 4
/** Longer than seeds are kept by the clock alone. */
const GONE_AFTER_MS = 7000
const BACK_AFTER_MS = 6000

/** Follows nothing, so that a page is crawled by its seed alone. The worker is on the side of the master that is cut off. */
const SPIDER = `import { RedisSpider } from 'webloom'
if (process.argv.includes('items-a.jsonl')) process.setgid(${SIDE})

export default class Pages extends RedisSpider {
  name = 'pages'
  maxIdleTime = 30
  async *parse(response) {
    yield { url: response.url }
  }
}
`

export async function cutsOffSeeds({ topology, seed }: { topology: Topology; seed: number }): Promise<void> {
  await using used = new InUse()
  const redis = await startSpared(topology, GONE_AFTER_MS)
  used.use({ [Symbol.asyncDispose]: () => redis.stop() })
  const seeds = used.use(await startRedis({ appendonly: 'always' }))
  const web = used.use(await startFakeWebProcess({ seed, hosts: 4, pagesPerHost: 10 }))
  const { crawlId, key } = await atOneMaster(redis)
  const settings = {
    REDIS_URL: redis.url,
    SEEDS_REDIS_URL: seeds.url,
    CRAWL_ID: crawlId,
    CONCURRENT_REQUESTS: 4,
    DOWNLOAD_DELAY: DELAY_S,
    RANDOMIZE_DOWNLOAD_DELAY: false,
    REDIS_START_URLS_BATCH_SIZE: 40,
    LOG_FORMAT: 'json',
  }
  const folder = used.use(await ClusterFolder.of(web, settings, SPIDER))
  used.use({ [Symbol.asyncDispose]: async () => heal() })
  const worker = folder.worker('a')
  const urls = [...web.reachable()]
  const push = (some: readonly string[]) => seeds.command('RPUSH', `pages:${crawlId}:start_urls`, ...some)
  await push(urls.slice(0, 20))
  await web.waitForHits(10, 120_000)
  const master = await redis.masterOf(key)
  // It takes writes without replicas, as it does where nobody has set otherwise: else it would refuse the seeds, and nothing could be lost.
  await master.command('CONFIG', 'SET', 'min-replicas-to-write', '0')
  await fail('cut off', master, redis)
  await push(urls.slice(20))
  await redis.untilOther(key, master)
  // Waits: the old master stays cut off for longer than seeds are kept for it: nothing tells that.
  await sleep(BACK_AFTER_MS)
  heal()
  const { code, stderr } = await worker.exited
  expect(code, stderr).toBe(0)
  const crawled = new Set(folder.itemUrls())
  expect(urls.filter((url) => !crawled.has(url))).toEqual([])
}

/**
 * A CRAWL_ID whose filter lies with its queue, and the queue's key. Of a cluster that is cut off the worker would reach the filter no more
 * otherwise, and queue no seed that could be lost.
 */
async function atOneMaster(redis: Spared): Promise<{ crawlId: string; key: string }> {
  for (;;) {
    const crawlId = freshCrawlId('cut-off-seeds')
    const key = `webloom:{pages@${crawlId}}:record`
    const [queue, filter] = await Promise.all([key, `pages:${crawlId}:dupefilter`].map(redis.masterOf))
    if (queue === filter) return { crawlId, key }
  }
}
