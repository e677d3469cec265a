/** For tests of spiders: a callback on a saved page, and whole crawls that are recorded once and replayed without a network. */

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import {
  type Callback,
  checkOptions,
  environmentSettings,
  type HeadersInit,
  type JsonObject,
  type OptionNames,
  type Rendered,
  Request,
  type SettingsInput,
  silentLogger,
} from '@webloom/core'
import { callbackName, type SpiderClass } from '@webloom/spider'
import type { CrawlResult } from './assembly/crawl.ts'
import { crawl } from './authoring/crawl-api.ts'
import { Workbench, type Yielded } from './authoring/workbench.ts'

export type { Yielded }

/** A page to run a callback on; each part but `url` may be left out. Without `body` and `file` the page is empty. */
export interface SavedPage {
  /** The absolute URL of the page; relative links are joined to it. */
  readonly url: string
  /** The page's text or bytes. `file`, if given, is read in its place. */
  readonly body?: string | Uint8Array
  /** The file that holds the body: a path from the current folder, or `import.meta.resolve('./page.html')`. */
  readonly file?: string | URL
  /** HTTP status; default 200. */
  readonly status?: number
  /** Headers of the answer; default `content-type: text/html`. */
  readonly headers?: HeadersInit
  /** What a browser brought beside the page, as `response.browser`: captured answers and so on. */
  readonly browser?: Partial<Rendered>
}

/** How the callback is run; each part may be left out. */
export interface RunCallbackOptions {
  /** A method of the spider, or its name. Default `parse`. */
  readonly callback?: Callback
  /** `meta` of the request that the page answers. */
  readonly meta?: JsonObject
  /** The callback's second argument. */
  readonly cbKwargs?: JsonObject
  /** The spider's arguments, as `-a name=value` on the command line. */
  readonly args?: Readonly<Record<string, string>>
  /** Settings that override those of all other places, as `-s NAME=VALUE` on the command line. */
  readonly settings?: SettingsInput
}

const PAGE_PARTS = {
  url: true,
  body: true,
  file: true,
  status: true,
  headers: true,
  browser: true,
} as const satisfies OptionNames<SavedPage>

const RUN_OPTIONS = {
  callback: true,
  meta: true,
  cbKwargs: true,
  args: true,
  settings: true,
} as const satisfies OptionNames<RunCallbackOptions>

/**
 * Runs a callback on a saved page. Resolves to what it yields: the items, unchanged, and the requests that the crawl would queue.
 *
 * Spider middlewares run as in a crawl, pipelines and feeds do not; nothing is fetched. Rejects with what the callback
 * throws, with `SettingsError` for settings that a crawl would refuse, with WL_CALLBACK_UNKNOWN when the spider has no method of
 * that name, and with Node's error when `file` cannot be read.
 */
export async function runCallback(
  Class: SpiderClass,
  page: SavedPage,
  options: RunCallbackOptions = {},
): Promise<Yielded> {
  checkOptions(page, PAGE_PARTS, { of: 'the page of runCallback()' })
  checkOptions(options, RUN_OPTIONS, { of: 'runCallback()' })
  const { callback = null, meta = {}, cbKwargs = {}, args, settings = {} } = options
  await using workbench = await Workbench.open(Class, {
    layers: { environment: environmentSettings(process.env), command: settings },
    folder: process.cwd(),
    createLogger: () => silentLogger,
    ...(args && { args }),
  })
  const request = new Request(page.url, { meta, cbKwargs })
  if (callback !== null) request.callback = callbackName(workbench.spider, callback, 'callback')
  const { status = 200, headers = { 'content-type': 'text/html' }, browser: brought } = page
  const browser = brought && { captured: [], errors: [], blocked: [], ...brought }
  const body = await bodyOf(page)
  return workbench.scrape(workbench.saved(request, { status, headers, body, ...(browser && { browser }) }))
}

async function bodyOf({ body = '', file }: SavedPage): Promise<string | Uint8Array> {
  if (file === undefined) return body
  return readFile(String(file).startsWith('file:') ? fileURLToPath(file) : file)
}

/** How a crawl ended, and the items that came through its pipelines. */
export interface CollectedCrawl extends CrawlResult {
  /** The items as the last pipeline returned them, in the order in which they came. */
  readonly items: readonly unknown[]
}

/** Where a crawl is recorded, and how it is run. */
export interface RecordedCrawlOptions {
  /** The folder of the recording. It holds each answer as plain files; keep it beside the test. */
  readonly folder: string
  /** The spider's arguments, as `-a name=value` on the command line. */
  readonly args?: Readonly<Record<string, string>>
  /** Settings as of the command line; the recording itself sets HTTPCACHE_ENABLED, HTTPCACHE_POLICY and HTTPCACHE_DIR. */
  readonly settings?: SettingsInput
}

/**
 * Crawls, and keeps every answer in the folder; answers that are there already are not fetched again. Resolves when the crawl has
 * ended; rejects as `crawl()` does.
 */
export function recordCrawl(Class: SpiderClass, options: RecordedCrawlOptions): Promise<CollectedCrawl> {
  return collect(Class, options, {})
}

/**
 * Crawls what was recorded and asks no server for anything: a request whose answer is not in the folder is dropped and counted
 * under `httpcache/ignore`. robots.txt is not asked for, and delays do not count. Rejects as `crawl()` does.
 */
export function replayCrawl(Class: SpiderClass, options: RecordedCrawlOptions): Promise<CollectedCrawl> {
  return collect(Class, options, {
    HTTPCACHE_IGNORE_MISSING: true,
    ROBOTSTXT_OBEY: false,
    DOWNLOAD_DELAY: 0,
    DOWNLOAD_SLOTS: {},
    AUTOTHROTTLE_ENABLED: false,
  })
}

const RECORD_OPTIONS = {
  folder: true,
  args: true,
  settings: true,
} as const satisfies OptionNames<RecordedCrawlOptions>

async function collect(
  Class: SpiderClass,
  options: RecordedCrawlOptions,
  mode: SettingsInput,
): Promise<CollectedCrawl> {
  checkOptions(options, RECORD_OPTIONS, { of: 'recordCrawl() and replayCrawl()' })
  const { folder, args, settings } = options
  const items: unknown[] = []
  const result = await crawl(collecting(Class, items), {
    settings: {
      ...settings,
      HTTPCACHE_ENABLED: true,
      HTTPCACHE_POLICY: 'dummy',
      HTTPCACHE_DIR: folder,
      ...mode,
    },
    ...(args && { args }),
  })
  return { ...result, items }
}

/** The same spider, which also keeps its items. */
function collecting(Class: SpiderClass, items: unknown[]): SpiderClass {
  return class extends Class {
    override start() {
      this.crawler.signals.connect('itemScraped', ({ item }) => items.push(item))
      return super.start()
    }
  }
}
