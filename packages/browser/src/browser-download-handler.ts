/**
 * Renders the pages that ask for it (`meta.browser`), behind the port of download handlers: a crawl knows no browser, and a page
 * that was rendered is a response like any other.
 *
 *     download ─► a place of BROWSER_PAGES, without one of CONCURRENT_REQUESTS ─► a way out of its own (`Egress`) ─► PageVisit
 *
 * DOWNLOAD_TIMEOUT begins when the page has its place. When it is over, the request ends at once; the place is free when the page is
 * closed, and a page that does not close costs its browser. What other pages lose thereby is rendered again, without costing
 * them a try.
 */

import {
  type BrowserOptions,
  bodyBytesMaxOf,
  browserOptionsProblem,
  type Crawler,
  type DocumentPace,
  DownloadError,
  type DownloadHandler,
  type DownloadOptions,
  downloadTimeoutMsOf,
  type Egress,
  type Logger,
  NoAnswer,
  type OpenEgress,
  protectionStat,
  type Request,
  Response,
  type ResponseInit,
  SettingsError,
  type SpiderLike,
  type StatsCollector,
  settingRow,
  WebloomError,
  within,
} from '@webloom/core'
import { type BrowserSettings, browserSettingsOf } from './browser-settings.ts'
import { refuseOpenBrowser } from './chromium/egress-probe.ts'
import { unavailable } from './chromium/find-chromium.ts'
import { startBrowser, startedAgain } from './chromium/start-chromium.ts'
import { type PageScript, pageScriptOf } from './page/page-script.ts'
import { PageVisit, type VisitedPage } from './page/page-visit.ts'
import { blockedHosts } from './page/page-watch.ts'
import { visitError } from './page/visit-error.ts'
import { BrowserPool, type PagePlace } from './pool/browser-pool.ts'

/** What a `BrowserDownloadHandler` is made of. */
export interface BrowserDownloadHandlerOptions {
  /** What the settings say of browsers. */
  readonly settings: BrowserSettings
  /** Opens the proxy by which pages reach the network: the crawl's, with its address guard. */
  readonly openEgress: OpenEgress
  /** Has the methods that `script` of a request names. */
  readonly spider: SpiderLike
  /** Counts pages, browsers, and what pages have loaded: `browser/…`. */
  readonly stats: StatsCollector
  /** Told of cookies that a browser does not take, and of browsers that are killed. */
  readonly logger: Logger
  /** DOWNLOAD_TIMEOUT, milliseconds. */
  readonly timeoutMs: number
  /** DOWNLOAD_MAXSIZE. */
  readonly bodyBytesMax: number
  /** DOWNLOAD_VERIFY_CERTIFICATES. */
  readonly verifiesCertificates: boolean
  /** The default of USER_AGENT: who has not set one has the browser's own name. */
  readonly defaultUserAgent: string
  /** DEFAULT_REQUEST_HEADERS. */
  readonly usualHeaders: Readonly<Record<string, unknown>>
  /** Makes the response of a page. Default: that of core, without selectors. */
  readonly createResponse?: (url: string, init: ResponseInit) => Response
}

/** A page, and how long it took, without the waits for a place and for its host's delay. */
interface TimedPage extends VisitedPage {
  readonly latencyMs: number
}

interface PacedOptions extends DownloadOptions {
  readonly pace: DocumentPace | undefined
}

// A page that does not close by then costs its browser.
const CLOSE_MS_MAX = 5000
// How often a page is rendered whose browser ends under it. Another page may be the cause; after so many times it is taken to be this one.
const RENDERINGS_MAX = 3

/** Renders pages with Chromium: what fetches a request with `meta.browser`. */
export class BrowserDownloadHandler implements DownloadHandler {
  readonly keepsDeadline = true
  readonly #options: BrowserDownloadHandlerOptions
  readonly #pool: BrowserPool
  readonly #closing = new Set<Promise<void>>()
  readonly #closed = new AbortController()
  #hasStarted = false

  constructor(options: BrowserDownloadHandlerOptions) {
    const { settings, stats, logger } = options
    const openEgress = endingTheCrawl(options.openEgress)
    this.#options = { ...options, openEgress }
    this.#pool = new BrowserPool({
      settings,
      stats,
      logger,
      start: async () => {
        const started = this.#hasStarted
          ? await startedAgain(settings, this.#closed.signal)
          : await startBrowser(settings)
        this.#hasStarted = true
        if (settings.cdpUrl !== null && !settings.isCdpTrusted)
          await refuseOpenBrowser(started.browser, openEgress, settings)
        return started
      },
    })
  }

  static fromCrawler(crawler: Crawler): BrowserDownloadHandler {
    const { settings, spider, stats, logger, openEgress, createResponse } = crawler
    if (!openEgress) throw new Error('BrowserDownloadHandler needs crawler.openEgress')
    return new this({
      settings: browserSettingsOf(settings),
      openEgress,
      spider,
      stats,
      logger,
      timeoutMs: settings.getMs('DOWNLOAD_TIMEOUT'),
      bodyBytesMax: settings.getInt('DOWNLOAD_MAXSIZE'),
      verifiesCertificates: settings.getBool('DOWNLOAD_VERIFY_CERTIFICATES'),
      defaultUserAgent: String(settingRow('USER_AGENT')?.default),
      usualHeaders: settings.getDict('DEFAULT_REQUEST_HEADERS'),
      ...(createResponse && { createResponse }),
    })
  }

  /** How many pages are open, or being closed. */
  get pages(): number {
    return this.#pool.pages
  }

  /** Resolves when the pages whose requests have ended are closed. */
  async idle(): Promise<void> {
    await Promise.all(this.#closing)
  }

  async download(request: Request, options: DownloadOptions): Promise<Response> {
    options.signal.throwIfAborted()
    refuseOtherSchemes(request)
    const wanted = wantedOf(request)
    const script = pageScriptOf(this.#options.spider, request, wanted)
    const rendered = this.#render(request, options, wanted, script)
    return options.stepAside ? options.stepAside(rendered) : rendered
  }

  /** Resolves when no browser and no page of this process is left. */
  async close(): Promise<void> {
    this.#closed.abort(new WebloomError('WL_CLOSE_SPIDER', 'the crawl ends'))
    await this.#pool.close()
    await Promise.all(this.#closing)
  }

  async #render(
    request: Request,
    options: DownloadOptions,
    wanted: BrowserOptions,
    script: PageScript | undefined,
  ): Promise<Response> {
    const visited = await this.#visited(request, options, wanted, script)
    return this.#response(request, visited, options)
  }

  /** Visits the page, and again when its browser ends under it. */
  async #visited(
    request: Request,
    options: DownloadOptions,
    wanted: BrowserOptions,
    script: PageScript | undefined,
  ): Promise<TimedPage> {
    // Other pages of the host may have what this one waits for.
    const pace = options.documents?.()
    for (let time = 1; ; time++) {
      const place = await this.#pool.acquire(options.signal)
      try {
        return await this.#visit(place, request, { ...options, pace }, wanted, script)
      } catch (error) {
        if (options.signal.aborted || error instanceof WebloomError) throw error
        if (!place.browser.isDead || time === RENDERINGS_MAX)
          throw visitError(request, error, place.browser.isDead)
        this.#options.stats.inc('browser/rendered_again')
      }
    }
  }

  async #visit(
    place: PagePlace,
    request: Request,
    options: PacedOptions,
    wanted: BrowserOptions,
    script: PageScript | undefined,
  ): Promise<TimedPage> {
    const { settings, bodyBytesMax, stats, openEgress } = this.#options
    const beganAtMs = performance.now()
    const timeoutMs = downloadTimeoutMsOf(request, this.#options.timeoutMs)
    let egress: Egress | undefined
    let visit: PageVisit | undefined
    const over = Promise.withResolvers<never>()
    over.promise.catch(() => {})
    const timer = setTimeout(() => {
      stats.inc(protectionStat('deadline'))
      over.reject(tooLate(request, timeoutMs, visit?.step))
    }, timeoutMs)
    const onAbort = () => over.reject(options.signal.reason)
    options.signal.addEventListener('abort', onAbort)
    const { death } = place.browser
    const onDeath = () => over.reject(death.reason)
    death.addEventListener('abort', onDeath)
    try {
      egress = await openEgress(request, {
        bytesMax: settings.bytesMax,
        onTooMuch: () => over.reject(tooMuch(request, settings.bytesMax)),
        blockedHosts: blockedHosts(wanted),
        ...(options.isPaced && { onSend: (place) => visit?.sent(place) }),
        listenAt: settings.egressHost,
      })
      visit = new PageVisit({
        browser: place.browser.browser,
        egress,
        request,
        wanted,
        verifiesCertificates: this.#options.verifiesCertificates,
        bodyBytesMax: bodyBytesMaxOf(request, bodyBytesMax),
        ...(options.pace && { pace: options.pace }),
        isPaced: options.isPaced ?? false,
        usualHeaders: this.#options.usualHeaders,
        endsAtMs: beganAtMs + timeoutMs,
        onStart: options.onStart,
        onCookiesRefused: (names) => this.#cookiesRefused(request, names),
        ...this.#userAgentOf(request),
        ...(script && { script }),
      })
      const visited = await Promise.race([visit.run(), over.promise])
      if (visited.blocked > 0) stats.inc('browser/blocked', visited.blocked)
      if (visited.isUnfinished) stats.inc('browser/unfinished')
      if (visited.popups > 0) stats.inc('browser/popups', visited.popups)
      return { ...visited, latencyMs: performance.now() - beganAtMs - visited.waitedMs }
    } catch (error) {
      if (options.signal.aborted) throw options.signal.reason
      if (place.browser.isDead || error instanceof WebloomError) throw error
      // Of a connection Chromium knows no more than that its proxy hung up.
      const failure = isNetworkError(error) ? egress?.failureOf(request.url) : undefined
      throw visitError(request, failure ?? error, false)
    } finally {
      clearTimeout(timer)
      options.signal.removeEventListener('abort', onAbort)
      death.removeEventListener('abort', onDeath)
      this.#end(place, visit, egress)
    }
  }

  /** Closes the page while its answer is on its way already. The place is free when nothing of it is left. */
  #end(place: PagePlace, visit: PageVisit | undefined, egress: Egress | undefined): void {
    const { stats } = this.#options
    const closing = (async () => {
      try {
        if (visit && !place.browser.isDead)
          await within(CLOSE_MS_MAX, 'the page', visit.close()).catch((error: unknown) => {
            if (error instanceof NoAnswer) place.browser.kill('a page of it could not be closed')
          })
        if (egress) {
          stats.inc('browser/requests', egress.requests)
          stats.inc('browser/bytes', egress.bytes)
          if (egress.refusals.length > 0) stats.inc('browser/refused', egress.refusals.length)
          await egress.close()
        }
      } finally {
        place.leave()
      }
    })()
    this.#closing.add(closing)
    void closing.finally(() => this.#closing.delete(closing))
  }

  #response(
    request: Request,
    { answer, rendered, latencyMs }: TimedPage,
    { bodyTo }: DownloadOptions,
  ): Response {
    const { createResponse = (url: string, init: ResponseInit) => new Response(url, init) } = this.#options
    request.meta.download_latency = latencyMs / 1000
    const { url, status, headers, body } = answer
    const take = bodyTo?.(status, headers)
    take?.(body)
    return createResponse(url, {
      status,
      headers,
      body: take ? new Uint8Array(0) : body,
      request,
      flags: rendered ? ['rendered'] : [],
      ...(rendered && { browser: rendered }),
    })
  }

  #cookiesRefused(request: Request, names: readonly string[]): void {
    const { stats, logger } = this.#options
    stats.inc('browser/cookies_refused', names.length)
    // Names alone: a value may be a secret.
    logger.warn({ url: request.url, cookies: names }, 'the browser does not take these cookies of the jar')
  }

  /** A name that the crawl was given, and not the one that it has by default: a browser that calls itself a program is none. */
  #userAgentOf(request: Request): { userAgent?: string } {
    const asked = request.hasHeaders ? request.headers.get('user-agent') : null
    return asked === null || asked === this.#options.defaultUserAgent ? {} : { userAgent: asked }
  }
}

/** The same, but that a setting with which no page has a way out ends the crawl, and not each of its requests. */
function endingTheCrawl(openEgress: OpenEgress): OpenEgress {
  return async (request, options) => {
    try {
      return await openEgress(request, options)
    } catch (error) {
      throw error instanceof SettingsError ? unavailable(error.message, error) : error
    }
  }
}

function wantedOf(request: Request): BrowserOptions {
  const { browser } = request.meta
  const problem = browserOptionsProblem(browser ?? true)
  if (problem !== undefined)
    throw new WebloomError('WL_REQUEST_INVALID', `meta.browser of ${request} ${problem}`)
  return typeof browser === 'object' && browser !== null ? (browser as BrowserOptions) : {}
}

function refuseOtherSchemes(request: Request): void {
  if (/^https?:/i.test(request.url)) return
  throw new DownloadError(
    'UnsupportedURLSchemeError',
    `${request.url.slice(0, 100)}: a browser opens http: and https: only; leave meta.browser out`,
  )
}

/** Whether Chromium could not have the document. */
function isNetworkError(error: unknown): boolean {
  return error instanceof Error && error.message.includes('net::ERR_')
}

function tooLate(request: Request, timeoutMs: number, step = 'opening a page'): DownloadError {
  return new DownloadError(
    'DownloadTimeoutError',
    `${request} took longer than ${timeoutMs / 1000} s in the browser (DOWNLOAD_TIMEOUT); it was at: ${step}`,
    { reason: 'deadline' },
  )
}

function tooMuch(request: Request, bytesMax: number): DownloadError {
  return new DownloadError(
    'DownloadTooLargeError',
    `${request} loads or sends more than ${bytesMax} bytes (BROWSER_MAXSIZE)`,
    { reason: 'body_size' },
  )
}
