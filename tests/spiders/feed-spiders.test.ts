/** Whole crawls by the spiders that read sitemaps, XML and CSV, on small sites of their own. */

import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  CSVFeedSpider,
  Request,
  type Response,
  type Selector,
  type SitemapEntry,
  SitemapSpider,
  XMLFeedSpider,
} from 'webloom'
import { type Page, run, startSite } from './small-site.ts'

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

  test('a filter may take its time, and what is not a sitemap is warned of', async () => {
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
    expect(warnings.filter((line) => line.includes('not a sitemap'))).toHaveLength(2)
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
    expect(warnings).toEqual(['a row is skipped: ["2"]'])
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
