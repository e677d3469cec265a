/**
 * The runs of a crawl as its monitors see them: how the present one stands, what those before came to, and what monitors have noted of
 * each. All workers of a crawl share one.
 */

import type { StatValue } from '../crawl/stats.ts'
import type { AlarmSeen, RunSeen } from '../desk/history-seen.ts'

export interface RunLog {
  /** Resolves to how the run stands, by the totals of all its workers; undefined before it has begun. */
  look(): Promise<RunLook | undefined>
  /**
   * Changes what is noted of a run, in one step: no other change comes between what `change` is given and what it returns. `change` may
   * be called several times, and must do nothing but return. Notes that it returns as they were are not written. Resolves to what it
   * returned beside them.
   *
   * @param run its id
   */
  change<T>(
    run: string,
    change: (notes: MonitorNotes, nowMs: number) => readonly [MonitorNotes, T],
  ): Promise<T>
}

export interface RunLook {
  readonly run: RunSeen
  /** Runs that are over, the latest first. */
  readonly past: readonly RunSeen[]
  readonly stats: Readonly<Record<string, StatValue>>
  /** By the clock of where the crawl is kept; that of `change`. */
  readonly atMs: number
  /** False: a worker is there that may still count something. */
  readonly isWhole: boolean
}

/** What monitors have noted of one run. */
export interface MonitorNotes {
  /** Raised in this run, in order; each id once. */
  readonly alarms: readonly AlarmSeen[]
  /** Ids of those that people have been told, or cannot be told. */
  readonly told: readonly string[]
  /** The run was judged at its end. */
  readonly isJudged: boolean
  /** How the run stood before, the oldest first: what changes shows between two of them. */
  readonly marks: readonly RunMark[]
  /** The worker that judges or tells now. Another one does when this one has not let go by `untilMs`. */
  readonly busy?: { readonly by: string; readonly untilMs: number }
  /** The message that is being sent, with the alarms that it tells of. Whoever sends it again sends it under the same id. */
  readonly sending?: { readonly id: string; readonly alarms: readonly string[] }
}

/** Items, and those with each field that a monitor watches, at one moment. */
export interface RunMark {
  readonly atMs: number
  readonly items: number
  readonly fields: Readonly<Record<string, number>>
}

/** Of a run of which nothing is noted. */
export const NO_NOTES: MonitorNotes = { alarms: [], told: [], isJudged: false, marks: [] }
