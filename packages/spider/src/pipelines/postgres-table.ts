import { WebloomError } from '@webloom/core'
import {
  cannotHold,
  columnNames,
  createTable,
  onConflict,
  quotedColumn,
  quotedTable,
  type SqlRow,
  type SqlShape,
  type SqlTable,
  type SqlVerdict,
} from './sql-table.ts'

/** The part of a client of `pg` that the table needs. */
interface PgClient {
  connect(): Promise<void>
  query(text: string, values?: readonly unknown[]): Promise<unknown>
  end(): Promise<void>
  on(event: 'error', listener: (error: Error) => void): void
}

type PgClientClass = new (options: object) => PgClient

const CONNECT_MS = 10_000
// A statement takes milliseconds. A connection that hangs without an error must not hold up the crawl for ever.
const QUERY_MS = 60_000

// Classes of SQLSTATE that may pass (https://www.postgresql.org/docs/current/errcodes-appendix.html).
const PASSES = /^(08|40|53|55P03|57)/
// What Node says when there is no connection to send anything on.
const NOT_SENT: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'])
const ABOUT_THE_ROW = /^2[1-3]/
// The codes of two workers making the table at the same moment.
const MADE_TWICE: ReadonlySet<unknown> = new Set(['23505', '42P07'])

/** A table in PostgreSQL, by the package `pg`, which its users install. */
export class PostgresTable implements SqlTable {
  readonly shown: string
  readonly #url: string
  readonly #shape: SqlShape
  #Client: PgClientClass | undefined
  #client: PgClient | undefined

  constructor(url: string, shape: SqlShape) {
    const { host, pathname } = new URL(url)
    this.shown = `postgres://${host}${pathname}, table ${shape.table}`
    this.#url = url
    this.#shape = shape
  }

  async open(): Promise<void> {
    this.#Client = await pgClient()
    try {
      const client = await this.#connected()
      const create = createTable(this.#shape, { anyType: 'TEXT', jsonType: 'JSONB' })
      await client.query(create).catch((error: { code?: unknown }) => {
        if (!MADE_TWICE.has(error.code)) throw error
      })
      // Fails for a table that lacks a column or its key.
      await this.upsert([])
    } catch (error) {
      await this.close()
      throw cannotHold(this, error)
    }
  }

  /** Writes all rows in one statement, whose values get the types of the table's columns. */
  async upsert(rows: readonly SqlRow[]): Promise<void> {
    const { table, idColumn } = this.#shape
    const columns = [idColumn, ...columnNames(this.#shape)]
    // Workers that write the same rows in another order would wait for each other.
    const ordered = [...rows].sort((a, b) => (a.id < b.id ? -1 : 1))
    const records = ordered.map(({ id, values }) =>
      Object.fromEntries(columns.map((name, index) => [name, index === 0 ? id : values[index - 1]])),
    )
    const names = columns.map(quotedColumn).join(', ')
    const client = await this.#connected()
    await client.query(
      `INSERT INTO ${quotedTable(table)} (${names}) SELECT ${names} FROM jsonb_populate_recordset(NULL::${quotedTable(table)}, $1::jsonb) ${onConflict(this.#shape)}`,
      [JSON.stringify(records)],
    )
  }

  verdict(error: unknown): SqlVerdict {
    const code: unknown = Reflect.get(error as object, 'code')
    // An error without a SQLSTATE is the connection's, and the next try makes a new one.
    if (typeof code !== 'string' || code.length !== 5 || !/^[\dA-Z]{5}$/.test(code)) {
      this.#dropConnection()
      return NOT_SENT.has(code) ? 'wait' : 'unanswered'
    }
    if (PASSES.test(code)) return 'wait'
    return ABOUT_THE_ROW.test(code) ? 'row' : 'give up'
  }

  async close(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    await client?.end()
  }

  async #connected(): Promise<PgClient> {
    if (this.#client) return this.#client
    const client = new this.#Client!({
      connectionString: this.#url,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: QUERY_MS,
      keepAlive: true,
      application_name: 'webloom',
    })
    // When a connection is lost between two statements, the next statement makes a new one.
    client.on('error', () => {
      if (this.#client === client) this.#dropConnection()
    })
    await client.connect()
    this.#client = client
    return client
  }

  #dropConnection(): void {
    const client = this.#client
    this.#client = undefined
    client?.end().catch(() => {})
  }
}

async function pgClient(): Promise<PgClientClass> {
  // A name that the compiler does not follow, as the package is installed only where it is used.
  const name: string = 'pg'
  try {
    const pg = (await import(name)) as { default: { Client: PgClientClass } }
    return pg.default.Client
  } catch (error) {
    throw new WebloomError(
      'WL_OUTPUT_UNWRITABLE',
      `SQL_URL leads to PostgreSQL, which needs the package pg (${(error as Error).message}). Run npm install pg`,
      { cause: error },
    )
  }
}
