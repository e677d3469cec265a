/**
 * Items as rows of a table, in SQLite or PostgreSQL.
 *
 * A row's key is the item's id, and a row that is there already is replaced. So an item that comes twice, because its
 * page ran again after a crash or a reply was lost, is one row: at least once becomes exactly once, as far as ids are the
 * same again (see ITEM_ID_FIELD).
 *
 * A page's items come all at once: what comes in one turn of the event loop, or while a batch is being written, goes
 * together. An item is written before its page is committed.
 *
 * A database that is away or busy holds up the pages whose items wait here, and with them the crawl. An item that the
 * table refuses (a text where a number belongs) is lost alone and counted; the others of its batch are written.
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

/** Where the pipeline `sql` writes items, and how. */
export interface SqlPipelineOptions {
  /** `sqlite:items.db` or `postgres://user@host/database`. */
  readonly url: string
  /** Which columns there are. */
  readonly shape: SqlShape
  /** Most rows of a statement. */
  readonly batchSize: number
  /** Told when the database is away. */
  readonly logger: Logger
  /** Counts what was written and what was refused. */
  readonly stats: Pick<StatsCollector, 'inc'>
}

/** An item on its way, and whom to tell that it is there. */
interface WaitingRow extends SqlRow {
  readonly written: PromiseWithResolvers<void>
}

/** How often a database that is away is asked again. */
const RETRY_MS = 500

/** Writes items as rows of a table: `sql` in ITEM_PIPELINES. */
export class SqlPipeline implements ItemPipeline {
  readonly #options: SqlPipelineOptions
  readonly #table: SqlTable
  readonly #closing = new AbortController()
  #waiting: WaitingRow[] = []
  #writing: Promise<void> | undefined

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

  /** What messages call the table. */
  get shown(): string {
    return this.#table.shown
  }

  /** Makes the table if there is none. Throws WL_OUTPUT_UNWRITABLE before anything is fetched. */
  openSpider(): Promise<void> {
    return this.#table.open()
  }

  /** Resolves when the database has the item. Throws TypeError for one that has no JSON form, and WL_OUTPUT_FAILED. */
  async processItem(item: unknown, { id }: ItemContext): Promise<unknown> {
    const written = Promise.withResolvers<void>()
    this.#waiting.push({ ...rowOf(item, id, this.#options.shape), written })
    this.#writing ??= this.#writeAll()
    await written.promise
    return item
  }

  /** What still waits stays unwritten, and nobody is told: its page is to run again. */
  async closeSpider(): Promise<void> {
    this.#closing.abort()
    await this.#writing
    await this.#table.close()
  }

  async #writeAll(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0 && !this.#closing.signal.aborted) {
      const batch = this.#waiting.splice(0, this.#options.batchSize)
      try {
        await this.#write(batch)
      } catch (error) {
        for (const { written } of [...batch, ...this.#waiting.splice(0)]) written.reject(error)
      }
    }
    this.#writing = undefined
  }

  /** Of rows with one id the last is written. */
  async #write(batch: readonly WaitingRow[]): Promise<void> {
    const rows = [...new Map(batch.map((row) => [row.id, row])).values()]
    try {
      if (!(await this.#upsert(rows))) return
      this.#options.stats.inc('sql_items/written_count', batch.length)
      for (const { written } of batch) written.resolve()
    } catch (error) {
      if (this.#table.verdict(error) !== 'row') throw this.#failure(error)
      if (batch.length > 1) for (const row of batch) await this.#write([row])
      else batch[0]!.written.reject(error)
    }
  }

  /** False when the crawl closed while the database was away. */
  async #upsert(rows: readonly SqlRow[]): Promise<boolean> {
    const { logger, stats } = this.#options
    for (let tries = 0; !this.#closing.signal.aborted; tries++) {
      try {
        await this.#table.upsert(rows)
        if (tries > 0) logger.info({ table: this.shown }, 'items are written again')
        return true
      } catch (error) {
        if (this.#table.verdict(error) !== 'wait') throw error
        if (tries === 0) {
          stats.inc('sql_items/wait_count')
          const { message } = error as Error
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

// As SQLAlchemy writes it, too: `sqlite:///items.db` is relative, `sqlite:////var/items.db` is not.
const SQLITE = /^sqlite:(?:\/\/\/)?(?!\/\/)(.+)$/

function tableAt(url: string, shape: SqlShape): SqlTable {
  const [, path] = SQLITE.exec(url) ?? []
  if (path !== undefined) return new SqliteTable(path === ':memory:' ? path : resolve(path), shape)
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return new PostgresTable(url, shape)
  throw new SettingsError([
    `SQL_URL begins with ${JSON.stringify(url.split(':')[0])}; expected sqlite:items.db or postgres://user@host/database`,
  ])
}
