import { WebloomError } from '../errors/errors.ts'
import { type JsonObject, jsonCopy } from './json.ts'
import { KnownUrl } from './known-url.ts'
import { Request, requestTo } from './request.ts'
import type { CookiesInit, RequestInit } from './request-parts.ts'
import { safeForm, urlText } from './request-url.ts'

/**
 * The JSON form of a request: what a queue stores and another worker reads.
 *
 * `v` is the version of the form. A worker that meets a newer one rejects the request instead of guessing, so two releases
 * can share a queue. Parts with their default value are left out. Keys are short because a queue holds millions of them.
 */
export interface RequestJson {
  v: typeof REQUEST_JSON_VERSION
  url: string
  /** Method; absent for GET. */
  m?: string
  /** Headers. */
  h?: Record<string, string | string[]>
  /** Body in base64. */
  b?: string
  /** Cookies. */
  c?: CookiesInit
  meta?: JsonObject
  kw?: JsonObject
  /** Priority; absent for 0. */
  p?: number
  /** dontFilter; absent for false. */
  df?: 1
  /** Name of the callback; absent for `parse`. */
  cb?: string
  /** Name of the errback. */
  eb?: string
  /** Flags. */
  f?: readonly string[]
  /** Encoding; absent for utf-8. */
  enc?: string
}

export const REQUEST_JSON_VERSION = 1

/** Throws WL_REQUEST_INVALID when meta or cbKwargs do not survive JSON, or a callback is still a function. */
export function requestToJson(request: Request): RequestJson {
  return {
    v: REQUEST_JSON_VERSION,
    url: request.url,
    ...(request.method !== 'GET' && { m: request.method }),
    ...(request.hasHeaders && { h: request.headers.toJSON() }),
    ...(request.body.length > 0 && { b: Buffer.from(request.body).toString('base64') }),
    ...(request.cookies && { c: request.cookies }),
    ...(request.hasMeta && { meta: jsonCopy(request.meta, (path) => `meta${path}`) as JsonObject }),
    ...(request.hasCbKwargs && { kw: jsonCopy(request.cbKwargs, (path) => `cbKwargs${path}`) as JsonObject }),
    ...(request.priority !== 0 && { p: request.priority }),
    ...(request.dontFilter && { df: 1 }),
    ...(request.callback !== null && { cb: nameOf(request.callback, 'callback') }),
    ...(request.errback !== null && { eb: nameOf(request.errback, 'errback') }),
    ...(request.flags.length > 0 && { f: request.flags }),
    ...(request.encoding !== 'utf-8' && { enc: request.encoding }),
  }
}

/** Returns the request. Throws WL_REQUEST_VERSION for another version: the request must be rejected, not dropped. */
export function requestFromJson(json: RequestJson): Request {
  if (json.v !== REQUEST_JSON_VERSION) {
    throw new WebloomError(
      'WL_REQUEST_VERSION',
      `a queued request has form ${JSON.stringify(json.v)}; this release reads form ${REQUEST_JSON_VERSION}. It is left for a worker of its release`,
    )
  }
  const init: RequestInit = {
    dontFilter: json.df === 1,
    priority: json.p ?? 0,
    callback: json.cb ?? null,
    errback: json.eb ?? null,
    ...(json.m !== undefined && { method: json.m }),
    ...(json.h && { headers: json.h }),
    ...(json.b !== undefined && { body: Buffer.from(json.b, 'base64') }),
    ...(json.c && { cookies: json.c }),
    ...(json.meta && { meta: json.meta }),
    ...(json.kw && { cbKwargs: json.kw }),
    ...(json.f && { flags: json.f }),
    ...(json.enc !== undefined && { encoding: json.enc }),
  }
  if (json.meta?.verbatim_url === true) return new Request(json.url, init)
  // The URL was made safe before it was queued, by the rules of its crawl, which the worker that leases it knows.
  return requestTo(new KnownUrl(safeForm(json.url, urlText(json.url))), init)
}

function nameOf(callback: NonNullable<Request['callback']>, role: string): string {
  if (typeof callback === 'string') return callback
  throw new WebloomError(
    'WL_REQUEST_INVALID',
    `${role} is a function; the spider must give it its method's name before it is queued`,
  )
}
