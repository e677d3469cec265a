import { setTimeout as sleep } from 'node:timers/promises'
import {
  type BudgetAsk,
  type BudgetBook,
  type BudgetPlan,
  type BudgetSpent,
  type BudgetWindow,
  type Crawler,
  type DownloaderMiddleware,
  hostNameOf,
  IgnoreRequest,
  type Logger,
  NotConfigured,
  persistsOf,
  type Request,
  type Response,
  RetryLater,
  type StatsCollector,
  storeTrouble,
} from '@webloom/core'
import { budgetPlanOf } from '../budgets/budget-plan.ts'
import { BudgetRefusal } from '../budgets/budget-refusal.ts'
import { type Day, Days } from '../budgets/days.ts'
import { takeReceivedBytes } from '../http/received-bytes.ts'
import { type HostOf, hostOfCrawler } from '../pace/host-of.ts'

export interface BudgetsOptions {
  readonly plan: BudgetPlan
  readonly book: BudgetBook
  readonly hostOf: HostOf
  /** False: robots.txt, which spends bytes only, and leaves while nothing is spent. Absent: all requests are for pages. */
  readonly isPage?: (request: Request) => boolean
  /** What becomes of requests that wait when the crawl ends, as a word of a sentence. Default: kept. */
  readonly rest?: string
  /** What lets requests that wait for the next day go on today, as a sentence of the log. Absent: nothing does. */
  readonly goOnToday?: string
  /** The book is asked again for a host whose requests wait after so long: somebody may have given it more. Default: five minutes. */
  readonly lookAgainMs?: number
  /** Ends the crawl. */
  readonly close: (reason: string) => void
  readonly stats: StatsCollector
  readonly logger: Logger
  /** Milliseconds since 1970; tests give their own. */
  readonly now?: () => number
}

/** Bytes that have come are told by then, if no request asks before. */
const TELL_BYTES_MS = 500

/** A request that the book could not be asked about goes back after so long. */
const AWAY_MS = 1000

/** Clocks of several machines differ by that. */
const AFTER_MIDNIGHT_MS = 1000

/** Somebody who has raised a budget, or renewed it, waits no longer for the hosts. */
const LOOK_AGAIN_MS = 5 * 60_000
/** Of very many hosts that wait no more are looked at again than ten a second. */
const LOOKS_APART_MS = 100
/** Of so many hosts it is known when they are looked at: of more, requests that were under way together are looked at one by one. */
const LOOKS_MAX = 10_000

/** Bytes of so many hosts are gathered before they are told. */
const HOSTS_UNTOLD_MAX = 1000

interface Asked {
  readonly ask: BudgetAsk
  readonly resolve: (spent: BudgetSpent | undefined) => void
  readonly reject: (error: unknown) => void
}

/**
 * BUDGETS: lets a request leave only when the crawl's book has a page left for it. It is the last but those that measure: what the HTTP cache
 * answers costs nothing. Requests that are about to leave at the same moment ask together.
 */
export class BudgetsMiddleware implements DownloaderMiddleware {
  readonly alsoForRobotsTxt = true
  readonly #options: BudgetsOptions
  readonly #days: Days
  #asked: Asked[] = []
  /** Host → bytes that have come and are not told yet. */
  #untold = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  /** Requests that have left: what others answer, such as the HTTP cache, has not come from a host. */
  readonly #left = new WeakSet<Request>()
  readonly #told = new Set<string>()
  #lastLook: { readonly day: string; readonly atMs: number } | undefined
  /** Host that waits → when the book is asked again for it; the latest at the end. */
  readonly #looks = new Map<string, number>()

  constructor(options: BudgetsOptions) {
    this.#options = options
    this.#days = new Days(options.plan.tz)
  }

  static fromCrawler(crawler: Crawler): BudgetsMiddleware {
    const { settings, stats, logger, signals, budgetBook, downloader, times } = crawler
    const plan = budgetPlanOf(settings)
    if (!plan) throw new NotConfigured('BUDGETS sets none')
    if (!budgetBook) throw new NotConfigured('there is no crawl whose budgets these could be')
    const made = new this({
      ...{ plan, book: budgetBook(plan.limits, plan), hostOf: hostOfCrawler(crawler), stats, logger },
      rest: restOf(crawler),
      goOnToday: goOnToday(crawler),
      ...(times && { lookAgainMs: times.members.lostAfterMs }),
      close: (reason) => crawler.close(reason),
      ...(downloader && { isPage: (request: Request) => downloader.optionsOf(request) !== undefined }),
    })
    signals.connect('spiderClosed', () => made.tellBytes())
    return made
  }

  async processRequest(request: Request): Promise<RetryLater | undefined> {
    const { isPage = () => true } = this.#options
    const isForPage = isPage(request)
    const today = this.#days.at(this.#now())
    let spent: BudgetSpent | undefined
    try {
      spent = await this.#mayLeave(request, isForPage, today)
    } catch (error) {
      if (!storeTrouble(error)) throw error
      await this.#unanswered(request, error)
      if (isForPage) return backLater(request)
      throw new BudgetRefusal(backLater)
    }
    if (spent && isForPage) return this.#refused(request, spent, today)
    if (spent) throw new BudgetRefusal((page) => this.#refused(page, spent, today))
    this.#left.add(request)
    if (isForPage) this.#goesOn(request, today)
    return undefined
  }

  processResponse(request: Request, response: Response): Response {
    this.#came(request, response.body.length)
    return response
  }

  /** What has come of a body is spent, also when it was too large, too slow or cut off. */
  processException(request: Request): void {
    this.#came(request, 0)
  }

  /** Tells the book what has come. Bytes that cannot be told now are told later. */
  async tellBytes(): Promise<void> {
    const asks = this.#bytesToTell()
    if (asks.length === 0) return
    try {
      await this.#options.book.spend(asks)
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'the budgets cannot be told of bytes now')
      this.#tellLater(asks)
    }
  }

  #tellLater(asks: readonly BudgetAsk[]): void {
    for (const { host, bytes } of asks) this.#untold.set(host, (this.#untold.get(host) ?? 0) + bytes)
  }

  #came(request: Request, bodyBytes: number): void {
    if (!this.#left.delete(request)) return
    const bytes = bodyBytes + takeReceivedBytes(request)
    if (bytes === 0) return
    const host = hostNameOf(request.url)
    this.#untold.set(host, (this.#untold.get(host) ?? 0) + bytes)
    if (this.#untold.size >= HOSTS_UNTOLD_MAX) void this.tellBytes()
    this.#timer ??= setTimeout(() => void this.tellBytes(), TELL_BYTES_MS).unref()
  }

  #mayLeave(request: Request, isForPage: boolean, { day }: Day): Promise<BudgetSpent | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<BudgetSpent | undefined>()
    const what = isForPage ? { pages: 1 as const } : { pages: 0 as const, besidesPages: true }
    this.#asked.push({ ask: { host: hostNameOf(request.url), day, bytes: 0, ...what }, resolve, reject })
    if (this.#asked.length === 1) setImmediate(() => void this.#askTogether())
    return promise
  }

  async #askTogether(): Promise<void> {
    const asked = this.#asked
    this.#asked = []
    // What has come is spent before it is asked whether more may.
    const bytes = this.#bytesToTell()
    try {
      const answers = await this.#options.book.spend([...bytes, ...asked.map(({ ask }) => ask)])
      for (const [n, { resolve }] of asked.entries()) resolve(answers[bytes.length + n])
    } catch (error) {
      this.#tellLater(bytes)
      for (const { reject } of asked) reject(error)
    }
  }

  #bytesToTell(): BudgetAsk[] {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { day } = this.#days.at(this.#now())
    const asks = [...this.#untold].map(([host, bytes]) => ({ host, day, pages: 0 as const, bytes }))
    this.#untold = new Map()
    return asks
  }

  /** The book's server is away: nothing is sent, and no page is given up for it. Pages that were spent and not answered are spent twice. */
  async #unanswered({ url }: Request, error: unknown): Promise<void> {
    const { stats, logger } = this.#options
    stats.inc('budgets/unanswered')
    logger.debug({ err: error, url }, 'the budgets cannot be asked now: the request goes back')
    await sleep(AWAY_MS)
  }

  /** @param asked the day whose budget is spent: by now it may be over, and then the request waits no longer for it */
  #refused(request: Request, spent: BudgetSpent, asked: Day): RetryLater {
    const { plan, rest = KEPT, goOnToday = '', stats, close, hostOf } = this.#options
    const { window, kind } = spent
    const host = hostNameOf(request.url)
    const what = `${WORDS[window](host)} is spent: ${plan.limits[window]![kind]} ${kind}`
    const after = plan.after[window]
    if (after === 'drop') {
      stats.inc('budgets/dropped')
      this.#tell(`${window} ${host}`, `${what}. Its other requests are dropped (BUDGETS.${window})`)
      throw new IgnoreRequest(`${what} (BUDGETS.${window})`, 'WL_BUDGET_SPENT')
    }
    stats.inc('budgets/waited')
    if (after === 'stop') {
      this.#tell(window, `${what}. The crawl ends; what waits is ${rest} (BUDGETS.${window})`)
      close(`budget_${window === 'hostDay' ? 'host_day' : window}`)
      return new RetryLater(request, 'first')
    }
    const { day, endsAtMs } = asked
    const pauseMs = Math.max(
      0,
      Math.min(this.#nextLookMs(host, day), endsAtMs - this.#now() + AFTER_MIDNIGHT_MS),
    )
    this.#tell(
      waitKey(window, day, host),
      `${what}. Its requests wait until the next day begins in ${plan.tz} (BUDGETS.${window})${goOnToday}`,
    )
    const pauseReason = `${WORDS[window](host)} is spent, and is asked again then`
    hostOf(request)?.onHostNews?.({ pauseMs, pauseReason })
    return new RetryLater(request, 'first')
  }

  /** In how many milliseconds the book is asked again for that host. Requests of it that were under way together wait for the same look. */
  #nextLookMs(host: string, day: string): number {
    const { lookAgainMs = LOOK_AGAIN_MS } = this.#options
    const now = this.#now()
    const isSameDay = this.#lastLook?.day === day
    const known = isSameDay ? this.#looks.get(host) : undefined
    if (known !== undefined && known > now) return known - now
    const atMs = Math.max(now + lookAgainMs, isSameDay ? this.#lastLook!.atMs + LOOKS_APART_MS : 0)
    this.#lastLook = { day, atMs }
    this.#looks.delete(host)
    this.#looks.set(host, atMs)
    this.#forgetLooks(now)
    return atMs - now
  }

  #forgetLooks(now: number): void {
    for (const [host, atMs] of this.#looks) {
      if (atMs > now && this.#looks.size <= LOOKS_MAX) return
      this.#looks.delete(host)
    }
  }

  /** Somebody has renewed what was spent: when it is spent once more that is told again. */
  #goesOn(request: Request, { day }: Day): void {
    if (this.#told.size === 0) return
    this.#told.delete(waitKey('day', day, ''))
    this.#told.delete(waitKey('hostDay', day, hostNameOf(request.url)))
  }

  /** Each once, and of many hosts not all. */
  #tell(key: string, text: string): void {
    const { logger } = this.#options
    if (this.#told.has(key) || this.#told.size >= TOLD_MAX) return
    this.#told.add(key)
    logger.warn(text)
    if (this.#told.size === TOLD_MAX) logger.warn('further budgets that are spent are not told')
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now()
  }
}

const TOLD_MAX = 100

function waitKey(window: BudgetWindow, day: string, host: string): string {
  return window === 'day' ? `${window} ${day}` : `${window} ${day} ${host}`
}

const WORDS = {
  crawl: () => 'the budget of the crawl',
  day: () => 'the budget of the day',
  host: (host: string) => `the budget of ${host}`,
  hostDay: (host: string) => `the budget of ${host} for the day`,
} as const

function goOnToday({ settings, spider, others, typed = spider.name }: Crawler): string {
  if (settings.get('JOBDIR') !== null)
    return '. To go on today, stop it and type its line again with larger BUDGETS'
  if (others === undefined) return ''
  return `. To go on today:  webloom budgets renew ${typed}`
}

function backLater(page: Request): RetryLater {
  return new RetryLater(page, 'first')
}

const KEPT = 'kept where the crawl is kept'

/** Returns what becomes of requests that wait when the crawl ends before them, as the log has it. */
export function restOf({ settings, others }: Pick<Crawler, 'settings' | 'others'>): string {
  if (settings.get('JOBDIR') !== null) return KEPT
  if (others === undefined) return 'lost, as the crawl is in memory (JOBDIR=folder would keep it)'
  return persistsOf(settings) ? KEPT : 'deleted, as SCHEDULER_PERSIST is false'
}
