/**
 * Finds out what a site's robots.txt says: from the store, or by asking the site.
 *
 *     2xx                       rules                        hold for ROBOTSTXT_CACHE_TTL
 *     … that forbids nothing    absent: all may be fetched   holds as long
 *     4xx, lost redirects       absent                       holds as long
 *     5xx, 429, other failures  unreachable                  asked again after 2, 4, 8 … 60 s, or Retry-After
 *     … for too long            given up                     asked again after ROBOTSTXT_ERROR_TTL
 *     no such host, refused,    none                         the request fails as it would itself
 *     no TLS, bad certificate,
 *     closed in the handshake,
 *     no handler for the scheme
 *     a handler of one's own       unreachable                  asked again after 2 and 4 s, then given up
 *     throws
 *
 * All of this is RFC 9309 (2.3.1), with these exceptions. A site that answers 429 is asked too often, and to go on as if it
 * had no rules would be wrong. Where no server can be reached, there is no site whose wish could be ignored: the error goes
 * to the request, which is retried, counted and passed to its errback as with any such error. The same holds where no
 * encrypted connection can be made, and where no handler takes the scheme: no page could be fetched either, and waiting
 * would not help.
 *
 * A handler of DOWNLOAD_HANDLERS may ask no site at all, such as one that reads saved pages. Its error may be final, so
 * requests do not wait for it as for a site in trouble. It answers with status 404 where a site has no robots.txt.
 *
 * An entry that no longer holds is still used while the site is unreachable (RFC 9309, 2.4).
 */

import { setMaxListeners } from 'node:events'
import {
  DownloadError,
  IgnoreRequest,
  type Logger,
  PassingMap,
  type Response,
  type StatsCollector,
} from '@webloom/core'
import { BudgetRefusal } from '../budgets/budget-refusal.ts'
import { retryAfterMs } from '../retrying/retry-after.ts'
import type { RobotsFetch, RobotsFetchRequest } from './robots-fetch.ts'
import { ROBOTS_BYTES_MAX, rulesAlone } from './robots-records.ts'
import type { RobotsEntry, RobotsStore, RobotsUnreachable } from './robots-store.ts'

export interface RobotsInquiryOptions {
  readonly store: RobotsStore
  readonly fetch: Pick<RobotsFetch, 'fetch'>
  readonly cacheTtlMs: number
  readonly errorTtlMs: number
  /** Milliseconds before an unreachable site is asked again; doubled each time. */
  readonly retryDelayMs: number
  /** The longest wait that a Retry-After can cause, milliseconds. */
  readonly retryAfterMaxMs: number
  readonly giveUpAfterMs: number
  readonly stats: StatsCollector
  readonly logger: Logger
  /** `Date.now` by default. */
  readonly now?: () => number
}

// A site in trouble is asked at least this often, so that one that comes back is soon crawled.
const RETRY_DELAY_MS_MAX = 60_000
// How long an entry is kept after it no longer holds, for the case that the site cannot be reached.
const KEPT_ON_MS = 86_400_000
// After 2 and 4 s: long enough for what a user's handler asks in its turn, and short for a file that never comes.
const OWN_HANDLER_TRIES = 3
const NOBODY_THERE: ReadonlySet<string> = new Set([
  'CannotResolveHostError',
  'DownloadConnectionRefusedError',
  'DownloadCertificateError',
  'UnsupportedURLSchemeError',
])
// In a crawl of many sites some are always in trouble; the log has other messages, too.
const WARNINGS_MAX = 50

/** Which robots.txt is asked for, and how. */
export interface RobotsQuestion extends Omit<RobotsFetchRequest, 'signal'> {
  /** The name of the class of DOWNLOAD_HANDLERS that fetches it; absent for a built-in handler. */
  readonly ownHandler?: string | undefined
}

/** Knows the robots.txt of sites, or fetches it. */
export class RobotsInquiry {
  readonly #options: RobotsInquiryOptions
  readonly #now: () => number
  readonly #asking = new PassingMap<string, Promise<RobotsEntry>>()
  readonly #closing = new AbortController()
  #warnings = 0

  constructor(options: RobotsInquiryOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    // Each site that is being asked adds a listener.
    setMaxListeners(0, this.#closing.signal)
  }

  /** Returns what is known already; it may no longer hold. */
  known(origin: string): RobotsEntry | undefined | Promise<RobotsEntry | undefined> {
    return this.#options.store.get(origin)
  }

  holds(entry: RobotsEntry): boolean {
    return entry.askAgainAtMs > this.#now()
  }

  /**
   * Returns whether the site is being asked. A caller that comes meanwhile should call `ask`, too: it waits for the same
   * answer.
   */
  isAsking(origin: string): boolean {
    return this.#asking.has(origin)
  }

  /** The time by the clock that entries are dated by. */
  get nowMs(): number {
    return this.#now()
  }

  /**
   * Asks the site. All callers at the same time share one request. Rejects when no server can be reached, and when the
   * download failed for a reason that is not the site's; with a `BudgetRefusal` when it may not be asked.
   *
   * @param known the entry that was known so far
   */
  ask(known: RobotsEntry | undefined, request: RobotsQuestion): Promise<RobotsEntry> {
    const { origin } = request
    const asking = this.#asking.get(origin)
    if (asking) return asking
    const answer = this.#ask(known, request).finally(() => this.#asking.delete(origin))
    this.#asking.set(origin, answer)
    return answer
  }

  /** Rejects the questions that are still open. */
  close(): void {
    this.#closing.abort(
      new DownloadError('DownloadFailedError', 'the crawl ended before robots.txt was here'),
    )
  }

  async #ask(known: RobotsEntry | undefined, request: RobotsQuestion): Promise<RobotsEntry> {
    const entry = await this.#fetched(known, request)
    await this.#options.store.set(request.origin, entry, entry.askAgainAtMs - this.#now() + KEPT_ON_MS)
    return entry
  }

  async #fetched(known: RobotsEntry | undefined, request: RobotsQuestion): Promise<RobotsEntry> {
    const { fetch, stats } = this.#options
    stats.inc('robotstxt/request_count')
    let response: Response | undefined
    try {
      response = await fetch.fetch({ ...request, signal: this.#closing.signal })
    } catch (error) {
      // Nothing has left, and nothing is learned of the site.
      if (error instanceof BudgetRefusal) throw error
      const kind = error instanceof DownloadError ? error.kind : (error as Error).name
      stats.inc(`robotstxt/exception_count/${kind}`)
      const mayPass = error instanceof DownloadError ? !isFromNobody(error) : request.ownHandler !== undefined
      if (!mayPass || error instanceof IgnoreRequest || this.#closing.signal.aborted) throw error
      return this.#unreachable(known, request, kind, { why: (error as Error).message })
    }
    if (!response) return this.#absent()
    const { status } = response
    stats.inc('robotstxt/response_count')
    stats.inc(`robotstxt/response_status_count/${status}`)
    if (status >= 500 || status === 429)
      return this.#unreachable(known, request, String(status), { response })
    return status < 300 ? this.#rules(response) : this.#absent()
  }

  #rules({ body }: Response): RobotsEntry {
    // A little more than will be read: for a byte order mark, and to tell whether the last line is complete.
    const file = Buffer.from(body.subarray(0, ROBOTS_BYTES_MAX + 4)).toString('latin1')
    const rules = rulesAlone(file)
    if (rules === '') return this.#absent()
    return { outcome: 'rules', file: rules, askAgainAtMs: this.#now() + this.#options.cacheTtlMs }
  }

  #absent(): RobotsEntry {
    return { outcome: 'absent', askAgainAtMs: this.#now() + this.#options.cacheTtlMs }
  }

  #unreachable(
    known: RobotsEntry | undefined,
    { origin, ownHandler }: RobotsQuestion,
    reason: string,
    { response, why = `HTTP ${reason}` }: { response?: Response; why?: string },
  ): RobotsEntry {
    const nowMs = this.#now()
    const pauseMs = response ? Math.min(retryAfterMs(response) ?? 0, this.#options.retryAfterMaxMs) : 0
    if (known && known.outcome !== 'unreachable')
      return { ...known, askAgainAtMs: nowMs + Math.max(RETRY_DELAY_MS_MAX, pauseMs) }
    // An answer counts as the site's, whichever handler brings it.
    const thrower = response ? undefined : ownHandler
    const triesMax = thrower === undefined ? Number.POSITIVE_INFINITY : OWN_HANDLER_TRIES
    const entry = this.#next(known, reason, { nowMs, pauseMs, triesMax })
    this.#tell({ origin, why, nowMs, thrower }, entry)
    return entry
  }

  /** Warns at a site's first failure, and when the site is given up: otherwise nothing tells what the crawl waits for. */
  #tell(
    {
      origin,
      why,
      nowMs,
      thrower,
    }: { origin: string; why: string; nowMs: number; thrower?: string | undefined },
    { tries, isGivenUp, askAgainAtMs }: RobotsUnreachable,
  ): void {
    const { logger, giveUpAfterMs } = this.#options
    const line = { origin, reason: why, tries, againInS: Math.ceil((askAgainAtMs - nowMs) / 1000) }
    const waysOut = thrower === undefined ? WAYS_OUT : `${wayOutFor(thrower)} ${WAYS_OUT}`
    const patience =
      thrower === undefined
        ? `${giveUpAfterMs / 1000} s at most (ROBOTSTXT_GIVE_UP_AFTER)`
        : `${OWN_HANDLER_TRIES} tries at most`
    const isLoud = (tries === 1 || isGivenUp) && this.#warnings++ < WARNINGS_MAX
    const level = isLoud ? 'warn' : 'debug'
    if (isGivenUp)
      logger[level](
        line,
        `robots.txt of ${origin} cannot be fetched, and is not waited for any longer. ${waysOut}`,
      )
    else
      logger[level](
        line,
        `robots.txt of ${origin} cannot be fetched: its requests wait for it, ${patience}. ${waysOut}`,
      )
    if (isLoud && this.#warnings === WARNINGS_MAX)
      logger.warn(
        `so far ${WARNINGS_MAX} sites have a robots.txt that could not be fetched; further ones are logged at level DEBUG`,
      )
  }

  #next(
    known: RobotsUnreachable | undefined,
    reason: string,
    { nowMs, pauseMs, triesMax }: { nowMs: number; pauseMs: number; triesMax: number },
  ): RobotsUnreachable {
    const { retryDelayMs, giveUpAfterMs, errorTtlMs } = this.#options
    const [tries, sinceMs] = [(known?.tries ?? 0) + 1, known?.sinceMs ?? nowMs]
    const leftMs = sinceMs + giveUpAfterMs - nowMs
    const isGivenUp = leftMs <= 0 || tries >= triesMax
    const growingMs = Math.min(retryDelayMs * 2 ** (tries - 1), RETRY_DELAY_MS_MAX, leftMs)
    const askAgainAtMs = nowMs + Math.max(isGivenUp ? errorTtlMs : growingMs, pauseMs)
    return { outcome: 'unreachable', reason, tries, sinceMs, isGivenUp, askAgainAtMs }
  }
}

const WAYS_OUT =
  'Where you may fetch it all the same: ROBOTSTXT_WHEN_GIVEN_UP=allow with a short ROBOTSTXT_GIVE_UP_AFTER, or ROBOTSTXT_OBEY=false'

function wayOutFor(handler: string): string {
  return `The download handler ${handler} is asked for it as for any page, and answers with status 404 where there is none.`
}

/**
 * Returns whether no server was reached, no handler takes the scheme, or no encrypted connection was made: the request
 * itself would fail likewise.
 */
function isFromNobody({ kind, reason }: DownloadError): boolean {
  return NOBODY_THERE.has(kind) || reason === 'bad_tls'
}
