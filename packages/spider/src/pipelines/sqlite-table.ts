import { statSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { sqlite } from '@webloom/core'
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

// SQLite's own codes: busy and locked pass. Too big, constraint and mismatch are the row's fault.
const BUSY: ReadonlySet<number> = new Set([5, 6])
const ABOUT_THE_ROW: ReadonlySet<number> = new Set([18, 19, 20])

// How long a statement waits, with the event loop blocked, for another process that writes. Then the pipeline waits on.
const BUSY_MS = 250

/** A table in an SQLite file, which several processes of one machine may share. */
export class SqliteTable implements SqlTable {
  readonly shown: string
  readonly #path: string
  readonly #shape: SqlShape
  #database: DatabaseSync | undefined
  /** Device and number of the file that was opened. */
  #file: string | undefined
  #upsert: StatementSync | undefined

  constructor(path: string, shape: SqlShape) {
    this.shown = `${path}, table ${shape.table}`
    this.#path = path
    this.#shape = shape
  }

  async open(): Promise<void> {
    try {
      this.#database = new (sqlite().DatabaseSync)(this.#path, { timeout: 10_000 })
      // A committed row is with the operating system: it outlives the process, but not a power cut.
      this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
      this.#file = fileAt(this.#path)
      this.#database.exec(createTable(this.#shape, {}))
      this.#upsert = this.#database.prepare(upsertOne(this.#shape))
      this.#database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    } catch (error) {
      await this.close()
      throw cannotHold(this, error)
    }
  }

  /**
   * Throws when the file was moved or removed. With a WAL, SQLite goes on without an error; but a moved file has left its WAL behind,
   * and with it rows, and a removed one nobody finds again.
   */
  async upsert(rows: readonly SqlRow[]): Promise<void> {
    const database = this.#database!
    database.exec('BEGIN IMMEDIATE')
    try {
      for (const { id, values } of rows) this.#upsert!.run(id, ...values.map(bindable))
      database.exec('COMMIT')
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    }
    if (fileAt(this.#path) !== this.#file)
      throw new Error('the file was moved or removed while the crawl wrote to it')
  }

  verdict(error: unknown): SqlVerdict {
    // The low byte of an extended code is the base code.
    const code = Number(Reflect.get(error as object, 'errcode')) & 0xff
    if (BUSY.has(code)) return 'wait'
    return ABOUT_THE_ROW.has(code) ? 'row' : 'give up'
  }

  async close(): Promise<void> {
    this.#database?.close()
    this.#database = undefined
  }
}

function upsertOne(shape: SqlShape): string {
  const names = [shape.idColumn, ...columnNames(shape)].map(quotedColumn)
  const places = names.map(() => '?')
  return `INSERT INTO ${quotedTable(shape.table)} (${names.join(', ')}) VALUES (${places.join(', ')}) ${onConflict(shape)}`
}

/** Returns a JSON value as SQLite stores it: lists and objects as their JSON. */
function bindable(value: unknown): string | number | null {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'string' || typeof value === 'number' || value === null) return value
  return JSON.stringify(value)
}

/** Returns device and number of the file; undefined when there is none, as in memory. */
function fileAt(path: string): string | undefined {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false })
  return file && `${file.dev} ${file.ino}`
}
