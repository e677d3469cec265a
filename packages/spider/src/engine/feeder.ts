/** Brings start requests to the scheduler: from start(), and as seeds from outside. */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  CloseSpider,
  type CrawlRecord,
  isLockedOut,
  type Logger,
  type ProtocolTimes,
  Request,
  type Seed,
  type SeedSource,
  START_BATCH_MAX,
  type StartHosts,
  type StatsCollector,
} from '@webloom/core'
import { isLeaseLost, isOutputFailure, isWrongAnswer } from '../scraping/error-kinds.ts'
import type { ItemProcessor } from '../scraping/item-processor.ts'
import type { Scraper, StartElement } from '../scraping/scraper.ts'
import { noteStartHosts } from '../seeds/start-hosts.ts'
import type { EngineScheduler } from './engine-ports.ts'
import type { Pulse } from './pulse.ts'
import type { StartAhead } from './start-ahead.ts'
import { StartReader } from './start-reader.ts'

/** A batch of start() may exceed START_LOW_WATER by this share of it, and so may a batch that is read ahead. */
const START_BATCH_SHARE = 1 / 4
const MAX_SEEDS_PER_BATCH = 64
/** How long not to ask again how many requests wait, for each that may: at 2 500 pages a second a twentieth of them goes meanwhile. */
const ASKED_AGAIN_MS = 0.02
const ASKED_AGAIN_MS_MAX = 50

export interface FeederOptions {
  readonly scheduler: EngineScheduler
  readonly record: CrawlRecord
  readonly scraper: Scraper
  readonly items: ItemProcessor
  /** Keeps the hosts of start requests; seeds that may go inside are noted by their source. Absent in tests. */
  readonly startHosts?: StartHosts
  readonly seeds?: SeedSource
  readonly stats: StatsCollector
  readonly logger: Logger
  /** START_LOW_WATER. */
  readonly startLowWater: number
  /** How far start() and seeds are read. */
  readonly ahead: StartAhead
  readonly times: ProtocolTimes['engine']
  /** While it returns true, nothing is queued. */
  readonly isPaused: () => boolean
  /** Fires when there may be room; the feeder fires it when it has queued something. */
  readonly pulse: Pulse
  /** Ends the feeding when it aborts. */
  readonly stopping: AbortSignal
  /** Called when start() asks for the end of the crawl. */
  readonly onStop: (reason: string) => void
  /** An output cannot be written, or a component of the user's own answers what cannot be used. */
  readonly onFailure: (error: unknown) => void
}

export class Feeder {
  readonly #options: FeederOptions
  /** How many batches of start() and seeds are being queued or written. */
  #feeding = 0
  #startEnded = false
  readonly #firstStarts = Promise.withResolvers<void>()
  #isAskingAgain = false
  #startError: { readonly error: unknown } | undefined

  constructor(options: FeederOptions) {
    this.#options = options
  }

  /** True when start() has ended or another worker runs it, and nothing is being queued. */
  get isIdle(): boolean {
    return this.#startEnded && this.#feeding === 0
  }

  get startHasEnded(): boolean {
    return this.#startEnded
  }

  get isFeeding(): boolean {
    return this.#feeding > 0
  }

  /** What start() threw; then it has not ended and never will. */
  get startError(): { readonly error: unknown } | undefined {
    return this.#startError
  }

  begin(): void {
    const { stopping, times, scheduler } = this.#options
    scheduler.dueAfter?.(this.#firstStarts.promise)
    void this.#pumpStart().finally(() => this.#firstStarts.resolve())
    void this.#pumpSeeds()
    const timer = setInterval(() => void this.#resumeStart(), times.leaseWaitMaxMs).unref()
    stopping.addEventListener('abort', () => clearInterval(timer), { once: true })
  }

  /**
   * A record that came back older may lie before the end of start(), which must then run on. At once, and not only when nothing
   * else is left to do: for some seconds links of the pages that start() brings are in doubt, and hold the crawl open; a page that
   * runs again later may show other links, which nobody would queue any more.
   */
  async #resumeStart(): Promise<void> {
    const { record, stopping, logger } = this.#options
    if (!this.#startEnded || this.#startError || this.#isAskingAgain) return
    this.#isAskingAgain = true
    try {
      const cursor = await record.takeStart(stopping)
      if (cursor !== null) {
        this.#startEnded = false
        await this.#pumpStart(cursor)
      }
    } catch (error) {
      logger.debug({ err: error }, 'whether start() has ended cannot be told now; it is asked again')
    } finally {
      this.#isAskingAgain = false
    }
  }

  /** @param taken the element from which start() goes on, when this worker already has the right to run it */
  async #pumpStart(taken?: number): Promise<void> {
    const { record, stopping, onStop, onFailure, logger } = this.#options
    try {
      const cursor = taken ?? (await record.takeStart(stopping))
      // start() was stopped before its last element, so it has not ended.
      if (cursor !== null && !(await this.#runStart(cursor))) return
    } catch (error) {
      if (error instanceof CloseSpider) return onStop(error.reason)
      if (isOutputFailure(error) || isWrongAnswer(error) || isLockedOut(error)) return onFailure(error)
      // Another worker runs it now, or the record has come back older.
      if (isLeaseLost(error)) return void this.#pumpStart()
      logger.error({ err: error }, 'start() threw; what it yielded before is crawled')
      this.#startError = { error }
      this.#options.stats.set('start/failed', true)
    }
    this.#startEnded = true
    this.#options.pulse.fire()
  }

  /**
   * Runs start() from the element `cursor` on. Earlier elements are skipped: an earlier run, here or in another worker, has
   * queued their requests. Resolves to false when the crawl was told to end before start() did.
   */
  async #runStart(cursor: number): Promise<boolean> {
    const { scraper, record, stopping, startLowWater } = this.#options
    const reader = new StartReader(scraper.startElements(), {
      cursor,
      batchMax: Math.min(START_BATCH_MAX, Math.ceil(startLowWater * START_BATCH_SHARE)),
      stopping,
    })
    let from = cursor
    try {
      for (;;) {
        const elements = await reader.take()
        if (stopping.aborted) return false
        if (elements.length === 0) break
        await this.#fed(() => this.#feedStart(elements, from))
        from += elements.length
        await this.#lowWater()
      }
    } finally {
      reader.close()
    }
    await record.startEnded(from)
    return true
  }

  /**
   * Items are written before the cursor moves past them. Each step moves the cursor once, in one place: a second move after
   * a push could, on a Redis that came back older in between, pass over what that push has lost.
   */
  async #feedStart(elements: readonly StartElement[], from: number): Promise<true> {
    const { scheduler, items, record, startHosts, ahead } = this.#options
    for (const [n, element] of elements.entries()) {
      if (!(element instanceof Request)) await items.process([element.item], `start/${from + n}`, 0, null)
    }
    const requests = elements.filter((element) => element instanceof Request)
    ahead.read(requests)
    if (requests.length === 0) {
      await record.startMoved(from, from + elements.length)
      return true
    }
    if (startHosts) await noteStartHosts(startHosts, requests)
    const orNone = elements.map((element) => (element instanceof Request ? element : undefined))
    await scheduler.enqueueStarts(orNone, from)
    this.#firstStarts.resolve()
    return true
  }

  /** Takes seeds while few requests wait, and not only when none does: an idle worker would wait a round trip for each. */
  async #pumpSeeds(): Promise<void> {
    const { seeds, stopping, isPaused, times, ahead, onFailure, logger } = this.#options
    if (!seeds) return
    let told = ''
    let roomUntilMs = 0
    while (!stopping.aborted) {
      try {
        if (isPaused() || performance.now() >= roomUntilMs) {
          await this.#lowWater()
          roomUntilMs = performance.now() + times.roomKeptMs
        }
        const hasFound = await this.#fed(async () => {
          const batch = await seeds.next(MAX_SEEDS_PER_BATCH)
          ahead.read(batch.map(({ request }) => request))
          await Promise.all(batch.map((seed) => this.#feedSeed(seeds, seed)))
          return batch.length > 0
        })
        if (hasFound) {
          roomUntilMs = 0
          continue
        }
      } catch (error) {
        if (isWrongAnswer(error) || isLockedOut(error)) return onFailure(error)
        const { message } = error as Error
        if (message !== told) logger.error({ err: error }, 'seeds cannot be taken; trying again')
        told = message
      }
      await sleep(times.seedsPollMs, undefined, { signal: stopping }).catch(() => {})
    }
  }

  async #feedSeed(seeds: SeedSource, seed: Seed): Promise<void> {
    const { scraper, scheduler } = this.#options
    let admitted: Request[]
    try {
      admitted = scraper.admitSeed(seed.request)
    } catch (error) {
      return seeds.reject(seed, (error as Error).message)
    }
    for (const request of admitted) await scheduler.enqueueStart(request, seed.id)
    await seeds.acknowledge(seed)
  }

  /**
   * Runs `work`, during which the crawl is not idle. Wakes waiting callers only when `work` has queued something: a look
   * that found no seed must not make an idle worker ask its queue again.
   */
  async #fed(work: () => Promise<boolean>): Promise<boolean> {
    const { pulse, stopping } = this.#options
    this.#feeding++
    let isNews = true
    try {
      isNews = await work()
      return isNews
    } finally {
      this.#feeding--
      if (isNews || stopping.aborted) pulse.fire()
    }
  }

  /** Resolves when start() and seeds may bring more: they may bring millions in bounded memory. */
  async #lowWater(): Promise<void> {
    const { scheduler, stopping, isPaused, pulse, times, ahead, startLowWater } = this.#options
    while (!stopping.aborted) {
      const askedAtMs = performance.now()
      const { mark } = ahead
      if (!isPaused() && (await scheduler.hasRoom(mark))) {
        if (mark > startLowWater) await sleep(ahead.gapMs, undefined, { signal: stopping }).catch(() => {})
        return
      }
      await pulse.next(times.leaseWaitMaxMs)
      // A pulse comes with each page, and on Redis each question costs a script.
      const restMs = askedAtMs + Math.min(ASKED_AGAIN_MS_MAX, mark * ASKED_AGAIN_MS) - performance.now()
      if (restMs > 0) await sleep(restMs, undefined, { signal: stopping }).catch(() => {})
    }
  }
}
