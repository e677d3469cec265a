/**
 * Downloads the files that items name, as Scrapy's FilesPipeline.
 *
 *     item.file_urls ─► in the store and younger than FILES_EXPIRES? ─► yes: `uptodate`
 *                                    └─ no: the crawl's downloader ─► .unfinished ─► full/<sha1>.<ext>: `downloaded`
 *     item.files = [{ url, path, checksum, status }]
 *
 * Downloads pass the crawl's own middlewares, at the pace of their hosts (see `Crawler.fetch` for how that relates to
 * pages), CONCURRENT_MEDIA at once. A body is written to the disk as it comes. It is kept in memory like a page when it is
 * encoded, as some servers do without being asked, or when the HTTP cache needs it. DOWNLOAD_MAXSIZE bounds both.
 *
 * An item whose file cannot be downloaded goes on without it; `itemCompleted` may throw `DropItem` instead. The item's page
 * is committed when all files are done. A page whose worker is killed requests only the missing files again: the others are
 * found in the store.
 */

import { resolve } from 'node:path'
import {
  type BodyTo,
  type Crawler,
  type FetchOptions,
  type ItemContext,
  type ItemPipeline,
  type Logger,
  Request,
  type Response,
  SettingsError,
  type StatsCollector,
  WebloomError,
} from '@webloom/core'
import pLimit, { type LimitFunction } from 'p-limit'
import { filePath } from './file-path.ts'
import { FileStore, type UnfinishedFile } from './file-store.ts'

const URL_SHOWN_MAX = 2083

/** A file of an item. */
export interface FileResult {
  /** The URL of the file. */
  readonly url: string
  /** The path within the store. */
  readonly path: string
  /** The MD5 in hex. */
  readonly checksum: string
  /** `cached`: the HTTP cache had the file. `uptodate`: the store had it. */
  readonly status: 'downloaded' | 'cached' | 'uptodate'
}

/** The result of a request of `mediaRequests`. */
export type FileOutcome =
  | { readonly ok: true; readonly file: FileResult }
  | { readonly ok: false; readonly url: string; readonly error: Error }

/** The options of a FilesPipeline; a subclass gets them from `fromCrawler`. */
export interface FilesPipelineOptions {
  /** FILES_STORE: a folder. */
  readonly folder: string
  /** FILES_URLS_FIELD: the item's field that holds the URLs. */
  readonly urlsField: string
  /** FILES_RESULT_FIELD: the item's field that gets the results. */
  readonly resultField: string
  /** A file in the store that is younger is not fetched again; milliseconds. */
  readonly expiresMs: number
  /** MEDIA_ALLOW_REDIRECTS. False: a redirect is a failure. */
  readonly allowRedirects: boolean
  /** CONCURRENT_MEDIA: how many downloads run at once. */
  readonly concurrency: number
  /** False: bodies are kept in memory, for a cache that stores them. */
  readonly streams: boolean
  /** Fetches at the host's pace, without the queue: `crawler.fetch`. */
  readonly fetch: (request: Request, options: FetchOptions) => Promise<Response>
  /** Logs files that could not be downloaded. */
  readonly logger: Logger
  /** Counts `file_count` and `file_status_count/<status>`. */
  readonly stats: Pick<StatsCollector, 'inc'>
}

/**
 * Downloads the files that items name: `files` in ITEM_PIPELINES. A subclass may choose what is fetched, and where it is
 * stored.
 */
export class FilesPipeline implements ItemPipeline {
  readonly #options: FilesPipelineOptions
  readonly #store: FileStore
  readonly #limit: LimitFunction
  readonly #closing = new AbortController()
  /** The downloads under way, by path: items that name one file share its download. */
  readonly #underWay = new Map<string, Promise<FileResult>>()
  /** Files written after this moment are not fetched again in this crawl, however short FILES_EXPIRES is. */
  readonly #openedAtMs = Date.now()

  constructor(options: FilesPipelineOptions) {
    this.#options = options
    this.#store = new FileStore(options.folder)
    this.#limit = pLimit(options.concurrency)
  }

  static fromCrawler({ settings, fetch, logger, stats }: Crawler): FilesPipeline {
    const folder = settings.get('FILES_STORE')
    if (folder === null || /^[a-z][a-z0-9+.-]+:\/\//i.test(folder))
      throw new SettingsError([
        folder === null
          ? 'ITEM_PIPELINES names files, and FILES_STORE no folder. Set FILES_STORE=files'
          : `FILES_STORE is ${folder}; files are kept in a folder in this release`,
      ])
    if (!fetch)
      throw new SettingsError(['the pipeline files downloads, and there is no crawl to do so; take it out'])
    return new this({
      folder: resolve(folder),
      urlsField: settings.getString('FILES_URLS_FIELD'),
      resultField: settings.getString('FILES_RESULT_FIELD'),
      expiresMs: settings.getInt('FILES_EXPIRES') * 86_400_000,
      allowRedirects: settings.getBool('MEDIA_ALLOW_REDIRECTS'),
      concurrency: settings.getInt('CONCURRENT_MEDIA'),
      streams: !settings.getBool('HTTPCACHE_ENABLED'),
      fetch,
      logger,
      stats,
    })
  }

  /** Returns the requests of an item's files: of the URLs in its FILES_URLS_FIELD. */
  mediaRequests(item: unknown): Iterable<Request> {
    const urls: unknown = Reflect.get(item as object, this.#options.urlsField) ?? []
    if (!Array.isArray(urls))
      throw new TypeError(`${this.#options.urlsField} of the item is not a list of URLs (FILES_URLS_FIELD)`)
    return urls.map((url) => new Request(String(url)))
  }

  /** Returns a file's path within the store: `full/<sha1 of the URL>.<extension>`. */
  filePath(request: Request, _item: unknown): string {
    return filePath(request.url)
  }

  /** Returns the item to hand on, whose FILES_RESULT_FIELD gets the files that were downloaded. */
  itemCompleted(outcomes: readonly FileOutcome[], item: unknown): unknown {
    const files = outcomes.flatMap((outcome) => (outcome.ok ? [outcome.file] : []))
    Reflect.set(item as object, this.#options.resultField, files)
    return item
  }

  /** Opens the store. Throws WL_OUTPUT_UNWRITABLE before any page is fetched. */
  openSpider(): Promise<void> {
    return this.#store.open()
  }

  /** Resolves when every file of the item is stored or given up. Rejects with WL_OUTPUT_FAILED when the disk is full. */
  async processItem(item: unknown, _: ItemContext): Promise<unknown> {
    if (typeof item !== 'object' || item === null) return item
    const requests = [...this.mediaRequests(item)]
    const outcomes = await Promise.all(requests.map((request) => this.#outcome(request, item)))
    return this.itemCompleted(outcomes, item)
  }

  /** Ends the downloads that are still under way. */
  closeSpider(): void {
    this.#closing.abort(new Error('the crawl has ended'))
  }

  async #outcome(request: Request, item: unknown): Promise<FileOutcome> {
    try {
      const path = this.filePath(request, item)
      const underWay = this.#underWay.get(path) ?? this.#fetched(request, path)
      return { ok: true, file: await underWay }
    } catch (error) {
      // The page must run again, so this never settles: an error would have the page committed without its file.
      if (this.#closing.signal.aborted) return new Promise(() => {})
      if (error instanceof WebloomError && error.code === 'WL_OUTPUT_FAILED') throw error
      this.#options.stats.inc('file_error_count')
      const { message } = error as Error
      this.#options.logger.warn(
        { url: request.url.slice(0, URL_SHOWN_MAX), reason: message },
        'a file of an item could not be downloaded',
      )
      return { ok: false, url: request.url, error: error as Error }
    }
  }

  #fetched(request: Request, path: string): Promise<FileResult> {
    const file = this.#limit(() => this.#file(request, path)).finally(() => this.#underWay.delete(path))
    this.#underWay.set(path, file)
    return file
  }

  async #file(request: Request, path: string): Promise<FileResult> {
    const { expiresMs, stats } = this.#options
    const freshSinceMs = Math.min(this.#openedAtMs, Date.now() - expiresMs)
    const known = await this.#store.checksumOf(path, freshSinceMs)
    const file: FileResult = {
      url: request.url,
      path,
      ...(known === undefined
        ? await this.#downloaded(request, path)
        : { checksum: known, status: 'uptodate' }),
    }
    stats.inc('file_count')
    stats.inc(`file_status_count/${file.status}`)
    return file
  }

  async #downloaded(request: Request, path: string): Promise<Pick<FileResult, 'checksum' | 'status'>> {
    // A retry begins a new file after an answer that broke off.
    const begun: UnfinishedFile[] = []
    let streamed: UnfinishedFile | undefined
    const begin = () => {
      const file = this.#store.begin(path)
      begun.push(file)
      return file
    }
    const bodyTo: BodyTo = (status, headers) => {
      streamed = status === 200 && !headers.has('content-encoding') ? begin() : undefined
      const file = streamed
      return file && ((chunk) => file.write(chunk))
    }
    try {
      const response = await this.#response(request, bodyTo)
      const file = streamed ?? begin()
      file.write(response.body)
      const status = response.flags.includes('cached') ? 'cached' : 'downloaded'
      return { checksum: await file.finish(), status }
    } finally {
      for (const file of begun) await file.discard()
    }
  }

  async #response(request: Request, bodyTo: BodyTo): Promise<Response> {
    const { fetch, streams, allowRedirects } = this.#options
    const asked = request.replace({
      meta: {
        // Files often lie on other hosts, and the item names them on purpose.
        allow_offsite: true,
        ...(!allowRedirects && { dont_redirect: true }),
        ...request.meta,
      },
      // An encoded body cannot be written as it comes.
      headers: { 'accept-encoding': 'identity', ...Object.fromEntries(request.headers) },
    })
    const response = await fetch(asked, { signal: this.#closing.signal, ...(streams && { bodyTo }) })
    if (response.status !== 200) throw new Error(`its server answered ${response.status}`)
    if (response.flags.includes('dataloss')) throw new Error('it ended too early')
    return response
  }
}
