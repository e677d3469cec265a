/** Whole crawls by the spiders that walk sites and read feeds, on small sites of their own. */

import { scaledTimes } from '@webloom/core'
import { type RedisServer, startRedis, tempDir } from '@webloom/testkit'
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest'
import {
  type Callback,
  CrawlSpider,
  type Failure,
  type Link,
  LinkExtractor,
  RedisCrawlSpider,
  Request,
  type Response,
  Rule,
} from 'webloom'
import { type Page, run, startSite } from './small-site.ts'

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
    const { items } = await run(Follower, site, { REDIS_URL: redis.url }, scaledTimes(0.1))
    expect(items).toEqual([{ path: '/b' }, { path: '/c' }])
  })
})
