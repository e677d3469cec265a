/**
 * How fast a crawl's workers have been lately, by the samples of its history.
 *
 * Workers that get little of a busy machine, or whose site is slow beside them, look slow for the moment. To ask for more of them by
 * that measure alone would make all of them slower still, and then for more again. What they have done a few minutes ago they can do.
 */

import type { HistorySample } from '@webloom/core'

/** Speeds of longer ago say nothing: the site answers otherwise by now. */
export const SHOWN_MS = 10 * 60_000
/** Samples come every ten seconds. Two that are further apart have a gap between them, and do not confirm each other. */
const NEIGHBOURS_MS_MAX = 30_000
/** More workers have helped when all together are faster by more than chance. */
const HELPED_FROM = 1.1

type Sample = Pick<HistorySample, 'atMs' | 'workers' | 'pagesPerMinute'>

/** Responses a second that so many workers did together, in two samples that follow each other. */
interface Shown {
  readonly workers: number
  readonly perSecond: number
}

export class ShownSpeeds {
  readonly #shown: readonly Shown[]

  /**
   * One sample may be of a worker's first second, in which the answers to all of its first requests come at once: the next one has
   * to show as much.
   *
   * @param samples the oldest first
   */
  constructor(samples: readonly Sample[], sinceMs: number) {
    const recent = samples.filter(({ atMs }) => atMs >= sinceMs)
    this.#shown = recent.slice(1).flatMap((sample, n) => {
      const before = recent[n]!
      if (sample.atMs - before.atMs > NEIGHBOURS_MS_MAX) return []
      return {
        workers: Math.max(1, sample.workers, before.workers),
        perSecond: Math.min(sample.pagesPerMinute, before.pagesPerMinute) / 60,
      }
    })
  }

  /** Responses a second of one worker, never more than one in full use has done; 0 when nothing was shown. */
  get perWorker(): number {
    return best(this.#shown.map(({ workers, perSecond }) => perSecond / workers))
  }

  /** False while so many were not faster together than fewer were. True where fewer have shown nothing. */
  haveMoreHelped(workers: number): boolean {
    const speedOf = (some: readonly Shown[]) => best(some.map(({ perSecond }) => perSecond))
    const fewer = speedOf(this.#shown.filter((shown) => shown.workers < workers))
    return (
      fewer === 0 || speedOf(this.#shown.filter((shown) => shown.workers >= workers)) > fewer * HELPED_FROM
    )
  }
}

function best(speeds: readonly number[]): number {
  return Math.max(0, ...speeds)
}
