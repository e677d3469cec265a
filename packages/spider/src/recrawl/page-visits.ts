/**
 * The visits of pages that are under way, from their requests to their commits:
 *
 *     fetch      asked for by the validators of the last visit, where its host proved honest
 *     answer     304: the page that is known; if its validators were outdated, it is asked for whole. Else its content is compared with
 *                that of the last visit, before the callback runs
 *     commit     takes the visit: when the page was visited, what was found, and when it is due again
 *
 * A page that is not fetched, or whose callback or pipeline throws, was visited in vain: what is known of it stays, and it is tried again.
 */

import {
  carriedVisit,
  type Fingerprinter,
  Headers,
  IgnoreRequest,
  isNeverVisited,
  isVisitDoubted,
  type Lease,
  type Logger,
  type PageValidation,
  PassingMap,
  type Request,
  type StatsCollector,
  type Visit,
  type VisitedPage,
  type VisitMade,
  type VisitOutcome,
  type VisitRules,
  type VisitsUnderWay,
} from '@webloom/core'
import { contentHash, valueHash } from '../changes/content-hash.ts'
import type { Response } from '../responses/response.ts'
import { noteVisit } from '../responses/response-visit.ts'
import type { Failure } from '../scraping/callback-output.ts'
import type { Spider } from '../spider.ts'
import { askingOf } from './asking-of.ts'
import { callbackVersion } from './callback-version.ts'
import type { GonePages } from './gone-pages.ts'

export interface PageVisitsOptions {
  readonly spider: Spider
  readonly fingerprinter: Fingerprinter
  readonly rules: VisitRules
  readonly validation: PageValidation
  /** RECRAWL_UNCHANGED_ITEMS: items of unchanged pages are written again. */
  readonly writesUnchanged: boolean
  /** Called when a page is gone, before that is recorded. */
  readonly onGone: (page: VisitedPage) => Promise<void>
  readonly gonePages: GonePages
  readonly stats: StatsCollector
  readonly logger: Logger
}

interface UnderWay {
  readonly fingerprint: string
  /** As it is asked for the next time: before middlewares put cookies and the like into it. */
  readonly asking: Request
  readonly previous: Visit | undefined
  /** It is asked for whole, as its host has answered 304 to outdated validators. */
  readonly isDoubted: boolean
  /** Headers that were added to ask whether the page has changed. */
  added: readonly string[]
  made?: VisitMade
  /** The request was refused for good before the page was ever visited. */
  isUnwanted?: boolean
}

interface Leased {
  readonly number: number
  /** The lease's: of a page that was due, the fingerprint under which it came into its line. */
  readonly id: string
  readonly url: string
  readonly signal: AbortSignal
  page?: UnderWay
}

/** What is to be done with a page that has arrived. */
export type Arrival = 'changed' | 'unchanged' | 'not modified'

const GONE = new Set([404, 410])
const NOT_MODIFIED = 304
const ERROR_MIN = 400
/** A later run may fetch such a page. Its filter knows the page already: only the schedule brings it. */
const PASSING_REFUSALS: ReadonlySet<string> = new Set([
  'WL_BUDGET_SPENT',
  'WL_HOST_GIVEN_UP',
  'WL_ROBOTS_GIVEN_UP',
])

export class PageVisits implements VisitsUnderWay {
  readonly #options: PageVisitsOptions
  readonly #ofLease = new WeakMap<Lease, Leased>()
  /** By the lease's number, which is in `meta` and so in most copies of its request: one page may be leased twice at once. */
  readonly #leases = new PassingMap<number, Leased>()
  /** Those that have begun, by fingerprint: for a request whose `meta` somebody has replaced. */
  readonly #begun = new PassingMap<string, Leased>()
  readonly #watched = new WeakSet<AbortSignal>()
  #lastNumber = 0

  constructor(options: PageVisitsOptions) {
    this.#options = options
  }

  get writesUnchanged(): boolean {
    return this.#options.writesUnchanged
  }

  leased(lease: Lease): void {
    const { id, request, signal } = lease
    const leased = { number: ++this.#lastNumber, id, url: request.url, signal }
    request.meta = { ...request.meta, visit_lease: leased.number }
    this.#ofLease.set(lease, leased)
    this.#leases.set(leased.number, leased)
    if (this.#watched.has(signal)) return
    this.#watched.add(signal)
    signal.addEventListener('abort', () => this.#forgetLost(signal), { once: true })
  }

  /** Nobody ends leases that were lost. */
  #forgetLost(signal: AbortSignal): void {
    for (const leased of [...this.#leases.values()]) if (leased.signal === signal) this.#forget(leased)
  }

  /** Called before a request leaves. Returns how to take back what was added to it, and how it was written before. */
  begin(
    request: Request,
  ): { readonly restore: (sent: Request) => void; readonly asking: Request } | undefined {
    const lease = this.#leaseOf(request)
    if (!lease || request.meta.recrawl === false) return undefined
    const fingerprint = this.#fingerprintOf(request, lease)
    if (fingerprint === undefined) return undefined
    // What a callback fetches itself, with its page's `meta`, is no page of the lease.
    if (lease.page && lease.page.fingerprint !== fingerprint) return undefined
    // FINGERPRINTER may have made another fingerprint of the page when it was queued.
    const previous = carriedVisit(request, fingerprint) ?? carriedVisit(request, lease.id)
    const isDoubted = previous !== undefined && isVisitDoubted(request)
    const asking = this.#askingOf(request, fingerprint)
    const page: UnderWay = { fingerprint, asking, previous, isDoubted, added: [] }
    lease.page = page
    this.#begun.set(fingerprint, lease)
    if (previous && !isDoubted) page.added = this.#ask(request, previous)
    return {
      asking: page.asking,
      restore: (sent) => {
        for (const name of page.added) sent.headers.delete(name)
      },
    }
  }

  /** A redirect's target has all headers that were sent with its source. Where they are part of the fingerprint they are the page's own. */
  #askingOf(request: Request, fingerprint: string): Request {
    if (request.hasMeta && request.meta.redirect_urls !== undefined) {
      const bare = askingOf(request, new Headers())
      if (this.#fingerprintOf(bare) === fingerprint) return bare
    }
    return askingOf(request, new Headers(request.headers))
  }

  #ask(request: Request, previous: Visit): readonly string[] {
    const { spider, validation, writesUnchanged } = this.#options
    if (writesUnchanged || !hasValidators(request) || previous.contentHash === undefined) return []
    // A page that was told to be gone is wanted whole when it is back.
    if (previous.goneAnswers > 0) return []
    // What another callback makes of the page is not known.
    if (previous.callbackVersion !== callbackVersion(spider, request)) return []
    const headers = Object.entries(validation.headersFor(request.url, previous))
    if (headers.some(([name]) => request.headers.has(name))) return []
    for (const [name, value] of headers) request.headers.set(name, value)
    return headers.map(([name]) => name)
  }

  /**
   * Returns whether an answer must not be believed yet: 304, where the page's validators are known to be outdated. The page is again what it was
   * before, or its host says so of any page.
   */
  doubts(request: Request, { status }: Pick<Response, 'status'>): boolean {
    const page = status === NOT_MODIFIED ? this.#pageOf(request) : undefined
    return page !== undefined && page.added.length > 0 && page.previous?.isOutdated === true
  }

  /** The page is a redirect: where it leads is what it says. One to itself that is followed is no visit yet: what comes of it is. */
  redirected(request: Request, target: Request): void {
    const page = this.#pageOf(request)
    if (!page) return
    if (target.dontFilter && this.#fingerprintOf(target) === page.fingerprint) return
    this.#make(page, { kind: 'page', contentHash: valueHash(target.url) })
  }

  /** Called before the callback of a page. */
  async arrived(response: Response): Promise<Arrival> {
    const page = this.#pageOf(response.request)
    if (!page) return 'changed'
    const { status, flags } = response
    const isConditional = page.added.length > 0
    let made: VisitMade
    if (status === NOT_MODIFIED && isConditional) made = this.#notModified(page, response)
    else if (GONE.has(status)) made = this.#make(page, { kind: 'gone' })
    else if (status >= ERROR_MIN || flags.includes('dataloss')) made = this.#make(page, { kind: 'failed' })
    else made = await this.#compared(page, response, isConditional)
    const { previous } = page
    const isUnchanged = !made.changed && previous !== undefined && status < ERROR_MIN
    noteVisit(response, {
      changed: !isUnchanged,
      previous: previous && !isNeverVisited(previous) ? previousOf(previous) : undefined,
    })
    if (!isUnchanged) return 'changed'
    return status === NOT_MODIFIED ? 'not modified' : 'unchanged'
  }

  /** The page could not be fetched, or no callback takes it. */
  failed({ request, response, error }: Failure): void {
    const page = this.#pageOf(request)
    if (!page) return
    const kind = failedKind(response, error)
    const isRefused = error instanceof IgnoreRequest && !page.previous && !response
    // Nobody wants a page that was refused before it was ever visited, unless it may be fetched another day.
    if (isRefused && !PASSING_REFUSALS.has(error.code) && !wasSentBack(request)) page.isUnwanted = true
    else this.#make(page, { kind })
  }

  /** The page has arrived, but its callback threw, or a pipeline did: its next visit is one of a page that has changed since the last good one. */
  spoiled(request: Request): void {
    const page = this.#pageOf(request)
    if (page && page.made?.visit.goneAnswers === 0) this.#make(page, { kind: 'failed' })
  }

  async take(lease: Lease, next: readonly Request[]): Promise<VisitedPage | undefined> {
    const leased = this.#ofLease.get(lease)
    const page = leased?.page
    if (leased) this.#forget(leased)
    if (!page || page.isUnwanted || (!page.made && this.#goesOn(page, next))) return undefined
    const { fingerprint, asking, previous } = page
    // What ended without an answer may be in a line only: it must not be lost.
    const made = page.made ?? this.#make(page, { kind: 'failed' })
    const visited = { fingerprint, request: asking, visit: made.visit }
    this.#count(made, previous)
    if (previous?.contentHash !== undefined) this.#options.gonePages.visited(asking.url, made)
    if (made.isGone && previous?.contentHash !== undefined) await this.#options.onGone(visited)
    return visited
  }

  hasChanged(lease: Lease): boolean {
    const page = this.#ofLease.get(lease)?.page
    return page?.previous !== undefined && page.made?.changed === true
  }

  /** It has sent us back to itself, as sites do that set a cookie first: what comes of it under its next lease is the visit. */
  #goesOn({ fingerprint }: UnderWay, next: readonly Request[]): boolean {
    return next.some((request) => this.#fingerprintOf(request) === fingerprint)
  }

  drop(lease: Lease): void {
    const leased = this.#ofLease.get(lease)
    if (leased) this.#forget(leased)
  }

  #forget(leased: Leased): void {
    this.#leases.delete(leased.number)
    const fingerprint = leased.page?.fingerprint
    if (fingerprint !== undefined && this.#begun.get(fingerprint) === leased) this.#begun.delete(fingerprint)
  }

  #leaseOf(request: Request): Leased | undefined {
    return request.hasMeta ? this.#leases.get(Number(request.meta.visit_lease)) : undefined
  }

  /** Another page may have the request's `meta`, as the target of a redirect has. */
  #pageOf(request: Request): UnderWay | undefined {
    const lease = this.#leaseOf(request)
    const fingerprint = this.#fingerprintOf(request, lease)
    if (fingerprint === undefined) return undefined
    const leased = lease ?? this.#begun.get(fingerprint)
    return leased?.page?.fingerprint === fingerprint ? leased.page : undefined
  }

  /**
   * A page of which FINGERPRINTER makes no fingerprint any more keeps that under which it was due. Undefined for any other request of which it makes
   * none.
   */
  #fingerprintOf(request: Request, lease?: Leased): string | undefined {
    try {
      return this.#options.fingerprinter.fingerprint(request)
    } catch {
      const isItsOwn = lease?.url === request.url && carriedVisit(request, lease.id) !== undefined
      return isItsOwn ? lease.id : undefined
    }
  }

  #notModified(page: UnderWay, { headers }: Response): VisitMade {
    const { validation, stats } = this.#options
    stats.inc('recrawl/not_modified_count')
    const { previous, asking, isDoubted } = page
    const answer = { isConditional: true, isDoubted, notModified: true, changed: false, headers }
    return this.#make(page, {
      kind: 'same',
      ...validation.answered(asking.url, { previous: previous!, ...answer }),
    })
  }

  async #compared(page: UnderWay, response: Response, isConditional: boolean): Promise<VisitMade> {
    const { validation } = this.#options
    const hash = await this.#contentOf(response)
    const { previous, asking, isDoubted } = page
    const { status, headers } = response
    const changed = hash !== previous?.contentHash
    if (!hasValidators(asking)) return this.#make(page, { kind: 'page', contentHash: hash })
    // What another callback takes for the content says nothing of the host.
    const validators =
      previous?.contentHash === undefined ||
      previous.callbackVersion !== callbackVersion(this.#options.spider, asking)
        ? validation.first(headers)
        : validation.answered(asking.url, {
            ...{ previous, isConditional, isDoubted, changed, headers },
            // It was not asked by validators.
            notModified: isDoubted && status === NOT_MODIFIED,
          })
    return this.#make(page, { kind: 'page', contentHash: hash, ...validators })
  }

  /** The spider's own idea of what the page says, or the usual one. */
  async #contentOf(response: Response): Promise<string> {
    const { spider, stats, logger } = this.#options
    try {
      const content: unknown = await spider.recrawlContent?.(response)
      if (content !== undefined && content !== null) return valueHash(content)
    } catch (error) {
      stats.inc('spider_exceptions/count')
      logger.error(
        { url: response.url, err: error },
        'recrawlContent threw; the page is compared by its whole text',
      )
    }
    const type = (response.headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase()
    return contentHash({ type, body: response.body, text: () => response.text })
  }

  #make(page: UnderWay, outcome: Omit<VisitOutcome, 'at' | 'callbackVersion'>): VisitMade {
    const { rules, spider } = this.#options
    const { fingerprint, asking, previous } = page
    const version = callbackVersion(spider, asking)
    page.made = rules.visited({ fingerprint, url: asking.url }, previous, {
      at: Date.now(),
      callbackVersion: version,
      ...outcome,
    })
    return page.made
  }

  #count({ visit, changed, isGone }: VisitMade, previous: Visit | undefined): void {
    const { stats } = this.#options
    // Nothing was sent, which `budgets/dropped` counts.
    if (isNeverVisited(visit) || visit.visitedAt === previous?.visitedAt) return
    const isTroubled = visit.failures > 0 || visit.goneAnswers > 0
    if (isGone) stats.inc('recrawl/gone_count')
    else if (isTroubled) stats.inc('recrawl/failed_count')
    else if (!previous?.visits) stats.inc('recrawl/first_count')
    else stats.inc(changed ? 'recrawl/changed_count' : 'recrawl/unchanged_count')
  }
}

function previousOf({ visitedAt, visits, changes }: Visit) {
  return { visitedAt: new Date(visitedAt), visits, changes }
}

/** What a form or a browser makes of a page may be another with the same tag, which says nothing of its host: it is never asked by its tag. */
function hasValidators(request: Request): boolean {
  const isRendered = request.hasMeta && Boolean(request.meta.browser)
  return !isRendered && (request.method === 'GET' || request.method === 'HEAD')
}

function failedKind(response: Failure['response'], error: unknown): VisitOutcome['kind'] {
  if (error instanceof IgnoreRequest && error.code === 'WL_BUDGET_SPENT') return 'refused'
  return response && GONE.has(response.status) ? 'gone' : 'failed'
}

/** The page was asked for on this trip before, and has led back to itself: it is there, though nothing comes of it. */
function wasSentBack({ url, meta }: Request): boolean {
  return Array.isArray(meta.redirect_urls) && meta.redirect_urls.includes(url)
}
