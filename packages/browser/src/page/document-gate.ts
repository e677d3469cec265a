/**
 * Sees each document that the page's main frame asks for, before it leaves and when its headers have come.
 *
 * A crawl's rules are about documents: its pace, robots.txt, the filter, allowed domains. So a document that leads elsewhere is not
 * followed here: the answer is handed to the crawl as it is, and the redirect goes through the queue like any other.
 *
 *     3xx with a Location              the answer itself
 *     a script or meta refresh leads   an answer of ours: 302 with that Location, as if the server had said so
 *       to another URL
 *     no HTML (PDF, JSON, a download)  the answer with its body, as over HTTP
 *     HTML                             goes on, and is rendered
 *
 * Forms, reloads of the same page, and whatever the request's own steps lead to are followed by the browser: only there is what
 * they need. Each document, the first one too, waits until its host may be asked (`DocumentPace`).
 */

import { type DocumentPace, Headers, isHtmlAnswer, type LeavingDocument, type Request } from '@webloom/core'
import type { CDPSession } from 'playwright-core'
import { bodyOf } from './answer-body.ts'
import { documentHeaders } from './document-headers.ts'

/** An answer that is not rendered. */
export interface RawAnswer {
  readonly url: string
  readonly status: number
  readonly headers: Headers
  readonly body: Uint8Array
  /** True: no server said so, but the page. */
  readonly isOurs?: boolean
}

/** The document that is rendered. */
export interface DocumentHead {
  readonly url: string
  readonly status: number
  readonly headers: Headers
}

export interface DocumentGateOptions {
  readonly session: CDPSession
  readonly request: Request
  /** Most bytes of a body that is not rendered; 0: no bound. */
  readonly bodyBytesMax: number
  /** When documents may leave; absent: at once. */
  readonly pace?: DocumentPace
  /** Fires when the page is over, and with it the waits of its documents. */
  readonly signal: AbortSignal
  /** True: a page that leads elsewhere stays where it is (`meta.dont_redirect`). */
  readonly staysThere: boolean
  /** DEFAULT_REQUEST_HEADERS, in place of which a browser has its own. */
  readonly usualHeaders: Readonly<Record<string, unknown>>
  /** Called when the request leaves. */
  readonly onStart: () => void
}

interface Paused {
  readonly requestId: string
  readonly frameId: string
  readonly request: {
    readonly url: string
    readonly method: string
    readonly headers: Record<string, string>
  }
  readonly responseStatusCode?: number
  readonly responseErrorReason?: string
  readonly responseHeaders?: readonly { readonly name: string; readonly value: string }[]
}

// A page that reloads itself without end.
const DOCUMENTS_MAX = 10

export class DocumentGate {
  readonly #options: DocumentGateOptions
  readonly #raw = Promise.withResolvers<RawAnswer>()
  #mainFrame = ''
  #documents = 0
  /** By `host:port`: the documents that have been let go, and have no answer yet. */
  readonly #onTheirWay = new Map<string, LeavingDocument>()
  #waiting = 0
  #waitedMs = 0
  #isActing = false
  #head: DocumentHead | undefined

  constructor(options: DocumentGateOptions) {
    this.#options = options
    this.#raw.promise.catch(() => {})
  }

  /** Resolves to an answer that is not rendered; pending while there is none. Rejects when its body cannot be read. */
  get raw(): Promise<RawAnswer> {
    return this.#raw.promise
  }

  /** The document that is shown now. */
  get head(): DocumentHead | undefined {
    return this.#head
  }

  /** The frame that documents are shown in; known once it is open. */
  get mainFrame(): string {
    return this.#mainFrame
  }

  /** True while a document waits for its host's delay. */
  get isWaiting(): boolean {
    return this.#waiting > 0
  }

  /** How long documents have waited for their hosts' delays, milliseconds. */
  get waitedMs(): number {
    return this.#waitedMs
  }

  /** Must be awaited before the page goes anywhere. */
  async open(): Promise<void> {
    const { session } = this.#options
    session.on('Fetch.requestPaused', (paused) => void this.#decide(paused as unknown as Paused))
    const [{ frameTree }] = await Promise.all([
      // The target's own id is that of the frame in Chromium, and in no other browser.
      session.send('Page.getFrameTree'),
      session.send('Fetch.enable', {
        patterns: (['Request', 'Response'] as const).map((requestStage) => ({
          urlPattern: '*',
          resourceType: 'Document' as const,
          requestStage,
        })),
      }),
    ])
    this.#mainFrame = frameTree.frame.id
  }

  /** Something leaves for this `host:port`. */
  sent(place: string): void {
    this.#onTheirWay.get(place)?.left()
  }

  /** From now on the page goes where its steps lead. */
  act(): void {
    this.#isActing = true
  }

  async #decide(paused: Paused): Promise<void> {
    try {
      const isAnswer = paused.responseStatusCode !== undefined || paused.responseErrorReason !== undefined
      if (paused.frameId !== this.#mainFrame) await this.#goOn(paused)
      else if (isAnswer) await this.#answered(paused)
      else await this.#leaving(paused)
    } catch {
      // The page is gone, and with it whoever waits for its documents.
    }
  }

  async #leaving(paused: Paused): Promise<void> {
    const { request, usualHeaders, onStart } = this.#options
    if (this.#documents === 0) {
      this.#documents++
      await this.#paced(paused)
      onStart()
      const { method, body } = request
      const headers = documentHeaders(request, paused.request.headers, usualHeaders)
      await this.#options.session.send('Fetch.continueRequest', {
        requestId: paused.requestId,
        ...(headers && { headers }),
        ...(method !== 'GET' && { method }),
        ...(body.length > 0 && { postData: Buffer.from(body).toString('base64') }),
      })
      return
    }
    if (this.#leadsElsewhere(paused)) {
      await this.#fail(paused)
      if (!this.#options.staysThere)
        this.#raw.resolve(leadsTo(paused.request.url, this.#head?.url ?? request.url))
      return
    }
    if (this.#documents >= DOCUMENTS_MAX) return this.#fail(paused)
    this.#documents++
    await this.#paced(paused)
    await this.#goOn(paused)
  }

  /** Whether the page leads to another one, which is the crawl's business. */
  #leadsElsewhere({ request }: Paused): boolean {
    if (this.#isActing || request.method !== 'GET') return false
    return withoutFragment(request.url) !== withoutFragment(this.#head?.url ?? this.#options.request.url)
  }

  async #paced({ request }: Paused): Promise<void> {
    const { pace, signal } = this.#options
    if (!pace || !/^https?:/.test(request.url)) return
    const beganAtMs = performance.now()
    this.#waiting++
    this.#onTheirWay.set(placeOf(request.url), await pace.mayLeave(request.url, signal))
    this.#waiting--
    this.#waitedMs += performance.now() - beganAtMs
  }

  async #answered(paused: Paused): Promise<void> {
    const { responseStatusCode: status, responseHeaders = [] } = paused
    const place = placeOf(paused.request.url)
    this.#onTheirWay.get(place)?.over()
    this.#onTheirWay.delete(place)
    if (status === undefined) return this.#goOn(paused)
    const headers = headersOf(responseHeaders)
    const { url } = paused.request
    if (isRedirect(status, headers)) {
      if (this.#isActing) return this.#goOn(paused)
      this.#raw.resolve({ url, status, headers, body: new Uint8Array(0) })
      return this.#fail(paused)
    }
    if (isShown(status, headers)) this.#head = { url, status, headers }
    if (this.#isActing || isRendered(status, headers)) return this.#goOn(paused)
    const body = hasNoBody(status) ? Promise.resolve(new Uint8Array(0)) : this.#body(paused, url)
    this.#raw.resolve(body.then((bytes) => ({ url, status, headers, body: bytes })))
    await body.catch(() => {})
    return this.#fail(paused)
  }

  #body({ requestId }: Paused, url: string): Promise<Uint8Array> {
    const { session, bodyBytesMax } = this.#options
    return bodyOf(session, requestId, { url, bytesMax: bodyBytesMax })
  }

  async #goOn({ requestId }: Paused): Promise<void> {
    await this.#options.session.send('Fetch.continueRequest', { requestId })
  }

  async #fail({ requestId }: Paused): Promise<void> {
    await this.#options.session.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' })
  }
}

function leadsTo(location: string, from: string): RawAnswer {
  return {
    url: from,
    status: 302,
    headers: new Headers({ location }),
    body: new Uint8Array(0),
    isOurs: true,
  }
}

function headersOf(lines: readonly { readonly name: string; readonly value: string }[]): Headers {
  // Several lines of one name may come as one, each in a line of its value.
  const byName: Record<string, string[]> = Object.create(null)
  for (const { name, value } of lines) {
    byName[name.toLowerCase()] ??= []
    byName[name.toLowerCase()]!.push(...value.split('\n'))
  }
  return Headers.fromWire(byName)
}

function isRedirect(status: number, headers: Headers): boolean {
  return [301, 302, 303, 307, 308].includes(status) && headers.has('location')
}

function hasNoBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304
}

/** Returns false for what leaves the page as it is: a download, and an answer without a body. */
function isShown(status: number, headers: Headers): boolean {
  return !hasNoBody(status) && !/^\s*attachment/i.test(headers.get('content-disposition') ?? '')
}

function isRendered(status: number, headers: Headers): boolean {
  return isShown(status, headers) && isHtmlAnswer({ headers })
}

/** `host:port`, as the way out names it. */
function placeOf(url: string): string {
  const { hostname, port, protocol } = new URL(url)
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}

export function withoutFragment(url: string): string {
  const hash = url.indexOf('#')
  return hash < 0 ? url : url.slice(0, hash)
}
