/**
 * One page from its context to its end.
 *
 *     open        a context of its own: no cookie, cache or storage of another page is in it
 *     go          to the document; `DocumentGate` decides what is rendered
 *     look        steps of the request, then the DOM
 *     close       the context, with popups, workers and whatever else the page has opened
 *
 * Whoever visits ends it by its time: nothing here waits longer than the browser does, and a browser may wait for ever.
 */

import {
  type BrowserOptions,
  type DocumentPace,
  type Egress,
  Headers,
  type Rendered,
  type Request,
} from '@webloom/core'
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  Request as BrowserRequest,
  CDPSession,
  Cookie,
  Page,
} from 'playwright-core'
import { tooLarge } from './answer-body.ts'
import { DocumentGate, type RawAnswer } from './document-gate.ts'
import { changedCookies, cookiesOf, giveCookies } from './page-cookies.ts'
import { PageQuiet } from './page-quiet.ts'
import type { PageScript } from './page-script.ts'
import { doSteps, hasSteps } from './page-steps.ts'
import { PageWatch } from './page-watch.ts'
import { PageWorld } from './page-world.ts'

export interface PageVisitOptions {
  readonly browser: Browser
  readonly egress: Egress
  readonly request: Request
  readonly wanted: BrowserOptions
  /** The spider's method that `script` names. */
  readonly script?: PageScript
  /** The name that the crawl gives itself; absent: the browser's. */
  readonly userAgent?: string
  /** DEFAULT_REQUEST_HEADERS. */
  readonly usualHeaders: Readonly<Record<string, unknown>>
  /** DOWNLOAD_VERIFY_CERTIFICATES. */
  readonly verifiesCertificates: boolean
  /** DOWNLOAD_MAXSIZE; 0: no bound. */
  readonly bodyBytesMax: number
  /** When documents may leave; absent: at once. */
  readonly pace?: DocumentPace
  /** True when a delay lies between two requests to the host. */
  readonly isPaced: boolean
  /** When the page's time is over, by `performance.now()`. */
  readonly endsAtMs: number
  readonly onStart: () => void
  /** Called with the names of cookies that the browser does not take. */
  readonly onCookiesRefused: (names: readonly string[]) => void
}

/** What came of it. */
export interface VisitedPage {
  readonly answer: RawAnswer
  /** Absent when nothing was rendered. */
  readonly rendered?: Rendered
  /** Something was under way still that scripts had asked for. */
  readonly isUnfinished?: boolean
  readonly popups: number
  readonly blocked: number
  /** How long its documents have waited for their hosts' delays, milliseconds. */
  readonly waitedMs: number
}

export class PageVisit {
  readonly #options: PageVisitOptions
  readonly #crashed = Promise.withResolvers<never>()
  readonly #over = new AbortController()
  #context: Promise<BrowserContext> | undefined
  #gate: DocumentGate | undefined
  #popups = 0
  #step = 'opening a page'

  constructor(options: PageVisitOptions) {
    this.#options = options
    this.#crashed.promise.catch(() => {})
  }

  /** Something of the page leaves for this `host:port`. */
  sent(place: string): void {
    this.#gate?.sent(place)
  }

  /** What is under way, in words. */
  get step(): string {
    return this.#gate?.isWaiting ? `${this.#step}; a document waits for its host's delay` : this.#step
  }

  async run(): Promise<VisitedPage> {
    this.#context = this.#options.browser.newContext(this.#contextOptions())
    const context = await this.#context
    const page = await context.newPage()
    page.on('crash', () => this.#crashed.reject(new PageCrashed()))
    context.on('page', (popup) => this.#popup(popup))
    return Promise.race([this.#look(context, page), this.#crashed.promise])
  }

  /** Resolves when nothing of the page is left. */
  async close(): Promise<void> {
    this.#over.abort(new Error('the page is over'))
    const context = await this.#context?.catch(() => undefined)
    await context?.close()
  }

  async #look(context: BrowserContext, page: Page): Promise<VisitedPage> {
    const { request, wanted, bodyBytesMax, pace, isPaced, usualHeaders, onStart } = this.#options
    page.setDefaultTimeout(0)
    const session = await context.newCDPSession(page)
    const given = cookiesOf(request)
    const gate = new DocumentGate({
      session,
      request,
      bodyBytesMax,
      signal: this.#over.signal,
      ...(pace && { pace }),
      usualHeaders,
      staysThere: request.meta.dont_redirect === true,
      onStart,
    })
    this.#gate = gate
    const watch = new PageWatch(wanted, bodyBytesMax)
    const quiet = new PageQuiet(page, () => this.#options.egress.bytes)
    const [refused] = await Promise.all([giveCookies(context, given), gate.open(), watch.open(context, page)])
    if (isPaced) await this.#pacePopups(context, page)
    if (refused.length > 0) this.#options.onCookiesRefused(refused)
    this.#step = 'the document, which has not come'
    const referer = request.hasHeaders ? request.headers.get('referer') : null
    const goes = page.goto(request.url, {
      waitUntil: 'commit',
      timeout: 0,
      ...(referer !== null && { referer }),
    })
    const arrived = await Promise.race([gate.raw, goes.then(() => undefined)]).catch(
      async (error: unknown) => {
        // A document that is answered here has no page: its `goto` fails.
        const raw = await Promise.race([gate.raw, Promise.resolve(undefined)])
        if (raw) return raw
        throw error
      },
    )
    goes.catch(() => {})
    if (arrived) return this.#unrendered({ context, given, watch }, arrived)
    const looked = this.#lookAround({ context, page, session, gate, watch, quiet, given })
    const led = gate.raw.then((raw) => this.#unrendered({ context, given, watch }, raw))
    looked.catch(() => {})
    led.catch(() => {})
    return Promise.race([looked, led])
  }

  async #lookAround({ context, page, session, gate, watch, quiet, given }: OpenPage): Promise<VisitedPage> {
    const { wanted, bodyBytesMax, script, request } = this.#options
    const leftMs = () => Math.max(0, this.#options.endsAtMs - performance.now())
    const world = new PageWorld(session, () => gate.mainFrame)
    const onStep = (step: string) => {
      this.#step = step
    }
    onStep('loading')
    await quiet.loaded(leftMs())
    // What is waited for tells by itself when the page is drawn.
    const isAwaited = wanted.waitFor !== undefined && !hasSteps(wanted)
    if (!isAwaited) await quiet.quiet(leftMs())
    if (hasSteps(wanted)) gate.act()
    const seen = await doSteps({ page, world, wanted, quiet, onStep, leftMs, ...(script && { script }) })
    if (hasSteps(wanted)) await quiet.quiet(leftMs())
    const isUnfinished = quiet.isBusy
    onStep('reading the DOM')
    const [html, cookies] = await Promise.all([world.html(bodyBytesMax), context.cookies()])
    if (html === undefined) throw tooLarge(request.url, bodyBytesMax)
    const head = gate.head ?? { status: 200, headers: new Headers(), url: request.url }
    const url = /^https?:/.test(page.url()) ? page.url() : head.url
    const headers = headersOf(head.headers, given, cookies, url)
    headers.set('content-type', 'text/html; charset=utf-8')
    return {
      answer: { url, status: head.status, headers, body: Buffer.from(html, 'utf8') },
      rendered: {
        ...seen,
        captured: await watch.captured(),
        errors: watch.errors,
        blocked: [
          ...watch.blocked,
          ...this.#options.egress.refusals.map(({ place, why }) => ({ url: place, why })),
        ],
      },
      isUnfinished,
      ...this.#counted(watch),
    }
  }

  async #unrendered(
    { context, given, watch }: Pick<OpenPage, 'context' | 'given' | 'watch'>,
    raw: RawAnswer,
  ): Promise<VisitedPage> {
    const headers = headersOf(raw.headers, given, await context.cookies(), raw.url)
    return { answer: { ...raw, headers }, ...this.#counted(watch) }
  }

  #counted({ blockedCount }: PageWatch): Pick<VisitedPage, 'popups' | 'blocked' | 'waitedMs'> {
    return { popups: this.#popups, blocked: blockedCount, waitedMs: this.#gate?.waitedMs ?? 0 }
  }

  /** A popup has the context of its page, and ends with it. Only a method of the spider may want to see one. */
  #popup(popup: Page): void {
    this.#popups++
    if (!this.#options.script) void popup.close().catch(() => {})
  }

  /**
   * The documents of popups wait for their hosts' delays, too, where the spider's method may want to see them; else none is loaded. Whatever
   * the page loads goes by way of this process for it, so pages of hosts without a delay are spared it.
   */
  async #pacePopups(context: BrowserContext, page: Page): Promise<void> {
    const { script, pace } = this.#options
    await context.route('**/*', async (route, request) => {
      try {
        if (!request.isNavigationRequest() || !isOfPopup(request, page)) return await route.fallback()
        if (!script) return await route.abort('blockedbyclient')
        const document = await pace?.mayLeave(request.url(), this.#over.signal)
        await route.fallback()
        // When it was sent is not known: it has been when it is answered.
        void request.response().then(
          () => document?.left(),
          () => document?.over(),
        )
      } catch {
        // The page is over, and its popups with it.
      }
    })
  }

  #contextOptions(): BrowserContextOptions {
    const { egress, wanted, userAgent, verifiesCertificates } = this.#options
    return {
      // Chromium goes past a proxy for loopback unless it is told not to.
      proxy: { server: egress.server, bypass: '<-loopback>', ...egress.credentials },
      ignoreHTTPSErrors: !verifiesCertificates,
      acceptDownloads: false,
      ...(userAgent !== undefined && { userAgent }),
      ...(wanted.viewport && { viewport: wanted.viewport }),
      ...(wanted.locale !== undefined && { locale: wanted.locale }),
    }
  }
}

type Given = ReturnType<typeof cookiesOf>

interface OpenPage {
  readonly context: BrowserContext
  readonly page: Page
  readonly session: CDPSession
  readonly gate: DocumentGate
  readonly watch: PageWatch
  readonly quiet: PageQuiet
  readonly given: Given
}

/** Whether it is the document of a popup, and not of a frame. */
function isOfPopup(request: BrowserRequest, page: Page): boolean {
  try {
    const frame = request.frame()
    return frame.page() !== page && frame.parentFrame() === null
  } catch {
    // Playwright knows the frame of a popup's first document only once that has come.
    return true
  }
}

/** The process of the page has ended: it took too much memory, or Chromium has a fault. */
export class PageCrashed extends Error {
  constructor() {
    super('the page crashed')
  }
}

/** The answer's headers, as they fit what is handed on: nothing is packed, and cookies of scripts are among the others. */
function headersOf(answers: Headers, given: Given, cookies: readonly Cookie[], url: string): Headers {
  const headers = new Headers(answers)
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) headers.delete(name)
  const changed = changedCookies(given, cookies, new URL(url).hostname)
  // A script may have changed what the answer has set: the later line is the one that counts.
  const known = new Set(headers.getAll('set-cookie').map(nameAndValue))
  const missing = changed.filter((line) => !known.has(nameAndValue(line)))
  for (const line of missing) headers.append('set-cookie', line)
  return headers
}

function nameAndValue(line: string): string {
  return line.split(';', 1)[0]!.trim()
}
