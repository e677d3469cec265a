import { type Logger, type StatsCollector, within } from '@webloom/core'
import type { Browser } from 'playwright-core'
import type { StartedBrowser } from '../chromium/start-chromium.ts'

/** How long Chromium may take to end by itself. */
const CLOSE_MS_MAX = 5000

export interface PooledBrowserOptions {
  readonly started: StartedBrowser
  readonly stats: StatsCollector
  readonly logger: Logger
  /** Called when it has ended. */
  readonly onEnded: (browser: PooledBrowser) => void
}

/**
 * A browser, and how many pages it has. A retired one takes no more, and is closed when its last one is. Whatever does not end by
 * itself is killed.
 */
export class PooledBrowser {
  readonly #options: PooledBrowserOptions
  #opened = 0
  #open = 0
  #isRetired = false
  readonly #death = new AbortController()
  #ending: Promise<void> | undefined

  constructor(options: PooledBrowserOptions) {
    this.#options = options
    options.started.browser.on('disconnected', () => this.#died())
  }

  get browser(): Browser {
    return this.#options.started.browser
  }

  /** Of the process of ours; undefined for one that runs elsewhere. */
  get pid(): number | undefined {
    return this.#options.started.pid
  }

  /** How many pages it has had. */
  get opened(): number {
    return this.#opened
  }

  get isRetired(): boolean {
    return this.#isRetired
  }

  /** Whether it has crashed, or was killed: its pages have ended with it. */
  get isDead(): boolean {
    return this.#death.signal.aborted
  }

  /** Fires when it is dead. What waits for one of its pages may else wait until the page's time is over. */
  get death(): AbortSignal {
    return this.#death.signal
  }

  enter(): void {
    this.#opened++
    this.#open++
  }

  leave(): void {
    this.#open--
    if (this.#isRetired && this.#open === 0) void this.close()
  }

  /** The browser gets no more pages, and is closed when those that it has are done. */
  retire(why: 'count' | 'memory'): void {
    if (this.#isRetired) return
    this.#options.stats.inc(`browser/retired/${why}`)
    this.#isRetired = true
    if (this.#open === 0) void this.close()
  }

  /** Ends it at once, with all its pages. */
  kill(why: string): void {
    if (this.isDead) return
    const { stats, logger, started } = this.#options
    stats.inc('browser/killed')
    logger.warn(
      { pid: this.pid, pages: this.#open, why },
      'the browser is killed; its pages are rendered again',
    )
    this.#killProcess()
    if (started.pid === undefined) void started.browser.close().catch(() => {})
    this.#died()
  }

  /** Resolves when it has ended. */
  close(): Promise<void> {
    this.#isRetired = true
    this.#ending ??= this.#end()
    return this.#ending
  }

  async #end(): Promise<void> {
    const { browser } = this.#options.started
    await within(CLOSE_MS_MAX, 'the browser', browser.close()).catch(() => this.#killProcess())
    this.#died()
  }

  #died(): void {
    if (this.isDead) return
    this.#isRetired = true
    this.#death.abort()
    this.#options.started.tidyUp()
    this.#options.onEnded(this)
  }

  #killProcess(): void {
    if (this.pid === undefined) return
    try {
      process.kill(this.pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
}
