/** What a worker that is killed while it leaves has left to do, and what stays of a crawl on Redis. */

import { type RedisServer, startFakeWebProcess, startTcpProxy } from '@webloom/testkit'
import { expect } from 'vitest'
import { ClusterFolder, fetchCounts, freshCrawlId } from '../cluster/cluster-crawl.ts'

/** Keys of requests, queued or seen. */
export const LEFTOVER = /dupefilter|noted|:(line|flight|host|late|prioritized|wait|delayed)|~/

export async function keysOfCrawl(crawlId: string, redis: RedisServer): Promise<string[]> {
  const keys = (await redis.command('KEYS', `*pages?${crawlId}[:}]*`)) as string[]
  // That a filter was emptied on purpose is known for ten minutes.
  return keys.filter((key) => !/:stats$|dupefilter\}:cleared$/.test(key)).sort()
}

/** The last worker is killed before its nth command after it has left; the next crawl is whole, and leaves nothing. */
export async function killLastWorker(nth: number, redis: RedisServer): Promise<void> {
  await using web = await startFakeWebProcess({ hosts: 1, pagesPerHost: 10 })
  await using proxy = await startTcpProxy({ target: redis.url })
  const crawlId = freshCrawlId(`killed-${nth}`)
  await using folder = await ClusterFolder.of(web, {
    REDIS_URL: redis.url,
    CRAWL_ID: crawlId,
    CONCURRENT_REQUESTS: 4,
    LOG_FORMAT: 'json',
  })
  folder.configure({ REDIS_URL: proxy.url })
  const last = folder.worker('a')
  let commands = Number.NaN
  proxy.judgeBy((command) => {
    if (command.some((word) => word.includes('"stops":'))) commands = 0
    else if (++commands >= nth) {
      last.kill('SIGKILL')
      return 'cut before it'
    }
    return 'forward'
  })
  await last.exited
  expect(commands, 'it has left').toBeGreaterThan(0)
  await web.resetHits()
  folder.configure({})
  const { code, stderr } = await folder.worker('b', '--new').exited
  expect(code, stderr).toBe(0)
  expect(new Set(fetchCounts(await web.hits()).keys())).toEqual(web.linked())
  expect((await keysOfCrawl(crawlId, redis)).filter((key) => LEFTOVER.test(key))).toEqual([])
}
