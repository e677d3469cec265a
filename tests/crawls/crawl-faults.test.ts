/** Parts of a crawl that hang, never end or throw: what each costs. */

import { readFileSync } from 'node:fs'
import { type FakeWeb, startFakeWeb, tempDir } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { CloseSpider, crawl, Request, type Response, Spider } from 'webloom'
import { crawlWeb, FollowAll, fetchedOnce, listeningLogger } from './crawl-web.ts'

describe('found by trying to break it', () => {
  const page = async (web: FakeWeb, path: string, html = 'x') =>
    web.route(null, path, (_, res) => res.setHeader('content-type', 'text/html').end(html))

  test('a callback that outlives the crawl writes nothing into its finished output', async () => {
    await using web = await startFakeWeb({ pagesPerHost: 3 })
    await using folder = await tempDir()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let over = Promise.resolve()
    class Late extends Spider {
      override name = 'late'
      override startUrls = [...web.seeds]
      override async *parse(response: Response): AsyncGenerator<unknown> {
        yield { url: response.url }
        if (response.url !== web.seeds[0]) return
        yield* response.followAll(undefined, { callback: this.parseLate })
      }
      async *parseLate(response: Response): AsyncGenerator<unknown> {
        over = held.then(() => new Promise((resolve) => setImmediate(resolve)))
        await held
        yield { late: response.url }
      }
    }
    const abort = new AbortController()
    const running = crawl(Late, {
      settings: { SHUTDOWN_GRACE: 0.1, FEEDS: { [folder.join('out.jsonl')]: { overwrite: true } } },
      signal: abort.signal,
      logger: listeningLogger().logger,
    })
    await web.waitForHits(2)
    abort.abort()
    expect((await running).finishReason).toBe('shutdown')
    const before = readFileSync(folder.join('out.jsonl'), 'utf8')
    release()
    await over
    expect(before).toContain(web.seeds[0]!)
    expect(readFileSync(folder.join('out.jsonl'), 'utf8')).toBe(before)
  })

  test('a middleware that never answers does not hold up the end', async () => {
    class Hangs {
      processRequest() {
        return new Promise<undefined>(() => {})
      }
    }
    class OneUrl extends FollowAll {
      override startUrls = ['http://127.0.0.1:1/']
    }
    const abort = new AbortController()
    const running = crawl(OneUrl, {
      settings: { SHUTDOWN_GRACE: 0.1, DOWNLOADER_MIDDLEWARES: [[Hangs, 10]] },
      signal: abort.signal,
      logger: listeningLogger().logger,
    })
    setImmediate(() => abort.abort())
    expect((await running).finishReason).toBe('shutdown')
  })

  test('a start() that waits for ever ends with the crawl, and at once when nothing is in flight', async () => {
    class Waits extends Spider {
      override name = 'waits'
      override async *start() {
        await new Promise(() => {})
      }
    }
    const abort = new AbortController()
    const running = crawl(Waits, { signal: abort.signal, logger: listeningLogger().logger })
    setImmediate(() => abort.abort())
    expect((await running).finishReason).toBe('shutdown')
  })

  test('a start() that never pauses leaves room for signals', async () => {
    class Busy extends Spider {
      override name = 'busy'
      override *start() {
        for (let n = 0; ; n++) yield { n }
      }
    }
    const abort = new AbortController()
    const running = crawl(Busy, { signal: abort.signal, logger: listeningLogger().logger })
    setTimeout(() => abort.abort(), 20)
    expect((await running).finishReason).toBe('shutdown')
  })

  test('items of a start page and of what it links to have ids of their own', async () => {
    await using web = await startFakeWeb({ pagesPerHost: 1 })
    await page(web, '/page')
    const ids: string[] = []
    class Ids {
      processItem(item: unknown, { id }: { id: string }) {
        ids.push(id)
        return item
      }
    }
    class Children extends Spider {
      override name = 'children'
      override startUrls = [`${web.origins[0]}/page`]
      override *parse(response: Response): Generator<unknown> {
        yield { url: response.url }
        if (!response.url.includes('?'))
          for (const n of [1, 2]) yield response.follow(`?${n}`, { dontFilter: true })
      }
    }
    await crawl(Children, { settings: { ITEM_PIPELINES: [[Ids, 1]] }, logger: listeningLogger().logger })
    expect(new Set(ids).size).toBe(3)
  })

  test('what is certainly no item is dropped with a hint, and an object that is reused is kept as it was', async () => {
    await using web = await startFakeWeb({ pagesPerHost: 2 })
    await using folder = await tempDir()
    class Odd extends Spider {
      override name = 'odd'
      override startUrls = [web.seeds[0]!]
      override *parse(response: Response): Generator<unknown> {
        yield response.followAll()
        yield response.css('a')
        yield new Map()
        // A fetch() that came with the spider from elsewhere.
        yield globalThis.Response.json({ n: -1 })
        // Awaited, as an async generator would.
        yield Promise.resolve({ n: 0 })
        const item = { n: 0 }
        for (item.n = 1; item.n <= 3; item.n++) yield item
      }
    }
    const { logger, lines } = listeningLogger()
    const { stats } = await crawl(Odd, { settings: { FEEDS: { [folder.join('out.jsonl')]: {} } }, logger })
    expect(readFileSync(folder.join('out.jsonl'), 'utf8')).toBe('{"n":0}\n{"n":1}\n{"n":2}\n{"n":3}\n')
    expect(stats['spider_output/invalid_count']).toBe(4)
    const told = lines
      .filter(({ fields }) => fields.code === 'WL_YIELD_INVALID')
      .map(({ message }) => message)
    expect(told[0]).toMatch(/yield\*/)
    expect(told.at(-1)).toMatch(/not by fetch\(\)/)
  })

  test('faulty components cost their page, not the crawl', async () => {
    class Throws {
      processSpiderException() {
        throw new Error('I am broken too')
      }
      close() {
        throw new Error('and cannot be closed')
      }
    }
    class NoClose {
      readonly hooks = []
      static fromCrawler() {
        return Object.create(NoClose.prototype) as NoClose
      }
    }
    await crawlWeb(
      { seed: 1, pagesPerHost: 20, errors: 0.2, errorStatuses: [404] },
      {
        SPIDER_MIDDLEWARES: [[Throws, 10]],
        EXTENSIONS: [
          [Throws, 1],
          [NoClose, 2],
        ],
      },
      (web, { finishReason, stats }) => {
        expect(finishReason).toBe('finished')
        expect(stats.item_scraped_count).toBe(web.reachable().size)
      },
    )
  })

  test('cookies of a request are sent', async () => {
    await using web = await startFakeWeb({ pagesPerHost: 1 })
    class Cookies extends Spider {
      override name = 'cookies'
      override *start() {
        yield new Request(web.seeds[0]!, { cookies: { session: 'abc', lang: 'de' } })
      }
      override parse() {}
    }
    await crawl(Cookies, { logger: listeningLogger().logger })
    expect(web.hits[0]?.headers.cookie).toBe('session=abc; lang=de')
  })

  test('allowedDomains with a port or a scheme means the host, and says so', async () => {
    await using web = await startFakeWeb({ pagesPerHost: 10 })
    class Domains extends FollowAll {
      override startUrls = [...web.seeds]
      override allowedDomains = [web.seeds[0]!]
    }
    const { logger, lines } = listeningLogger()
    const { stats } = await crawl(Domains, { logger })
    expect(stats.item_scraped_count).toBe(10)
    expect(lines.some(({ level, message }) => level === 'warn' && message.includes('127.0.0.1'))).toBe(true)
  })

  test.each(['start_urls', 'custom_settings', 'handleHttpStatusList'])(
    '%s is not ignored without a word',
    async (name) => {
      class Named extends Spider {
        override name = 'named';
        [name] = ['http://x/']
      }
      await expect(crawl(Named)).rejects.toThrow(/here it is called/)
    },
  )

  test('a dupefilter of one’s own needs requestSeen only', async () => {
    class EveryPathOnce {
      readonly #met = new Set<string>()
      async requestSeen({ url }: Request) {
        return this.#met.size === this.#met.add(new URL(url).pathname).size
      }
    }
    await crawlWeb({ seed: 1, pagesPerHost: 30 }, { DUPEFILTER_CLASS: EveryPathOnce }, (web, { stats }) => {
      fetchedOnce(web)
      expect(stats['dupefilter/filtered']).toBeGreaterThan(0)
    })
    await expect(crawl(FollowAll, { settings: { DUPEFILTER_CLASS: class Empty {} } })).rejects.toMatchObject({
      code: 'WL_COMPONENT_LOAD',
    })
  })

  test('a dupefilter that answers 1 as Redis does ends the crawl, by name, in place of holding it up for ever', async () => {
    await using web = await startFakeWeb({ pagesPerHost: 5 })
    class Books {
      requestSeen = async () => 1
    }
    class OfThisWeb extends FollowAll {
      override startUrls = [...web.seeds]
    }
    const { logger, lines } = listeningLogger()
    const { finishReason } = await crawl(OfThisWeb, { settings: { DUPEFILTER_CLASS: Books }, logger })
    expect(finishReason).toBe('internal_error')
    const told = lines.filter(({ level }) => level === 'error').map(({ fields }) => String(fields.err))
    expect(told.join()).toContain('the dupefilter Books answered requestSeen with 1 (a number)')
  })

  test('a pipeline may close the crawl before it begins', async () => {
    class NoDatabase {
      openSpider() {
        throw new CloseSpider('no_database')
      }
      processItem(item: unknown) {
        return item
      }
    }
    await crawlWeb({ pagesPerHost: 2 }, { ITEM_PIPELINES: [[NoDatabase, 1]] }, (web, { finishReason }) => {
      expect(finishReason).toBe('no_database')
      expect(web.hits).toEqual([])
    })
  })
})
