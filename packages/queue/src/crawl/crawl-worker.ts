import { hostname } from 'node:os'
import { PROTOCOL_TIMES, type QueueHeld } from '@webloom/core'
import { NO_LOAD, type WorkerLoad } from './worker-load.ts'

/** What a worker is doing, as it says itself with each heartbeat. */
export interface WorkerActivity extends WorkerLoad, QueueHeld {
  readonly downloading: number
  readonly scraping: number
  /** Its callbacks and pipelines work on as many bytes as SCRAPER_SLOT_MAX_ACTIVE_SIZE allows. */
  readonly scrapingFull: boolean
  /** It has had nothing to do for half a minute, but the queue has requests in flight in its name. */
  readonly stalled: boolean
  /** Since the worker started. */
  readonly pages: number
  readonly items: number
  /** Messages that it has logged as errors. */
  readonly errors: number
  /** Over the last ten seconds. */
  readonly pagesPerMinute: number
  readonly itemsPerMinute: number
  readonly errorsPerMinute: number
  /** The part of it that was in use over the last ten seconds, by its places for downloads or its event loop: 1 is all. */
  readonly busy: number
  /** Version of webloom that it runs; '' when it does not say. */
  readonly release: string
  /** True when a callback blocks its event loop; its lock keeper writes the entry then. */
  readonly blocked: boolean
}

/** A worker as others see it. */
export interface CrawlWorker extends WorkerActivity {
  readonly id: string
  readonly host: string
  readonly pid: number
  /** By the worker's own clock. */
  readonly startedAt: Date
  /** Its last heartbeat, by Redis's clock. */
  readonly seenAt: Date
  /** True without a heartbeat for ten seconds: the worker was killed, cut off, or stopped (SIGSTOP). */
  readonly lost: boolean
}

export const NOTHING_HELD: QueueHeld = { heldHosts: 0, longestMs: 0, longestHost: '' }

const IDLE: WorkerActivity = {
  downloading: 0,
  scraping: 0,
  scrapingFull: false,
  stalled: false,
  ...NOTHING_HELD,
  pages: 0,
  items: 0,
  errors: 0,
  pagesPerMinute: 0,
  itemsPerMinute: 0,
  errorsPerMinute: 0,
  busy: 0,
  release: '',
  blocked: false,
  ...NO_LOAD,
}

/** A worker's entry as it is stored; the script puts `at` before it, by Redis's clock. */
export function workerEntry(id: string, startedAt: Date, activity: WorkerActivity = IDLE): string {
  return JSON.stringify({ id, host: hostname(), pid: process.pid, startedAt, ...activity })
}

/** Returns undefined for an entry of another release that this one cannot read. */
export function readWorkerEntry(
  text: string,
  nowMs: number,
  lostAfterMs = PROTOCOL_TIMES.members.lostAfterMs,
): CrawlWorker | undefined {
  try {
    const { at, startedAt, ...entry } = JSON.parse(text) as CrawlWorker & { at: number; startedAt: string }
    const lost = at < nowMs - lostAfterMs
    return { ...IDLE, ...entry, startedAt: new Date(startedAt), seenAt: new Date(at), lost }
  } catch {
    return undefined
  }
}
