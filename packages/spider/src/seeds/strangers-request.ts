/**
 * What a request may ask for when a stranger wrote it: anyone who can fill a list of start URLs.
 *
 * - `callback` and `errback` name methods that the spider's own classes define. They may not name methods that the
 *   framework calls itself (`start`, `closed`, `makeRequestFromData` …), nor functions in fields, which may be anything.
 * - `meta` removes no bound. Keys that the framework does not read are the spider's own and pass. Of the keys that it
 *   reads, and of those with similar names, only those pass that can make a crawl ask for less.
 *
 * A request that is refused is refused as a whole: without the refused part it would not be the one that was asked for.
 */

import { chainOf, type JsonValue, type Request, WebloomError } from '@webloom/core'
import { isFrameworkClass, type Spider } from '../spider.ts'

/** Throws WL_REQUEST_INVALID for what a stranger may not ask for, and WL_CALLBACK_UNKNOWN for a method that it may not name. */
export function checkStrangersRequest(request: Request, spider?: Spider): void {
  if (request.hasMeta) checkMeta(request.meta)
  checkHeaders(request)
  if (!spider) return
  const { callback, errback } = request
  if (typeof callback === 'string') checkMethod(spider, callback, 'callback')
  if (typeof errback === 'string') checkMethod(spider, errback, 'errback')
}

const isCount = (value: JsonValue) => Number.isSafeInteger(value) && (value as number) >= 0

/** Keys that the framework reads and a stranger may set, to values that pass the check. */
const HARMLESS: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  depth: isCount,
  dont_cache: () => true,
  dont_merge_cookies: () => true,
  dont_redirect: () => true,
  dont_retry: () => true,
  handle_httpstatus_all: () => true,
  handle_httpstatus_list: () => true,
  recrawl: (value) => value === false,
  redirect_times: isCount,
  retry_times: isCount,
  seed_delay: () => true,
}

/** All other keys that the framework reads, or that Scrapy and its usual middlewares read. */
const REFUSED: ReadonlySet<string> = new Set([
  'allow_offsite',
  'bindaddress',
  'browser',
  'cookiejar',
  'dedupTtl',
  'depth_reset',
  'give_up_log_level',
  'host_retry_times',
  'is_start_request',
  'last_visit',
  'lastmod',
  'max_retry_times',
  'priority_adjust',
  'queued_at',
  'referrer_policy',
  'traceparent',
  'trap_chain',
  'unread_times',
  'verbatim_url',
  'visit_lease',
])
// So that a key which is added one day is refused until its author has decided about it.
const REFUSED_BEGINNINGS =
  /^(?:_auth|autothrottle_|cookie|dont_|download_|ftp_|handle_http|http_|proxy|redirect_|referrer_|retry_|robots)/

/** Returns whether a stranger may set this key of `meta` to that value. */
export function mayStrangerSet(key: string, value: JsonValue): boolean {
  const isHarmless = Object.hasOwn(HARMLESS, key) ? HARMLESS[key] : undefined
  if (isHarmless) return isHarmless(value)
  return !REFUSED.has(key) && !REFUSED_BEGINNINGS.test(key)
}

function checkMeta(meta: Request['meta']): void {
  const refused = Object.entries(meta).filter(([key, value]) => !mayStrangerSet(key, value))
  if (refused.length === 0) return
  const keys = refused.map(([key, value]) => `meta.${key} ${shown(value)}`).join(', ')
  throw refusal(`it gives ${keys}, which could lift a bound of the crawl`)
}

function checkHeaders(request: Request): void {
  if (!request.hasHeaders || !request.headers.has('proxy-authorization')) return
  throw refusal('it has a header Proxy-Authorization')
}

function refusal(what: string): WebloomError {
  return new WebloomError(
    'WL_REQUEST_INVALID',
    `${what}; start URLs from Redis may do that only with SEEDS_TRUSTED=true`,
  )
}

function checkMethod(spider: Spider, name: string, role: 'callback' | 'errback'): void {
  if (name === 'parse' || methodsOf(spider).has(name)) return
  const named = [...new Set(['parse', ...methodsOf(spider)])].join(', ')
  throw new WebloomError(
    'WL_CALLBACK_UNKNOWN',
    `${role} ${JSON.stringify(name)} is not a method of spider ${spider.name} that start URLs from Redis may name; they may name ${named}`,
  )
}

/** Returns the methods that the spider's own classes define, without those that the framework calls. */
function methodsOf(spider: Spider): ReadonlySet<string> {
  const found = new Map<string, boolean>()
  const frameworks = new Set(['constructor', 'closed'])
  for (const object of chainOf(spider)) {
    const isOurs = isFrameworkClass(object)
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(object))) {
      if (isOurs) frameworks.add(name)
      // The nearest property counts, as in the language: a field hides a method.
      if (!found.has(name)) found.set(name, typeof value === 'function' && object !== spider && !isOurs)
    }
  }
  return new Set([...found].filter(([name, isOwn]) => isOwn && !frameworks.has(name)).map(([name]) => name))
}

function shown(value: JsonValue): string {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
