/** Whole crawls by the spiders that walk sites and read feeds, on small sites of their own. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { type RedisServer, startRedis, tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest'
import {
  type Callback,
  CrawlSpider,
  CSVFeedSpider,
  crawl,
  type Failure,
  type Link,
  LinkExtractor,
  RedisCrawlSpider,
  Request,
  type Response,
  Rule,
  type Selector,
  type SettingsInput,
  type SitemapEntry,
  SitemapSpider,
  type SpiderClass,
  XMLFeedSpider,
} from 'webloom'
import type { Logger } from 'webloom/ports'

type Page = string | { readonly type?: string; readonly body: string | Uint8Array }

interface SmallSite extends AsyncDisposable {
  readonly url: string
  /** Paths in the order they were asked for. */
  readonly asked: string[]
}

/** Pages by path; `{site}` in them is the address of the site. HTML unless they say otherwise. */
async function startSite(pages: Readonly<Record<string, Page>>): Promise<SmallSite> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    const page = pages[request.url!]
    if (page === undefined) {
      response.writeHead(404, { 'content-type': 'text/html' }).end()
      return
    }
    const { type = 'text/html', body } = typeof page === 'string' ? { body: page } : page
    response.writeHead(200, { 'content-type': type })
    response.end(typeof body === 'string' ? body.replaceAll('{site}', url) : body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

interface Outcome {
  readonly items: unknown[]
  readonly stats: Record<string, unknown>
  readonly warnings: string[]
}

async function run(Class: SpiderClass, site: SmallSite, settings: SettingsInput = {}): Promise<Outcome> {
  const items: unknown[] = []
  const warnings: string[] = []
  const note = (first: object | string, message?: string) => void warnings.push(message ?? String(first))
  const logger: Logger = { debug() {}, info() {}, warn: note, error: note, child: () => logger }
  class Collector {
    processItem(item: unknown) {
      items.push(item)
      return item
    }
  }
  const { stats } = await crawl(Class, {
    args: { site: site.url },
    settings: { ITEM_PIPELINES: [[Collector as never, 1]], CONCURRENT_REQUESTS: 1, ...settings },
    logger,
  })
  return { items, stats: stats as Record<string, unknown>, warnings }
}

describe('CrawlSpider', () => {
  const shop: Record<string, Page> = {
    '/': '<a href="/list/1">list</a> <a href="/item/1">one</a> <a href="/about">about</a>',
    '/list/1':
      '<a href="/list/2">next</a> <a href="/item/2" rel="nofollow">two</a> <a href="/item/1">one</a>',
    '/list/2': '<a href="/item/3">three</a> <a href="/item/secret">no</a>',
    '/item/1': '<h1>One</h1> <a href="/item/4">not followed</a>',
    '/item/2': '<h1>Two</h1>',
    '/item/3': '<h1>Three</h1>',
    '/plain': { type: 'text/plain', body: '<a href="/item/9">' },
  }

  class Shop extends CrawlSpider {
    override name = 'shop'
    site = ''
    override rules = [
      new Rule(new LinkExtractor({ allow: /\/item\// }), {
        callback: this.parseItem,
        cbKwargs: { shelf: 'new' },
        processLinks: 'withoutSecrets',
        processRequest: (request) => request.replace({ priority: 5 }),
      }),
      new Rule({ linkExtractor: new LinkExtractor({ deny: 'about' }) }),
    ]

    override *start() {
      yield new Request(`${this.site}/`)
    }

    withoutSecrets(links: Link[]) {
      return links.filter(({ url }) => !url.includes('secret'))
    }

    *parseItem(response: Response, { shelf }: { shelf?: string }): Generator<object> {
      yield { title: response.css('h1::text').get(), shelf, text: response.meta.link_text }
    }
  }

  test('each link belongs to the first rule that finds it; pages without a callback are followed', async () => {
    await using site = await startSite(shop)
    const { items } = await run(Shop, site)
    expect(items).toEqual([
      { title: 'One', shelf: 'new', text: 'one' },
      { title: 'Two', shelf: 'new', text: 'two' },
      { title: 'Three', shelf: 'new', text: 'three' },
    ])
    expect(site.asked.toSorted()).toEqual([
      '/',
      '/item/1',
      '/item/2',
      '/item/3',
      '/item/secret',
      '/list/1',
      '/list/2',
    ])
  })

  test('start pages go to parseStartUrl, and what callbacks give goes through processResults', async () => {
    await using site = await startSite(shop)
    class Counted extends Shop {
      override async parseStartUrl(response: Response) {
        return { start: response.url.slice(site.url.length) }
      }
      override processResults(_response: Response, results: unknown[]) {
        return results.map((result) => ({ ...(result as object), of: results.length }))
      }
    }
    const { items } = await run(Counted, site)
    expect(items.slice(0, 2)).toEqual([
      { start: '/', of: 1 },
      { title: 'One', shelf: 'new', text: 'one', of: 1 },
    ])
  })

  test('a rule may have an errback, follow beyond its callback, and drop requests', async () => {
    await using site = await startSite(shop)
    const failed: string[] = []
    class Careful extends Shop {
      override rules = [
        new Rule(new LinkExtractor({ allow: 'item/', restrictCss: 'body' }), {
          callback: 'parseItem',
          follow: true,
          errback: 'failed',
          processRequest: (request) => (request.url.endsWith('/2') ? null : request),
        }),
        new Rule(new LinkExtractor({ allow: 'list' })),
      ]
      failed({ request }: Failure) {
        failed.push(request.url.slice(site.url.length))
      }
    }
    await run(Careful, site)
    expect(failed.toSorted()).toEqual(['/item/4', '/item/secret'])
    expect(site.asked).not.toContain('/item/2')
  })

  test('only pages are followed, and none with CRAWLSPIDER_FOLLOW_LINKS off', async () => {
    await using site = await startSite({ ...shop, '/': shop['/plain']! })
    await run(Shop, site)
    expect(site.asked).toEqual(['/'])
    await using other = await startSite(shop)
    await run(Shop, other, { CRAWLSPIDER_FOLLOW_LINKS: false })
    expect(other.asked).toEqual(['/'])
  })

  test('a rule that names no method is an error before any of its pages is asked for', async () => {
    await using site = await startSite(shop)
    class Misspelt extends Shop {
      override rules = [new Rule(undefined, { callback: 'parseItm' })]
    }
    const { stats } = await run(Misspelt, site)
    expect(site.asked).toEqual(['/'])
    expect(stats['spider_exceptions/WebloomError']).toBe(1)
  })

  test('a parse of its own is refused, with the name to use instead', async () => {
    await using site = await startSite(shop)
    class Classic extends Shop {
      override *parse() {}
    }
    await expect(run(Classic, site)).rejects.toThrow('Call it parseStartUrl')
  })

  test('after a stop another process goes on with the rules of queued requests', async () => {
    await using site = await startSite(shop)
    await using folder = await tempDir()
    const JOBDIR = folder.path
    await run(Shop, site, { JOBDIR, CLOSESPIDER_PAGECOUNT: 1 })
    expect(site.asked).toEqual(['/'])
    const { items } = await run(Shop, site, { JOBDIR })
    expect(items).toHaveLength(3)
  })

  test('types: what a rule and its methods get', () => {
    expectTypeOf<Rule['callback']>().toEqualTypeOf<Callback | null>()
    expectTypeOf<Shop['parseItem']>().parameter(0).toEqualTypeOf<Response>()
    expectTypeOf(new LinkExtractor().extractLinks).returns.toEqualTypeOf<Link[]>()
    // @ts-expect-error: a rule takes no option of that name
    expect(() => new Rule(undefined, { callbak: 'parseItem' })).toThrow(/Did you mean callback/)
  })
})

describe('RedisCrawlSpider', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  test('takes its start pages from Redis and follows their links by its rules', async () => {
    await using site = await startSite({ '/a': '<a href="/b">b</a>', '/b': '<a href="/c">c</a>', '/c': '' })
    await redis.command('FLUSHALL')
    await redis.command('RPUSH', 'follower:start_urls', `${site.url}/a`)
    class Follower extends RedisCrawlSpider {
      override name = 'follower'
      override maxIdleTime = 0.5
      site = ''
      override rules = [new Rule(new LinkExtractor(), { callback: this.parsePage, follow: true })]
      async *parsePage(response: Response): AsyncGenerator<object> {
        yield { path: response.url.slice(site.url.length) }
      }
    }
    const { items } = await run(Follower, site, { REDIS_URL: redis.url })
    expect(items).toEqual([{ path: '/b' }, { path: '/c' }])
  })
})

describe('SitemapSpider', () => {
  const urlset = (...entries: string[]) => ({
    type: 'application/xml',
    body: `<?xml version="1.0"?><urlset>${entries.map((entry) => `<url>${entry}</url>`).join('')}</urlset>`,
  })
  const pages: Record<string, Page> = {
    '/robots.txt': {
      type: 'text/plain',
      body: 'User-agent: *\nSITEMAP: /index.xml\n sitemap: {site}/more.xml\n',
    },
    '/index.xml': {
      type: 'text/xml',
      body: '<sitemapindex><sitemap><loc>{site}/one.xml.gz</loc></sitemap><sitemap><loc>{site}/old.xml</loc></sitemap></sitemapindex>',
    },
    '/more.xml': urlset(
      '<loc>{site}/shop/b</loc>',
      '<loc>/shop/without-a-host</loc>',
      '<loc>{site}/other</loc>',
    ),
    '/old.xml': urlset('<loc>{site}/shop/old</loc>'),
    '/no.xml': 'no sitemap',
  }
  for (const path of ['/shop/a', '/shop/b', '/shop/old', '/news/1', '/de/news/1']) pages[path] = path

  class Site extends SitemapSpider {
    override name = 'sitemaps'
    site = ''
    override sitemapRules = [
      [/\/shop\//, this.parseShop],
      ['/news/', 'parseNews'],
    ] satisfies SitemapSpider['sitemapRules']
    override *start() {
      this.sitemapUrls = [`${this.site}/robots.txt`]
      yield* super.start()
    }
    *parseShop(response: Response) {
      yield { shop: response.text }
    }
    *parseNews(response: Response) {
      yield { news: response.text }
    }
  }

  async function startMapped() {
    const all = { ...pages }
    const site = await startSite(all)
    const { body } = urlset(
      `<loc>${site.url}/shop/a</loc>`,
      `<loc>${site.url}/news/1</loc><lastmod>2024-01-01</lastmod><xhtml:link rel="alternate" href="${site.url}/de/news/1"/>`,
    )
    all['/one.xml.gz'] = { type: 'application/octet-stream', body: gzipSync(body) }
    return site
  }

  test('robots.txt leads to an index, that to a compressed sitemap, and each page to its callback', async () => {
    await using site = await startMapped()
    const { items, stats } = await run(Site, site)
    expect(items).toEqual(
      expect.arrayContaining([
        { shop: '/shop/a' },
        { shop: '/shop/b' },
        { shop: '/shop/old' },
        { news: '/news/1' },
      ]),
    )
    expect(items).toHaveLength(4)
    expect(stats['sitemap/invalid_url_count']).toBe(1)
  })

  test('which sitemaps, entries and languages: sitemapFollow, sitemapFilter, sitemapAlternateLinks', async () => {
    await using site = await startMapped()
    class Choosy extends Site {
      override sitemapFollow = ['one']
      override sitemapAlternateLinks = true
      override *sitemapFilter(entries: Iterable<SitemapEntry>) {
        for (const entry of entries) if (!entry.loc.includes('shop')) yield entry
      }
    }
    const { items } = await run(Choosy, site)
    expect(items).toEqual(expect.arrayContaining([{ news: '/news/1' }, { news: '/de/news/1' }]))
    expect(items).toHaveLength(2)
  })

  test('a filter may take its time, and what is no sitemap is said', async () => {
    await using site = await startMapped()
    class Patient extends Site {
      override *start() {
        for (const path of ['/no.xml', '/shop/a', '/more.xml'])
          yield new Request(`${this.site}${path}`, { callback: this.parseSitemap })
      }
      override async *sitemapFilter(entries: Iterable<SitemapEntry>) {
        for await (const entry of entries) yield { ...entry, loc: entry.loc.replace('/other', '/news/1') }
      }
    }
    const { items, warnings } = await run(Patient, site)
    expect(items).toEqual([{ shop: '/shop/b' }, { news: '/news/1' }])
    expect(warnings.filter((line) => line.includes('no sitemap'))).toHaveLength(2)
  })
})

describe('XMLFeedSpider', () => {
  const FEED =
    '<?xml version="1.0"?><rss xmlns:g="http://g/"><channel><item><title>One &amp; more</title><g:id>1</g:id></item><item><title>Two</title><g:id>2</g:id></item></channel></rss>'

  class Feed extends XMLFeedSpider {
    override name = 'feed'
    site = ''
    override namespaces = [['x', 'http://g/']] satisfies XMLFeedSpider['namespaces']
    override *start() {
      yield new Request(`${this.site}/feed`)
    }
    override parseNode(_response: Response, node: Selector): unknown {
      return { title: node.xpath('title/text()').get(), id: node.xpath('x:id/text()').get() }
    }
    override processResults(_response: Response, results: unknown[]) {
      return results.map((result) => ({ ...(result as object), seen: true }))
    }
  }
  const EXPECTED = [
    { title: 'One & more', id: '1', seen: true },
    { title: 'Two', id: '2', seen: true },
  ]

  test.each(['iternodes', 'xml'] as const)('reads each node with %s', async (iterator) => {
    await using site = await startSite({ '/feed': { type: 'application/rss+xml', body: FEED } })
    class Iterated extends Feed {
      override iterator = iterator
    }
    expect((await run(Iterated, site)).items).toEqual(EXPECTED)
  })

  test('a response may be adapted before it is read, an HTML page may be a feed', async () => {
    await using site = await startSite({ '/feed': '<ul><li>One<li>Two</ul>' })
    class Html extends Feed {
      override iterator = 'html' as const
      override itertag = 'li'
      override async adaptResponse(response: Response) {
        return response.replace({ body: response.text.replace('Two', 'Three') })
      }
      override *parseNode(_response: Response, node: Selector) {
        yield { text: node.css('::text').get() }
      }
    }
    expect((await run(Html, site)).items).toEqual([
      { text: 'One', seen: true },
      { text: 'Three', seen: true },
    ])
  })
})

describe('CSVFeedSpider', () => {
  class Table extends CSVFeedSpider {
    override name = 'table'
    site = ''
    override delimiter = ';'
    override quotechar = "'"
    override *start() {
      yield new Request(`${this.site}/table`)
    }
    override *parseRow(_response: Response, row: Record<string, string>): Generator<object> {
      yield row
    }
  }

  test('reads each row by the names of the first, and passes over those of another length', async () => {
    await using site = await startSite({
      '/table': { type: 'text/csv', body: "id;name\n1;'a;b'\n2\n\n3;c\n" },
    })
    const { items, stats, warnings } = await run(Table, site)
    expect(items).toEqual([
      { id: '1', name: 'a;b' },
      { id: '3', name: 'c' },
    ])
    expect(stats['csv/invalid_row_count']).toBe(1)
    expect(warnings).toEqual(['a row is passed over: ["2"]'])
  })

  test('names may be given, results changed', async () => {
    await using site = await startSite({ '/table': { type: 'text/csv', body: '1;a\n2;b\n' } })
    class Named extends Table {
      override headers = ['id', 'letter']
      override async *processResults(_response: Response, results: unknown[]) {
        for (const row of results) if ((row as { id: string }).id !== '1') yield row
      }
    }
    expect((await run(Named, site)).items).toEqual([{ id: '2', letter: 'b' }])
  })
})
