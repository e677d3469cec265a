/** What a crawl that comes back to its pages (RECRAWL) knows of a response. It costs other crawls nothing. */

import type { Response } from '@webloom/core'

/** A page as it was visited before. */
export interface PreviousVisit {
  /** When it was. */
  readonly visitedAt: Date
  /** How many visits there were by then; counting stops at 255. */
  readonly visits: number
  /** How many of these found that the page had changed; counting stops at 255. */
  readonly changes: number
}

/** How a page compares with the visit before. */
export interface ResponseVisit {
  readonly changed: boolean
  readonly previous: PreviousVisit | undefined
}

const visits = new WeakMap<Response, ResponseVisit>()

export function noteVisit(response: Response, visit: ResponseVisit): void {
  visits.set(response, visit)
}

export function visitOf(response: Response): ResponseVisit | undefined {
  return visits.get(response)
}
