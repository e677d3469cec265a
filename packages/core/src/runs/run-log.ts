/**
 * The runs of a crawl as its monitors see them: how the present one stands, what those before came to, and what monitors have noted of
 * each. All workers of a crawl share one.
 */

import type { StatValue } from '../crawl/stats.ts'
import type { Moment } from '../desk/crawl-status.ts'
import type { AlertSeen, RunSeen, UnsentSeen } from '../desk/history-seen.ts'
import type { RunFigures } from './run-figures.ts'

export interface RunLog {
  /** Resolves to how the run stands, by the totals of all its workers; undefined before it has begun. */
  look(): Promise<RunLook | undefined>
  /** Resolves to whether the run goes on; undefined before it has begun. It reads little: whoever waits for the end asks it again and again. */
  state(): Promise<RunState | undefined>
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
  /**
   * Keeps the run of this worker, whose crawl is gone from where it was kept, as a lost one; its figures are those of whoever is first.
   * Resolves to it. Absent where no crawl is lost without its workers.
   */
  keepLost?(figures: RunFigures): Promise<RunSeen>
}

export interface RunState extends Pick<RunSeen, 'run' | 'state' | 'endedAt' | 'finishReason'> {
  /** False: a worker is there that may still count something. */
  readonly isWhole: boolean
}

export interface RunLook {
  readonly run: RunSeen
  /** Runs that are over, the latest first. */
  readonly past: readonly PastRun[]
  readonly stats: Readonly<Record<string, StatValue>>
  /** By the clock of where the crawl is kept; that of `change`. */
  readonly atMs: number
  /** When the run began, or went on the last time. */
  readonly runningSinceMs: number
}

/** A run that is over, with what its monitors have noted for those after it. */
export interface PastRun extends RunSeen {
  readonly worst?: MonitorNotes['worst']
}

/** What monitors have noted of one run. */
export interface MonitorNotes {
  /** Raised in this run, in order; of each id the latest. */
  readonly alerts: readonly AlertSeen[]
  /** Messages that are not sent yet, in order, as they are to be sent: whoever sends one again sends the same under the same id. */
  readonly outbox: readonly OutgoingMessage[]
  /** Name of a channel → how many messages it has not taken, and what came of the last try that failed. */
  readonly failures?: Readonly<Record<string, Pick<UnsentSeen, 'lost' | 'reason' | 'at'>>>
  /** The end that was judged, and what was raised there. A run that goes on is judged again at its next end. */
  readonly judgedEnd?: {
    readonly at: Moment
    readonly alerts: readonly string[]
    /** The spider's own monitor has yet to answer. */
    readonly isWithoutCustom?: true
  }
  /** How the run stood before, the oldest first: what changes shows between two of them. */
  readonly checkpoints: readonly RunCheckpoint[]
  /** For how long it was crawled. */
  readonly clock?: RunClock
  /** Messages to a channel each that had no room in the outbox, and of which the log was not told yet. */
  readonly unkept?: number
  /** Id of an alert that stands → since when looks have not found it. */
  readonly cleanSince?: Readonly<Record<string, number>>
  /** Field → of its stretches of items the least probable one, as the logarithm to base 10 of its probability. */
  readonly worst?: Readonly<Record<string, number>>
  /** Who judges or tells now; another one does when it has not let go, nor renewed it, by `untilMs`. */
  readonly hold?: { readonly token: string; readonly untilMs: number }
}

/** Items, and those with each field that a monitor watches, at one moment. */
export interface RunCheckpoint {
  readonly atMs: number
  readonly items: number
  readonly fields: Readonly<Record<string, number>>
}

export interface RunClock {
  /** `runningSinceMs` of the latest look: another one tells that the run was resumed. */
  readonly sinceMs: number
  readonly lookedAtMs: number
  /** Together, without the time in which it was stopped, paused, or waited for a budget of the next day. */
  readonly ranMs: number
  /** How many requests were sent. This and the next two an earlier release did not keep. */
  readonly requests?: number
  /** How many budgets had sent back, to wait, by the look before the latest was sent, and by now. */
  readonly sentBack?: number
  readonly sentBackNow?: number
  /** How many items there were, and for how long of `ranMs` no other has come. */
  readonly items: number
  readonly quietMs: number
}

/** What people are told: alerts of one run. */
export interface Notification {
  /** The same when it is sent again, by this worker or another. */
  readonly id: string
  readonly spider: string
  /** Absent without CRAWL_ID. */
  readonly crawlId?: string
  readonly run: string
  /** The line that shows more of it, to be typed. */
  readonly more?: string
  /** Raised. */
  readonly alerts: readonly AlertSeen[]
  /** Those of earlier messages that are over, while the run goes on. */
  readonly resolved?: readonly AlertSeen[]
  readonly pages: number
  readonly items: number
  /** Absent while the run goes on. */
  readonly finishReason?: string
  /** Nothing was found: somebody tries whether messages come (`webloom monitors test`). */
  readonly isTest?: true
}

export interface OutgoingMessage {
  readonly notification: Notification
  /** Names of the channels on which it is still to be sent. */
  readonly to: readonly string[]
}

/** Of a run of which nothing is noted. */
export const NO_NOTES: MonitorNotes = { alerts: [], outbox: [], checkpoints: [] }
