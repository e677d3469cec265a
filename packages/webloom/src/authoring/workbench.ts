/**
 * A spider without a crawl around it: fetches single pages as a crawl would, with all its middlewares, and runs callbacks
 * on them. Nothing is queued, filtered or shared, no pipeline and no feed sees an item, and no Redis is asked.
 */

import {
  type Crawler,
  crawlUrlRules,
  type ItemPipeline,
  putUnderRules,
  type RedisRole,
  type Request,
  type ResponseInit,
  SettingsError,
  type SettingsInput,
  UrlMemory,
} from '@webloom/core'
import { type Downloader, HostAddresses } from '@webloom/downloader'
import { HostSlots, MemoryStartHosts } from '@webloom/queue'
import {
  type CallbackOutput,
  ItemProcessor,
  noteStartHosts,
  type Response,
  type Scraper,
  Spider,
  type SpiderClass,
  SpiderClosing,
} from '@webloom/spider'
import { ITEM_PIPELINES } from '../assembly/builtin-components.ts'
import { type CrawlBaseOptions, crawlBase } from '../assembly/crawl-base.ts'
import { pageFetching, responseFactory } from '../assembly/fetching.ts'
import { lineFields, newWorkerId } from '../assembly/worker-id.ts'
import { placedComponents } from '../loading/placed-components.ts'

/** What a callback has yielded, after the spider middlewares. */
export interface Yielded {
  /** The items, in their order; no pipeline has seen them. */
  readonly items: readonly unknown[]
  /** Those that the crawl would queue: what offsite, depth and other middlewares refuse is left out. */
  readonly requests: readonly Request[]
}

/** Settings that would connect a single page to a crawl, and what they are instead. */
const ALONE: SettingsInput = {
  REDIS_URL: null,
  REDIS_HOST: null,
  QUEUE_REDIS_URL: null,
  DUPEFILTER_REDIS_URL: [],
  SEEDS_REDIS_URL: null,
  ITEMS_REDIS_URL: null,
  FILTER_URL: null,
  FILTER_HOST: null,
  COOKIES_SHARED: false,
}

/** A person waits for the page, or for the reason why there is none. */
const WAITS_FOR_NOTHING: SettingsInput = { ROBOTSTXT_GIVE_UP_AFTER: 0 }

/** `redis` of a crawler that has none. */
function askedForRedis(role: RedisRole, because = `a component asks for the Redis of role ${role}`): never {
  throw new SettingsError([
    `${because}, and here single pages are looked at without any Redis. Leave it out: as null in the setting that names it`,
  ])
}

export class Workbench implements AsyncDisposable {
  readonly crawler: Crawler
  readonly spider: Spider
  readonly #downloader: Downloader
  readonly #scraper: Scraper
  readonly #folder: string
  readonly #closing = new AbortController()

  private constructor(
    crawler: Crawler,
    spider: Spider,
    downloader: Downloader,
    scraper: Scraper,
    folder: string,
  ) {
    this.crawler = crawler
    this.spider = spider
    this.#downloader = downloader
    this.#scraper = scraper
    this.#folder = folder
  }

  /** Throws `SettingsError` with every problem of the settings. Opens no connection. */
  static async open(Class: SpiderClass, options: CrawlBaseOptions): Promise<Workbench> {
    const { layers, folder } = options
    const command = { ...WAITS_FOR_NOTHING, ...layers?.command, ...ALONE }
    const { spider, ...made } = await crawlBase(Class, { ...options, layers: { ...layers, command } })
    const { settings } = made
    const logger = made.logger.child(lineFields(spider.name, settings, newWorkerId()))
    const urls = new UrlMemory()
    const addresses = HostAddresses.fromCrawler({ settings })
    const base: Crawler = {
      ...made,
      logger,
      spider,
      redis: askedForRedis,
      createResponse: responseFactory({ ...made, logger }, urls),
      addresses,
      startHosts: new MemoryStartHosts(),
      close() {},
    }
    const slots = HostSlots.fromCrawler(base, (hostname) => addresses.of(hostname))
    const pages = pageFetching(base, { slots, urls, folder })
    const crawler: Crawler = { ...base, fetch: pages.fetch }
    Spider.attach(spider, { crawler, logger })
    const { downloader, scraper } = await pages.open(crawler, spider)
    return new Workbench(crawler, spider, downloader, scraper, folder)
  }

  /**
   * The page at the end of all redirects and retries, whatever its status. Rejects as a crawl would fail: with
   * `DownloadError`, or `IgnoreRequest` when a middleware drops the request.
   */
  async fetch(request: Request): Promise<Response> {
    // Whoever asks for it may mean a host inside; where it redirects to may not be.
    await noteStartHosts(this.crawler.startHosts!, [request])
    return (await this.crawler.fetch!(request, { signal: this.#closing.signal })) as Response
  }

  /** A page that is not fetched, such as a saved one: a response as the crawl makes it, with the URL of its request. */
  saved(request: Request, init: ResponseInit): Response {
    const { settings, createResponse } = this.crawler
    putUnderRules(request, crawlUrlRules(settings).current)
    return createResponse!(request.url, { ...init, request }) as Response
  }

  /** Resolves to what the response's callback yields. Rejects with what the callback throws. */
  async scrape(response: Response): Promise<Yielded> {
    const { thrown, ...yielded } = await this.scrapeAll(response)
    if (thrown) throw thrown.error
    return yielded
  }

  /** Resolves to what the response's callback yields, up to what it throws, which is in the log. */
  async scrapeAll(response: Response): Promise<Yielded & { readonly thrown?: { readonly error: unknown } }> {
    const items: unknown[] = []
    const requests: Request[] = []
    const take = async (output: CallbackOutput) => {
      items.push(...output.items.splice(0))
      requests.push(...output.requests.splice(0))
    }
    let thrown: { readonly error: unknown } | undefined
    const disconnect = this.crawler.signals.connect('spiderError', ({ error }) => {
      thrown = { error }
    })
    try {
      await take(await this.#scraper.scrape(response, take))
    } catch (error) {
      if (!(error instanceof SpiderClosing)) throw error
      await take(error.output)
    } finally {
      disconnect()
    }
    return { items, requests, ...(thrown && { thrown }) }
  }

  /** Resolves to what the spider's pipelines make of items, all but those they drop. A pipeline that needs Redis is refused. */
  async process(items: readonly unknown[]): Promise<unknown[]> {
    const { settings, signals } = this.crawler
    const pipelines = await placedComponents<ItemPipeline>(
      'ITEM_PIPELINES',
      ITEM_PIPELINES,
      this.crawler,
      this.#folder,
    )
    const processor = new ItemProcessor({
      ...this.crawler,
      pipelines,
      feeds: [],
      concurrency: settings.getInt('CONCURRENT_ITEMS'),
      idField: settings.get('ITEM_ID_FIELD'),
      dropLogLevel: settings.getString('DEFAULT_DROPITEM_LOG_LEVEL'),
    })
    const kept: unknown[] = []
    const disconnect = signals.connect('itemScraped', ({ item }) => kept.push(item))
    await processor.open()
    try {
      await processor.process(items, 'workbench', 0, null)
    } finally {
      disconnect()
      await processor.close('finished')
    }
    return kept
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the workbench was closed'))
    await this.#downloader.close()
    this.crawler.addresses?.close?.()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
