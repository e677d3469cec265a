/**
 * A request that waits in memory, in a third of what a `Request` takes there. Millions may wait, and each object and each
 * text costs some bytes for itself, so there are as few of them as can be:
 *
 *     text     the id and the URL, in one text
 *     referer  the URL of the page that it was found on: one text for all links of the page
 *     parts    all the rest: one object for all requests that have the same, which nearly all of a crawl have
 */

import { ownCopy, type UrlRules } from '@webloom/url'
import type { QueuedRequest } from '../ports/request-queue.ts'
import { KnownUrl } from '../requests/known-url.ts'
import { knownUrlOf, Request, refererAlone, requestParts, requestTo } from '../requests/request.ts'
import type { RequestInit } from '../requests/request-parts.ts'

/** What a request has beside its id, its URL and its referer. */
interface WaitingParts {
  /** The rules by which its URL was made safe. */
  readonly rules: UrlRules | undefined
  /** True: the URL stays as it was written. */
  readonly isVerbatim: boolean
  readonly init: RequestInit
}

/** A request that waits. Made by `CompactRequests`. */
export class CompactRequest {
  readonly #text: string
  readonly #referer: string | undefined
  readonly #parts: WaitingParts

  constructor(text: string, referer: string | undefined, parts: WaitingParts) {
    this.#text = text
    this.#referer = referer
    this.#parts = parts
  }

  /** Returns an equal request, and its id. */
  unpacked(): QueuedRequest {
    const { rules, isVerbatim, init } = this.#parts
    const { id, url } = separated(this.#text)
    const request = isVerbatim ? new Request(url, init) : requestTo(new KnownUrl(url, rules), init)
    if (this.#referer !== undefined) request.setReferer(this.#referer)
    return { id, request }
  }
}

/** Makes compact requests, those of one crawl. */
export class CompactRequests {
  readonly #shared = new Map<string, WaitingParts>()
  #last: WaitingParts | undefined

  of({ id, request }: QueuedRequest): CompactRequest {
    const text = joined(id, request.url)
    return isCommon(request)
      ? new CompactRequest(text, refererAlone(request), this.#sharedPartsOf(request))
      : new CompactRequest(text, undefined, ownPartsOf(request))
  }

  #sharedPartsOf(request: Request): WaitingParts {
    // The links of a page come one after another.
    if (this.#last && hasParts(request, this.#last)) return this.#last
    const { priority, dontFilter, callback, errback } = request
    const key = JSON.stringify([rulesOf(request), depthOf(request), priority, dontFilter, callback, errback])
    let parts = this.#shared.get(key)
    if (!parts) {
      if (this.#shared.size >= SHARED_MAX) this.#shared.clear()
      parts = commonPartsOf(request)
      this.#shared.set(key, parts)
    }
    this.#last = parts
    return parts
  }
}

// A hundred bytes each. Past it they begin anew; requests that wait keep those that they have.
const SHARED_MAX = 4096

/** Returns whether the request has nothing that differs from request to request, but its URL and its referer. */
function isCommon(request: Request): boolean {
  return (
    knownUrlOf(request) !== undefined &&
    request.method === 'GET' &&
    request.body.length === 0 &&
    request.cookies === null &&
    request.encoding === 'utf-8' &&
    request.flags.length === 0 &&
    !request.hasCbKwargs &&
    (!request.hasHeaders || refererAlone(request) !== undefined) &&
    typeof request.callback !== 'function' &&
    typeof request.errback !== 'function' &&
    hasDepthAlone(request)
  )
}

function hasDepthAlone(request: Request): boolean {
  if (!request.hasMeta) return true
  for (const key in request.meta) if (key !== 'depth') return false
  const { depth } = request.meta
  return depth === undefined || typeof depth === 'number'
}

/** The depth of a request whose meta has nothing else. */
function depthOf(request: Request): number | undefined {
  return request.hasMeta ? (request.meta.depth as number | undefined) : undefined
}

function rulesOf(request: Request): UrlRules | undefined {
  return knownUrlOf(request)?.rules
}

function hasParts(request: Request, { rules, init }: WaitingParts): boolean {
  return (
    request.priority === init.priority &&
    request.dontFilter === init.dontFilter &&
    request.callback === init.callback &&
    request.errback === init.errback &&
    rulesOf(request) === rules &&
    depthOf(request) === init.meta?.depth
  )
}

function commonPartsOf(request: Request): WaitingParts {
  const { priority, dontFilter, callback, errback } = request
  const depth = depthOf(request)
  const meta = depth === undefined ? undefined : { depth }
  return {
    rules: rulesOf(request),
    isVerbatim: false,
    init: { priority, dontFilter, callback, errback, ...(meta && { meta }) },
  }
}

function ownPartsOf(request: Request): WaitingParts {
  return {
    rules: rulesOf(request),
    isVerbatim: knownUrlOf(request) === undefined,
    init: requestParts(request),
  }
}

// How the id stands before the URL.
const [AS_URL, DIGEST, TEXT] = ['=', '#', '"'] as const
const DIGEST_BYTES = 20
const SHA1_HEX = /^[0-9a-f]{40}$/

function joined(id: string, url: string): string {
  if (id === url) return [AS_URL, url].join('')
  if (SHA1_HEX.test(id)) return [DIGEST + Buffer.from(id, 'hex').toString('latin1'), url].join('')
  return [`${TEXT}${id.length} ${id}`, url].join('')
}

function separated(text: string): { readonly id: string; readonly url: string } {
  if (text[0] === AS_URL) {
    const url = ownCopy(text.slice(1))
    return { id: url, url }
  }
  if (text[0] === DIGEST) {
    const id = Buffer.from(text.slice(1, 1 + DIGEST_BYTES), 'latin1').toString('hex')
    return { id, url: ownCopy(text.slice(1 + DIGEST_BYTES)) }
  }
  const from = text.indexOf(' ') + 1
  const to = from + Number(text.slice(1, from - 1))
  return { id: ownCopy(text.slice(from, to)), url: ownCopy(text.slice(to)) }
}
