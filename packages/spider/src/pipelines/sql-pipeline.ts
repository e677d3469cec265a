/**
 * Writes items as rows of a table, in SQLite or PostgreSQL.
 *
 * A row's key is the item's id, and an existing row is replaced. So an item that comes twice, because its page ran again
 * after a crash or a reply was lost, is one row: at least once becomes exactly once, as far as ids are the same again (see
 * ITEM_ID_FIELD).
 *
 * Items of a page come together: those of one turn of the event loop, or of the time in which a batch is written, go as one
 * batch. An item is written before its page is committed.
 *
 * A database that is away or busy holds up the pages whose items wait here, and with them the crawl. When the table refuses
 * an item (a text where a number belongs), only that item is lost and counted; the others of its batch are written. A
 * database that refuses for good ends the crawl. Whatever was not written when the crawl closes is told then, with its number.
 */

import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Crawler,
  type ItemContext,
  type ItemPipeline,
  type Logger,
  SettingsError,
  type StatsCollector,
  WebloomError,
} from '@webloom/core'
import { PostgresTable } from './postgres-table.ts'
import { rowOf, type SqlRow, type SqlShape, type SqlTable, shapeFrom } from './sql-table.ts'
import { SqliteTable } from './sqlite-table.ts'
import { tellUnwritten } from './unwritten-items.ts'

/** Where the pipeline `sql` writes items, and how. */
export interface SqlPipelineOptions {
  /** `sqlite:items.db` or `postgres://user@host/database`. */
  readonly url: string
  /** The table and its columns. */
  readonly shape: SqlShape
  /** The most rows of a statement. */
  readonly batchSize: number
  /** Tells when the database is away. */
  readonly logger: Logger
  /** Counts what was written and what was refused. */
  readonly stats: Pick<StatsCollector, 'inc'>
}

/** An item under way, and the promise of its page. */
interface WaitingRow extends SqlRow {
  readonly written: PromiseWithResolvers<void>
}

/** The pause before a database that is away is asked again. */
const RETRY_MS = 500
/** A statement takes milliseconds, and whoever stops a crawl may soon kill it: what was not written must be told before. */
const ANSWER_MS = 1000

/** Writes items as rows of a table: `sql` in ITEM_PIPELINES. */
export class SqlPipeline implements ItemPipeline {
  readonly #options: SqlPipelineOptions
  readonly #table: SqlTable
  readonly #closing = new AbortController()
  #waiting: WaitingRow[] = []
  #writing: Promise<void> | undefined
  /** Items that came and were neither written nor refused alone. */
  #unwrittenCount = 0
  /** Why what was tried last was not written; undefined when it was. */
  #whyNot: string | undefined
  /** True when the database may have what was tried last, as its answer is missing. */
  #mayBeThere = false

  constructor(options: SqlPipelineOptions) {
    this.#options = options
    this.#table = tableAt(options.url, options.shape)
  }

  static fromCrawler({ settings, spider, logger, stats }: Crawler): SqlPipeline {
    const url = settings.get('SQL_URL')
    if (url === null)
      throw new SettingsError([
        'ITEM_PIPELINES names sql, and SQL_URL no database. Set SQL_URL=sqlite:items.db or postgres://user@host/database',
      ])
    return new this({
      url,
      shape: shapeFrom(settings, spider.name),
      batchSize: settings.getInt('SQL_BATCH_SIZE'),
      logger,
      stats,
    })
  }

  /** The table's name in messages. */
  get shown(): string {
    return this.#table.shown
  }

  /** Makes the table when there is none. Throws WL_OUTPUT_UNWRITABLE before any page is fetched. */
  openSpider(): Promise<void> {
    return this.#table.open()
  }

  /**
   * Resolves when the database has the item. Rejects with TypeError for an item that has no JSON form, and with
   * WL_OUTPUT_FAILED.
   */
  async processItem(item: unknown, { id }: ItemContext): Promise<unknown> {
    const written = Promise.withResolvers<void>()
    this.#waiting.push({ ...rowOf(item, id, this.#options.shape), written })
    this.#unwrittenCount++
    this.#writing ??= this.#writeAll()
    await written.promise
    return item
  }

  /** Leaves items that still wait unwritten, and their promises unsettled: their page must run again. */
  async closeSpider(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    this.#tellUnwritten(await this.#isAnswered())
    await this.#writing
    await this.#table.close()
  }

  /** Resolves to false when the database has not answered what was sent last within ANSWER_MS. */
  async #isAnswered(): Promise<boolean> {
    const answered = new AbortController()
    const late = sleep(ANSWER_MS, false, { signal: answered.signal }).catch(() => true)
    Promise.resolve(this.#writing).then(() => answered.abort())
    return await late
  }

  #tellUnwritten(isAnswered: boolean): void {
    const { logger, stats } = this.#options
    const unsent = isAnswered
      ? `the crawl closed before they were sent to ${this.shown}`
      : `${this.shown} has not answered yet what was sent`
    tellUnwritten({
      logger,
      stats,
      stat: 'sql_items/unwritten_count',
      count: this.#unwrittenCount,
      where: { table: this.shown },
      mayBeThere: this.#mayBeThere || !isAnswered,
      why: this.#whyNot ?? unsent,
    })
  }

  async #writeAll(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0 && !this.#closing.signal.aborted) {
      const batch = this.#waiting.splice(0, this.#options.batchSize)
      try {
        await this.#write(batch)
      } catch (error) {
        this.#whyNot = (error as Error).message
        for (const { written } of [...batch, ...this.#waiting.splice(0)]) written.reject(error)
      }
    }
    this.#writing = undefined
  }

  /** Writes a batch. Of rows with one id the last is written. */
  async #write(batch: readonly WaitingRow[]): Promise<void> {
    const rows = [...new Map(batch.map((row) => [row.id, row])).values()]
    try {
      if (!(await this.#upsert(rows))) return
      this.#unwrittenCount -= batch.length
      this.#options.stats.inc('sql_items/written_count', batch.length)
      for (const { written } of batch) written.resolve()
    } catch (error) {
      if (this.#table.verdict(error) !== 'row') throw this.#failure(error)
      if (batch.length > 1) for (const row of batch) await this.#write([row])
      else {
        this.#unwrittenCount--
        batch[0]!.written.reject(error)
      }
    }
  }

  /** Resolves to false when the crawl closed while the database was away. */
  async #upsert(rows: readonly SqlRow[]): Promise<boolean> {
    const { logger, stats } = this.#options
    for (let tries = 0; !this.#closing.signal.aborted; tries++) {
      try {
        await this.#table.upsert(rows)
        this.#whyNot = undefined
        this.#mayBeThere = false
        if (tries > 0) logger.info({ table: this.shown }, 'items are written again')
        return true
      } catch (error) {
        const verdict = this.#table.verdict(error)
        if (verdict === 'unanswered') this.#mayBeThere = true
        else if (verdict !== 'wait') throw error
        const { message } = error as Error
        this.#whyNot = `${this.shown} takes nothing (${message})`
        if (tries === 0 && !this.#closing.signal.aborted) {
          stats.inc('sql_items/wait_count')
          logger.warn({ table: this.shown, reason: message }, 'items cannot be written now; the crawl waits')
        }
        await sleep(RETRY_MS, undefined, { signal: this.#closing.signal }).catch(() => {})
      }
    }
    return false
  }

  #failure(error: unknown): WebloomError {
    const { message } = error as Error
    return new WebloomError('WL_OUTPUT_FAILED', `items cannot be written to ${this.shown}: ${message}`, {
      cause: error,
    })
  }
}

// As in SQLAlchemy: `sqlite:///items.db` is relative, `sqlite:////var/items.db` is not.
const SQLITE = /^sqlite:(?:\/\/\/)?(?!\/\/)(.+)$/

function tableAt(url: string, shape: SqlShape): SqlTable {
  const [, path] = SQLITE.exec(url) ?? []
  if (path !== undefined) return new SqliteTable(path === ':memory:' ? path : resolve(path), shape)
  if (/^postgres(ql)?:\/\//.test(url)) return new PostgresTable(readable(url), shape)
  throw new SettingsError([
    `SQL_URL begins with ${JSON.stringify(url.split(':')[0])}; expected sqlite:items.db or postgres://user@host/database`,
  ])
}

/** A password that holds signs of URLs would be taken in part for the host and the database, and be shown as such. */
function readable(url: string): string {
  const { pathname, hash } = URL.parse(url) ?? { pathname: '@', hash: '' }
  if (!`${pathname}${hash}`.includes('@')) return url
  throw new SettingsError([
    'SQL_URL cannot be read as postgres://user:password@host:port/database. In the user and the password write %2F for /, %3F for ?, %23 for #, %40 for @ and %25 for %',
  ])
}
