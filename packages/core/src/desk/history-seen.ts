/** What a crawl did before this moment: samples of the last hours, and runs. */

import type { Moment } from './crawl-status.ts'

/** One sample: totals since the run began, how much waited, and the rates of the ten seconds before. */
export interface HistorySample {
  /** Milliseconds since 1970, by Redis's clock, to the second. */
  readonly atMs: number
  readonly pages: number
  readonly items: number
  readonly errors: number
  readonly waiting: number
  readonly delayed: number
  readonly leased: number
  readonly workers: number
  readonly pagesPerMinute: number
  readonly itemsPerMinute: number
  readonly errorsPerMinute: number
}

/** A run of the crawl, the present one included. */
export interface RunSeen {
  /** Id of the run in the crawl's record. */
  readonly run: string
  /** `lost`: its workers were killed, and another run was begun since. */
  readonly state: 'running' | 'stopped' | 'finished' | 'lost'
  /** When it began, by Redis's clock where it is there. */
  readonly begunAt: Moment
  /** Absent while it runs, and for one that was lost. */
  readonly endedAt?: Moment
  /** Why it ended. Absent while it runs, and for one that was lost. */
  readonly finishReason?: string
  /** Requests that were sent. */
  readonly requests: number
  /** Responses that callbacks were to have. */
  readonly pages: number
  /** Items that were written. */
  readonly items: number
  /** Of a run that came back to known pages (RECRAWL): those whose items are written, as they are new or have changed. Absent: of all pages they are. */
  readonly itemPages?: number
  /** Lines of the log at level ERROR, without those that tell of alerts. */
  readonly errors: number
  /** Lines at level CRITICAL. This, and those below that may be absent, an earlier release did not keep. */
  readonly criticals?: number
  /** Lines at level WARNING. */
  readonly warnings?: number
  /** Requests that were given up, as the ledger counts them. */
  readonly givenUp: number
  /** Requests that were tried again. */
  readonly retries?: number
  /** Requests that were given up after all their tries. */
  readonly exhausted?: number
  /** Downloads that ended with an error in place of an answer. */
  readonly exceptions?: number
  /** Items that pipelines dropped. */
  readonly dropped?: number
  /** Those of them that their schema refused. */
  readonly invalid?: number
  /** Links that were seen before. */
  readonly filtered: number
  /** Bytes of responses as they came. */
  readonly bytes: number
  /** HTTP status → how many responses had it. */
  readonly statuses: Readonly<Record<string, number>>
  /** Field of items → how many items have a value there. */
  readonly fields: Readonly<Record<string, number>>
  /** `download`, `callback`, `queue` → how long those took together. Absent where METRICS_TIMES was off. */
  readonly times?: Readonly<Record<string, { readonly seconds: number; readonly count: number }>>
  /** Its process was killed, the last time then, and it went on: counts may miss what it did in so many seconds before. Absent: they are whole. */
  readonly mayMiss?: { readonly before: Moment; readonly seconds: number }
  /** What the monitors of the run have found, in order. Absent: nothing. */
  readonly alerts?: readonly AlertSeen[]
  /** Of whom it is known that messages about that did not reach them. Absent: nothing of the kind is known. */
  readonly unsent?: readonly UnsentSeen[]
}

/** Messages about alerts that one channel has not taken. */
export interface UnsentSeen {
  /** As the log calls it, without secrets: `webhook of hooks.example.com`. */
  readonly channel: string
  /** Messages that were given up. */
  readonly lost: number
  /** Messages that are still to be sent. */
  readonly waiting: number
  /** What came of the last try that failed; without secrets. */
  readonly reason: string
  /** When that was. */
  readonly at: Moment
}

/** Something that a monitor found wrong with a run. It is told once, and once more when it is over while the run goes on. */
export interface AlertSeen {
  /** Which monitor it is of, and what about: `items/min`, `coverage/price`. */
  readonly id: string
  /** A sentence with the figures that it follows from. */
  readonly words: string
  /** When it was found. */
  readonly at: Moment
  /** When it was over. Absent: it stands. */
  readonly resolvedAt?: Moment
  /** Pages that show it, where there are any; without secrets. */
  readonly pages?: readonly string[]
}

/** What the crawl yields. */
export interface ItemsSeen {
  readonly count: number
  readonly perMinute: number
  /** How many of the run's items have a value in each field; null: not known. */
  readonly fields: Readonly<Record<string, number>> | null
  /** The latest first, as JSON of a bounded length, with when it came if that is known; null: not known. */
  readonly last: readonly { readonly at: Moment | null; readonly json: string }[] | null
}
