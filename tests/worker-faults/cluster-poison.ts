/** A page that kills every worker that has it: it alone is quarantined, and what was beside it is crawled. */

import { type FakeWebProcess, startFakeWebProcess, startRedis } from '@webloom/testkit'
import { expect } from 'vitest'
import {
  ClusterFolder,
  fetchCounts,
  followingSpider,
  freshCrawlId,
  messagesOf,
  repeatsOfLinks,
  STATS_EACH_SECOND,
} from '../cluster/cluster-crawl.ts'

const CONCURRENCY = 4

/** One of its pages kills the process whose callback it comes to. */
function poisonedSpider(web: FakeWebProcess, poison: string): string {
  return followingSpider(web).replace(
    'yield { url: response.url }',
    `if (response.url === ${JSON.stringify(poison)}) process.kill(process.pid, 'SIGKILL')
    yield { url: response.url }`,
  )
}

/** The page is quarantined after three workers, its neighbours are crawled, and a retry is crawled once the spider is mended. */
export async function poisonedCrawl(mode: 'turns' | 'job'): Promise<void> {
  await using redis = await startRedis()
  await using web = await startFakeWebProcess({ hosts: 2, pagesPerHost: 40, crossHostLinks: 0.2 })
  const poison = web.pageUrl(1, 1)
  const settings = {
    REDIS_URL: redis.url,
    CRAWL_ID: freshCrawlId(mode),
    QUEUE_MODE: mode,
    CONCURRENT_REQUESTS: CONCURRENCY,
    ...STATS_EACH_SECOND,
    LOG_FORMAT: 'json',
    SCHEDULER_PERSIST: true,
  }
  await using folder = await ClusterFolder.of(web, settings, poisonedSpider(web, poison))

  const ended = await folder.worker('all', '--processes', '2').exited
  expect(ended.code, ended.stderr).toBe(0)
  const hits = await web.hits()
  const counts = fetchCounts(hits)
  expect([...web.linked()].filter((url) => !counts.has(url))).toEqual([])
  const without = new Set(web.reachable())
  without.delete(poison)
  expect(new Set(folder.itemUrls())).toEqual(without)

  const [entry, ...rest] = JSON.parse((await folder.run('quarantine', 'list', 'pages', '--json')).stdout)
  expect(rest).toEqual([])
  expect(entry).toMatchObject({ url: poison, reason: expect.stringMatching(/killed 3 workers/) })
  // Once among others, then three times alone; each time another process.
  expect(entry.history.length).toBe(4)
  expect(new Set(entry.history.map(({ worker }: { worker: string }) => worker)).size).toBe(4)
  expect(counts.get(poison)).toBe(4)
  const others = hits.filter(({ url }) => url !== poison)
  // A killed worker has not told what it counted in its last second.
  expect(repeatsOfLinks(web, others)).toBeLessThanOrEqual((await folder.repeatsCounted()) + CONCURRENCY)
  const text = await folder.run('quarantine', 'list', 'pages')
  expect(text.stdout).toContain(poison)

  folder.writeSpider(followingSpider(web))
  const retried = await folder.run('quarantine', 'retry', 'pages', entry.id)
  expect(retried.code, retried.stderr).toBe(0)
  const again = await folder.worker('again').exited
  expect(again.code, again.stderr).toBe(0)
  expect(messagesOf(again).at(-1)).toBe('crawl ended: finished')
  expect(fetchCounts(await web.hits()).get(poison)).toBe(5)
  expect(new Set(folder.itemUrls())).toEqual(web.reachable())
  expect((await folder.run('quarantine', 'list', 'pages')).stdout).toMatch(/nothing is quarantined/)
}
