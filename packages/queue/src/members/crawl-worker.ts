import { hostname } from 'node:os'
import { PROTOCOL_TIMES } from '@webloom/core'

/** What a worker is doing, as it says itself with each heartbeat. */
export interface WorkerActivity {
  readonly downloading: number
  readonly scraping: number
  /** Since the worker started. */
  readonly pages: number
  readonly items: number
  /** Over the last ten seconds. */
  readonly pagesPerMinute: number
  readonly itemsPerMinute: number
  /** A callback blocks its event loop: its lock keeper says so in its stead. */
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
  /** There was none for ten seconds: killed, cut off, or stopped in the middle. */
  readonly lost: boolean
}

const IDLE: WorkerActivity = {
  downloading: 0,
  scraping: 0,
  pages: 0,
  items: 0,
  pagesPerMinute: 0,
  itemsPerMinute: 0,
  blocked: false,
}

/** A worker's entry as it is stored; the script puts `at` before it, by Redis's clock. */
export function workerEntry(id: string, startedAt: Date, activity: WorkerActivity = IDLE): string {
  return JSON.stringify({ id, host: hostname(), pid: process.pid, startedAt, ...activity })
}

/** Nothing for an entry that another release wrote in a way this one cannot read. */
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
