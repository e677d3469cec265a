/**
 * The loop, and nothing else: it moves requests from the scheduler to the downloader and what comes back to the
 * scraper, keeps to the bounds, and knows when the crawl is over.
 *
 *     intake   while there is room: lease → page
 *     page     fetch → Response: scrape, items out, commit with the links found
 *                    → Request (redirect): commit with it as the only child
 *                    → RetryLater: back to the queue
 *                    → error: errback, commit
 *     start    feeds start() into the scheduler whenever little is waiting
 *
 * Room: fewer than CONCURRENT_REQUESTS downloads, and less than SCRAPER_SLOT_MAX_ACTIVE_SIZE bytes of responses in
 * callbacks and pipelines. So a slow pipeline slows the intake down instead of filling the memory.
 *
 * The crawl is over when start() has ended and the queue says, in one step, that nothing is waiting, delayed or
 * leased. A page is leased until its links are queued, so that answer is stable.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  CloseSpider,
  type CrawlRecord,
  type DownloadOptions,
  type DownloadResult,
  type HostNews,
  LEASE_WAIT_MAX_MS,
  type Lease,
  type Logger,
  Request,
  RetryLater,
  type Seed,
  type SeedSource,
  type Signals,
  type StatsCollector,
  WebloomError,
} from '@webloom/core'
import { inTime, TIMER_MS_MAX } from './in-time.ts'
import type { ItemProcessor } from './item-processor.ts'
import { Pulse } from './pulse.ts'
import type { Response } from './response.ts'
import {
  type CallbackOutput,
  type Failure,
  type HandOn,
  type Scraper,
  SpiderClosing,
  type StartElement,
} from './scraper.ts'
import type { Spider } from './spider.ts'

const START_ELEMENTS_A_TURN = 64
const SEEDS_AT_ONCE = 64
/** How often seeds are looked for while none waits. */
const SEEDS_POLL_MS = 300

/** What the engine needs of `@webloom/scheduler`. */
export interface EngineScheduler {
  open(): Promise<void>
  close(): Promise<void>
  enqueueStart(request: Request, owner: string): Promise<number>
  enqueue(requests: readonly Request[], owner: string): Promise<number>
  next(max: number, signal?: AbortSignal): Promise<Lease[]>
  commit(
    lease: Lease,
    requests: readonly Request[],
    options?: { marksAll?: boolean; host?: HostNews },
  ): Promise<void>
  retry(lease: Lease, request: Request, delayMs: number, host?: HostNews): Promise<void>
  release(lease: Lease): Promise<void>
  refuse(lease: Lease, reason: string): Promise<void>
  /** Fewer than `mark` requests wait, and what keeps them can take more. */
  hasRoom(mark: number): Promise<boolean>
  counts(signal?: AbortSignal): Promise<{ waiting: number; delayed: number; leased: number }>
}

/** What the engine needs of `@webloom/downloader`. */
export interface EngineDownloader {
  fetch(request: Request, options: DownloadOptions): Promise<DownloadResult>
  close(): Promise<void>
}

export interface EngineOptions {
  readonly spider: Spider
  readonly scheduler: EngineScheduler
  /** Opened and closed by whoever runs the engine. */
  readonly record: CrawlRecord
  readonly downloader: EngineDownloader
  readonly scraper: Scraper
  readonly items: ItemProcessor
  /** Start requests from outside; opened and closed by whoever runs the engine. */
  readonly seeds?: SeedSource
  /** How long there must be nothing to do before the crawl ends, milliseconds; Infinity: it stays for ever. */
  readonly idleMsBeforeFinish: number
  readonly stats: StatsCollector
  readonly signals: Signals
  readonly logger: Logger
  /** CONCURRENT_REQUESTS; 0: no bound. */
  readonly downloadsMax: number
  /** SCRAPER_SLOT_MAX_ACTIVE_SIZE. */
  readonly scrapingBytesMax: number
  /** START_LOW_WATER. */
  readonly startLowWater: number
  /** COMPONENT_TIMEOUT in milliseconds. */
  readonly componentTimeoutMs: number
  /** SHUTDOWN_GRACE in milliseconds. */
  readonly shutdownGraceMs: number
}

/** What is under way at this moment, for progress displays. */
export interface EngineActivity {
  readonly downloading: number
  readonly scraping: number
}

// So that many tiny answers do not count as nothing (the figure is Scrapy's).
const RESPONSE_BYTES_MIN = 1024
// Without a bound on downloads, a lease call still needs a number.
const LEASES_AT_ONCE_MAX = 1000

export class Engine {
  readonly #options: EngineOptions
  readonly #downloadsMax: number
  /** Fires whenever room appears, start() has moved, or the crawl is asked to end. */
  readonly #pulse = new Pulse()
  /** Ends the wait for leases. */
  readonly #stopping = new AbortController()
  /** Cuts off what is in flight. */
  readonly #aborting = new AbortController()
  readonly #pages = new Set<Promise<void>>()
  /** What leases have taught about their hosts. */
  readonly #hostNews = new WeakMap<Lease, HostNews>()
  #downloading = 0
  #scrapingBytes = 0
  #startEnded = false
  /** Elements of start() and seeds that are being queued or written. */
  #feeding = 0
  #isPaused = false
  #idleSinceMs: number | undefined
  /** Pages that end from now on are too late: their leases were given up. */
  #closed = false
  #reason: string | undefined
  #fatal: { readonly error: unknown } | undefined

  constructor(options: EngineOptions) {
    this.#options = options
    this.#downloadsMax = options.downloadsMax > 0 ? options.downloadsMax : Number.POSITIVE_INFINITY
  }

  get activity(): EngineActivity {
    return { downloading: this.#downloading, scraping: this.#pages.size - this.#downloading }
  }

  /**
   * Runs the crawl to its end; answers its `finish_reason`. Rejects when it could not be opened, or not be closed.
   */
  async run(): Promise<string> {
    const { spider, signals } = this.#options
    await this.#open()
    await signals.send('engineStarted', {})
    await signals.send('spiderOpened', { spider })
    void this.#pumpStart()
    void this.#pumpSeeds()
    await this.#intake()
    await this.#drain()
    return this.#close()
  }

  /** Asks for the end: nothing new begins, what is in flight may finish within SHUTDOWN_GRACE. The first reason wins. */
  stop(reason: string): void {
    this.#reason ??= reason
    this.#stopping.abort()
    this.#pulse.fire()
  }

  /** Ends at once: what is in flight is cut off and given back to the queue. */
  abort(reason: string): void {
    this.stop(reason)
    this.#aborting.abort(new WebloomError('WL_CLOSE_SPIDER', 'the crawl is stopped at once'))
    this.#pulse.fire()
  }

  /** Nothing new begins until `resume`; what is in flight goes on. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#pulse.fire()
  }

  async #open(): Promise<void> {
    const { scheduler, items, downloader } = this.#options
    try {
      await scheduler.open()
      await inTime('opening pipelines and feeds', () => items.open(), this.#options.componentTimeoutMs)
    } catch (error) {
      // A pipeline may find that there is no point in crawling: that is an end like any other.
      if (error instanceof CloseSpider) return this.stop(error.reason)
      // Nothing was fetched; what did open must not keep the process alive.
      await Promise.allSettled([items.close('not_opened'), scheduler.close(), downloader.close()])
      throw error
    }
  }

  async #intake(): Promise<void> {
    const { scheduler } = this.#options
    while (!this.#stopping.signal.aborted) {
      const room = this.#room()
      if (room === 0) {
        await this.#pulse.next(LEASE_WAIT_MAX_MS)
        continue
      }
      const started = this.#pulse.count
      const leases = await scheduler.next(Math.min(room, LEASES_AT_ONCE_MAX), this.#stopping.signal)
      for (const lease of leases) this.#begin(lease)
      if (leases.length > 0) continue
      if (await this.#unlessStopping(this.#isOver())) return this.stop('finished')
      // Nothing waits, but start() may have more, or pages in flight may.
      if (this.#pulse.count === started) await this.#pulse.next(LEASE_WAIT_MAX_MS)
    }
  }

  #room(): number {
    if (this.#isPaused) return 0
    if (this.#scrapingBytes >= this.#options.scrapingBytesMax) return 0
    return Math.max(0, this.#downloadsMax - this.#downloading)
  }

  async #isOver(): Promise<boolean> {
    const { signals, spider, record, idleMsBeforeFinish } = this.#options
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
    // start() threw: it has not ended, and never will.
    if (this.#fatal) return true
    return record.finish()
  }

  /** The answer, or false as soon as the crawl is asked to end: a Redis that is away must not hold that up. */
  async #unlessStopping(answer: Promise<boolean>): Promise<boolean> {
    const { signal } = this.#stopping
    let onStop = () => {}
    const stopped = new Promise<false>((resolve) => {
      onStop = () => resolve(false)
      signal.addEventListener('abort', onStop)
    })
    try {
      return await Promise.race([signal.aborted ? false : answer, stopped])
    } finally {
      signal.removeEventListener('abort', onStop)
      answer.catch(() => {})
    }
  }

  /** Seeds are looked at first: they go to the queue before they are gone, so that none is overlooked. */
  async #isIdle(): Promise<boolean> {
    const { scheduler, seeds } = this.#options
    if (!this.#startEnded || this.#feeding > 0 || this.#pages.size > 0) return false
    if (seeds && (await seeds.pending()) > 0) return false
    const { waiting, delayed, leased } = await scheduler.counts(this.#stopping.signal)
    return waiting + delayed + leased === 0
  }

  #begin(lease: Lease): void {
    this.#downloading++
    const page = this.#page(lease)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#pages.delete(page)
        this.#pulse.fire()
      })
    this.#pages.add(page)
  }

  async #page(lease: Lease): Promise<void> {
    const { scraper, stats, signals, logger, spider } = this.#options
    let result: DownloadResult
    const cannot = scraper.whyNot(lease.request)
    if (cannot !== undefined) return this.#refuse(lease, cannot)
    try {
      result = await this.#fetch(lease)
    } catch (error) {
      if (this.#aborting.signal.aborted || lease.signal.aborted) return this.#giveBack(lease)
      return this.#fruitless(lease, { request: lease.request, error, response: null })
    }
    // Too late: the lease was given up when the crawl was closed.
    if (this.#closed) return
    if (result instanceof Request) return this.#replace(lease, result)
    if (result instanceof RetryLater) return this.#retry(lease, result)
    const response = result as Response
    stats.inc('response_received_count')
    logger.debug({ url: response.url, status: response.status, bytes: response.body.length }, 'crawled')
    if (signals.listened('responseReceived'))
      await signals.send('responseReceived', { request: response.request, response, spider })
    const bytes = Math.max(RESPONSE_BYTES_MIN, response.body.length)
    this.#scrapingBytes += bytes
    try {
      await this.#handOnAll(lease, response, (handOn) => scraper.scrape(response, handOn))
    } finally {
      this.#scrapingBytes -= bytes
    }
  }

  async #fetch(lease: Lease): Promise<DownloadResult> {
    const cut = new AbortController()
    let onAbort = () => {}
    // A middleware that waits for ever knows nothing of the signal; it must not hold up the end of the crawl.
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => {
        cut.abort(this.#aborting.signal.reason ?? lease.signal.reason)
        reject(cut.signal.reason)
      }
    })
    this.#aborting.signal.addEventListener('abort', onAbort)
    lease.signal.addEventListener('abort', onAbort)
    try {
      const fetched = this.#options.downloader.fetch(lease.request, {
        signal: cut.signal,
        onStart: () => lease.started(),
        ...(lease.host && { host: lease.host }),
        onHostNews: (news) => this.#hostNews.set(lease, together(this.#hostNews.get(lease), news)),
      })
      return await Promise.race([fetched, aborted])
    } finally {
      this.#aborting.signal.removeEventListener('abort', onAbort)
      lease.signal.removeEventListener('abort', onAbort)
      this.#downloading--
      this.#pulse.fire()
    }
  }

  /** A redirect: its target takes the page's place, by way of the filter and its own host's line. */
  async #replace(lease: Lease, target: Request): Promise<void> {
    const { scraper } = this.#options
    let admitted: Request[]
    try {
      admitted = scraper.admit(target)
    } catch (error) {
      return this.#fruitless(lease, { request: lease.request, error, response: null })
    }
    await this.#commit(lease, admitted, { marksAll: true })
  }

  async #fruitless(lease: Lease, failure: Failure): Promise<void> {
    await this.#handOnAll(lease, failure.response, (handOn) => this.#options.scraper.fail(failure, handOn))
  }

  /** Runs a callback and hands on all it yields: items first, and the links with the page's commit. */
  async #handOnAll(
    lease: Lease,
    response: Response | null,
    run: (handOn: HandOn) => Promise<CallbackOutput>,
  ): Promise<void> {
    const { scheduler, items } = this.#options
    let itemsHandedOn = 0
    let part = 0
    const itemsOut = async (output: CallbackOutput) => {
      if (this.#closed)
        throw new WebloomError('WL_LEASE_LOST', `${lease.request} was given up when the crawl was closed`)
      const batch = output.items.splice(0)
      await items.process(batch, lease.id, itemsHandedOn, response)
      itemsHandedOn += batch.length
    }
    const output = await closingKept(
      run(async (early) => {
        this.#aborting.signal.throwIfAborted()
        await itemsOut(early)
        // An owner of its own for each part, the same again when the page runs again.
        await scheduler.enqueue(early.requests.splice(0), `${lease.id}+${part++}`)
        await eventLoopTurn()
      }),
      (reason) => this.stop(reason),
    )
    await itemsOut(output)
    await this.#commit(lease, output.requests)
  }

  #commit(lease: Lease, requests: readonly Request[], options: { marksAll?: boolean } = {}): Promise<void> {
    const host = this.#hostNews.get(lease)
    return this.#options.scheduler.commit(lease, requests, { ...options, ...(host && { host }) })
  }

  #retry(lease: Lease, { request, delayMs }: RetryLater): Promise<void> {
    return this.#options.scheduler.retry(lease, request, delayMs, this.#hostNews.get(lease))
  }

  /** Another release yielded it, or somebody put it into the queue. */
  async #refuse(lease: Lease, reason: string): Promise<void> {
    this.#downloading--
    this.#pulse.fire()
    this.#options.logger.warn({ url: lease.request.url, reason }, 'given back: this worker cannot do it')
    await this.#options.scheduler.refuse(lease, reason)
  }

  async #giveBack(lease: Lease): Promise<void> {
    if (!lease.signal.aborted) await this.#options.scheduler.release(lease)
  }

  /** What an earlier run of start() brought, here or elsewhere, is passed over: it is queued, or fetched. */
  async #pumpStart(): Promise<void> {
    const { scraper, record, startLowWater, logger } = this.#options
    const stopping = this.#stopping.signal
    try {
      const cursor = await record.takeStart(stopping)
      let ordinal = 0
      for await (const element of cursor === null ? [] : scraper.startElements()) {
        if (stopping.aborted) return
        // With everything in memory no step below leaves the microtasks: timers and signals must have their turn.
        if (ordinal % START_ELEMENTS_A_TURN === 0) await eventLoopTurn()
        const index = ordinal++
        if (index < cursor!) continue
        await this.#fed(() => this.#feedStart(element, index))
        await this.#lowWater(startLowWater)
      }
      // Stopped before its first element, the loop ends as well, but start() has not.
      if (cursor !== null && !stopping.aborted) await record.startEnded()
    } catch (error) {
      if (error instanceof CloseSpider) return this.stop(error.reason)
      if (isOutputFailure(error)) return this.#fail(error)
      // Another worker runs it now.
      if (isLeaseLost(error)) return void this.#pumpStart()
      logger.error({ err: error }, 'start() threw; what it yielded before is crawled')
      this.#fatal ??= { error }
      this.#options.stats.set('start/failed', true)
    }
    this.#startEnded = true
    this.#pulse.fire()
  }

  async #feedStart(element: StartElement, index: number): Promise<void> {
    const { scheduler, items, record } = this.#options
    const owner = `start/${index}`
    if (element instanceof Request) await scheduler.enqueueStart(element, owner)
    else await items.process([element.item], owner, 0, null)
    await record.startMoved(index + 1)
  }

  /** Prefetched while little waits, never only when nothing does: an idle worker would wait a round trip for each. */
  async #pumpSeeds(): Promise<void> {
    const { seeds, startLowWater, logger } = this.#options
    if (!seeds) return
    let told = ''
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#lowWater(startLowWater)
        const found = await this.#fed(async () => {
          const batch = await seeds.next(SEEDS_AT_ONCE)
          await Promise.all(batch.map((seed) => this.#feedSeed(seeds, seed)))
          return batch.length
        })
        if (found > 0) continue
      } catch (error) {
        const { message } = error as Error
        if (message !== told) logger.error({ err: error }, 'seeds cannot be taken; it is tried again')
        told = message
      }
      await pause(SEEDS_POLL_MS, this.#stopping.signal)
    }
  }

  async #feedSeed(seeds: SeedSource, seed: Seed): Promise<void> {
    const { scraper, scheduler } = this.#options
    let admitted: Request[]
    try {
      admitted = scraper.admit(seed.request)
    } catch (error) {
      return seeds.refuse(seed, (error as Error).message)
    }
    for (const request of admitted) await scheduler.enqueueStart(request, seed.id)
    await seeds.acknowledge(seed)
  }

  /** While `work` runs, the crawl is not idle. */
  async #fed<T>(work: () => Promise<T>): Promise<T> {
    this.#feeding++
    try {
      return await work()
    } finally {
      this.#feeding--
      this.#pulse.fire()
    }
  }

  /** Resolves when fewer than `mark` requests wait, so that start() may yield millions in bounded memory. */
  async #lowWater(mark: number): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      if (!this.#isPaused && (await this.#options.scheduler.hasRoom(mark))) return
      await this.#pulse.next(LEASE_WAIT_MAX_MS)
    }
  }

  /** Waits for what is in flight, for SHUTDOWN_GRACE at the most. What start() may still wait for is of no interest. */
  async #drain(): Promise<void> {
    const grace = setTimeout(
      () => {
        this.#options.logger.warn(
          { pages: this.#pages.size },
          'SHUTDOWN_GRACE is over: what is still in flight is given up',
        )
        this.abort('shutdown')
      },
      Math.min(this.#options.shutdownGraceMs, TIMER_MS_MAX),
    )
    try {
      while (this.#pages.size > 0 || this.#feeding > 0) {
        if (this.#aborting.signal.aborted && this.#downloading === 0) return
        await this.#pulse.next(LEASE_WAIT_MAX_MS)
      }
    } finally {
      clearTimeout(grace)
    }
  }

  async #close(): Promise<string> {
    const { spider, scheduler, record, downloader, items, signals, logger } = this.#options
    const reason = this.#finishReason()
    const failures: unknown[] = []
    this.#closed = true
    const steps: [string, () => unknown][] = [
      ['spider.closed()', () => spider.closed?.(reason)],
      ['pipelines and feeds', () => items.close(reason)],
      ['signal spiderClosed', () => signals.send('spiderClosed', { spider, reason })],
      ['signal engineStopped', () => signals.send('engineStopped', {})],
      // What could not be written to its end is not finished: the next run closes it again.
      ['crawl record', () => record.ended(failures.some(isOutputFailure) ? 'output_failed' : reason)],
      ['scheduler', () => scheduler.close()],
      ['downloader', () => downloader.close()],
    ]
    for (const [what, step] of steps) {
      try {
        await inTime(`closing: ${what}`, step, this.#options.componentTimeoutMs)
      } catch (error) {
        logger.error({ err: error }, `closing: ${what} failed`)
        failures.push(error)
      }
    }
    const failed =
      failures.find(isOutputFailure) ?? (isOutputFailure(this.#fatal?.error) ? this.#fatal?.error : undefined)
    if (failed !== undefined) throw failed
    return reason
  }

  #finishReason(): string {
    if (this.#fatal && !isOutputFailure(this.#fatal.error) && this.#reason === 'finished')
      return 'start_error'
    return this.#reason ?? 'finished'
  }

  /** Something that no page is to blame for: an output that cannot be written, a broken queue. */
  #fail(error: unknown): void {
    if (isLeaseLost(error)) return
    // An output that cannot be written is told of by whoever asked for it; a stack would say nothing more.
    if (isOutputFailure(error)) this.#options.logger.error(`the crawl ends: ${(error as Error).message}`)
    else this.#options.logger.error({ err: error }, 'the crawl cannot go on')
    this.#fatal ??= { error }
    this.stop(isOutputFailure(error) ? 'output_failed' : 'internal_error')
  }
}

/** Lets timers, sockets and signals have their turn. */
function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function isLeaseLost(error: unknown): boolean {
  return error instanceof WebloomError && error.code === 'WL_LEASE_LOST'
}

/** Resolves after `ms`, or when `signal` fires. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {})
}

/** Of two delays and two pauses the longer one. */
function together(first: HostNews | undefined, second: HostNews): HostNews {
  if (!first) return second
  const { delayMs: delay = 0, pauseMs: pause = 0 } = first
  return {
    ...first,
    ...second,
    ...((second.delayMs ?? 0) < delay && { delayMs: delay }),
    ...((second.pauseMs ?? 0) < pause && { pauseMs: pause, pauseReason: first.pauseReason ?? '' }),
  }
}

function isOutputFailure(error: unknown): boolean {
  return error instanceof WebloomError && error.code === 'WL_OUTPUT_FAILED'
}

/** The output of a callback, also when it ended by `CloseSpider`. */
async function closingKept(
  running: Promise<CallbackOutput>,
  close: (reason: string) => void,
): Promise<CallbackOutput> {
  try {
    return await running
  } catch (error) {
    if (!(error instanceof SpiderClosing)) throw error
    close(error.reason)
    return error.output
  }
}
