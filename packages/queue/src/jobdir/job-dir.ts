import { resolve } from 'node:path'
import {
  type BudgetLimits,
  type Crawler,
  type Fingerprinter,
  fingerprinterOf,
  type HostClock,
  type Logger,
  type QueueOrder,
  silentLogger,
} from '@webloom/core'
import { failureBounds } from '../failures/failure-bounds.ts'
import { entryOf, type FrontierEntry } from '../outside/crawl-frontier.ts'
import type { HostSlots } from '../politeness/host-slots.ts'
import { MemoryHostClock } from '../politeness/memory-host-clock.ts'
import { JobDatabase } from './job-database.ts'
import { SqliteBudgetBook } from './sqlite-budget-book.ts'
import { SqliteCrawlRecord } from './sqlite-crawl-record.ts'
import { SqliteDupeFilter } from './sqlite-dupefilter.ts'
import { SqlitePageForms } from './sqlite-page-forms.ts'
import { SqliteRequestQueue } from './sqlite-request-queue.ts'
import { SqliteStartHosts } from './sqlite-start-hosts.ts'
import { SqliteVisits } from './sqlite-visits.ts'

export interface JobDirOptions {
  /** JOBDIR; relative to the process's folder. */
  readonly folder: string
  readonly spiderName: string
  readonly clock: HostClock
  readonly slots?: HostSlots
  readonly order?: QueueOrder
  /** A finished crawl goes on, for a spider to which seeds may come. */
  readonly wakes?: boolean
  /** RECRAWL: pages are visited again. A finished crawl goes on, and its start() runs anew. */
  readonly recrawls?: boolean
  readonly fingerprinter?: Fingerprinter
  readonly logger?: Logger
  /** FAILED_MAX. Default: 0, no failure is kept. */
  readonly failedMax?: number
  /** How many shapes of pages are known at the most (`meta.browser: 'auto'`). */
  readonly pageShapesMax?: number
  /** Called with how many failures were removed for it. */
  readonly onTrimmed?: (count: number) => void
}

/**
 * A crawl kept in a folder: its queue, its seen requests and its record, over one SQLite file, so that what a page
 * found is seen and queued in one transaction. `record` opens and closes the file; queue and filter open it too, and
 * leave it open.
 */
export class JobDir {
  readonly queue: SqliteRequestQueue
  readonly filter: SqliteDupeFilter
  readonly record: SqliteCrawlRecord
  readonly startHosts: SqliteStartHosts
  readonly pageForms: SqlitePageForms
  /** For a crawl that comes back to its pages, and for commands. */
  readonly visits: SqliteVisits
  readonly #database: JobDatabase

  constructor(options: JobDirOptions) {
    const { spiderName, clock, order = 'priority', fingerprinter, logger = silentLogger } = options
    const folder = resolve(options.folder)
    const database = new JobDatabase({ folder, spiderName })
    this.#database = database
    this.record = new SqliteCrawlRecord({
      database,
      ...(options.slots && { groupBy: options.slots.groupBy }),
      ...(options.wakes && { wakes: true }),
      ...(options.recrawls && { beginsAnew: true }),
    })
    this.startHosts = new SqliteStartHosts({ database })
    this.pageForms = new SqlitePageForms({
      database,
      ...(options.pageShapesMax !== undefined && { shapesMax: options.pageShapesMax }),
    })
    this.filter = new SqliteDupeFilter({ database, logger, ...(fingerprinter && { fingerprinter }) })
    this.visits = new SqliteVisits({ database })
    this.queue = new SqliteRequestQueue({
      database,
      clock,
      ...(options.slots && { slots: options.slots }),
      order,
      logger,
      ...(options.recrawls && { visits: this.visits }),
      ...(options.failedMax !== undefined && { failedMax: options.failedMax }),
      ...(options.onTrimmed && { onTrimmed: options.onTrimmed }),
      onHandedOn: (asker) => this.#handedOn(asker),
    })
  }

  /** Null without a JOBDIR: the crawl is kept in memory. */
  static fromCrawler(crawler: Crawler, slots?: HostSlots, { wakes = false } = {}): JobDir | null {
    const { settings, spider, logger } = crawler
    const folder = settings.get('JOBDIR')
    if (folder === null || folder === '') return null
    return new this({
      folder,
      spiderName: spider.name,
      clock: MemoryHostClock.fromCrawler(crawler),
      ...(slots && { slots }),
      order: settings.get('SCHEDULER_QUEUE_CLASS'),
      wakes,
      recrawls: settings.get('RECRAWL') !== 'off',
      fingerprinter: fingerprinterOf(settings, 'scrapy'),
      logger,
      ...failureBounds(crawler),
    })
  }

  /** Returns what its runs may spend. @param nowMs default: this machine's clock */
  budgetBook(limits: BudgetLimits, nowMs = Date.now): SqliteBudgetBook {
    return new SqliteBudgetBook({ database: this.#database, limits, nowMs })
  }

  /** Absolute. */
  get folder(): string {
    return this.#database.folder
  }

  /** A crawl is kept in the folder. Opens and makes nothing. */
  get isThere(): boolean {
    return this.#database.isThere
  }

  /** Opens the folder to be read; returns how many requests `frontier` gives. */
  openFrontier(): number {
    this.#database.open()
    return this.#database.get<{ size: number }>('SELECT count(*) AS size FROM requests')!.size
  }

  /** What is still to be fetched, in the order in which it was queued. */
  async *frontier(): AsyncGenerator<FrontierEntry> {
    for (const { id, request } of this.#database.each<{ id: string; request: string }>(
      'SELECT id, request FROM requests ORDER BY row',
    ))
      yield entryOf(`${id}\n\n${request}`)
  }

  /** A part of an import that was queued before, by an import that was cut off. */
  isImported(asker: string): boolean {
    this.#makeImported()
    return this.#database.get('SELECT 1 FROM imported WHERE owner = ?', asker) !== undefined
  }

  /** What belongs into the transaction that queues what `asker` found. */
  #handedOn(asker: string): void {
    this.filter.record(asker)
    if (asker.startsWith(IMPORT_ASKER)) {
      this.#makeImported()
      this.#database.run('INSERT OR IGNORE INTO imported (owner) VALUES (?)', asker)
    }
    const element = START_ELEMENT.exec(asker)
    if (element) this.record.moveStart(Number(element[1]) + 1)
  }

  /** Folders of earlier releases have none. */
  #makeImported(): void {
    this.#database.run('CREATE TABLE IF NOT EXISTS imported (owner TEXT PRIMARY KEY) WITHOUT ROWID')
  }
}

/** What begins the asker of imported requests. */
export const IMPORT_ASKER = 'import/'
const START_ELEMENT = /^start\/(\d+)$/
