/** The three spiders as somebody would run them: workers, a real Redis, the site beside them. */

import { type ProcessResult, type RedisServer, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { SHORT_TIMES } from '../../tests/cluster/cluster-crawl.ts'
import { startWebloom } from '../../tests/projects/command-hosts.ts'
import { entriesOf, PATHS, type Site, startSite } from './site/site.ts'

let redis: RedisServer
let site: Site
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
beforeEach(async () => {
  await redis.command('FLUSHALL')
  site = await startSite()
  return () => site.close()
})

const worker = (spider: string, ...words: string[]): Promise<ProcessResult> =>
  startWebloom(['worker', spider, '-s', 'DOWNLOAD_DELAY=0', ...words], {
    cwd: import.meta.dirname,
    env: { REDIS_URL: redis.url, WEBLOOM_LOG_FORMAT: 'json' },
    factor: SHORT_TIMES,
    timeoutMs: 60_000,
  }).exited

async function itemsOf(spider: string): Promise<Record<string, string>[]> {
  const lines = (await redis.command('LRANGE', `${spider}:items`, 0, -1)) as string[]
  return lines.map((line) => JSON.parse(line) as Record<string, string>)
}

test('dmoz: two workers follow the categories together, each once, and take their entries', async () => {
  const words = ['-a', `startUrls=${site.url}`, '-a', 'allowedDomains=127.0.0.1']
  const ended = await Promise.all([worker('dmoz', ...words), worker('dmoz', ...words)])
  for (const { code, stderr } of ended) expect(code, stderr).toBe(0)
  expect([...site.fetches.keys()].filter((path) => path !== '/robots.txt').toSorted()).toEqual(
    PATHS.toSorted(),
  )
  for (const path of PATHS) expect(site.fetches.get(path), path).toBe(1)

  const items = await itemsOf('dmoz')
  const expected = PATHS.flatMap(entriesOf).map((entry) => ({
    ...entry,
    crawled: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    spider: 'dmoz',
  }))
  expect(items).toHaveLength(expected.length)
  expect(items).toEqual(expect.arrayContaining(expected))
})

test('mycrawler_redis takes a start URL from its list and follows every link from there on', async () => {
  await redis.command('LPUSH', 'mycrawler:start_urls', `${site.url}Science/`)
  const { code, stderr } = await worker('mycrawler_redis', '-a', 'maxIdleTime=1')
  expect(code, stderr).toBe(0)
  const pages = (await itemsOf('mycrawler_redis')).map(({ url }) => url!.replace(site.url, '/'))
  // The start page itself is for parseStartUrl, which this spider does not have.
  expect(pages.toSorted()).toEqual(['/Arts/Music/', '/Arts/Weaving/', '/Science/Rivers/'])
})

test('myspider_redis fetches its start URLs and nothing beyond them', async () => {
  await redis.command('LPUSH', 'myspider:start_urls', `${site.url}Arts/`, `${site.url}Science/`)
  const { code, stderr } = await worker('myspider_redis', '-a', 'maxIdleTime=1')
  expect(code, stderr).toBe(0)
  const names = (await itemsOf('myspider_redis')).map(({ name }) => name)
  expect(names.toSorted()).toEqual(['Directory /Arts/', 'Directory /Science/'])
})
