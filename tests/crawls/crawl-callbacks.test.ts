/** What a spider may do in start(), callbacks and errbacks, and what it is told when it may not. */

import { startFakeWeb } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import {
  CloseSpider,
  crawl,
  type Failure,
  type JsonObject,
  Request,
  type Response,
  type SettingsInput,
  Spider,
} from 'webloom'
import { listeningLogger } from './crawl-web.ts'

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
    ['the name of no method', () => 'pares', /"pares" is not a method/],
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
