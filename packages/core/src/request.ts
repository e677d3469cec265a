import { parseCurl } from './curl/curl-command.ts'
import { curlLine } from './curl/curl-line.ts'
import { WebloomError } from './errors.ts'
import { Headers, type HeadersInit } from './headers.ts'
import type { JsonObject } from './json.ts'
import { checkOptions, type OptionNames, valueShown } from './known-options.ts'
import { bytesIn, knownUrl, safeForm, storedUrl, urlText } from './known-url-of.ts'
import { KnownUrl } from './known-urls.ts'
import type { RequestMeta } from './meta-keys.ts'
import { NEWEST_URL_RULES, type UrlRules } from './url/url-rules.ts'

/**
 * A method of the spider, or its name. Methods are found by identity (`this.parse`), so an arrow, a bound function
 * or a `#private` method is refused where the request is yielded: another worker could not find it.
 */
// biome-ignore lint/complexity/noBannedTypes: any narrower function type makes `callback: this.parse` inside `parse` circular for the type checker.
export type Callback = string | Function

/** Cookies of one request: a plain object, or a list when a cookie needs its own domain or path. */
export type CookiesInit =
  | Record<string, string>
  | readonly { name: string; value: string; domain?: string; path?: string; secure?: boolean }[]

/** Everything about a request but its URL; each part may be left out. */
export interface RequestInit {
  /** HTTP method, upper-cased. Default GET. */
  method?: string
  headers?: HeadersInit
  /** A string is sent in `encoding`. */
  body?: string | Uint8Array | null
  /** Put into the request's jar (`meta.cookiejar`) and sent. Control characters are refused. null: none. */
  cookies?: CookiesInit | null
  /** Data for middlewares and callbacks; must survive JSON. Known keys: `MetaKeys`. */
  meta?: RequestMeta
  /** Given to the callback as its second argument; must survive JSON. */
  cbKwargs?: JsonObject
  /** Higher goes first. An integer; default 0. */
  priority?: number
  /** True: asked again even when it was met before. Default false. */
  dontFilter?: boolean
  /** Who gets the response; `parse` when absent. */
  callback?: Callback | null
  /** Who is told when there is no response for the callback. */
  errback?: Callback | null
  /** Words for logs; the framework adds e.g. `cached`. */
  flags?: readonly string[]
  /** Encoding of the page the URL came from; query strings are percent-encoded in it. Default utf-8. */
  encoding?: string
}

/** What `Request.fromCurl` takes beside the command. */
export interface FromCurlInit extends RequestInit {
  /** False: an option that is not known is an error. Default true: it is warned of and left out. */
  ignoreUnknownOptions?: boolean
}

/** What a request is made with: its parts, or its callback alone, as `new Request(url, this.parse)`. */
export type RequestParts = RequestInit | Callback

/** All parts of a request but its URL, by name. */
export const REQUEST_OPTIONS = {
  method: true,
  headers: true,
  body: true,
  cookies: true,
  meta: true,
  cbKwargs: true,
  priority: true,
  dontFilter: true,
  callback: true,
  errback: true,
  flags: true,
  encoding: true,
} as const satisfies OptionNames<RequestInit>

const NO_PARTS: RequestInit = Object.freeze({})
const NO_BODY = new Uint8Array(0)
const NO_FLAGS: readonly string[] = Object.freeze([])

/**
 * What `make` answers for the request, asked once for each `by` in a row: filter and scheduler both need it.
 * For fingerprinters only.
 */
export let rememberedFingerprint: (request: Request, by: object, make: (request: Request) => string) => string

/** What is known of the request's URL by all requests to it; undefined for a URL that stays as it was written. */
export let knownUrlOf: (request: Request) => KnownUrl | undefined

/**
 * Has the request go by these rules: its URL becomes what they make of what its author wrote. An author knows no crawl, so
 * a request is made by the newest rules, and comes under those of its crawl when the crawl gets it.
 * Throws `InvalidUrl` when these rules refuse the URL.
 */
export let putUnderRules: (request: Request, rules: UrlRules) => void

/**
 * One page to fetch and who is to get it.
 *
 * `url` is made safe by the rules of w3lib's `safe_url_string`, unless `meta.verbatim_url` is true: by the newest, until a
 * crawl gets the request that goes by others (URL_RULES).
 */
export class Request {
  readonly url: string
  readonly method: string
  readonly body: Uint8Array
  readonly cookies: CookiesInit | null
  readonly encoding: string
  readonly flags: readonly string[]
  priority: number
  dontFilter: boolean
  callback: Callback | null
  errback: Callback | null
  // Most requests have none of these three: they are made when first asked for.
  #headers: Headers | undefined
  /** A Referer that is not among the headers yet. */
  #referer: string | undefined
  #meta: JsonObject | undefined
  #cbKwargs: JsonObject | undefined
  #known: KnownUrl | undefined
  // The last fingerprint and whose it is. A WeakMap beside the requests costs five times as much (0.7 µs a link).
  #fingerprint = ''
  #fingerprintedBy: object | undefined

  static {
    rememberedFingerprint = (request, by, make) => {
      if (request.#fingerprintedBy !== by) {
        request.#fingerprint = make(request)
        request.#fingerprintedBy = by
      }
      return request.#fingerprint
    }
    knownUrlOf = (request) => request.#known
    putUnderRules = (request, rules) => {
      const known = request.#known
      if (known === undefined || known.rules === rules) return
      const { encoding } = request
      request.#under(
        known.rules === undefined
          ? storedUrl(known.url, encoding, rules)
          : knownUrl(known.written, encoding, rules),
      )
    }
  }

  /**
   * Throws `InvalidUrl` (no scheme, bad port, broken host) and WL_REQUEST_INVALID (bad method, priority or body; a part that
   * is not known; a callback that is undefined, as a misspelt method is; undefined in place of `parts`).
   */
  constructor(url: string | URL | KnownUrl, parts: RequestParts = NO_PARTS) {
    // biome-ignore lint/complexity/noArguments: a rest parameter would make a list for each link of a page.
    if (arguments.length > 1 && arguments[1] === undefined) throw undefinedParts('new Request()')
    // Links of a page share their parts, which `followAll` has looked at.
    const init = url instanceof KnownUrl ? (parts as RequestInit) : requestInit(parts, 'Request')
    this.encoding = init.encoding ?? 'utf-8'
    if (url instanceof KnownUrl) {
      this.#known = url
      this.url = url.url
    } else {
      const text = urlText(url)
      const isVerbatim = init.meta?.verbatim_url === true
      this.#known = isVerbatim ? undefined : knownUrl(text, this.encoding, NEWEST_URL_RULES)
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
   * The request that a curl command would send, such as browsers' "Copy as cURL" gives; `init` overrides its parts.
   * Options that say what cannot be kept are warned of, or with `ignoreUnknownOptions: false` refused.
   *
   * Throws WL_REQUEST_INVALID for what is no curl command, and for data that is to be read from a file.
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

  get headers(): Headers {
    this.#headers ??= new Headers()
    if (this.#referer !== undefined) {
      this.#headers.set('referer', this.#referer)
      this.#referer = undefined
    }
    return this.#headers
  }

  /**
   * Sets the header Referer. As `headers.set`, but the headers themselves are made when somebody asks for them: of a page's
   * links most are met before, and dropped.
   */
  setReferer(url: string): void {
    this.#referer = url
  }

  get meta(): JsonObject {
    this.#meta ??= {}
    return this.#meta
  }

  /** It is copied, not shared; what it holds in objects of its own is, until the request is yielded. */
  set meta(meta: JsonObject) {
    this.#meta = { ...meta }
  }

  get cbKwargs(): JsonObject {
    this.#cbKwargs ??= {}
    return this.#cbKwargs
  }

  set cbKwargs(cbKwargs: JsonObject) {
    this.#cbKwargs = { ...cbKwargs }
  }

  /** True when a header was set; asking `headers` itself would make an empty object for nothing. */
  get hasHeaders(): boolean {
    return this.#referer !== undefined || (this.#headers !== undefined && this.#headers.size > 0)
  }

  get hasMeta(): boolean {
    return this.#meta !== undefined
  }

  get hasCbKwargs(): boolean {
    return this.#cbKwargs !== undefined
  }

  /** The same request with some parts changed. Headers, meta and cbKwargs are copied, not shared. */
  replace(changes: RequestInit & { url?: string | URL } = {}): Request {
    const { url, ...init } = changes
    const parts = requestInit({ ...this.parts, ...init }, 'request.replace')
    // The same URL goes by the same rules, and is the same as what it was written.
    const stays = url === undefined && parts.encoding === this.encoding && parts.meta?.verbatim_url !== true
    return new Request((stays ? this.#known : undefined) ?? url ?? this.url, parts)
  }

  #under(known: KnownUrl): void {
    this.#known = known
    this.#fingerprintedBy = undefined
    // Read-only for all others.
    Object.assign(this, { url: known.url })
  }

  /** What an equal request is made with. */
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
   * The curl command that sends this request, for a shell: without what middlewares add, such as a User-Agent.
   * Throws WL_REQUEST_INVALID for a body that is no UTF-8 text.
   */
  toCurl(): string {
    return curlLine(this)
  }

  toString(): string {
    return `<${this.method} ${this.url}>`
  }
}

const FROM_CURL_OPTIONS = {
  ...REQUEST_OPTIONS,
  ignoreUnknownOptions: true,
} as const satisfies OptionNames<FromCurlInit>

/**
 * The parts of a request as an author wrote them: a callback alone becomes one. Throws WL_REQUEST_INVALID for what no
 * request has, and for a callback that is undefined: `parse` would get the page of a misspelt method.
 *
 * @param of who was given them, for the message
 */
export function requestInit(parts: RequestParts, of: string): RequestInit {
  if (typeof parts === 'function' || typeof parts === 'string') return { callback: parts }
  if (!areRequestOptions(parts))
    checkOptions(parts, REQUEST_OPTIONS, { of, code: 'WL_REQUEST_INVALID', hints: HINTS })
  if (parts.callback === undefined && 'callback' in parts) throw undefinedCallback(of, 'callback')
  if (parts.errback === undefined && 'errback' in parts) throw undefinedCallback(of, 'errback')
  return parts
}

/** A switch over the names takes half the time of looking them up, and this is done for each request. */
function areRequestOptions(parts: RequestInit): boolean {
  if (typeof parts !== 'object' || parts === null) return false
  for (const name in parts) {
    switch (name) {
      case 'callback':
      case 'cbKwargs':
      case 'meta':
      case 'headers':
      case 'method':
      case 'body':
      case 'dontFilter':
      case 'priority':
      case 'errback':
      case 'cookies':
      case 'flags':
      case 'encoding':
        break
      default:
        return false
    }
  }
  return true
}

/** Names of other frameworks' requests that no spelling leads from to ours. */
const HINTS: Readonly<Record<string, string>> = {
  css: 'Give the query itself: followAll(query, { callback })',
  xpath: 'Give what it finds: followAll(response.xpath(query), { callback })',
  formdata: 'Write new FormRequest(url, { formdata })',
  data: 'Write new JsonRequest(url, { data })',
  json: 'Write new JsonRequest(url, { data })',
  userData: 'Data for the callback goes into cbKwargs, for middlewares into meta',
  label: 'Name the method that gets the page: callback: this.parseItem',
  url: 'The URL stands first: new Request(url, { … })',
}

/** For what was called with `undefined` where a callback or the parts of a request are expected. */
export function undefinedParts(of: string): WebloomError {
  return new WebloomError(
    'WL_REQUEST_INVALID',
    `${of} was given undefined after the URL: is the method's name misspelt, or \`this\` another object? Expected a method (this.parseItem) or { callback, … }; leave it out for parse`,
  )
}

function undefinedCallback(of: string, role: 'callback' | 'errback'): WebloomError {
  const otherwise = role === 'callback' ? 'leave it out for parse' : 'leave it out for none'
  return new WebloomError(
    'WL_REQUEST_INVALID',
    `${role} of ${of} is undefined: is the method's name misspelt, or \`this\` another object? Write ${role}: this.parseItem for a method of the spider; ${otherwise}`,
  )
}

function checkedCallback(given: Callback | null, role: string): Callback | null {
  if (given === null || typeof given === 'function' || typeof given === 'string') return given
  throw new WebloomError(
    'WL_REQUEST_INVALID',
    `${role} is ${valueShown(given)}; expected a method of the spider, not called: ${role}: this.parseItem`,
  )
}

function checkedDict(given: JsonObject, name: string): JsonObject {
  const prototype = typeof given === 'object' ? Object.getPrototypeOf(given) : undefined
  // Of other classes nothing would be copied, or not all.
  if (prototype === Object.prototype || (prototype !== undefined && !(Symbol.iterator in given))) return given
  throw new WebloomError('WL_REQUEST_INVALID', `${name} is ${valueShown(given)}; expected a plain object`)
}

function checkedMethod(method: string): string {
  if (typeof method !== 'string' || !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(method)) {
    throw new WebloomError(
      'WL_REQUEST_INVALID',
      `method is ${JSON.stringify(method)}; expected an HTTP method such as GET or POST`,
    )
  }
  return method.toUpperCase()
}

function checkedPriority(priority: number): number {
  if (!Number.isSafeInteger(priority)) {
    throw new WebloomError(
      'WL_REQUEST_INVALID',
      `priority is ${valueShown(priority)}; expected an integer, higher goes first`,
    )
  }
  return priority
}

function bodyBytes(body: string | Uint8Array | null | undefined, encoding: string): Uint8Array {
  if (body === null || body === undefined || body === '') return NO_BODY
  if (body instanceof Uint8Array) return body
  if (typeof body !== 'string') {
    throw new WebloomError(
      'WL_REQUEST_INVALID',
      `body is a ${typeof body}; expected a string or bytes (JSON.stringify an object first)`,
    )
  }
  if (encoding === 'utf-8') return Buffer.from(body, 'utf8')
  return Buffer.from(bytesIn(encoding, body, 'WL_REQUEST_INVALID', 'the body'), 'latin1')
}

/** What can be written in UTF-8 is told by whoever writes it. */
function checkedHeaders(headers: Headers, encoding: string): Headers {
  if (encoding === 'utf-8') return headers
  headers.forEach((name, value) => {
    bytesIn(encoding, value, 'WL_HEADER_INVALID', `the header ${name}`)
  })
  return headers
}
