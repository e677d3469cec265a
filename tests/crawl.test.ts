/** Whole crawls of the fake web in this process, judged by what the web saw. */

import { readFileSync } from 'node:fs'
import { type FakeWeb, type FakeWebOptions, startFakeWeb, tempDir } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import {
  CloseSpider,
  type CrawlResult,
  crawl,
  DropItem,
  type Failure,
  type JsonObject,
  Request,
  type Response,
  type SettingsInput,
  Spider,
} from 'webloom'
import type { Logger } from 'webloom/ports'

/** Collects log lines instead of writing them. */
function listeningLogger(): {
  logger: Logger
  lines: { level: string; fields: Record<string, unknown>; message: string }[]
} {
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = []
  const at = (level: string) => (first: object | string, message?: string) =>
    void lines.push(
      typeof first === 'string'
        ? { level, fields: {}, message: first }
        : { level, fields: { ...first }, message: message ?? '' },
    )
  const logger: Logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => logger,
  }
  return { logger, lines }
}

class FollowAll extends Spider {
  override name = 'follow-all'

  override *parse(response: Response): Generator<unknown> {
    yield { url: response.url, title: response.css('title::text').get() }
    yield* response.followAll()
  }
}

async function crawlWeb(
  options: FakeWebOptions,
  settings: SettingsInput = {},
  judge: (web: FakeWeb, result: CrawlResult) => Promise<void> | void = () => {},
): Promise<void> {
  await using web = await startFakeWeb(options)
  class OfThisWeb extends FollowAll {
    override startUrls = [...web.seeds]
  }
  const { logger } = listeningLogger()
  const result = await crawl(OfThisWeb, {
    settings: { RANDOMIZE_DOWNLOAD_DELAY: false, ...settings },
    logger,
  })
  await judge(web, result)
}

const fetchedOnce = (web: FakeWeb) => {
  for (const url of web.reachable()) expect(web.countOf(url), url).toBe(1)
}

describe('a crawl reaches every page, each once', () => {
  test('over several hosts that link to each other', async () => {
    await crawlWeb(
      { seed: 1, hosts: 4, pagesPerHost: 60, crossHostLinks: 0.2, seedHosts: 'first' },
      {},
      (web, { finishReason, stats }) => {
        expect(finishReason).toBe('finished')
        fetchedOnce(web)
        expect(new Set(web.hits.map(({ url }) => url))).toEqual(web.linked())
        expect(stats.item_scraped_count).toBe(web.reachable().size)
        expect(stats['downloader/request_count']).toBe(web.hits.length)
      },
    )
  })

  test('through links in all the forms of real pages, and into none of their traps', async () => {
    await crawlWeb(
      { seed: 2, hosts: 2, pagesPerHost: 80, variedLinks: true, crossHostLinks: 0.1 },
      {},
      (web) => {
        for (const url of web.reachable()) expect(web.countOf(url), url).toBe(1)
        expect(web.hits.filter(({ url }) => url.includes('/trap/'))).toEqual([])
      },
    )
  })

  test('through redirects, flaky pages and compressed bodies', async () => {
    await crawlWeb(
      {
        seed: 3,
        hosts: 2,
        pagesPerHost: 60,
        redirects: 0.3,
        flaky: 0.2,
        flakyTimes: 2,
        flakyWith: 'either',
        encoding: ['gzip', 'br', 'deflate', 'zstd', 'identity'],
      },
      {},
      (web, { stats }) => {
        for (const url of web.reachable())
          expect(web.hitsOf(url).filter(({ status }) => status === 200).length, url).toBe(1)
        expect(stats['retry/count']).toBeGreaterThan(10)
        expect(stats.item_scraped_count).toBe(web.reachable().size)
      },
    )
  })

  test('although some pages answer with errors for ever', async () => {
    await crawlWeb({ seed: 4, pagesPerHost: 100, errors: 0.2 }, { RETRY_TIMES: 1 }, (web, { stats }) => {
      fetchedOnce(web)
      expect(stats['httperror/response_ignored_count']).toBeGreaterThan(0)
      expect(stats.item_scraped_count).toBe(web.reachable().size)
    })
  })
})

describe('politeness, measured at the server', () => {
  test('starts at one host are a delay apart, and hosts do not wait for each other', async () => {
    await crawlWeb({ seed: 5, hosts: 3, pagesPerHost: 8 }, { DOWNLOAD_DELAY: 0.1 }, (web) => {
      for (const host of web.origins.keys()) {
        expect(web.smallestGapMs(host)).toBeGreaterThanOrEqual(75)
        const starts = web.starts(host)
        const tookMs = starts.at(-1)! - starts[0]!
        expect(tookMs).toBeLessThan((starts.length - 1) * 100 * 1.5)
      }
    })
  })

  test('never more than CONCURRENT_REQUESTS_PER_DOMAIN at one host', async () => {
    await crawlWeb(
      { seed: 6, hosts: 2, pagesPerHost: 40, latencyMs: 5 },
      { CONCURRENT_REQUESTS_PER_DOMAIN: 3 },
      (web) => {
        for (const host of web.origins.keys()) expect(web.maxConcurrent(host)).toBe(3)
      },
    )
  })

  test('a host that hangs holds up no other', async () => {
    const hangs = [{ host: 0, page: 0 }]
    await crawlWeb(
      { seed: 7, hosts: 3, pagesPerHost: 30, hangs },
      { DOWNLOAD_TIMEOUT: 1, RETRY_TIMES: 0 },
      (web) => {
        for (const host of [1, 2]) expect(web.starts(host)).toHaveLength(30)
        const lastOfOthers = Math.max(...[1, 2].map((host) => web.starts(host).at(-1)!))
        const hung = web.hits.find(({ host, status }) => String(host) === '0' || status === 0)
        expect(lastOfOthers).toBeLessThan((hung?.endedAtMs ?? Number.POSITIVE_INFINITY) + 1)
      },
    )
  })
})

describe('a spider', () => {
  /** Runs a spider class against one scripted page. */
  async function onPage(html: string, Class: new (site: string) => Spider, settings: SettingsInput = {}) {
    await using web = await startFakeWeb({ pagesPerHost: 1 })
    web.route(null, '/page', (_, res) => res.setHeader('content-type', 'text/html').end(html))
    const site = web.origins[0]!
    const { logger, lines } = listeningLogger()
    const Made = class extends (Class as unknown as new (site: string) => Spider) {
      constructor() {
        super(site)
      }
    }
    const result = await crawl(Made as never, { settings, logger })
    return { ...result, lines, hits: web.hits.map(({ url }) => url.slice(site.length)) }
  }

  test('gets cbKwargs, meta and depth in its callbacks', async () => {
    const got: unknown[] = []
    class Kwargs extends Spider {
      override name = 'kwargs'
      constructor(site: string) {
        super({})
        this.startUrls = [`${site}/page`]
      }
      override *parse(response: Response): Generator<unknown> {
        yield response.follow('/page?2', {
          callback: this.second,
          cbKwargs: { from: response.url.at(-1)! },
          meta: { mine: [1] },
        })
      }
      second(response: Response, { from }: JsonObject) {
        got.push(from, response.meta.mine, response.meta.depth)
      }
    }
    await onPage('x', Kwargs)
    expect(got).toEqual(['e', [1], 1])
  })

  test('whose callback throws keeps what it yielded before, and the crawl goes on', async () => {
    class Throws extends Spider {
      override name = 'throws'
      constructor(site: string) {
        super({})
        this.startUrls = [`${site}/page`]
      }
      override *parse(response: Response): Generator<unknown> {
        yield { kept: true }
        yield response.follow('/page?next', { callback: this.next })
        throw new RangeError('oh no')
      }
      *next(): Generator<unknown> {
        yield { reached: true }
      }
    }
    const { stats, finishReason, lines } = await onPage('x', Throws)
    expect(finishReason).toBe('finished')
    expect(stats).toMatchObject({
      item_scraped_count: 2,
      'spider_exceptions/RangeError': 1,
      'spider_exceptions/count': 1,
    })
    expect(lines.find(({ message }) => message.includes('callback threw'))?.level).toBe('error')
  })

  test('may use generators of both kinds, promises, lists, single objects and nothing', async () => {
    class Shapes extends Spider {
      override name = 'shapes'
      constructor(site: string) {
        super({})
        this.startUrls = [`${site}/page`]
      }
      override async *parse(response: Response): AsyncGenerator<unknown> {
        for (const callback of [this.list, this.promise, this.one, this.nothing])
          yield response.follow(`/page?${callback.name}`, { callback })
      }
      list = () => [{ n: 1 }, { n: 2 }, null, undefined]
      async promise() {
        return [{ n: 3 }]
      }
      one() {
        return { n: 4 }
      }
      nothing() {}
    }
    const { stats, hits } = await onPage('x', Shapes)
    expect(stats.item_scraped_count).toBe(4)
    expect(hits).toHaveLength(5)
  })

  test.each([
    ['an arrow', (spider: Spider) => () => spider, /bound|arrow/],
    ['a bound method', (spider: Spider) => spider.parse.bind(spider), /bound/],
    ['the name of no method', () => 'pares', /"pares" is no method/],
    // The field `callback` would give its own name to an arrow that stands there.
    ['an arrow named callback', () => ({ callback: () => {} }).callback, /callback is an arrow function/],
  ])('that gives %s as callback is told so where it yields', async (_, callback, message) => {
    class Refused extends Spider {
      override name = 'refused'
      constructor(site: string) {
        super({})
        this.startUrls = [`${site}/page`]
      }
      override *parse(response: Response): Generator<unknown> {
        yield { before: true }
        yield response.follow('/page?2', { callback: callback(this) as never })
      }
    }
    const { stats, lines } = await onPage('x', Refused)
    expect(stats).toMatchObject({ item_scraped_count: 1, 'spider_exceptions/count': 1 })
    expect(String(lines.find(({ level }) => level === 'error')?.fields.reason)).toMatch(message)
  })

  test('that puts what JSON would change into meta is told so', async () => {
    class Dates extends Spider {
      override name = 'dates'
      constructor(site: string) {
        super({})
        this.startUrls = [`${site}/page`]
      }
      override *parse(response: Response): Generator<unknown> {
        yield response.follow('/page?2', { meta: { when: new Date() as never } })
      }
    }
    const { lines } = await onPage('x', Dates)
    expect(String(lines.find(({ level }) => level === 'error')?.fields.reason)).toMatch(
      /^meta\.when of .*Date/,
    )
  })

  test('whose request cannot be answered hears of it in its errback', async () => {
    const failures: Failure[] = []
    class Errbacks extends Spider {
      override name = 'errbacks'
      constructor(site: string) {
        super({})
        this.startUrls = [`${site}/page`]
      }
      override *parse(response: Response): Generator<unknown> {
        yield new Request('http://127.0.0.1:1/', { errback: this.failed })
        yield response.follow('/missing', { errback: this.failed })
      }
      *failed(failure: Failure) {
        failures.push(failure)
        yield { failed: failure.request.url }
      }
    }
    const { stats } = await onPage('x', Errbacks, { RETRY_TIMES: 0 })
    expect(stats.item_scraped_count).toBe(2)
    const missing = failures.find(({ response }) => response !== null)
    expect(missing?.response?.status).toBe(404)
    expect(failures.map(({ error }) => (error as { code: string }).code).sort()).toEqual([
      'WL_DOWNLOAD_FAILED',
      'WL_HTTP_ERROR',
    ])
  })

  test('can close the crawl from a callback, and from start()', async () => {
    class Closes extends Spider {
      override name = 'closes'
      constructor(site: string) {
        super({})
        this.startUrls = [`${site}/page`]
      }
      override *parse(): Generator<unknown> {
        yield { last: true }
        throw new CloseSpider('enough')
      }
    }
    const { finishReason, stats } = await onPage('x', Closes)
    expect(finishReason).toBe('enough')
    expect(stats.item_scraped_count).toBe(1)

    class ClosesAtOnce extends Spider {
      override name = 'closes-at-once'
      override start(): Iterable<unknown> {
        throw new CloseSpider('not today')
      }
    }
    expect((await onPage('x', ClosesAtOnce as never)).finishReason).toBe('not today')
  })

  test('with a bad start URL crawls the others; with only bad ones it fails', async () => {
    class Bad extends Spider {
      override name = 'bad'
      constructor(site: string) {
        super({})
        this.startUrls = ['no scheme', `${site}/page`, 'http://[broken/']
      }
      override parse() {}
    }
    const { stats, hits, finishReason, lines } = await onPage('x', Bad)
    expect(hits).toEqual(['/page'])
    expect(stats['start/invalid_url_count']).toBe(2)
    expect(finishReason).toBe('finished')
    expect(lines.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual([
      expect.stringMatching(/^startUrls\[0\] is left out: "no scheme"/),
      expect.stringMatching(/^startUrls\[2\] is left out: "http:\/\/\[broken\/"/),
    ])
    class AllBad extends Spider {
      override name = 'all-bad'
      override startUrls = ['nope']
    }
    expect((await onPage('x', AllBad as never)).finishReason).toBe('start_error')
  })

  test('that throws in start() has what it yielded before crawled', async () => {
    class StartThrows extends Spider {
      override name = 'start-throws'
      readonly #site: string
      constructor(site: string) {
        super({})
        this.#site = site
      }
      override async *start() {
        yield new Request(`${this.#site}/page`)
        throw new Error('no more')
      }
      override parse() {
        return { n: 1 }
      }
    }
    const { finishReason, stats } = await onPage('x', StartThrows)
    expect(finishReason).toBe('start_error')
    expect(stats.item_scraped_count).toBe(1)
  })

  test('that yields more than CALLBACK_OUTPUT_MAX has it handed on in parts, none lost', async () => {
    class Much extends Spider {
      override name = 'much'
      constructor(site: string) {
        super({})
        this.startUrls = [`${site}/page`]
      }
      override *parse(response: Response): Generator<unknown> {
        if (response.url.includes('?')) return
        for (let n = 0; n < 25; n++) {
          yield { n }
          yield response.follow(`/page?${n}`, { dontFilter: true })
        }
      }
    }
    const { stats, hits } = await onPage('x', Much, { CALLBACK_OUTPUT_MAX: 10 })
    expect(stats.item_scraped_count).toBe(25)
    expect(new Set(hits).size).toBe(26)
  })

  test('reads settings, crawler and logger only from start() on', () => {
    class Early extends Spider {
      override name = 'early'
      constructor() {
        super({})
        this.settings.get('DOWNLOAD_DELAY')
      }
    }
    expect(() => new Early()).toThrow(/this\.settings is not there yet/)
  })

  test.each([
    ['tag=love', { tag: 'love', max: 5 }],
    ['max=7', { tag: 'none', max: 7 }],
  ])('gets -a %s in its field', async (argument, expected) => {
    const [name, value] = argument.split('=') as [string, string]
    let seen: unknown
    class Args extends Spider {
      override name = 'args'
      tag = 'none'
      max = 5
      readonly atConstruction = this.args[name]
      override start() {
        seen = { tag: this.tag, max: this.max, early: this.atConstruction }
        return []
      }
    }
    await crawl(Args, { args: { [name]: value }, logger: listeningLogger().logger })
    expect(seen).toEqual({ ...expected, early: value })
  })

  test('without a field for an argument refuses it and names its fields', async () => {
    class NoSuchField extends Spider {
      override name = 'no-such-field'
      tag = 'none'
    }
    await expect(crawl(NoSuchField, { args: { tga: 'x' } })).rejects.toThrow(/no field "tga".*tag/)
  })
})

describe('robots.txt', () => {
  test('is asked for once a host, and what it forbids is not fetched', async () => {
    const robotsTxt = { 0: 'User-agent: *\nDisallow: /', 1: 'User-agent: *\nAllow: /' }
    await crawlWeb(
      { seed: 11, hosts: 2, pagesPerHost: 10, robotsTxt },
      { ROBOTSTXT_OBEY: true },
      (web, { stats }) => {
        const [forbidden, allowed] = [0, 1].map((host) => web.hits.filter((hit) => hit.host === host))
        expect(forbidden!.map(({ url }) => new URL(url).pathname)).toEqual(['/robots.txt'])
        expect(allowed!.length).toBe(11)
        expect(stats).toMatchObject({ 'robotstxt/forbidden': 1, 'robotstxt/response_count': 2 })
      },
    )
  })

  test('its Crawl-delay is kept from the second page on', async () => {
    const robotsTxt = 'User-agent: *\nCrawl-delay: 0.1'
    await crawlWeb({ seed: 12, pagesPerHost: 8, robotsTxt }, { ROBOTSTXT_OBEY: true }, (web) => {
      const starts = web.hits.filter(({ url }) => !url.endsWith('/robots.txt')).map(({ atMs }) => atMs)
      const gaps = starts.slice(2).map((atMs, n) => atMs - starts[n + 1]!)
      expect(Math.min(...gaps)).toBeGreaterThan(75)
    })
  })
})

describe('limits', () => {
  test.each([
    [{ CLOSESPIDER_PAGECOUNT: 10 }, 'closespider_pagecount'],
    [{ CLOSESPIDER_ITEMCOUNT: 10 }, 'closespider_itemcount'],
    [{ CLOSESPIDER_TIMEOUT: 0.2 }, 'closespider_timeout'],
    [{ CLOSESPIDER_TIMEOUT_NO_ITEM: 0.2, DOWNLOAD_DELAY: 1 }, 'closespider_timeout_no_item'],
  ] as [SettingsInput, string][])('%j ends the crawl', async (settings, reason) => {
    await crawlWeb({ seed: 8, pagesPerHost: 400, latencyMs: 10 }, settings, (web, { finishReason }) => {
      expect(finishReason).toBe(reason)
      expect(web.hits.length).toBeLessThan(300)
    })
  })

  test('MEMUSAGE_LIMIT_MB ends the crawl in order, MEMUSAGE_WARNING_MB warns', async () => {
    const settings = {
      MEMUSAGE_LIMIT_MB: 1,
      MEMUSAGE_WARNING_MB: 1,
      MEMUSAGE_CHECK_INTERVAL_SECONDS: 0.1,
    } satisfies SettingsInput
    await crawlWeb(
      { seed: 8, pagesPerHost: 400, latencyMs: 10 },
      settings,
      (_web, { finishReason, stats }) => {
        expect(finishReason).toBe('memusage_exceeded')
        expect(stats).toMatchObject({ 'memusage/limit_reached': 1, 'memusage/warning_reached': 1 })
        expect(Number(stats['memusage/max'])).toBeGreaterThanOrEqual(Number(stats['memusage/startup']))
      },
    )
  })

  test('CLOSESPIDER_ERRORCOUNT counts callbacks that threw', async () => {
    await using web = await startFakeWeb({ pagesPerHost: 50 })
    class Fails extends Spider {
      override name = 'fails'
      override startUrls = [...web.seeds]
      override *parse(response: Response): Generator<unknown> {
        yield* response.followAll()
        throw new Error('x')
      }
    }
    const { finishReason } = await crawl(Fails, {
      settings: { CLOSESPIDER_ERRORCOUNT: 3 },
      logger: listeningLogger().logger,
    })
    expect(finishReason).toBe('closespider_errorcount')
  })

  test('DEPTH_LIMIT and URLLENGTH_LIMIT drop and count', async () => {
    await crawlWeb({ seed: 9, pagesPerHost: 200, linksPerPage: 3 }, { DEPTH_LIMIT: 2 }, (web, { stats }) => {
      expect(stats.request_depth_max).toBe(2)
      expect(stats['depth/request_ignored_count']).toBeGreaterThan(0)
      expect(web.hits.length).toBeLessThan(200)
    })
    await crawlWeb({ seed: 9, pagesPerHost: 20 }, { URLLENGTH_LIMIT: 24 }, (web, { stats }) => {
      expect(web.hits).toHaveLength(1)
      expect(stats['urllength/request_ignored_count']).toBeGreaterThan(0)
    })
  })

  test('a signal lets what is in flight finish and starts nothing new', async () => {
    await using web = await startFakeWeb({ seed: 10, pagesPerHost: 300, latencyMs: 30 })
    class OfThisWeb extends FollowAll {
      override startUrls = [...web.seeds]
    }
    const abort = new AbortController()
    const running = crawl(OfThisWeb, { signal: abort.signal, logger: listeningLogger().logger })
    await web.waitForHits(20)
    abort.abort()
    const { finishReason, stats } = await running
    expect(finishReason).toBe('shutdown')
    expect(web.hits.filter(({ aborted }) => aborted)).toEqual([])
    expect(stats.response_received_count).toBe(web.hits.length)
  })

  test('what hangs when the crawl is told to stop is cut off after SHUTDOWN_GRACE', async () => {
    await using web = await startFakeWeb({ pagesPerHost: 1, hangs: [{ host: 0, page: 0 }] })
    class OfThisWeb extends FollowAll {
      override startUrls = [...web.seeds]
    }
    const abort = new AbortController()
    const running = crawl(OfThisWeb, {
      signal: abort.signal,
      settings: { SHUTDOWN_GRACE: 0.1 },
      logger: listeningLogger().logger,
    })
    await web.waitForHits(1)
    abort.abort()
    expect((await running).finishReason).toBe('shutdown')
  })

  test('start() that could yield for ever is asked for more only as the crawl has room', async () => {
    await using web = await startFakeWeb({ pagesPerHost: 1 })
    let yielded = 0
    class Endless extends Spider {
      override name = 'endless'
      override *start() {
        for (;;) yield new Request(`${web.origins[0]}/?${yielded++}`, { dontFilter: true })
      }
      override parse() {}
    }
    const { stats } = await crawl(Endless, {
      settings: { START_LOW_WATER: 20, CLOSESPIDER_PAGECOUNT: 50 },
      logger: listeningLogger().logger,
    })
    expect(yielded).toBeLessThan(Number(stats.response_received_count) + 60)
  })

  test('slow pipelines hold back the intake by SCRAPER_SLOT_MAX_ACTIVE_SIZE', async () => {
    await using web = await startFakeWeb({ seed: 11, pagesPerHost: 60, pageBytes: 5000 })
    let [inside, most] = [0, 0]
    class Slow {
      async processItem(item: unknown) {
        most = Math.max(most, ++inside)
        await new Promise((resolve) => setTimeout(resolve, 5))
        inside--
        return item
      }
    }
    class OfThisWeb extends FollowAll {
      override startUrls = [...web.seeds]
    }
    const { stats } = await crawl(OfThisWeb, {
      settings: {
        ITEM_PIPELINES: [[Slow, 300]],
        SCRAPER_SLOT_MAX_ACTIVE_SIZE: 20_000,
        CONCURRENT_REQUESTS: 4,
      },
      logger: listeningLogger().logger,
    })
    expect(stats.item_scraped_count).toBe(60)
    // 20 000 bytes are four pages; as many downloads may be under way when the bound is met.
    expect(most).toBeLessThanOrEqual(8)
  })
})

describe('items', () => {
  test('go through pipelines in order, are dropped by reason, and land in each feed', async () => {
    await using web = await startFakeWeb({ seed: 12, pagesPerHost: 30 })
    await using folder = await tempDir()
    class Numbered {
      #next = 0
      openSpider() {
        this.#next = 1
      }
      processItem(item: unknown) {
        return { ...(item as object), number: this.#next++ }
      }
    }
    class OnlyEven {
      processItem(item: unknown) {
        if ((item as { number: number }).number % 2 === 1) throw new DropItem('odd')
        return item
      }
    }
    class Broken {
      processItem(item: unknown) {
        if ((item as { number: number }).number === 4) throw new TypeError('four')
        return item
      }
    }
    class OfThisWeb extends FollowAll {
      override startUrls = [...web.seeds]
    }
    const { stats } = await crawl(OfThisWeb, {
      settings: {
        ITEM_PIPELINES: [
          [OnlyEven, 200],
          [Numbered, 100],
          [Broken, 300],
        ],
        FEEDS: { [folder.join('a.jsonl')]: {}, [folder.join('a.json')]: {}, [folder.join('a.csv')]: {} },
      },
      logger: listeningLogger().logger,
    })
    expect(stats).toMatchObject({
      item_scraped_count: 14,
      item_dropped_count: 15,
      'item_dropped_reasons_count/DropItem': 15,
      item_error_count: 1,
    })
    const lines = readFileSync(folder.join('a.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { number: number })
    expect(lines).toHaveLength(14)
    expect(lines.every(({ number }) => number % 2 === 0 && number !== 4)).toBe(true)
    expect(JSON.parse(readFileSync(folder.join('a.json'), 'utf8'))).toEqual(lines)
    expect(readFileSync(folder.join('a.csv'), 'utf8').trim().split('\n')).toHaveLength(15)
  })

  test('an output that cannot be written stops the crawl before any page is fetched', async () => {
    await using web = await startFakeWeb({})
    await using folder = await tempDir()
    class OfThisWeb extends FollowAll {
      override startUrls = [...web.seeds]
    }
    const running = crawl(OfThisWeb, {
      settings: { FEEDS: { [folder.path]: { format: 'jsonl' } } },
      logger: listeningLogger().logger,
    })
    await expect(running).rejects.toMatchObject({ code: 'WL_OUTPUT_UNWRITABLE' })
    expect(web.hits).toHaveLength(0)
  })

  test('an output that fails in mid-crawl ends it, and says so', async () => {
    await using web = await startFakeWeb({ pagesPerHost: 50 })
    class OfThisWeb extends FollowAll {
      override startUrls = [...web.seeds]
    }
    const running = crawl(OfThisWeb, {
      settings: { FEEDS: { '/dev/full': { format: 'jsonl' } } },
      logger: listeningLogger().logger,
    })
    await expect(running).rejects.toMatchObject({ code: 'WL_OUTPUT_FAILED' })
    expect(web.hits.length).toBeLessThan(50)
  })
})

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
        // Awaited, as an async generator would.
        yield Promise.resolve({ n: 0 })
        const item = { n: 0 }
        for (item.n = 1; item.n <= 3; item.n++) yield item
      }
    }
    const { logger, lines } = listeningLogger()
    const { stats } = await crawl(Odd, { settings: { FEEDS: { [folder.join('out.jsonl')]: {} } }, logger })
    expect(readFileSync(folder.join('out.jsonl'), 'utf8')).toBe('{"n":0}\n{"n":1}\n{"n":2}\n{"n":3}\n')
    expect(stats['spider_output/invalid_count']).toBe(3)
    expect(lines.find(({ fields }) => fields.code === 'WL_YIELD_INVALID')?.message).toMatch(/yield\*/)
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

test.each([true, false])(
  'COOKIES_ENABLED %s: of a Cookie header what cannot be sent is left out, and the page is fetched',
  async (enabled) => {
    await using web = await startFakeWeb({ seed: 5, pagesPerHost: 1 })
    const cookies: unknown[] = []
    web.route(0, '/cookies', ({ headers }, response) => {
      cookies.push(headers.cookie)
      response.end('there')
    })
    class Cookies extends Spider {
      override name = 'cookies'
      override async *start() {
        yield new Request(`${web.origins[0]}/cookies`, { headers: { Cookie: 'a=1\u0001; b=2' } })
        yield new Request(`${web.origins[0]}/cookies?2`, { headers: { Cookie: 'a=\u0001' } })
      }
      override *parse() {}
    }
    const { stats } = await crawl(Cookies, { settings: { COOKIES_ENABLED: enabled, ROBOTSTXT_OBEY: false } })
    expect(cookies).toEqual(['b=2', undefined])
    expect(stats['cookies/refused']).toBe(2)
  },
)
