/**
 * The places of BROWSER_PAGES, and the browser that has them.
 *
 *     acquire ──► a place is free ──► the browser of now, started when there is none ──► visit ──► leave
 *
 * There is one browser at a time that takes pages. It is replaced after BROWSER_RETIRE_AFTER pages, when it takes more than
 * BROWSER_MEMORY_MB, and when it has crashed; the one before ends when its last page does.
 */

import { type Logger, type StatsCollector, WebloomError } from '@webloom/core'
import type { BrowserSettings } from '../browser-settings.ts'
import { treeMemoryMb } from '../chromium/process-memory.ts'
import type { StartedBrowser } from '../chromium/start-chromium.ts'
import { PooledBrowser } from './pooled-browser.ts'

const MEMORY_LOOK_MS = 2000

export interface BrowserPoolOptions {
  readonly settings: Pick<BrowserSettings, 'pagesMax' | 'retireAfter' | 'memoryMbMax'>
  readonly start: () => Promise<StartedBrowser>
  readonly stats: StatsCollector
  readonly logger: Logger
}

/** A place for a page. `leave` must be called when the page is closed. */
export interface PagePlace {
  readonly browser: PooledBrowser
  leave(): void
}

export class BrowserPool {
  readonly #options: BrowserPoolOptions
  readonly #line: (() => void)[] = []
  readonly #browsers = new Set<PooledBrowser>()
  #taken = 0
  #current: Promise<PooledBrowser> | undefined
  #watch: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: BrowserPoolOptions) {
    this.#options = options
  }

  /** How many pages are open. */
  get pages(): number {
    return this.#taken
  }

  /** Resolves when a page may be opened. Rejects when `signal` fires, when no browser can be started, and after `close`. */
  async acquire(signal: AbortSignal): Promise<PagePlace> {
    await this.#free(signal)
    try {
      const browser = await this.#browser()
      // It may have fired while the browser was being started, and tells whoever listens only once.
      signal.throwIfAborted()
      browser.enter()
      this.#options.stats.inc('browser/pages')
      if (browser.opened === this.#options.settings.retireAfter) browser.retire('count')
      return { browser, leave: () => this.#leave(browser) }
    } catch (error) {
      this.#next()
      throw error
    }
  }

  /** Ends all browsers; pages that are open end with them. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#watch)
    // One that is being started, too.
    await this.#current?.catch(() => {})
    await Promise.all([...this.#browsers].map((browser) => browser.close()))
  }

  async #free(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#taken < this.#options.settings.pagesMax) {
      this.#taken++
      return
    }
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        const at = this.#line.indexOf(enter)
        if (at >= 0) this.#line.splice(at, 1)
        reject(signal.reason)
      }
      signal.addEventListener('abort', giveUp, { once: true })
      this.#line.push(enter)
    })
  }

  #leave(browser: PooledBrowser): void {
    browser.leave()
    this.#next()
  }

  /** Hands the place to the first in line. */
  #next(): void {
    const enter = this.#line.shift()
    if (enter) enter()
    else this.#taken--
  }

  async #browser(): Promise<PooledBrowser> {
    for (;;) {
      // Pages that end with their browsers leave their places to those in line.
      if (this.#isClosed)
        throw new WebloomError('WL_CLOSE_SPIDER', 'the crawl ends before the page is opened')
      this.#current ??= this.#start()
      const starting = this.#current
      try {
        const browser = await starting
        if (!browser.isRetired) return browser
      } catch (error) {
        if (this.#current === starting) this.#current = undefined
        throw error
      }
      if (this.#current === starting) this.#current = undefined
    }
  }

  async #start(): Promise<PooledBrowser> {
    const { start, stats, logger } = this.#options
    const started = await start()
    stats.inc('browser/starts')
    const browser: PooledBrowser = new PooledBrowser({
      started,
      stats,
      logger,
      onEnded: () => {
        this.#browsers.delete(browser)
        if (this.#browsers.size === 0) this.#stopWatching()
      },
    })
    this.#browsers.add(browser)
    if (this.#isClosed) await browser.close()
    else this.#startWatching()
    return browser
  }

  #startWatching(): void {
    if (this.#options.settings.memoryMbMax === 0 || this.#watch) return
    this.#watch = setInterval(() => void this.#look(), MEMORY_LOOK_MS).unref()
  }

  #stopWatching(): void {
    clearInterval(this.#watch)
    this.#watch = undefined
  }

  async #look(): Promise<void> {
    const { memoryMbMax } = this.#options.settings
    for (const browser of this.#browsers) {
      if (browser.pid === undefined) continue
      const memoryMb = await treeMemoryMb(browser.pid)
      if (memoryMb === undefined || memoryMb <= memoryMbMax) continue
      if (memoryMb > 2 * memoryMbMax)
        browser.kill(`it takes ${Math.round(memoryMb)} MiB; BROWSER_MEMORY_MB is ${memoryMbMax}`)
      else browser.retire('memory')
    }
  }
}
