import {
  type AlertSeen,
  type CrawlPast,
  type DupeFilterDescription,
  type Extension,
  type HostListSources,
  type Logger,
  linesAt,
  type OtherWorkers,
  type QueueOrder,
  runFigures,
  type Settings,
  type Signals,
  type StatsCollector,
  type StatValue,
  within,
} from '@webloom/core'
import type { HostAddresses } from '@webloom/downloader'
import { CRAWL_LOST, StoppedMeanwhile } from '@webloom/queue'
import type { CrawlMonitors, Engine, Response, Spider } from '@webloom/spider'
import {
  emptyText,
  hasComeBack,
  hasFetched,
  lostText,
  NOTHING_LEFT,
  nothingDueText,
} from '../outcome/empty-crawl.ts'
import { closeExtension, type ToClose } from '../outcome/to-close.ts'
import { refuseVisitedPages } from './recrawl/recrawl-refusals.ts'
import type { CrawlStore } from './store-port.ts'

/** Its Redis has just lost all, and may be away. */
const KEEP_ANSWER_MS_MAX = 5000

/** Which implementations run, for the start banner. */
export interface CrawlParts {
  readonly queue: { readonly name: string; readonly order: QueueOrder }
  readonly filter: DupeFilterDescription
  readonly outputs: readonly string[]
  /** What the user should know of where the crawl is kept, one line each. */
  readonly notes: readonly string[]
}

/** What has been done and what is under way, for progress displays. */
export interface CrawlSnapshot {
  readonly done: number
  readonly queued: number
  readonly downloading: number
  readonly scraping: number
  readonly items: number
  readonly errors: number
  readonly filtered: number
  readonly retries: number
}

/** What a process does for its crawl: `waiting` for its Redis servers, `opening`, `crawling`, `ending`. */
export type CrawlPhase = 'waiting' | 'opening' | 'crawling' | 'ending'

/** How a crawl ended. */
export interface CrawlResult {
  /**
   * `finished` when nothing was left to fetch; else why the crawl ended: `shutdown` (a signal), `closespider_…` (a limit that was set),
   * `start_error`, `internal_error`, `crawl_lost`, `other_settings` and the like, or the reason that the spider gave to `close` or `CloseSpider`.
   */
  readonly finishReason: string
  /** What was counted, by Scrapy's keys (docs/stats.md); of a crawl that several workers share, only what this process counted. */
  readonly stats: Record<string, StatValue>
}

/** What a dashboard of this process looks at. */
export interface CrawlInside {
  readonly engine: Engine
  readonly store: CrawlStore
  readonly signals: Signals
  readonly hostLists: HostListSources
}

interface CrawlOptions extends CrawlInside {
  readonly spider: Spider
  readonly settings: Settings
  readonly stats: StatsCollector
  readonly logger: Logger
  readonly scheduler: { counts(): Promise<{ waiting: number; delayed: number }> }
  /** What is written, as the user named it. */
  readonly outputs: readonly string[]
  readonly extensions: readonly Extension[]
  readonly addresses: Pick<HostAddresses, 'close'>
  /** Closes all that it is made of, the last part first. For a crawl that never ran: one that runs closes its parts as it ends. */
  readonly toClose: ToClose
  /** Absent: nothing is expected of a run. */
  readonly monitors?: CrawlMonitors | undefined
}

/** One crawl of one spider, from `run` to its end. */
export class Crawl {
  readonly #options: CrawlOptions
  #connected = false
  #isEmpty = false
  #phase: CrawlPhase = 'waiting'
  #alerts: readonly AlertSeen[] = []
  /** Fires when this process is told to end: what is waited for at the end is then left to others. */
  readonly #leaving = new AbortController()

  constructor(options: CrawlOptions) {
    this.#options = options
  }

  get spider(): Spider {
    return this.#options.spider
  }

  get settings(): Settings {
    return this.#options.settings
  }

  /** What the crawl's other workers have done. Absent in a crawl of one process. */
  get others(): OtherWorkers | undefined {
    return this.#options.store.others
  }

  get stats(): StatsCollector {
    return this.#options.stats
  }

  get logger(): Logger {
    return this.#options.logger
  }

  get inside(): CrawlInside {
    return this.#options
  }

  get phase(): CrawlPhase {
    return this.#options.engine.endsBecause === undefined ? this.#phase : 'ending'
  }

  /** Which implementations run. Asks them, so connect first. */
  async describe(): Promise<CrawlParts> {
    const { store, outputs } = this.#options
    const [filter, notes] = await Promise.all([store.filter.describe(), store.notes()])
    return { queue: store.queue.describe(), filter, outputs, notes }
  }

  /** Opens the connections that the crawl needs; `run` does so itself. Throws WL_REDIS_UNREACHABLE. */
  async connect(): Promise<void> {
    if (this.#connected) return
    await this.#options.store.connect()
    this.#connected = true
    this.#phase = 'opening'
  }

  /**
   * Resolves when the crawl is over, at once when it was over before; rejects when it could not be opened or an output
   * could not be written.
   */
  async run(): Promise<CrawlResult> {
    const { engine, store, stats, extensions, addresses, monitors } = this.#options
    await this.connect()
    try {
      const past = await this.#joined()
      if (!past) return { finishReason: String(stats.get('finish_reason')), stats: stats.snapshot() }
      if (past.finishedAt && this.settings.get('RECRAWL') === 'off')
        await refuseVisitedPages(store, this.#options)
      if (past.finishedAt) return { finishReason: this.#finishedOn(past.finishedAt), stats: stats.snapshot() }
      await store.join(past)
      if (monitors) {
        await monitors.joined()
        store.watch(() => monitors.look())
      }
      this.#phase = 'crawling'
      const finishReason = await engine.run()
      this.#tellWhatIsLost()
      if (finishReason === 'finished') this.#tellWhenEmpty(past.begun)
      return { finishReason, stats: stats.snapshot() }
    } finally {
      this.#phase = 'ending'
      const reason = String(stats.get('finish_reason') ?? 'internal_error')
      await store.ended?.(reason)
      if (monitors)
        this.#alerts =
          reason === CRAWL_LOST
            ? await monitors.lost(this.#leaving.signal)
            : await monitors.ended(this.#leaving.signal)
      else if (reason === CRAWL_LOST) await this.#keepLostRun()
      await store.record.close()
      for (const extension of extensions) await closeExtension(extension, this.#options)
      store.disconnect()
      addresses.close()
    }
  }

  /** Resolves to undefined where this process, or its crawl, was told to end while it waited: then it takes no part. */
  async #joined(): Promise<CrawlPast | undefined> {
    const { engine, store, stats } = this.#options
    const { signal } = this.#leaving
    try {
      return await store.record.open(signal)
    } catch (error) {
      const isStopped = error instanceof StoppedMeanwhile
      if (!isStopped && (!signal.aborted || error !== signal.reason)) throw error
      stats.set('finish_reason', isStopped ? error.reason : (engine.endsBecause ?? 'shutdown'))
      return undefined
    }
  }

  /** Called in place of `run`, for a crawl that was only tried. */
  async letGo(): Promise<void> {
    await this.#options.toClose[Symbol.asyncDispose]()
  }

  /** Keeps for `webloom runs` what is known of it; monitors do so themselves. */
  async #keepLostRun(): Promise<void> {
    const { store, stats, logger } = this.#options
    const keeping = store.runLog.keepLost?.(runFigures(stats.snapshot()))
    if (keeping)
      await within(KEEP_ANSWER_MS_MAX, 'keeping the lost run', keeping).catch((err: unknown) =>
        logger.warn({ err }, 'the lost run could not be kept, so webloom runs does not show it'),
      )
  }

  /** Each worker tells its own: the lines that say more are in its log. */
  #tellWhatIsLost(): void {
    const { stats, logger } = this.#options
    const lost = lostText(stats.snapshot())
    if (lost !== undefined) logger.warn(lost)
  }

  /** Of a crawl that others share, the last worker tells it for all. */
  #tellWhenEmpty(isResumed: boolean): void {
    const { store, stats, logger, spider, outputs } = this.#options
    const own = stats.snapshot()
    const counted = store.totalsAtEnd ? store.totalsAtEnd() : { all: own, sinceResumed: own }
    // A run in which no page has changed brings nothing, and all is well.
    if (counted === undefined) return
    if (hasComeBack(counted.all)) {
      if (!hasFetched(counted.all)) logger.info(nothingDueText(this.#options))
      return
    }
    // A JOBDIR keeps no counts: whether its earlier runs brought something is not known.
    const isJudged = store.totalsAtEnd !== undefined || !isResumed
    const by = store.totalsAtEnd ? ' by any worker' : ''
    const text = isJudged ? emptyText(counted, { spider, outputs, by }) : undefined
    if (text === undefined) {
      if (isResumed && !hasFetched(counted.sinceResumed)) logger.info(NOTHING_LEFT)
      return
    }
    this.#isEmpty = true
    logger.warn(`${text} (FAIL_ON_EMPTY makes this exit code 1)`)
  }

  /** True when the crawl finished, this process was the last one of it, and it brought neither an item nor a link, or no item for its outputs. */
  get isEmpty(): boolean {
    return this.#isEmpty
  }

  /** What monitors found in the run, when it is over and was judged while this process was there. */
  get alerts(): readonly AlertSeen[] {
    return this.#alerts
  }

  /** A finished crawl is not begun again by merely starting it: a restarted container would crawl for ever. */
  #finishedOn(finishedAt: Date): string {
    const { stats, store, logger } = this.#options
    logger.info(
      `this crawl finished on ${finishedAt.toISOString()}; nothing is fetched. ${store.howToBeginAnew}`,
    )
    stats.set('finish_reason', 'finished')
    return 'finished'
  }

  /** Calls it for each item that has been written, and waits for it before the item's page is done. */
  onItem(take: (item: unknown, response: Response | null) => Promise<void>): void {
    this.#options.signals.connect('itemScraped', ({ item, response }) =>
      take(item, response as Response | null),
    )
  }

  /** Lets what is in flight finish. */
  stop(reason: string): void {
    this.#leaving.abort()
    this.#options.engine.stop(reason)
  }

  /** Cuts off what is in flight. */
  abort(reason: string): void {
    this.#leaving.abort()
    this.#options.engine.abort(reason)
  }

  async snapshot(): Promise<CrawlSnapshot> {
    const { engine, stats, scheduler } = this.#options
    const { waiting, delayed } = await scheduler.counts()
    const count = (key: string) => Number(stats.get(key) ?? 0)
    return {
      done: count('response_received_count'),
      queued: waiting + delayed,
      ...engine.activity,
      items: count('item_scraped_count'),
      errors: linesAt('ERROR', count),
      filtered: count('dupefilter/filtered'),
      retries: count('retry/count'),
    }
  }
}
