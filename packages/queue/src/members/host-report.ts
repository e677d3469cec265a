/**
 * What stands out among a worker's hosts, as its heartbeat carries it to Redis, where `webloom status` and dashboards read it.
 *
 * It is gathered no more often than people look, and sent only when something has changed. So a worker that asks no
 * host meanwhile sends nothing.
 *
 *     {"at":<by Redis's clock>,"sentAt":<by the worker's>,"failing":[…],…}     lists that are empty are left out
 *
 * The two moments are the same one, so a reader knows how far the worker's clock is off.
 */

import {
  type HostLists,
  type Logger,
  mergedHostLists,
  readableHostLists,
  shiftedHostLists,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'

export interface HostReportOptions {
  /** What stands out now, within the bounds of `HostListSources`. Absent: there is nothing to tell. */
  readonly hostLists?: () => HostLists
  /** The least time between two reports. */
  readonly everyMs: number
  readonly logger: Logger
}

/** A report that a heartbeat carries. */
export interface DueReport {
  /** JSON; '' when there is nothing to tell. */
  readonly text: string
  /** To be called when Redis has it. */
  sent(): void
}

const NOTHING_DUE: DueReport = { text: '', sent() {} }
const NOTHING = '{}'
/** How many reports are read with one command. */
const MAX_REPORTS_PER_READ = 50

export class HostReport {
  readonly #options: HostReportOptions
  /** What Redis has of this worker. */
  #told = NOTHING
  #gatheredAt = Number.NEGATIVE_INFINITY
  #hasFailed = false

  constructor(options: HostReportOptions) {
    this.#options = options
  }

  /** Returns what the next heartbeat carries. */
  due(): DueReport {
    const { hostLists, everyMs } = this.#options
    if (!hostLists || performance.now() - this.#gatheredAt < everyMs) return NOTHING_DUE
    this.#gatheredAt = performance.now()
    const lists = this.#gathered(hostLists)
    if (lists === undefined || lists === this.#told) return NOTHING_DUE
    const text = `{"sentAt":${Date.now()}${lists === NOTHING ? '' : ','}${lists.slice(1)}`
    return { text, sent: () => this.#sent(lists) }
  }

  /** Redis does not know this worker any more: all of it is told again. */
  forgotten(): void {
    this.#told = NOTHING
    this.#gatheredAt = Number.NEGATIVE_INFINITY
  }

  #sent(lists: string): void {
    this.#told = lists
  }

  /** Parts of the crawl that are not ours may take part; a heartbeat must not stop for their faults. */
  #gathered(hostLists: () => HostLists): string | undefined {
    try {
      const lists = Object.entries(hostLists())
      return JSON.stringify(Object.fromEntries(lists.filter(([, list]) => list.length > 0)))
    } catch (error) {
      if (!this.#hasFailed) this.#options.logger.warn({ err: error }, GATHERING_FAILED)
      this.#hasFailed = true
      return undefined
    }
  }
}

/** Returns the lists of these workers as one, with all moments by Redis's clock. */
export async function readHostLists(
  redis: Redis,
  keys: CrawlRedisKeys,
  workerIds: readonly string[],
): Promise<HostLists> {
  const reports: Report[] = []
  for (let from = 0; from < workerIds.length; from += MAX_REPORTS_PER_READ) {
    const texts = await redis.hmget(keys.hostLists, ...workerIds.slice(from, from + MAX_REPORTS_PER_READ))
    reports.push(...texts.flatMap((text) => reportIn(text) ?? []))
  }
  return mergedHostLists(reports.sort((a, b) => b.at - a.at).map(({ lists }) => lists))
}

interface Report {
  readonly at: number
  readonly lists: HostLists
}

/** Undefined for a worker that has told nothing, and for a report of another release that this one cannot read. */
function reportIn(text: string | null): Report | undefined {
  try {
    const { at, sentAt, ...lists } = JSON.parse(text ?? '') as { at: unknown; sentAt: unknown }
    if (typeof at !== 'number' || typeof sentAt !== 'number') return undefined
    return { at, lists: shiftedHostLists(readableHostLists(lists), at - sentAt) }
  } catch {
    return undefined
  }
}

const GATHERING_FAILED =
  'what stands out among the hosts cannot be gathered: a part of the crawl that was added to crawler.hostLists throws. webloom status does not show it'
