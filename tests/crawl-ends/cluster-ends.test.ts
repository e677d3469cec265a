/** When a crawl of several workers ends, and what is left then. */

import { type FakeWebProcess, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { afterAll, describe, expect, test } from 'vitest'
import {
  ClusterFolder,
  fetchCounts,
  finishRound,
  followingSpider,
  messagesOf,
  settingsOf,
} from '../cluster/cluster-crawl.ts'
import { clearedWhole, closedEarly, limited } from './cluster-ends.ts'
import { keysOfCrawl, LEFTOVER } from './cluster-leaving.ts'

const LONG = { timeout: 240_000 }

const redis = await startRedis()
afterAll(() => redis.stop())

const settings = (name: string, more: Readonly<Record<string, unknown>> = {}) =>
  settingsOf(redis, name, { CONCURRENT_REQUESTS: 4, ...more })
/** A crawl that is stopped in its middle is slow until then: the command that stops it takes a while to start. */
const SLOW = ['-s', 'DOWNLOAD_DELAY=2']
const keysOf = (crawlId: string) => keysOfCrawl(crawlId, redis)
const missedOf = async (web: FakeWebProcess) => {
  const counts = fetchCounts(await web.hits())
  return [...web.linked()].filter((url) => !counts.has(url))
}
const repeatedOf = async (web: FakeWebProcess) =>
  [...fetchCounts(await web.hits())].filter(([, count]) => count > 1)

test.concurrent(
  'three workers on a small web: none ends early, none hangs; without SCHEDULER_PERSIST no request stays, queued or seen',
  LONG,
  async () => {
    const crawlId = await finishRound(1, { redis, mode: 'turns' })
    const keys = await keysOf(crawlId)
    expect(keys).toContain(`webloom:{pages@${crawlId}}:record`)
    expect(keys.filter((key) => LEFTOVER.test(key))).toEqual([])
  },
)

test.concurrent('limits count for the cluster: CLOSESPIDER_PAGECOUNT', LONG, () =>
  limited(redis, ['CLOSESPIDER_PAGECOUNT', 60, 'closespider_pagecount', 'response_received_count']),
)

test.concurrent(
  'who joins a crawl and ends it by a limit of its own is told how to try something beside it, and the others whose limit it was',
  LONG,
  async () => {
    // Ten seconds old by then.
    await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 500, latencyMs: 500 })
    await using folder = await ClusterFolder.of(web, settings('trial'))
    const working = folder.worker('a')
    await web.waitForHits(96, 60_000)
    const trial = await folder.worker('b', '-s', 'CLOSESPIDER_PAGECOUNT=3').exited
    expect(trial.code, trial.stderr).toBe(0)
    expect(messagesOf(trial)).toContainEqual(
      expect.stringMatching(/^CLOSESPIDER_PAGECOUNT of this worker, which joined .* -s CRAWL_ID=trial$/),
    )
    const ended = await working.exited
    expect(ended.code, ended.stderr).toBe(0)
    expect(messagesOf(ended)).toContain(
      'CLOSESPIDER_PAGECOUNT of another worker has ended the crawl for all: this one sets none',
    )
  },
)

describe.concurrent('what stays of a crawl', () => {
  test(
    'stopped, with SCHEDULER_PERSIST: the next worker goes on where it was, and what was seen stays until SCHEDULER_FLUSH_ON_START',
    LONG,
    async () => {
      await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 30 })
      const kept = settings('kept', { SCHEDULER_PERSIST: true })
      await using folder = await ClusterFolder.of(web, kept)
      const first = [folder.worker('a', ...SLOW), folder.worker('b', ...SLOW)]
      await web.waitForHits(6, 60_000)
      expect((await folder.run('stop', 'pages')).code).toBe(0)
      for (const { code, stderr } of await Promise.all(first.map(({ exited }) => exited)))
        expect(code, stderr).toBe(0)
      expect((await missedOf(web)).length).toBeGreaterThan(0)
      const { code, stderr } = await folder.worker('c').exited
      expect(code, stderr).toBe(0)
      expect(await missedOf(web)).toEqual([])
      // What was in flight had its time to finish.
      expect(await repeatedOf(web)).toEqual([])
      expect(await redis.command('SCARD', `pages:${kept.CRAWL_ID}:dupefilter`)).toBe(web.linked().size)

      // Two that are to empty it do so once: what is being crawled stays.
      await web.resetHits()
      const emptied = ['-s', 'DOWNLOAD_DELAY=0.1', '-s', 'SCHEDULER_FLUSH_ON_START=true']
      const two = [folder.begin('crawl', 'pages', ...emptied)]
      await web.waitForHits(6, 60_000)
      two.push(folder.worker('d', ...emptied))
      for (const { code, stderr } of await Promise.all(two.map(({ exited }) => exited)))
        expect(code, stderr).toBe(0)
      expect(await missedOf(web)).toEqual([])
      expect(await repeatedOf(web)).toEqual([])
    },
  )
})

test.concurrent(
  'an early end at so many pages, without SCHEDULER_PERSIST, warns of nothing but of what is deleted',
  LONG,
  () => closedEarly(redis, 'turns'),
)

test.concurrent('a spider whose start() throws ends for all workers, and says so', LONG, async () => {
  await using web = await startFakeWebProcess()
  const spider = followingSpider(web, `async *start() { throw new Error('no start') }`)
  await using folder = await ClusterFolder.of(web, settings('throws'), spider)
  const ended = await Promise.all(['a', 'b'].map((name) => folder.worker(name).exited))
  for (const { code, stderr } of ended) {
    expect(code, stderr).toBe(1)
    expect(messagesOf({ stderr }).at(-1)).toBe('crawl ended: start_error')
  }
})

test.concurrent('webloom clear leaves no key of the crawl', LONG, () => clearedWhole(redis, 'turns'))
