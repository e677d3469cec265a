/** The output of a callback, and the failure that an errback gets. */

import type { GivenUp, Request } from '@webloom/core'
import type { Response } from '../responses/response.ts'

/** What a callback has yielded, in its order. */
export class CallbackOutput {
  readonly requests: Request[] = []
  readonly items: unknown[] = []
  /** How many requests and items the callback yielded, including those that a middleware drops. */
  yielded = 0
  /** How many of them were handed on before the callback's end. */
  handedOn = 0
  /** Why the callback got no response; undefined when it did. */
  failure: Failure | undefined
  /** The response that it is of, where the page was fetched in two forms; undefined: the page's. */
  response: Response | undefined
  /** Why the request is given up; undefined when it is not. */
  givenUp: GivenUp | undefined

  get size(): number {
    return this.requests.length + this.items.length
  }
}

/** Hands on what a callback has yielded so far, when it is too much to keep, and empties the output. */
export type HandOn = (output: CallbackOutput) => Promise<void>

/** Why a request has no response for its callback. An errback gets it. */
export interface Failure {
  /** The request that failed. */
  readonly request: Request
  /** A `DownloadError`, `HttpError`, `IgnoreRequest`, or whatever a middleware or a download handler threw; an Error where that was undefined or null. */
  readonly error: unknown
  /** Set when the failure is about a response: an unwanted status, a middleware's refusal. */
  readonly response: Response | null
}

/** Thrown when a callback asks for the end of the crawl; what it yielded before is kept. */
export class SpiderClosing extends Error {
  readonly reason: string
  readonly output: CallbackOutput

  constructor(reason: string, output: CallbackOutput) {
    super(reason)
    this.reason = reason
    this.output = output
  }
}
