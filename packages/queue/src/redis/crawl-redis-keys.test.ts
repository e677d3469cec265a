import { expect, test } from 'vitest'
import { CrawlShards } from '../shards/crawl-shards.ts'
import { crawlRedisKeys, crawlShown } from './crawl-redis-keys.ts'

test('messages call a crawl by its spider and CRAWL_ID, not by its key', () => {
  const shown = (spider: string, crawlId: string | null) => crawlShown(crawlRedisKeys({ spider, crawlId }))
  expect(shown('quotes', null)).toBe('crawl "quotes"')
  expect(shown('quotes', '2026-11')).toBe('crawl "quotes" (CRAWL_ID 2026-11)')
  expect(shown('a@b {c}', 'x@y')).toBe('crawl "a@b {c}" (CRAWL_ID x@y)')
})

test('a shard is shown as its crawl', () => {
  for (const crawlId of [null, '2026-11']) {
    const name = { spider: 'a#b', crawlId }
    expect(crawlShown(new CrawlShards(crawlRedisKeys(name), 48).keysOf('07'))).toBe(
      crawlShown(crawlRedisKeys(name)),
    )
  }
})
