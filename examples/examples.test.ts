/** The examples that crawl the bookshop, and the broad crawl: each as its README runs it, in this process. */

import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tempDir } from '@webloom/testkit'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { crawl, type SettingsInput, type SpiderClass } from 'webloom'
import BooksSpider from './books/books.ts'
import BroadSpider from './broad-crawl/broad.ts'
import { addressOf, ENDLESS_HOST, GONE_HOST, HOSTS, startWeb } from './broad-crawl/web/web.ts'
import CheerioSpider from './cheerio/cheerio.ts'
import ShopSpider from './custom-dupefilter/shop.ts'
import CrowdedSpider from './custom-middleware/crowded.ts'
import BooksTableSpider from './database/books-table.ts'
import CoversSpider from './images/images.ts'
import BooksApiSpider from './json-api/json-api.ts'
import OrdersSpider from './login/login.ts'
import { BOOKS, ON_SALE, ORDERS } from './site/books.ts'
import { coverOf } from './site/covers.ts'
import { changedOn } from './site/feeds.ts'
import { bookPath } from './site/pages.ts'
import { type Site, startSite } from './site/site.ts'
import BookSitemapSpider from './sitemap/sitemap.ts'

let site: Site
beforeEach(async () => {
  site = await startSite()
})
afterEach(() => site.close())

type Item = Readonly<Record<string, unknown>>

interface Crawled {
  readonly finishReason: string
  readonly items: readonly Item[]
  readonly stats: Readonly<Record<string, unknown>>
}

async function crawled(
  Class: SpiderClass,
  args: Readonly<Record<string, string>>,
  settings: SettingsInput = {},
): Promise<Crawled> {
  const items: Item[] = []
  const { finishReason, stats } = await crawl(Class, {
    args,
    settings: { DOWNLOAD_DELAY: 0, LOG_LEVEL: 'CRITICAL', ...settings },
    onItem: (item) => items.push(item as Item),
  })
  return { finishReason, items, stats: stats as Crawled['stats'] }
}

const urlOf = (path: string) => new URL(path, site.url).href
const sorted = (values: readonly unknown[]) => values.map(String).toSorted()
const TITLES = sorted(BOOKS.map(({ title }) => title))

test('books: each book once, by rules; sale, login and basket are left alone', async () => {
  const { items } = await crawled(BooksSpider, { startUrls: site.url })
  const expected = BOOKS.map(({ number: _, ...book }, index) => ({
    url: urlOf(bookPath(BOOKS[index]!)),
    ...book,
  }))
  expect(items).toHaveLength(expected.length)
  expect(items).toEqual(expect.arrayContaining(expected))
  expect(site.requests.filter((request) => /sale|login|basket|about/.test(request))).toEqual([])
  expect(new Set(site.requests).size).toBe(site.requests.length)
})

test('sitemap: pages that have changed since, of the sitemaps that robots.txt names', async () => {
  const changed = BOOKS.filter((book) => changedOn(book) >= '2026').map((book) => urlOf(bookPath(book)))
  const args = { sitemapUrls: urlOf('robots.txt') }
  const { items } = await crawled(BookSitemapSpider, args)
  expect(sorted(items.map(({ url }) => url))).toEqual(sorted(changed))

  const all = await crawled(BookSitemapSpider, { ...args, since: '2025-01-01' })
  expect(sorted(all.items.map(({ title }) => title))).toEqual(TITLES)
})

test('login: the orders of all pages; a wrong password ends the crawl and says so', async () => {
  const { items } = await crawled(OrdersSpider, { site: site.url })
  expect(items).toEqual(ORDERS)

  const refused = await crawled(OrdersSpider, { site: site.url, password: 'guess' })
  expect(refused.finishReason).toBe('login_failed: Name or password is wrong.')
  expect(refused.items).toEqual([])
})

test('json-api: every book, with its stock', async () => {
  const { items } = await crawled(BooksApiSpider, { site: site.url })
  const expected = BOOKS.map(({ category: _, ...book }) => book)
  expect(items).toHaveLength(expected.length)
  expect(items).toEqual(expect.arrayContaining(expected))
  expect(site.requests.filter((request) => request === 'POST /api/stock')).toHaveLength(4)
})

test('images: the cover of each book, in a file with its title', async () => {
  await using folder = await tempDir()
  const { items } = await crawled(CoversSpider, { startUrls: site.url }, { FILES_STORE: folder.path })
  expect(sorted(items.map(({ title }) => title))).toEqual(TITLES)
  expect(items.find(({ title }) => title === 'The Lantern at Dusk')!.files).toMatchObject([
    { url: urlOf('/covers/1.png'), path: 'the-lantern-at-dusk.png', status: 'downloaded' },
  ])
  expect(readFileSync(folder.join('the-lantern-at-dusk.png'))).toEqual(coverOf(1))
})

test('cheerio: title and price of each book, from all list pages', async () => {
  const { items } = await crawled(CheerioSpider, { startUrls: site.url })
  expect(items).toEqual(BOOKS.map(({ title, price }) => ({ title, price })))
})

test('custom-middleware: a page that says "try again" is fetched again, and its callback gets the book', async () => {
  const { items, stats } = await crawled(CrowdedSpider, { startUrls: urlOf('/crowded/') })
  expect(sorted(items.map(({ title }) => title))).toEqual(sorted(ON_SALE.map(({ title }) => title)))
  expect(stats['busy_pages/again']).toBe(ON_SALE.length)
})

test('custom-dupefilter: a book that has two addresses is fetched at one of them', async () => {
  const { items } = await crawled(ShopSpider, { startUrls: `${site.url},${urlOf('/sale/')}` })
  expect(sorted(items.map(({ title }) => title))).toEqual(TITLES)
})

const asRow = ({ number, title, author, price, stock }: (typeof BOOKS)[number]) => ({
  number: String(number),
  title,
  author,
  price,
  stock,
})

test('database: a row for each book in SQLite, and the same rows after a second crawl', async () => {
  await using folder = await tempDir()
  const SQL_URL = `sqlite:${folder.join('books.db')}`
  for (const _ of ['first', 'second']) await crawled(BooksTableSpider, { startUrls: site.url }, { SQL_URL })
  using database = new DatabaseSync(folder.join('books.db'))
  const rows = database.prepare('SELECT * FROM books ORDER BY CAST(number AS INTEGER)').all()
  expect(rows.map((row) => ({ ...row }))).toEqual(BOOKS.map(asRow))
})

const POSTGRES_URL = process.env.TEST_POSTGRES_URL
// A crawl would take it for a setting, and there is none of that name.
delete process.env.TEST_POSTGRES_URL

test.skipIf(POSTGRES_URL === undefined)(
  'database: a row for each book in PostgreSQL (TEST_POSTGRES_URL)',
  async () => {
    const SQL_TABLE = `webloom_test_${crypto.randomUUID().replaceAll('-', '')}`
    const client = new Client(POSTGRES_URL)
    await client.connect()
    try {
      await crawled(BooksTableSpider, { startUrls: site.url }, { SQL_URL: POSTGRES_URL!, SQL_TABLE })
      const { rows } = await client.query(
        `SELECT number, title, author, price::float, stock FROM ${SQL_TABLE} ORDER BY number::int`,
      )
      expect(rows).toEqual(BOOKS.map(asRow))
    } finally {
      await client.query(`DROP TABLE IF EXISTS ${SQL_TABLE}`)
      await client.end()
    }
  },
)

test('broad-crawl: all hosts from two seeds; the endless one ends, too, and the one that is gone holds nobody up', async () => {
  const web = await startWeb()
  try {
    await using folder = await tempDir()
    const seeds = folder.join('seeds.txt')
    writeFileSync(seeds, `${web.origins[0]}/\n\n${web.origins[19]}/\n`)
    const { finishReason, items } = await crawled(BroadSpider, { seeds }, { RETRY_BACKOFF: 0 })
    expect(finishReason).toBe('finished')
    const hosts = items.map(({ url }) => new URL(String(url)).hostname)
    expect(new Set(hosts).size).toBe(HOSTS)
    expect(hosts).not.toContain(addressOf(GONE_HOST))
    const asked = (host: number) => web.pagesAsked.get(addressOf(host))
    for (let host = 1; host <= HOSTS; host++)
      if (host !== ENDLESS_HOST) expect(asked(host), addressOf(host)).toBe(5)
    // The twentieth page's links are dropped; what the pages before it have queued is fetched.
    expect(asked(ENDLESS_HOST)).toBeGreaterThanOrEqual(20)
    expect(asked(ENDLESS_HOST)).toBeLessThanOrEqual(30)
  } finally {
    await web.close()
  }
})
