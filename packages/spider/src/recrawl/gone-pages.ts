/**
 * A site whose pages all answer 404 is more likely broken than gone: a deployment went wrong, or a CDN lost what is behind it. Each page is believed,
 * but that a large share of a host's pages is gone is told.
 *
 * What this worker has seen counts: how many pages are gone that were there before, and how many are there. One that failed, or said for the first
 * time that it is gone, is neither.
 */

import { HOUR_MS, pageHost, type VisitMade } from '@webloom/core'

export interface GoneHost {
  readonly host: string
  readonly gone: number
  /** Of so many pages. */
  readonly visited: number
}

export interface GonePagesOptions {
  /** RECRAWL_INTERVAL: a crawl that stays begins to count anew after that. */
  readonly roundMs: number
  readonly onGone: (host: GoneHost) => void
}

/** Fewer are taken away by hand. */
const PAGES_MIN = 10
const SHARE_MIN = 1 / 2
const HOSTS_MAX = 10_000

export class GonePages {
  readonly #options: GonePagesOptions
  readonly #hosts = new Map<string, { gone: number; visited: number; isTold: boolean }>()
  #roundAt = 0
  #judgedAt = 0

  constructor(options: GonePagesOptions) {
    this.#options = options
  }

  /** Told of each visit of a page that was there once. */
  visited(url: string, { visit, isGone }: VisitMade): void {
    if (!isGone && (visit.goneAnswers > 0 || visit.failures > 0)) return
    this.#judgeInTime(visit.visitedAt)
    const host = pageHost(url)
    const counts = this.#hosts.get(host) ?? { gone: 0, visited: 0, isTold: false }
    counts.visited++
    if (isGone) counts.gone++
    if (this.#hosts.has(host) || this.#hosts.size < HOSTS_MAX) this.#hosts.set(host, counts)
  }

  /** Tells of hosts that were not told of yet: what is gone first may be a small part of a host, so it is looked at in the end. */
  judge(): void {
    for (const [host, counts] of this.#hosts) {
      const { gone, visited, isTold } = counts
      if (isTold || gone < PAGES_MIN || gone <= visited * SHARE_MIN) continue
      counts.isTold = true
      this.#options.onGone({ host, gone, visited })
    }
  }

  /** A crawl that stays has no end. */
  #judgeInTime(now: number): void {
    if (now - this.#judgedAt < HOUR_MS) return
    if (this.#judgedAt > 0) this.judge()
    this.#judgedAt = now
    if (now - this.#roundAt < this.#options.roundMs) return
    this.#roundAt = now
    this.#hosts.clear()
  }
}
