/**
 * When a page is done: it has loaded, and nothing is under way that scripts have asked for.
 *
 * Images, films, sockets and streams do not count: many never end. A page that is never quiet is taken as it is after a while; one
 * whose `load` never comes, too.
 */

import type { Page, Request } from 'playwright-core'

/** Between the end of one request and the next one that its answer leads to. */
const QUIET_MS = 100
/** A page that asks again and again (polling) is taken after that. */
const QUIET_MS_MAX = 5000
/** An asset that does not come holds the page up so long, or for half the time that is left. */
const LOAD_MS_MAX = 15_000

const COUNTED: ReadonlySet<string> = new Set(['script', 'stylesheet', 'xhr', 'fetch', 'document'])

export class PageQuiet {
  readonly #page: Page
  readonly #underWay = new Set<Request>()
  #lastMs = performance.now()
  #onChange = () => {}

  constructor(page: Page) {
    this.#page = page
    page.on('request', (request) => {
      if (!COUNTED.has(request.resourceType())) return
      this.#underWay.add(request)
      this.#changed()
    })
    const ended = (request: Request) => {
      if (this.#underWay.delete(request)) this.#changed()
    }
    page.on('requestfinished', ended)
    page.on('requestfailed', ended)
  }

  /** Resolves when the page has loaded, or has had its time for that. */
  async loaded(leftMs: number): Promise<void> {
    const timeout = Math.max(1, Math.min(LOAD_MS_MAX, leftMs / 2))
    await this.#page.waitForLoadState('load', { timeout }).catch(() => {})
  }

  /** Resolves when nothing has been under way for a moment, or after a part of the time that is left. */
  async quiet(leftMs: number): Promise<void> {
    const untilMs = performance.now() + Math.min(QUIET_MS_MAX, leftMs / 3)
    // What a timer of the page begins as it loads counts, too.
    this.#lastMs = performance.now()
    for (;;) {
      const now = performance.now()
      if (now >= untilMs) return
      const restMs = this.#underWay.size > 0 ? untilMs - now : this.#lastMs + QUIET_MS - now
      if (restMs <= 0) return
      await this.#changeWithin(Math.min(restMs, untilMs - now))
    }
  }

  #changed(): void {
    this.#lastMs = performance.now()
    this.#onChange()
  }

  #changeWithin(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#onChange = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
