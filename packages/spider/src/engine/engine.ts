/**
 * The engine's loop, and nothing else: it moves requests from the scheduler to the downloader and the answers to the
 * scraper, keeps to the bounds, and finds out when the crawl is over.
 *
 *     intake   while there is room: lease → `PageFlow`, which has the page until it is committed
 *     start    `Feeder`: start() and seeds go to the scheduler whenever few requests wait
 *
 * There is room while fewer than CONCURRENT_REQUESTS downloads run, not counting those that wait for their host's name
 * (`DownloadPlaces`), and the responses in callbacks and pipelines have less than SCRAPER_SLOT_MAX_ACTIVE_SIZE bytes. So a
 * slow pipeline slows the intake down instead of filling the memory.
 *
 * The crawl is over when start() has ended and the queue says, in one step, that no request is waiting, delayed or leased.
 * A page is leased until its links are queued, so that answer stays true.
 */

import {
  CloseSpider,
  type CrawlRecord,
  type Logger,
  PROTOCOL_TIMES,
  type ProtocolTimes,
  type SeedSource,
  type Signals,
  type StartHosts,
  type StatsCollector,
  timerMs,
  unlessAborted,
} from '@webloom/core'
import type { FormFetcher } from '../page-forms/form-fetcher.ts'
import type { Failure } from '../scraping/callback-output.ts'
import { isLeaseLost, isOutputFailure } from '../scraping/error-kinds.ts'
import { inTime } from '../scraping/in-time.ts'
import type { ItemProcessor } from '../scraping/item-processor.ts'
import type { Scraper } from '../scraping/scraper.ts'
import type { Spider } from '../spider.ts'
import { CrawlFailures } from './crawl-failures.ts'
import type { DownloadPlace } from './download-places.ts'
import type { EngineDownloader, EngineScheduler } from './engine-ports.ts'
import { eventLoopTurn } from './event-loop-turn.ts'
import { keepStringsFast } from './fast-strings.ts'
import { Feeder } from './feeder.ts'
import { PageFlow } from './page-flow.ts'
import { Pulse } from './pulse.ts'
import { StallWatch } from './stall-watch.ts'
import { StartAhead } from './start-ahead.ts'

/** How much the engine has in hand at a time, and how long it waits for whom. */
export interface EngineBounds {
  /** CONCURRENT_REQUESTS; 0: no bound. */
  readonly downloadsMax: number
  /** SCRAPER_SLOT_MAX_ACTIVE_SIZE, bytes. */
  readonly scrapingBytesMax: number
  /** START_LOW_WATER: while fewer requests wait, start() is read on. */
  readonly startLowWater: number
  /** START_AHEAD_MAX: the same while a worker has nothing to do. */
  readonly startAheadMax: number
  /** How long there must be nothing to do before the crawl ends, milliseconds. Infinity: it never ends by itself. */
  readonly idleMsBeforeFinish: number
  /** COMPONENT_TIMEOUT in milliseconds. */
  readonly componentTimeoutMs: number
  /** SHUTDOWN_GRACE in milliseconds. */
  readonly shutdownGraceMs: number
}

export interface EngineOptions {
  readonly spider: Spider
  readonly scheduler: EngineScheduler
  /** Opened and closed by the caller of the engine. */
  readonly record: CrawlRecord
  readonly downloader: EngineDownloader
  readonly scraper: Scraper
  readonly items: ItemProcessor
  /** Fetches pages whose requests leave it to the crawl whether a browser renders them. */
  readonly forms?: FormFetcher
  /** Keeps the hosts of start requests. Absent in tests. */
  readonly startHosts?: StartHosts
  /** Returns whether another worker is known to have nothing to do. Absent: there is none. */
  readonly othersAreHungry?: () => boolean
  /** Start requests from outside. Opened and closed by the caller of the engine. */
  readonly seeds?: SeedSource
  readonly stats: StatsCollector
  readonly signals: Signals
  readonly logger: Logger
  readonly bounds: EngineBounds
  /** DUPEFILTER_RELEASE_ON_FAILURE: returns whether the filter forgets the page of such a failure. Default: it forgets none. */
  readonly forgets?: (failure: Failure) => boolean
  /** Called when the crawl is over, before the first component is closed. */
  readonly onClosing?: () => void
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
}

/** What is under way now, for progress displays. */
export interface EngineActivity {
  /** With a place of CONCURRENT_REQUESTS: requests that wait for their host's name or robots.txt have none. */
  readonly downloading: number
  readonly scraping: number
  /** Callbacks and pipelines work on as many bytes as SCRAPER_SLOT_MAX_ACTIVE_SIZE allows: no page is begun until they are fewer. */
  readonly scrapingFull: boolean
  /** It has had nothing to do for half a minute, but the queue has requests in flight in its name. */
  readonly stalled: boolean
}

// Without a bound on downloads, a lease call still needs a number.
const MAX_LEASES_PER_CALL = 1000

export class Engine {
  readonly #options: EngineOptions
  readonly #leaseWaitMaxMs: number
  /** Fires whenever there is more room, start() has moved, or the crawl is told to end. */
  readonly #pulse = new Pulse()
  /** Aborts the wait for leases. */
  readonly #stopping = new AbortController()
  readonly #pages: PageFlow
  readonly #feeder: Feeder
  readonly #startAhead: StartAhead
  readonly #stallWatch: StallWatch
  readonly #failures: CrawlFailures
  #isPaused = false
  /** Pages, so far. */
  #begun = 0
  #idleSinceMs: number | undefined
  #reason: string | undefined

  constructor(options: EngineOptions) {
    const { times = PROTOCOL_TIMES } = options
    this.#options = options
    this.#failures = new CrawlFailures(options.logger)
    this.#leaseWaitMaxMs = times.engine.leaseWaitMaxMs
    const onStop = (reason: string) => this.stop(reason)
    const onFailure = (error: unknown) => this.fail(error)
    this.#pages = new PageFlow({
      ...options,
      downloadsMax: options.bounds.downloadsMax,
      onStop,
      onFailure,
      onRoom: () => this.#onRoom(),
    })
    this.#stallWatch = new StallWatch({
      isBusy: () => this.#isPaused || this.#pages.size > 0,
      begun: () => this.#begun,
      inFlight: () => options.scheduler.inFlight(),
      stats: options.stats,
      logger: options.logger,
    })
    const { startLowWater, startAheadMax } = options.bounds
    const { othersAreHungry = () => false } = options
    this.#startAhead = new StartAhead({ lowWater: startLowWater, max: startAheadMax, othersAreHungry })
    this.#feeder = new Feeder({
      ...options,
      startLowWater,
      ahead: this.#startAhead,
      times: times.engine,
      isPaused: () => this.#isPaused,
      pulse: this.#pulse,
      stopping: this.#stopping.signal,
      onStop,
      onFailure,
    })
  }

  /** True when start() has ended, or another worker runs it. */
  get startHasEnded(): boolean {
    return this.#feeder.startHasEnded
  }

  get activity(): EngineActivity {
    const { places, size } = this.#pages
    const { isStalled } = this.#stallWatch
    return {
      downloading: places.taken,
      scraping: size - places.downloads,
      scrapingFull: this.#isScrapingFull,
      stalled: isStalled,
    }
  }

  /** The places of the downloads that are under way. */
  get placesUnderWay(): Iterable<DownloadPlace> {
    return this.#pages.placesUnderWay
  }

  /** Why the crawl ends: from when that is known, before what is in flight is done. */
  get endsBecause(): string | undefined {
    return this.#reason
  }

  /** Runs the crawl to its end and resolves to its `finish_reason`. Rejects when it could not be opened, or not be closed. */
  async run(): Promise<string> {
    const { spider, signals } = this.#options
    keepStringsFast()
    await this.#open()
    await signals.send('engineStarted', {})
    await signals.send('spiderOpened', { spider })
    this.#feeder.begin()
    this.#stallWatch.open()
    await this.#intake()
    await this.#drain()
    return this.#close()
  }

  /**
   * Ends the crawl in order: no request is leased any more, what still waits for a name goes back to the queue, and what is in
   * flight may finish within SHUTDOWN_GRACE. The first reason wins.
   */
  stop(reason: string): void {
    this.#reason ??= reason
    this.#stopping.abort()
    this.#pages.beginNoMore()
    this.#pulse.fire()
  }

  /** Ends the crawl at once: downloads are cut off, and their requests requeued. */
  abort(reason: string): void {
    this.stop(reason)
    this.#pages.abort()
    this.#pulse.fire()
  }

  /**
   * Ends the crawl for an error that is not a page's fault: an output that cannot be written, a broken queue.
   *
   * @param isTold the log says it already
   */
  fail(error: unknown, isTold = false): void {
    if (isLeaseLost(error)) return
    const { reason: before } = this.#failures
    this.#failures.meet(error, isTold)
    const reason = this.#failures.reason!
    // What an output has failed for may be known only later.
    if (this.#reason === before) this.#reason = reason
    this.stop(reason)
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Leases and begins nothing until `resume`; what is in flight goes on. */
  pause(): void {
    this.#isPaused = true
    this.#pages.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#pages.resume()
    this.#pulse.fire()
  }

  async #open(): Promise<void> {
    const { scheduler, items, downloader } = this.#options
    try {
      await scheduler.open(this.#stopping.signal)
      await items.open()
    } catch (error) {
      // A pipeline may find that there is no point in crawling. The crawl then ends like any other.
      if (error instanceof CloseSpider) return this.stop(error.reason)
      // No page was fetched. Components that did open must be closed, or they would keep the process alive.
      this.#options.onClosing?.()
      await Promise.allSettled([items.close('not_opened'), scheduler.close(), downloader.close()])
      throw error
    }
  }

  async #intake(): Promise<void> {
    const { scheduler } = this.#options
    while (!this.#stopping.signal.aborted) {
      const room = this.#room()
      this.#startAhead.places(room)
      if (room === 0) {
        await this.#pulse.next(this.#leaseWaitMaxMs)
        // Places that become free in one turn of the event loop are filled together: each lease costs a message, or part of one.
        await eventLoopTurn()
        continue
      }
      const started = this.#pulse.count
      const waitsUntilMs = performance.now() + this.#leaseWaitMaxMs
      const leases = await scheduler.next(Math.min(room, MAX_LEASES_PER_CALL), this.#stopping.signal)
      for (const lease of leases) this.#pages.begin(lease)
      this.#startAhead.places(room - leases.length)
      if (leases.length > 0) continue
      const over = (await unlessAborted(this.#stopping.signal, this.#isOver())) ?? false
      if (over !== false) return this.stop(over === true ? 'finished' : over)
      // Where nothing can come by itself the queue has not waited; but start() may bring more, or pages in flight may.
      const restMs = waitsUntilMs - performance.now()
      if (restMs > 0 && this.#pulse.count === started) await this.#pulse.next(restMs)
    }
  }

  /** Most pages that end make no room: another has begun in the place that they left. */
  #onRoom(): void {
    if (this.#room() > 0 || this.#stopping.signal.aborted) this.#pulse.fire()
  }

  #room(): number {
    if (this.#isPaused) return 0
    if (this.#isScrapingFull) return 0
    return this.#pages.places.room
  }

  get #isScrapingFull(): boolean {
    return this.#pages.scrapingBytes >= this.#options.bounds.scrapingBytesMax
  }

  async #isOver(): Promise<boolean | string> {
    const { signals, spider, record } = this.#options
    const { idleMsBeforeFinish } = this.#options.bounds
    // This worker never ends by itself, whatever the answer.
    if (idleMsBeforeFinish === Number.POSITIVE_INFINITY && !signals.listened('spiderIdle')) return false
    let isIdle = await this.#isIdle()
    if (isIdle && signals.listened('spiderIdle')) {
      await signals.send('spiderIdle', { spider })
      isIdle = await this.#isIdle()
    }
    if (!isIdle) {
      this.#idleSinceMs = undefined
      return false
    }
    this.#idleSinceMs ??= performance.now()
    if (performance.now() - this.#idleSinceMs < idleMsBeforeFinish) return false
    if (this.#feeder.startError) return true
    return record.finish()
  }

  /** Checks the seeds first: a seed is in the queue before it is deleted from its source, so none is overlooked. */
  async #isIdle(): Promise<boolean> {
    const { scheduler, seeds } = this.#options
    if (!this.#feeder.isIdle || this.#pages.size > 0) return false
    if (seeds && (await seeds.pending()) > 0) return false
    return scheduler.isEmpty(this.#stopping.signal)
  }

  /** Waits for what is in flight, for SHUTDOWN_GRACE at the most. It does not wait for start(). */
  async #drain(): Promise<void> {
    const grace = setTimeout(() => {
      this.#options.logger.warn(
        { pages: this.#pages.size },
        'SHUTDOWN_GRACE is over: what is still in flight is given up',
      )
      this.abort('shutdown')
    }, timerMs(this.#options.bounds.shutdownGraceMs))
    try {
      while (this.#pages.size > 0 || this.#feeder.isFeeding) {
        if (this.#pages.isAborted && this.#pages.places.downloads === 0) return
        await this.#pulse.next(this.#leaseWaitMaxMs)
      }
    } finally {
      clearTimeout(grace)
    }
  }

  async #close(): Promise<string> {
    const { spider, scheduler, record, downloader, items, signals } = this.#options
    this.#stallWatch.close()
    this.#options.onClosing?.()
    const reason = this.#finishReason()
    const failures: unknown[] = []
    this.#pages.close()
    const steps: [what: string, step: () => unknown, timeoutMs?: number][] = [
      ['spider.closed()', () => spider.closed?.(reason)],
      // Each pipeline and feed has that time for itself: one that hangs must not cost the output of another.
      ['pipelines and feeds', () => items.close(reason), Number.POSITIVE_INFINITY],
      ['signal spiderClosed', () => signals.send('spiderClosed', { spider, reason })],
      ['signal engineStopped', () => signals.send('engineStopped', {})],
      // An output that was not completed is not finished: the next run closes it again.
      ['crawl record', () => record.ended(failures.some(isOutputFailure) ? 'output_failed' : reason)],
      ['scheduler', () => scheduler.close()],
      ['downloader', () => downloader.close()],
    ]
    for (const [what, step, timeoutMs = this.#options.bounds.componentTimeoutMs] of steps) {
      try {
        await inTime(`closing: ${what}`, step, timeoutMs)
      } catch (error) {
        this.#failures.meetAtClosing(what, error)
        failures.push(error)
      }
    }
    const failed = failures.find(isOutputFailure) ?? this.#failures.outputFailure
    if (failed !== undefined) throw failed
    return reason
  }

  #finishReason(): string {
    const { startError } = this.#feeder
    if (startError && this.#reason === 'finished') return 'start_error'
    return this.#reason ?? 'finished'
  }
}
