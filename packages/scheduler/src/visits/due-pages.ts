/**
 * Brings pages that are due into the hosts' lines, some hundred at a time. From there on the hosts' pace holds.
 *
 * Only some are brought while many requests wait: a page that waits in a line takes four times the room that it takes where it is due. Some are
 * brought all the same, as pages of one slow host may wait for hours.
 */

import {
  type DuePages,
  HOUR_MS,
  type KeptVisits,
  type Logger,
  type Request,
  type StatsCollector,
} from '@webloom/core'

export interface DuePagesFeedOptions {
  readonly visits: KeptVisits
  /** Returns the fingerprint that a request has now; undefined where FINGERPRINTER throws, and `onError` is told. */
  readonly fingerprint: (request: Request, onError?: (error: unknown) => void) => string | undefined
  /** Called when pages are due under other fingerprints than they have now. Resolves to whether all pages were moved: then they are read again. */
  readonly moveAll: () => Promise<boolean>
  readonly stats: StatsCollector
  readonly logger: Logger
  /** Returns the pages that the spider has a callback for; puts off the others. */
  readonly withCallbacks: (due: DuePages) => Promise<DuePages>
  /** How many requests wait in the queue. */
  readonly waiting: () => Promise<number>
  /** While fewer wait, pages are brought whenever they are due. */
  readonly lowWater: number
  /** How much earlier than at its hour a page may be visited, milliseconds. */
  readonly earlyMs: number
}

const PAGES_PER_STEP = 256
const LOOK_EVERY_MS = 1000
/** Into lines that are long, a step each so many milliseconds. */
const CROWDED_EVERY_MS = 10_000

/** How much earlier than at its hour a page may be visited by a crawl that ends when nothing is due. */
const EARLY_MS_MAX = HOUR_MS
const EARLY_SHARE = 0.1

/**
 * Returns how much earlier than at its hour such a crawl visits a page: a run each day is never a minute too early for one. No page is due
 * so soon after its visit, so none is visited twice for that.
 *
 * @param shortestMs the shortest time between two visits of a page
 */
export function earlyMsOf(shortestMs: number): number {
  return Math.min(EARLY_MS_MAX, shortestMs * EARLY_SHARE)
}

export class DuePagesFeed {
  readonly #options: DuePagesFeedOptions
  #nextLookMs = 0
  #broughtMs = Number.NEGATIVE_INFINITY
  #hasToldMoved = false

  constructor(options: DuePagesFeedOptions) {
    this.#options = options
  }

  /** Called before each lease: mostly it is not time to look. */
  async look(): Promise<void> {
    const now = performance.now()
    if (now < this.#nextLookMs) return
    this.#nextLookMs = now + LOOK_EVERY_MS
    const isCrowded = (await this.#options.waiting()) >= this.#options.lowWater
    if (isCrowded && now < this.#broughtMs + CROWDED_EVERY_MS) return
    if (await this.bring()) this.#nextLookMs = 0
  }

  /** Brings what is due, one step of it. Resolves to false when nothing is. */
  async bring(): Promise<boolean> {
    const { visits, stats, logger, earlyMs } = this.#options
    const read = await visits.due(Date.now() + earlyMs, PAGES_PER_STEP)
    if (read.read === 0) return false
    if (read.moved && (await this.#options.moveAll())) return true
    const due = this.#underPresentNames(read)
    const { unreadable = [], unnamed = [], moved = 0, unknown = 0 } = due
    if (unreadable.length > 0) {
      stats.inc('recrawl/unreadable_count', unreadable.length)
      logger.error(
        { err: unreadable[0], pages: unreadable.length },
        'pages are due, and how to ask for them cannot be read: they are not visited again, unless they are given as seeds',
      )
    }
    if (unnamed.length > 0) {
      stats.inc('scheduler/no_fingerprint_count', unnamed.length)
      logger.error(
        { err: unnamed[0], pages: unnamed.length },
        'FINGERPRINTER threw on pages that are due: they are tried again in two hours',
      )
    }
    if (moved > 0) this.#tellMoved(moved)
    if (unknown > 0) stats.inc('recrawl/unknown_count', unknown)
    const brought = await visits.queueDue(await this.#options.withCallbacks(due))
    if (brought > 0) stats.inc('recrawl/due_count', brought)
    this.#broughtMs = performance.now()
    return true
  }

  /** FINGERPRINTER may make another fingerprint of a page than before. Under the old one it would stand in a line for ever. */
  #underPresentNames(due: DuePages): DuePages {
    const { visits } = this.#options
    if (!visits.move) return due
    const changed = due.pages.filter(({ request, fingerprint }) => {
      const now = this.#fingerprintOf(request)
      return now !== undefined && now !== fingerprint
    })
    if (changed.length === 0) return due
    const names = changed.map(({ fingerprint }) => fingerprint)
    const moves = visits.move(names, (request) => this.#options.fingerprint(request))
    const pages = due.pages.flatMap((page) => {
      if (!moves.has(page.fingerprint)) return [page]
      const fingerprint = moves.get(page.fingerprint)
      return fingerprint === undefined ? [] : [{ ...page, fingerprint }]
    })
    return { ...due, pages, moved: moves.size }
  }

  #fingerprintOf(request: Request): string | undefined {
    const { fingerprint, stats, logger } = this.#options
    return fingerprint(request, (error) => {
      stats.inc('scheduler/no_fingerprint_count')
      logger.error(
        { url: request.url, err: error },
        'FINGERPRINTER threw; the page is visited under the fingerprint that it had before',
      )
    })
  }

  #tellMoved(count: number): void {
    const { stats, logger } = this.#options
    stats.inc('recrawl/moved_count', count)
    if (this.#hasToldMoved) return
    this.#hasToldMoved = true
    logger.info(
      'pages are due of which FINGERPRINTER makes other fingerprints than before: they are kept under these from now on; recrawl/moved_count counts them',
    )
  }
}
