/** The examples that need a Redis: real ones, and two workers in this process. */

import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { type RedisServer, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CrawlCallOptions, crawl, type SpiderClass } from 'webloom'
import ShopSpider from './cluster-bloom/shop.ts'
import CategoriesSpider from './seeds-from-python/categories.ts'
import { BOOKS, CATEGORIES } from './site/books.ts'
import { type Site, startSite } from './site/site.ts'

let redis: RedisServer
let site: Site
let siteOfSeeds: Site
beforeAll(async () => {
  ;[redis, site, siteOfSeeds] = await Promise.all([startRedis(), startSite(), startSite()])
})
afterAll(() => Promise.all([redis.stop(), site.close(), siteOfSeeds.close()]))

const work = (Class: SpiderClass, options: Pick<CrawlCallOptions, 'args' | 'onItem' | 'signal'>) =>
  crawl(Class, {
    settings: { REDIS_URL: redis.url, DOWNLOAD_DELAY: 0, LOG_LEVEL: 'CRITICAL', SCHEDULER_PERSIST: true },
    ...options,
  })

// Both tests at once, as most of each is waiting: each has a site of its own.
test('cluster-bloom: two workers fetch each page once between them; what was met is in a Bloom filter', {
  concurrent: true,
}, async () => {
  const options = { args: { site: site.url } }
  const ended = await Promise.all([work(ShopSpider, options), work(ShopSpider, options)])
  expect(ended.map(({ finishReason }) => finishReason)).toEqual(['finished', 'finished'])
  const items = (await redis.command('LRANGE', 'shop:items', 0, -1)) as string[]
  const titles = items.map((item) => (JSON.parse(item) as { title: string }).title)
  expect(new Set(titles)).toEqual(new Set(BOOKS.map(({ title }) => title)))
  expect(new Set(site.requests).size).toBe(site.requests.length)
  expect(await redis.command('TYPE', 'shop:bloomfilter')).toBe('string')
})

const SCRIPT = join(import.meta.dirname, 'seeds-from-python/seeds.py')
const hasPython = spawnSync('python3', ['--version']).status === 0

test('seeds-from-python: what the script sends becomes pages, with its arguments', {
  concurrent: true,
  skip: !hasPython,
}, async () => {
  // The script's messages without redis-py, which a machine may lack: it is imported where it is used.
  const program = `import runpy; s = runpy.run_path(${JSON.stringify(SCRIPT)}); print(s['KEY'], *s['messages']('${siteOfSeeds.url}'), sep='\\n', end='')`
  const [key, ...messages] = execFileSync('python3', ['-c', program], { encoding: 'utf8' }).split('\n')
  await redis.command('LPUSH', key!, ...messages)
  const items: unknown[] = []
  const all = new AbortController()
  const onItem = (item: unknown) => {
    if (items.push(item) === messages.length) all.abort()
  }
  await work(CategoriesSpider, { onItem, signal: all.signal })
  const booksOf = (name: string) => BOOKS.filter(({ category }) => category === name).length
  expect(items).toHaveLength(3)
  expect(items).toEqual(
    expect.arrayContaining(
      [
        [CATEGORIES[0], 'fiction'],
        [CATEGORIES[1], 'history'],
        ['crafts', 'Händwerk'],
      ].map(([name, label]) => ({ url: `${siteOfSeeds.url}${name}/`, label, books: booksOf(name!) })),
    ),
  )
})
