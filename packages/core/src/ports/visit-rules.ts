/** What a visit makes of what was known of its page: the scheduler decides, whoever fetches the page asks. */

import type { Request } from '../requests/request.ts'
import type { Lease } from './request-queue.ts'
import type { Visit, VisitedPage } from './visit-store.ts'

/** What came of one visit, at a moment in milliseconds since 1970. */
export interface VisitOutcome {
  readonly at: number
  /**
   * `same`: 304, the page that is known. `gone`: 404, 410. `failed`: no answer, or an error. `refused`: nothing was sent, as its host's budget is
   * spent.
   */
  readonly kind: 'page' | 'same' | 'gone' | 'failed' | 'refused'
  /** Of a page. */
  readonly contentHash?: string
  readonly etag?: string
  readonly lastModifiedAt?: number
  /** The validators are kept though they are outdated, to see whether the host is honest. */
  readonly isOutdated?: boolean
  /** When the page says that it changed last, where its host is believed. */
  readonly changedAt?: number
  readonly callbackVersion: number
}

/** What is known of a page after a visit. */
export interface VisitMade {
  readonly visit: Visit
  /**
   * The page is another one than at the last visit, or a new one. What another callback saw counts as changed, as its items may be others,
   * and so does a page that is back after it was told to be gone.
   */
  readonly changed: boolean
  /** This answer is the one that is believed: the page is gone. Told once. */
  readonly isGone: boolean
}

/** When pages are visited again. */
export interface VisitRules {
  visited(
    page: { readonly fingerprint: string; readonly url: string },
    previous: Visit | undefined,
    outcome: VisitOutcome,
  ): VisitMade
}

/** Asks a page's host whether the page has to be sent, and learns whether the host can be believed. */
export interface PageValidation {
  /** Returns the headers with which the page is asked for: none, where it is to be sent whole. */
  headersFor(url: string, visit: Visit): Readonly<Record<string, string>>
  /** Told of each answer to a request for a page that was visited before. Returns the validators that the page goes on with. */
  answered(url: string, answer: ValidatedAnswer): KnownValidators
  /** Returns the validators of a page that is visited for the first time. */
  first(headers: AnswerHeaders): KnownValidators
}

/** The headers of an answer. */
export interface AnswerHeaders {
  get(name: string): string | null | undefined
}

/** An answer to a request for a page that was visited before. */
export interface ValidatedAnswer {
  readonly previous: Visit
  /** The page was asked for by its validators. */
  readonly isConditional: boolean
  /** The page was asked for whole, as the answer to its outdated validators was 304. */
  readonly isDoubted: boolean
  readonly notModified: boolean
  readonly changed: boolean
  readonly headers: AnswerHeaders
}

/** What a page is asked for with the next time. */
export interface KnownValidators {
  readonly etag?: string
  readonly lastModifiedAt?: number
  readonly isOutdated?: boolean
  /** When the page says that it changed last; absent where its host is not believed. */
  readonly changedAt?: number
}

/** Has the visits of pages that are under way: whoever ends a page's lease asks it. */
export interface VisitsUnderWay {
  /** A page was leased: marks its request, so that two leases of one page are told apart. */
  leased(lease: Lease): void
  /**
   * Resolves to the visit that ends with the lease; undefined for a page that is not to be visited again, and for one that goes on.
   *
   * @param next what is queued in the same step: a page that leads to itself goes on with its request there
   */
  take(lease: Lease, next: readonly Request[]): Promise<VisitedPage | undefined>
  /**
   * Returns whether the page was visited before, and has changed since: what it links to is believed to be there. Asked before `take`. Absent: it is
   * believed of none.
   */
  hasChanged?(lease: Lease): boolean
  /** The lease ends without a visit. */
  drop(lease: Lease): void
}
