/** What comes out of a callback, and what goes into an errback. */

import type { Request } from '@webloom/core'
import type { Response } from '../responses/response.ts'

/** What a callback yielded, in its order. */
export class CallbackOutput {
  readonly requests: Request[] = []
  readonly items: unknown[] = []
  /** How many requests and items it yielded, those included that a middleware drops. */
  yielded = 0
  /** What has been handed on before the callback's end. */
  handedOn = 0
  /** Why there was nothing for the callback; undefined when there was. */
  failure: Failure | undefined

  get size(): number {
    return this.requests.length + this.items.length
  }
}

/** Takes what a callback has yielded so far, when it is too much to keep; it empties the output. */
export type HandOn = (output: CallbackOutput) => Promise<void>

/** Why a request has no response for its callback; what an errback gets. */
export interface Failure {
  /** What was asked for. */
  readonly request: Request
  /** `DownloadError`, `HttpError`, `IgnoreRequest`, or whatever a middleware threw. */
  readonly error: unknown
  /** There when the failure is about a response: a status nobody asked for, a middleware's refusal. */
  readonly response: Response | null
}

/** A callback asked for the end of the crawl; what it yielded before is kept. */
export class SpiderClosing extends Error {
  readonly reason: string
  readonly output: CallbackOutput

  constructor(reason: string, output: CallbackOutput) {
    super(reason)
    this.reason = reason
    this.output = output
  }
}
