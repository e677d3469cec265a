import { hostname } from 'node:os'
import { PROTOCOL_TIMES, type QueueHeld, type WorkerSeen } from '@webloom/core'
import { NO_LOAD } from './worker-load.ts'

/** A worker as others see it. */
export interface CrawlWorker extends Omit<WorkerSeen, 'startedAt' | 'seenAt'> {
  readonly startedAt: Date
  readonly seenAt: Date
}

type StoredWorker = CrawlWorker & {
  readonly at: number
  readonly startedAt: string
  readonly filterPlace?: string
}

/** What a worker is doing, as it says itself with each heartbeat; while a callback blocks it, its lock keeper says so. */
export type WorkerActivity = Omit<CrawlWorker, 'id' | 'host' | 'pid' | 'startedAt' | 'seenAt' | 'lost'>

export const NOTHING_HELD: QueueHeld = { heldHosts: 0, longestMs: 0, longestHost: '', suspects: 0 }

const IDLE: WorkerActivity = {
  downloading: 0,
  scraping: 0,
  scrapingFull: false,
  stalled: false,
  waits: '',
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

/**
 * A worker's entry as it is stored; the script puts `at` before it, by Redis's clock.
 *
 * @param filterPlace where its dupefilter keeps requests: for workers that join, and shown to nobody
 */
export function workerEntry(
  id: string,
  startedAt: Date,
  activity: WorkerActivity = IDLE,
  filterPlace?: string,
): string {
  return JSON.stringify({ id, host: hostname(), pid: process.pid, startedAt, ...activity, filterPlace })
}

/** Returns undefined for an entry of another release that this one cannot read. */
export function readWorkerEntry(
  text: string,
  nowMs: number,
  lostAfterMs = PROTOCOL_TIMES.members.lostAfterMs,
): CrawlWorker | undefined {
  try {
    const { at, startedAt, filterPlace: _, ...entry } = JSON.parse(text) as StoredWorker
    const lost = at < nowMs - lostAfterMs
    return { ...IDLE, ...entry, startedAt: new Date(startedAt), seenAt: new Date(at), lost }
  } catch {
    return undefined
  }
}
