/**
 * Pages of which the spider has no callback any more, as it was renamed. They stay on their schedule:
 *
 *     due               put off for two hours, and marked: the next run finds them due again
 *     in a line         goes back to the schedule in the same way, when no worker can do it
 *     a link to it      gives it the callback of the link, and makes it due: it is visited with what is known of it
 *     a start request   the same
 *     the name is back  it is visited at its hour
 *
 * An ERROR tells how many are left when a run is over. Links to known pages are asked about only where such pages were met within a week, which a note
 * beside the visits tells all workers: else a page's links would cost a question each.
 */

import {
  type AskedPage,
  carriedVisit,
  type DuePages,
  HOUR_MS,
  type KeptVisits,
  type Lease,
  type Logger,
  lacksCallback,
  methodNamed,
  NO_CALLBACK,
  OF_ONE_VISIT,
  type Request,
  type SpiderLike,
  type StatsCollector,
  type Visit,
  type VisitedPage,
} from '@webloom/core'

import type { KnownPage } from './known-pages.ts'

export interface MissingCallbacksOptions {
  readonly visits: Pick<KeptVisits, 'find' | 'record' | 'reschedule' | 'notes' | 'note'>
  readonly spider: SpiderLike
  /** Returns the fingerprint that a request has now; undefined where FINGERPRINTER throws. */
  readonly fingerprint: (request: Request) => string | undefined
  /** How much earlier than at its hour a page may be visited, milliseconds. */
  readonly earlyMs: number
  readonly stats: StatsCollector
  readonly logger: Logger
}

const NOTE = 'callbacks missing'
/** Later than a run that ends looks ahead (`earlyMsOf`). */
const AGAIN_MS = 2 * HOUR_MS
/** Links are asked about for so long after such a page was met. */
const HEEDED_MS = 7 * 24 * HOUR_MS
const LOOK_EVERY_MS = 10_000
/** How many pages are remembered, to count each once. */
const TOLD_APART_MAX = 100_000
const URLS_TOLD = 3
const NAMES_TOLD = 10

export class MissingCallbacks {
  readonly #options: MissingCallbacksOptions
  /** Those that were put off here and that no link has led to since, by fingerprint. */
  readonly #left = new Map<string, { readonly url: string; readonly lacks: string }>()
  /** How many more there were than are remembered. */
  #more = 0
  #putOffMs = Number.NEGATIVE_INFINITY
  #last = Promise.resolve()
  #isHeeded = false
  #hasNoted = false
  #nextLookMs = 0

  constructor(options: MissingCallbacksOptions) {
    this.#options = options
  }

  /** Looks from time to time whether other workers, or an earlier run, have met such pages. */
  async look(): Promise<void> {
    const now = performance.now()
    if (this.#isHeeded || now < this.#nextLookMs) return
    this.#nextLookMs = now + LOOK_EVERY_MS
    const [noted] = await this.#options.visits.notes([NOTE])
    this.#isHeeded = Number(noted ?? 0) > Date.now() - HEEDED_MS
  }

  /** Puts off the pages of which the callback is missing. Resolves to the others. */
  async putOff(due: DuePages): Promise<DuePages> {
    const byFate = Map.groupBy(due.pages, ({ request }) => this.#lacks(request) !== undefined)
    const lacking = byFate.get(true)
    if (!lacking) return due
    await this.#note()
    await this.#alone(() => this.#putOffThose(lacking))
    return { ...due, pages: byFate.get(false) ?? [] }
  }

  async #putOffThose(pages: readonly VisitedPage[]): Promise<void> {
    const { visits } = this.#options
    const found = await visits.find(pages.map(({ fingerprint }) => fingerprint))
    // Meanwhile a link may have given them a callback, or another worker have put them off or queued them.
    const still = pages.filter(({ visit }, n) => !found[n]?.isInALine && found[n]?.dueAt === visit.dueAt)
    const now = Date.now()
    await visits.record(still.map((page) => ({ ...page, visit: putOffVisit(page.visit, now) })))
    for (const page of still) this.#count(page)
  }

  /** Returns the visit with which a request in a line goes back to the schedule; undefined for one that does not, or that has its callback. */
  backOnSchedule({ id, request }: Lease): VisitedPage | undefined {
    if (this.#lacks(request) === undefined || request.meta.recrawl === false) return undefined
    const fingerprint = this.#options.fingerprint(request)
    if (fingerprint === undefined) return undefined
    const known = carriedVisit(request, fingerprint) ?? carriedVisit(request, id)
    return {
      fingerprint,
      request: askingAgain(request),
      visit: putOffVisit(known ?? NEVER_VISITED, Date.now()),
    }
  }

  /** Counts a page that is back on the schedule. */
  async wentBack(page: VisitedPage): Promise<void> {
    this.#count(page)
    await this.#note()
  }

  /** Whether links to known pages are to be asked about. */
  get isHeeded(): boolean {
    return this.#isHeeded
  }

  /**
   * Gives pages whose callback is missing that of a request for them, and makes them due. Those that are due and were not looked at yet may be such
   * pages.
   *
   * @param ask resolves to the requests for pages that are known
   */
  met(ask: () => Promise<ReadonlyMap<Request, KnownPage>>): Promise<void> {
    return this.#alone(async () => this.#give(await ask()))
  }

  async #give(known: ReadonlyMap<Request, KnownPage>): Promise<void> {
    const { visits, earlyMs } = this.#options
    const now = Date.now()
    const pages: AskedPage[] = []
    for (const [request, { fingerprint, visit }] of known) {
      if (visit.isInALine || request.dontFilter || this.#lacks(request) !== undefined) continue
      if (!lacksCallback(visit) && visit.dueAt > now + earlyMs) continue
      pages.push({ fingerprint, request: askingAgain(request) })
    }
    if (pages.length > 0) await visits.reschedule(pages, now)
    this.gave(pages.map((page) => [page.request, page]))
  }

  /** These pages have the callbacks of requests for them from now on. */
  gave(pages: Iterable<readonly [Request, Pick<AskedPage, 'fingerprint'>]>): void {
    for (const [, { fingerprint }] of pages) this.#left.delete(fingerprint)
  }

  /** Tells what is left, once nothing was put off for so long. */
  tellAfter(ms: number): void {
    if (performance.now() >= this.#putOffMs + ms) this.tell()
  }

  /** Tells how many pages are left without a callback, and what to do. */
  tell(): void {
    const { spider, logger } = this.#options
    const left = [...this.#left.values()]
    const count = left.length + this.#more
    if (count === 0) return
    const names = [...new Set(left.map(({ lacks }) => lacks))].slice(0, NAMES_TOLD)
    const urls = left.slice(0, URLS_TOLD).map(({ url }) => url)
    const [name = 'parse'] = names
    logger.error(
      { pages: count, callbacks: names, urls },
      `${count} pages are due and were not visited: spider ${spider.name} has no method ${names.map((one) => JSON.stringify(one)).join(', ')} any more. They are due again in two hours. A link or a start request that leads to them gives them its callback. For the others keep the old name, by a line in the spider such as \`${name} = this.newName\`, or forget them: \`webloom visits forget ${spider.name} --match <text>\``,
    )
    this.#left.clear()
    this.#more = 0
  }

  /** One at a time: what is put off must not take back what a link has given meanwhile. */
  #alone(step: () => Promise<void>): Promise<void> {
    this.#last = this.#last.catch(() => {}).then(step)
    return this.#last
  }

  #count({ fingerprint, request }: AskedPage): void {
    this.#options.stats.inc('recrawl/no_callback_count')
    this.#putOffMs = performance.now()
    if (this.#left.size < TOLD_APART_MAX)
      this.#left.set(fingerprint, { url: request.url, lacks: this.#lacks(request) ?? '' })
    else this.#more++
  }

  async #note(): Promise<void> {
    this.#isHeeded = true
    if (this.#hasNoted) return
    this.#hasNoted = true
    await this.#options.visits.note(new Map([[NOTE, `${Date.now()}`]]))
  }

  /** Returns the name that the request has and the spider has not. */
  #lacks({ callback, errback }: Request): string | undefined {
    if (typeof callback === 'string' && !this.#has(callback, 'callback')) return callback
    if (typeof errback === 'string' && !this.#has(errback, 'errback')) return errback
    return undefined
  }

  #has(name: string, role: 'callback' | 'errback'): boolean {
    try {
      methodNamed(this.#options.spider, name, role)
      return true
    } catch {
      return false
    }
  }
}

const NEVER_VISITED: Visit = {
  visitedAt: 0,
  dueAt: 0,
  visits: 0,
  changes: 0,
  evidence: { stillHours: 0, seen: 0, gapLogs: 0, dated: 0 },
  failures: 0,
  goneAnswers: 0,
  callbackVersion: NO_CALLBACK,
  isOutdated: false,
}

function putOffVisit(visit: Visit, now: number): Visit {
  return { ...visit, dueAt: now + AGAIN_MS, callbackVersion: NO_CALLBACK }
}

/** Returns the request without what belongs to one visit alone. */
export function askingAgain(request: Request): Request {
  if (!request.hasMeta) return request
  const meta = Object.entries(request.meta).filter(
    ([key]) => !(OF_ONE_VISIT as Readonly<Record<string, boolean>>)[key],
  )
  return request.replace({ meta: Object.fromEntries(meta) })
}
