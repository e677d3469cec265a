/**
 * When a page is done: it has loaded, and nothing is under way that scripts have asked for.
 *
 * Images, films, sockets and streams do not count: many never end. A page that is never quiet is taken as it is after a while. One
 * whose `load` never comes is taken when nothing more comes of what it waits for.
 *
 * That befalls pages without fault, too. Playwright has each popup wait at its start until it is set up. Chromium then halts what is
 * being loaded in the whole process of the popup, and does not always let it go on: an iframe of the popup's host that arrives at
 * that moment never ends. A stop of the debugger from outside would free it, and halt others for good in the same way.
 */

import type { Page, Request } from 'playwright-core'

/** Between the end of one request and the next one that its answer leads to. */
const QUIET_MS = 100
/** A page that asks again and again (polling) is taken after that. */
const QUIET_MS_MAX = 5000
/** A page that goes on loading is taken after that, or after half the time that is left. */
const LOAD_MS_MAX = 15_000
/** Assets and frames of which nothing comes hold their page up so long: a page may draw itself at `load`, but not with them. */
const STALL_MS = 3000
const STALL_LOOK_MS = 250

const COUNTED: ReadonlySet<string> = new Set(['script', 'stylesheet', 'xhr', 'fetch', 'document'])

export class PageQuiet {
  readonly #page: Page
  readonly #bytes: () => number
  readonly #underWay = new Set<Request>()
  #streams = 0
  #ended = 0
  #lastMs = performance.now()
  #onChange = () => {}

  /** @param bytes how much has come for the page so far */
  constructor(page: Page, bytes: () => number) {
    this.#page = page
    this.#bytes = bytes
    page.on('request', (request) => {
      if (isStream(request)) this.#streams++
      if (!COUNTED.has(request.resourceType())) return
      this.#underWay.add(request)
      this.#changed()
    })
    page.on('websocket', (socket) => {
      this.#streams++
      socket.on('close', () => this.#streams--)
    })
    const ended = (request: Request) => {
      this.#ended++
      if (isStream(request)) this.#streams--
      if (this.#underWay.delete(request)) this.#changed()
    }
    page.on('requestfinished', ended)
    page.on('requestfailed', ended)
  }

  /** Whether something is under way that scripts have asked for. */
  get isBusy(): boolean {
    return this.#underWay.size > 0
  }

  /** Resolves when the page has loaded, or has had its time for that. */
  async loaded(leftMs: number): Promise<void> {
    const timeout = Math.max(1, Math.min(LOAD_MS_MAX, leftMs / 2))
    const load = this.#page.waitForLoadState('load', { timeout }).catch(() => {})
    const over = new AbortController()
    await Promise.race([load, this.#stalled(over.signal)])
    over.abort()
  }

  /** Resolves when only assets and frames are under way, and nothing has come for a while. They are not waited for any more. */
  async #stalled(over: AbortSignal): Promise<void> {
    let come = this.#come
    let sinceMs = performance.now()
    while (performance.now() - sinceMs < STALL_MS) {
      await new Promise((resolve) => setTimeout(resolve, STALL_LOOK_MS))
      if (over.aborted) return
      if (this.#come === come && [...this.#underWay].every((request) => this.#isFrame(request))) continue
      come = this.#come
      sinceMs = performance.now()
    }
    this.#underWay.clear()
  }

  /** How much has come. Beside a stream, whose bytes say nothing of the others', only what has come whole counts. */
  get #come(): number {
    return this.#streams > 0 ? this.#ended : this.#bytes()
  }

  #isFrame(request: Request): boolean {
    return request.resourceType() === 'document' && request.frame() !== this.#page.mainFrame()
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

function isStream(request: Request): boolean {
  return request.resourceType() === 'eventsource'
}
