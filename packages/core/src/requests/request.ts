import {
  checkOptions,
  curlLine,
  NEWEST_URL_RULES,
  type OptionNames,
  parseCurl,
  type UrlRules,
} from '@webloom/url'
import { WebloomError } from '../errors/errors.ts'
import { Headers } from './headers.ts'
import type { JsonObject } from './json.ts'
import { KnownUrl } from './known-url.ts'
import {
  bodyBytes,
  type Callback,
  type CookiesInit,
  checkedCallback,
  checkedDict,
  checkedHeaders,
  checkedMethod,
  checkedPriority,
  type FromCurlInit,
  REQUEST_OPTIONS,
  type RequestInit,
  type RequestParts,
  requestInit,
  undefinedParts,
} from './request-parts.ts'
import { safeForm, urlOfWritten, urlText } from './request-url.ts'

const NO_PARTS: RequestInit = Object.freeze({})
const NO_FLAGS: readonly string[] = Object.freeze([])

/**
 * What the functions at the end of this file may do with a request, but authors may not. They are made where its private
 * parts are.
 */
interface RequestInside {
  rememberedFingerprint(request: Request, by: object, make: (request: Request) => string): string
  knownUrlOf(request: Request): KnownUrl | undefined
  share(request: Request, known: KnownUrl): void
  putUnderRules(request: Request, rules: UrlRules): void
  refererAlone(request: Request): string | undefined
  parts(request: Request): RequestInit
}

let inside: RequestInside

/**
 * One page to fetch, and the callback that gets it.
 *
 * `url` is made safe by the rules of w3lib's `safe_url_string`, unless `meta.verbatim_url` is true: by the newest rules,
 * until a crawl with others (URL_RULES) gets the request.
 */
export class Request {
  /**
   * The URL as it is requested: made safe by URL_RULES, percent-encoded, absolute. With `meta.verbatim_url` as it was
   * written.
   */
  readonly url: string
  /** HTTP method in upper case. */
  readonly method: string
  /** The body in bytes; empty when there is none. */
  readonly body: Uint8Array
  /** Cookies that are put into the request's jar (`meta.cookiejar`) and sent; null: none of its own. */
  readonly cookies: CookiesInit | null
  /** The encoding of the URL's query and of a text body. */
  readonly encoding: string
  /** Words for logs; the framework adds e.g. `cached`. */
  readonly flags: readonly string[]
  /** Higher goes first. Default 0. */
  priority: number
  /** True: the dupefilter is not asked, and the request is fetched even when it was seen before. */
  dontFilter: boolean
  /** The callback that gets the response, a method of the spider or its name; null: `parse`. */
  callback: Callback | null
  /** Called when there is no response for the callback; null: the failure is only logged. */
  errback: Callback | null
  // Most requests have none of these three: they are made when first used.
  #headers: Headers | undefined
  /** A Referer that is not in the headers yet. */
  #referer: string | undefined
  #meta: JsonObject | undefined
  #cbKwargs: JsonObject | undefined
  #known: KnownUrl | undefined
  // The last fingerprint and its maker. A WeakMap beside the requests costs five times as much (0.7 µs a link).
  #fingerprint = ''
  #fingerprintedBy: object | undefined

  static {
    inside = {
      rememberedFingerprint(request, by, make) {
        if (request.#fingerprintedBy !== by) {
          request.#fingerprint = make(request)
          request.#fingerprintedBy = by
        }
        return request.#fingerprint
      },
      knownUrlOf: (request) => request.#known,
      share(request, known) {
        request.#known = known
      },
      refererAlone: (request) => (request.#headers === undefined ? request.#referer : undefined),
      parts: (request) => request.parts,
      putUnderRules(request, rules) {
        const known = request.#known
        if (known === undefined || known.rules === rules) return
        // A URL from a queue stays as it is: these rules would change some of them once more, such as a host that is upper
        // case only in its other form (`℡.com`).
        request.#under(
          known.rules === undefined
            ? new KnownUrl(known.url, rules)
            : urlOfWritten(known.written, request.encoding, rules),
        )
      },
    }
  }

  /**
   * Throws `InvalidUrl` (no scheme, bad port, broken host) and WL_REQUEST_INVALID (bad method, priority or body; an unknown
   * part; a callback that is undefined, as a misspelt method is; undefined in place of `parts`).
   */
  constructor(url: string | URL, parts?: RequestParts)
  // Only `requestTo` passes a KnownUrl; the declaration above, which callers see, has none.
  constructor(url: string | URL | KnownUrl, parts: RequestParts = NO_PARTS) {
    // biome-ignore lint/complexity/noArguments: a rest parameter would make a list for each link of a page.
    if (arguments.length > 1 && arguments[1] === undefined) throw undefinedParts('new Request()')
    // Links of a page share their parts, which `followAll` has checked.
    const init = url instanceof KnownUrl ? (parts as RequestInit) : requestInit(parts, 'Request')
    this.encoding = init.encoding ?? 'utf-8'
    if (url instanceof KnownUrl) {
      this.#known = url
      this.url = url.url
    } else {
      const text = urlText(url)
      const isVerbatim = init.meta?.verbatim_url === true
      this.#known = isVerbatim ? undefined : urlOfWritten(text, this.encoding, NEWEST_URL_RULES)
      this.url = this.#known?.url ?? safeForm(text, text)
    }
    this.method = init.method === undefined ? 'GET' : checkedMethod(init.method)
    this.body = bodyBytes(init.body, this.encoding)
    this.cookies = init.cookies ?? null
    this.flags = init.flags ?? NO_FLAGS
    this.priority = init.priority === undefined ? 0 : checkedPriority(init.priority)
    this.dontFilter = init.dontFilter ?? false
    this.callback = init.callback === undefined ? null : checkedCallback(init.callback, 'callback')
    this.errback = init.errback === undefined ? null : checkedCallback(init.errback, 'errback')
    this.#headers = init.headers && checkedHeaders(new Headers(init.headers), this.encoding)
    this.#referer = undefined
    this.#meta = init.meta && { ...checkedDict(init.meta, 'meta') }
    this.#cbKwargs = init.cbKwargs && { ...checkedDict(init.cbKwargs, 'cbKwargs') }
  }

  /**
   * Returns the request that a curl command would send, such as browsers' "Copy as cURL" gives; `init` overrides its parts.
   * Options that cannot be kept are warned of, or with `ignoreUnknownOptions: false` refused.
   *
   * Throws WL_REQUEST_INVALID for a text that is not a curl command, and for data that would be read from a file.
   */
  static fromCurl(command: string, options: FromCurlInit = {}): Request {
    checkOptions(options, FROM_CURL_OPTIONS, { of: 'Request.fromCurl', code: 'WL_REQUEST_INVALID' })
    const { ignoreUnknownOptions = true, ...init } = options
    const { url, init: said, ignored } = parseCurl(command)
    if (ignored.length > 0) {
      const message = `options of the curl command are not known here: ${ignored.join(', ')}`
      if (!ignoreUnknownOptions) throw new WebloomError('WL_REQUEST_INVALID', message)
      process.emitWarning(message)
    }
    return new Request(url, { ...said, ...init })
  }

  /** The headers to send; DEFAULT_REQUEST_HEADERS and middlewares add to them on the way. */
  get headers(): Headers {
    this.#headers ??= new Headers()
    if (this.#referer !== undefined) {
      this.#headers.set('referer', this.#referer)
      this.#referer = undefined
    }
    return this.#headers
  }

  /**
   * Sets the header Referer, as `headers.set`, but without making the headers: most of a page's links were seen before and
   * are dropped.
   */
  setReferer(url: string): void {
    this.#referer = url
  }

  /** Data for middlewares and callbacks; must survive JSON. Known keys: `MetaKeys`. */
  get meta(): JsonObject {
    this.#meta ??= {}
    return this.#meta
  }

  /** Sets a shallow copy; objects within it are shared until the request is yielded. */
  set meta(meta: JsonObject) {
    this.#meta = { ...meta }
  }

  /** The callback's second argument; must survive JSON. */
  get cbKwargs(): JsonObject {
    this.#cbKwargs ??= {}
    return this.#cbKwargs
  }

  set cbKwargs(cbKwargs: JsonObject) {
    this.#cbKwargs = { ...cbKwargs }
  }

  /** True when a header was set; reading `headers` would make an empty object for nothing. */
  get hasHeaders(): boolean {
    return this.#referer !== undefined || (this.#headers !== undefined && this.#headers.size > 0)
  }

  /** Returns whether there is `meta`, without making it. */
  get hasMeta(): boolean {
    return this.#meta !== undefined
  }

  /** Returns whether there are `cbKwargs`, without making them. */
  get hasCbKwargs(): boolean {
    return this.#cbKwargs !== undefined
  }

  /** Returns the same request with some parts changed. Headers, meta and cbKwargs are copied, not shared. */
  replace(changes: RequestInit & { url?: string | URL } = {}): Request {
    const { url, ...init } = changes
    const parts = requestInit({ ...this.parts, ...init }, 'request.replace')
    // The same URL goes by the same rules, and counts as the same written URL.
    const stays = url === undefined && parts.encoding === this.encoding && parts.meta?.verbatim_url !== true
    return stays && this.#known ? requestTo(this.#known, parts) : new Request(url ?? this.url, parts)
  }

  #under(known: KnownUrl): void {
    this.#known = known
    this.#fingerprintedBy = undefined
    // Read-only for all other code.
    Object.assign(this, { url: known.url })
  }

  /** The parts that make an equal request. */
  protected get parts(): RequestInit {
    return {
      method: this.method,
      body: this.body,
      encoding: this.encoding,
      flags: this.flags,
      priority: this.priority,
      dontFilter: this.dontFilter,
      callback: this.callback,
      errback: this.errback,
      ...(this.cookies && { cookies: this.cookies }),
      ...(this.hasHeaders && { headers: this.headers }),
      ...(this.#meta && { meta: this.#meta }),
      ...(this.#cbKwargs && { cbKwargs: this.#cbKwargs }),
    }
  }

  /**
   * Returns the curl command that sends this request, for a shell, without what middlewares add, such as a User-Agent.
   * Throws WL_REQUEST_INVALID for a body that is not UTF-8 text.
   */
  toCurl(): string {
    return curlLine(this)
  }

  toString(): string {
    return `<${this.method} ${this.url}>`
  }
}

/** Makes a request to a URL that is safe already; `requestInit` has checked `init`. */
export function requestTo(known: KnownUrl, init: RequestInit): Request {
  return new RequestToKnown(known, init)
}

const RequestToKnown = Request as unknown as new (known: KnownUrl, init: RequestInit) => Request

/**
 * Returns what `make` returns for the request, which is called once for each `by` in a row: filter and scheduler both need
 * it. For fingerprinters only.
 */
export const rememberedFingerprint: RequestInside['rememberedFingerprint'] = inside.rememberedFingerprint

/** Returns what is known of the request's URL; undefined for a URL that stays as it was written. */
export const knownUrlOf: RequestInside['knownUrlOf'] = inside.knownUrlOf

/** Makes the request share what other requests to its URL have; `known` is of the same URL and rules. */
export const shareKnownUrl: RequestInside['share'] = inside.share

/** Returns the Referer of a request that has no other header; undefined for all other requests. */
export const refererAlone: RequestInside['refererAlone'] = inside.refererAlone

/** Returns the parts that make an equal request to the same URL. */
export const requestParts: RequestInside['parts'] = inside.parts

/**
 * Puts the request under these rules: its URL becomes what they make of the author's text. An author knows no crawl, so a
 * request is made by the newest rules, and comes under those of its crawl when the crawl gets it. Throws `InvalidUrl` when
 * these rules refuse the URL.
 */
export const putUnderRules: RequestInside['putUnderRules'] = inside.putUnderRules

const FROM_CURL_OPTIONS = {
  ...REQUEST_OPTIONS,
  ignoreUnknownOptions: true,
} as const satisfies OptionNames<FromCurlInit>
