import type { RunSeen } from '@webloom/core'

/** What a monitor of the spider's own is given: a run, its stats summed over all workers among it. */
export interface MonitoredRun extends RunSeen {
  /** All that was counted, by Scrapy's keys. */
  readonly stats: Readonly<Record<string, unknown>>
  /** False while it runs. */
  readonly hasEnded: boolean
}

/** What `custom` returns: nothing, or false, when all is well; else what is wrong, in one sentence or several, or true. */
export type MonitorAnswer = undefined | null | boolean | string | readonly string[]

/** All statuses with that first digit together. */
export type StatusClass = '1xx' | '2xx' | '3xx' | '4xx' | '5xx'

/** The most responses that may have a status, or also the largest share of all responses, 0 to 1. */
export type StatusBound = number | { readonly max?: number; readonly share?: number }

/**
 * What each run of a spider is expected to bring. Whoever runs the crawl is told once a run of each that fails: by the log, the exit code,
 * and MONITOR_WEBHOOKS and MONITOR_MAIL_TO. Counts are of all workers together.
 *
 *     static monitors: Monitors = { items: { min: 100, drop: 0.3 }, coverage: { price: 0.95 } }
 */
export interface Monitors {
  /** How many items must come. */
  readonly items?: {
    /** The fewest items of a run; judged at its end. */
    readonly min?: number
    /**
     * 0.3: a run may bring 30 % less than the median of those before. It is told of only when it also brings less than each of the last
     * seven. Judged at its end.
     */
    readonly drop?: number
    /** For so many minutes no item may come; judged while it runs. */
    readonly everyMinutes?: number
  }
  /** Field → share of items that must have it, 0 to 1; `author.name` within an object. Judged while it runs, by its latest items, and at its end. */
  readonly coverage?: Readonly<Record<string, number>>
  /** 0.1: of any field, a run may have 10 in 100 items less than the median of those before, or as few as the worst of them. Judged as `coverage`. */
  readonly coverageDrop?: number
  /** HTTP status, or a class of them as `4xx` → the most responses that may have it, or the largest share of them. Judged while it runs, and at its end. */
  readonly statuses?: Readonly<Partial<Record<number | StatusClass, StatusBound>>>
  /** The most lines of the log at level ERROR; judged while it runs, as all that follow with a most. */
  readonly errors?: number
  /** The most lines at level WARNING. */
  readonly warnings?: number
  /** The most lines at level CRITICAL. */
  readonly criticals?: number
  /** The most downloads without an answer. */
  readonly exceptions?: number
  /** The most requests that may be given up after all their tries. */
  readonly retries?: number
  /** The most requests that are sent. */
  readonly requests?: number
  /** The most items that their schema may refuse. */
  readonly invalidItems?: number
  /** The fewest responses with status 200; judged at the end. */
  readonly successes?: number
  /** How a run may end: `['finished']`. */
  readonly finishReasons?: readonly string[]
  /** The longest time that a run may take; told while it runs. */
  readonly maxMinutes?: number
  /**
   * A monitor of the spider's own, asked at the end. What it throws is told as what it found. `past` has the runs before, the latest first:
   * those that were stopped or had alerts, too.
   */
  readonly custom?: (run: MonitoredRun, past: readonly RunSeen[]) => MonitorAnswer | Promise<MonitorAnswer>
}
