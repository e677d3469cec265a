/** The parts of a request beside its URL, and their checks. */

import { checkOptions, type OptionNames, valueShown } from '@webloom/url'
import { WebloomError } from '../errors/errors.ts'
import type { Headers, HeadersInit } from './headers.ts'
import type { JsonObject } from './json.ts'
import type { RequestMeta } from './meta-keys.ts'
import { bytesIn } from './request-url.ts'

/**
 * A method of the spider, or its name. Methods are found by identity (`this.parse`), so an arrow function, a bound function
 * or a `#private` method is refused when the request is yielded: another worker could not find it.
 */
// biome-ignore lint/complexity/noBannedTypes: any narrower function type makes `callback: this.parse` inside `parse` circular for the type checker.
export type Callback = string | Function

/** Cookies of one request: a plain object, or a list when a cookie needs its own domain or path. */
export type CookiesInit =
  | Record<string, string>
  | readonly { name: string; value: string; domain?: string; path?: string; secure?: boolean }[]

/** The parts of a request beside its URL. Each may be left out. */
export interface RequestInit {
  /** HTTP method, upper-cased. Default GET. */
  method?: string
  /** The headers to send. WL_HEADER_INVALID for a name that is not a token, and for a value that no header may hold. */
  headers?: HeadersInit
  /** The body to send. A string is written in `encoding`. */
  body?: string | Uint8Array | null
  /** Cookies that are put into the request's jar (`meta.cookiejar`) and sent. Control characters are refused. null: none. */
  cookies?: CookiesInit | null
  /** Data for middlewares and callbacks; must survive JSON. Known keys: `MetaKeys`. */
  meta?: RequestMeta
  /** The callback's second argument; must survive JSON. */
  cbKwargs?: JsonObject
  /** Higher goes first. An integer; default 0. */
  priority?: number
  /** True: the request is fetched even when it was seen before. Default false. */
  dontFilter?: boolean
  /** The callback that gets the response. Default `parse`. */
  callback?: Callback | null
  /** Called when there is no response for the callback. */
  errback?: Callback | null
  /** Words for logs; the framework adds e.g. `cached`. */
  flags?: readonly string[]
  /** Encoding of the page the URL came from; query strings are percent-encoded in it. Default utf-8. */
  encoding?: string
}

/** The options of `Request.fromCurl` beside the command. */
export interface FromCurlInit extends RequestInit {
  /** False: an unknown option is an error. Default true: it is left out with a warning. */
  ignoreUnknownOptions?: boolean
}

/** The parts of a request, or its callback alone, as in `new Request(url, this.parse)`. */
export type RequestParts = RequestInit | Callback

/** The names of a request's parts. */
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

/**
 * Returns the parts of a request as an author wrote them; a callback alone becomes a part. Throws WL_REQUEST_INVALID for a
 * part that no request has, and for a callback that is undefined: otherwise `parse` would get the page of a misspelt
 * method.
 *
 * @param of the function that was called, for the message
 */
export function requestInit(parts: RequestParts, of: string): RequestInit {
  if (typeof parts === 'function' || typeof parts === 'string') return { callback: parts }
  if (!areRequestOptions(parts))
    checkOptions(parts, REQUEST_OPTIONS, { of, code: 'WL_REQUEST_INVALID', hints: HINTS })
  if (parts.callback === undefined && 'callback' in parts) throw undefinedCallback(of, 'callback')
  if (parts.errback === undefined && 'errback' in parts) throw undefinedCallback(of, 'errback')
  return parts
}

/** A switch over the names takes half the time of a look-up, and this runs for each request. */
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

/** Names in other frameworks that are not similar to ours. */
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

/** Returns the error for a call with `undefined` in place of a callback or of the parts of a request. */
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

export function checkedCallback(given: Callback | null, role: string): Callback | null {
  if (given === null || typeof given === 'function' || typeof given === 'string') return given
  throw new WebloomError(
    'WL_REQUEST_INVALID',
    `${role} is ${valueShown(given)}; expected a method of the spider, without calling it: ${role}: this.parseItem`,
  )
}

export function checkedDict(given: JsonObject, name: string): JsonObject {
  const prototype = typeof given === 'object' ? Object.getPrototypeOf(given) : undefined
  // Of an instance of another class not all parts would be copied, or none.
  if (prototype === Object.prototype || (prototype !== undefined && !(Symbol.iterator in given))) return given
  throw new WebloomError('WL_REQUEST_INVALID', `${name} is ${valueShown(given)}; expected a plain object`)
}

export function checkedMethod(method: string): string {
  if (typeof method !== 'string' || !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(method)) {
    throw new WebloomError(
      'WL_REQUEST_INVALID',
      `method is ${JSON.stringify(method)}; expected an HTTP method such as GET or POST`,
    )
  }
  return method.toUpperCase()
}

export function checkedPriority(priority: number): number {
  if (!Number.isSafeInteger(priority)) {
    throw new WebloomError(
      'WL_REQUEST_INVALID',
      `priority is ${valueShown(priority)}; expected an integer, higher goes first`,
    )
  }
  return priority
}

// Most requests have no body.
const NO_BODY = new Uint8Array(0)

export function bodyBytes(body: string | Uint8Array | null | undefined, encoding: string): Uint8Array {
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

/** Throws for what cannot be written in `encoding`. UTF-8 is checked where it is written. */
export function checkedHeaders(headers: Headers, encoding: string): Headers {
  if (encoding === 'utf-8') return headers
  headers.forEach((name, value) => {
    bytesIn(encoding, value, 'WL_HEADER_INVALID', `the header ${name}`)
  })
  return headers
}
