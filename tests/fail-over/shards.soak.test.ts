/**
 * A crawl over six shards of a cluster of three masters, each with a replica: its workers and the masters are killed, one after the
 * other, shards move from master to master, and every page is fetched, by whoever is left, hardly any twice, and
 * none before its host's delay is over.
 */

import { expect, test } from 'vitest'
import { crawlRedisKeys } from '../../packages/queue/src/redis/crawl-redis-keys.ts'
import { CrawlShards } from '../../packages/queue/src/shards/crawl-shards.ts'
import { type DisturbedCrawl, isCrawled, killMaster, killWorkers, moveSlots } from './disturbed-crawl.ts'

const SHARDS = 6
const CRAWL: DisturbedCrawl = {
  name: 'shards',
  settings: { QUEUE_SHARDS: SHARDS },
  pages: { pagesPerHost: 40, linksPerPage: 4 },
}

const shardsOf = (crawlId: string) => new CrawlShards(crawlRedisKeys({ spider: 'pages', crawlId }), SHARDS)

test.each([1, 2, 3])(
  'seed %i: workers are killed, one after the other: each page is fetched',
  async (seed) => {
    await isCrawled(CRAWL, seed, killWorkers)
  },
)

test.each([4, 5, 6])(
  'seed %i: a master is killed and its replica takes its place, and a worker is killed then: each page is fetched',
  async (seed) => {
    await isCrawled(CRAWL, seed, async (round) => {
      await killMaster(round, shardsOf(round.crawlId).queues[seed % SHARDS]!.record)
    })
  },
)

test.each([7, 8])(
  'seed %i: the shards and the home move to another master, one after the other, and a worker is killed meanwhile: none stands still for a second',
  async (seed) => {
    let moves: number[] = []
    await isCrawled(CRAWL, seed, async (round) => {
      const keys = shardsOf(round.crawlId).parts.map(({ record }) => record)
      moves = await moveSlots(round, keys)
    })
    expect(Math.max(...moves)).toBeLessThan(1000)
  },
)
