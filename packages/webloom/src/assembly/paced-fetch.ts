/**
 * Requests that do not go by way of the queue: what a pipeline needs for an item, and what a callback wants to await.
 *
 *     fetch ─► when its host may be asked, by a clock of this process ─► the crawl's own downloader ─► a response
 *                └── a redirect and a retry wait for that anew ──┘
 *
 * They keep to the host's pace among themselves: DOWNLOAD_DELAY, CONCURRENT_REQUESTS_PER_DOMAIN, Crawl-delay and whatever
 * else they learn of it. The queue's own requests have another clock, in a cluster one for all workers. So a host that has
 * both pages and files may be asked twice as often as its delay says, and once more by each further worker.
 *
 * Not chosen: to queue these requests as pages are. Whoever awaits one holds its page, and with it a place that the awaited
 * request may need; and another worker would get it.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type DownloadOptions,
  type DownloadResult,
  type FetchOptions,
  type HostClock,
  IgnoreRequest,
  type Request,
  Response,
  RetryLater,
  type StatsCollector,
} from '@webloom/core'
import type { DocumentLine } from '@webloom/queue'

export interface PacedFetchOptions {
  readonly download: (request: Request, options: DownloadOptions) => Promise<DownloadResult>
  /** For these requests alone. */
  readonly clock: HostClock
  /** Of that clock. It must tell `changed`. */
  readonly documents: DocumentLine
  /** The request's host, as politeness has it. */
  readonly slotOf: (request: Request) => string | Promise<string>
  /** URLLENGTH_LIMIT; 0: no bound. */
  readonly urlLengthMax: number
  readonly stats: Pick<StatsCollector, 'inc'>
}

// How long a host without a free place is waited for until it is looked at again; its end wakes sooner.
const FULL_PAUSE_MS = 1000

const URL_SHOWN_MAX = 200

export class PacedFetch {
  readonly #options: PacedFetchOptions
  /** By slot: those who wait until another one has started or ended. */
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(options: PacedFetchOptions) {
    this.#options = options
  }

  /**
   * The answer at the end of all redirects and retries, whatever its status. Rejects with `DownloadError` when there is
   * none, with `IgnoreRequest` when a middleware drops the request or its URL is too long, and when `signal` fires.
   */
  async fetch(request: Request, options: FetchOptions): Promise<Response> {
    this.#checkLength(request)
    let asked = request
    for (;;) {
      const result = await this.#inItsTurn(asked, options)
      if (result instanceof Response) return result
      // Each ends by itself: REDIRECT_MAX_TIMES, RETRY_TIMES, and twice for what was not read.
      if (result instanceof RetryLater) {
        await sleep(result.delayMs, undefined, { signal: options.signal })
        asked = result.request
      } else asked = result
    }
  }

  /** As for requests that callbacks yield. What they redirect to is bounded by REDIRECT_MAX_URL_LENGTH. */
  #checkLength({ method, url }: Request): void {
    const { urlLengthMax, stats } = this.#options
    if (urlLengthMax === 0 || url.length <= urlLengthMax) return
    stats.inc('urllength/request_ignored_count')
    throw new IgnoreRequest(
      `<${method} ${url.slice(0, URL_SHOWN_MAX)}…>: its URL has ${url.length} characters; URLLENGTH_LIMIT is ${urlLengthMax}`,
    )
  }

  async #inItsTurn(request: Request, { signal, bodyTo }: FetchOptions): Promise<DownloadResult> {
    const { download, clock, documents, slotOf } = this.#options
    const slot = await slotOf(request)
    await this.#turn(slot, signal)
    const turn = { slot, request, hasStarted: false, isStandingBy: false }
    const onStart = () => {
      documents.leaves(turn)
      if (!turn.hasStarted) clock.started(slot, performance.now())
      turn.hasStarted = true
      this.changed(slot)
    }
    try {
      return await download(request, {
        signal,
        onStart,
        documents: () => documents.of(turn),
        host: clock.stateOf(slot),
        isPaced: clock.isPaced(slot),
        onHostNews: (news) => clock.learn(slot, news, performance.now()),
        ...(bodyTo && { bodyTo }),
      })
    } finally {
      documents.leaves(turn)
      clock.ended(slot, turn.hasStarted)
      clock.forgetIdle(performance.now())
      this.changed(slot)
    }
  }

  /** Resolves when the request may start; it is counted as handed out then. */
  async #turn(slot: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      const waitMs = this.#options.clock.waitMs(slot, performance.now())
      if (waitMs <= 0) return this.#options.clock.taken(slot)
      await this.#pause(slot, Math.min(waitMs, FULL_PAUSE_MS), signal)
    }
  }

  async #pause(slot: string, ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController()
    const wake = () => woken.abort()
    const waiting = this.#waiting.get(slot) ?? new Set()
    this.#waiting.set(slot, waiting.add(wake))
    signal.addEventListener('abort', wake)
    await sleep(ms, undefined, { signal: woken.signal }).catch(() => {})
    signal.removeEventListener('abort', wake)
    waiting.delete(wake)
    if (waiting.size === 0) this.#waiting.delete(slot)
  }

  /** More or less of a slot may start now. */
  changed(slot: string): void {
    for (const wake of this.#waiting.get(slot) ?? []) wake()
  }
}
