/**
 * The SQLite file of a JOBDIR: queue, seen requests and the crawl's record in one, so that one transaction holds what
 * belongs together and no kill can part it. Why so: `docs/decisions/jobdir.md`.
 *
 *     requests   a row for each request that waits, is leased or delayed; gone when committed
 *     seen       a row for each fingerprint, numbered in the order of `requests.seen`
 *     crawl      one row: spider, state, start cursor, how far `requests.seen` is written
 *     outputs    files that this crawl has begun to write
 *
 * WAL with synchronous=NORMAL: a commit is handed to the operating system, so a killed process loses none; a power cut
 * may take the last ones, all of them whole. Locking mode EXCLUSIVE is the lock against a second process: the
 * operating system lets go of it when this one dies, however it dies. `webloom.lock` only names the holder.
 */

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { makeFolder, SettingsError, sqlite, WebloomError } from '@webloom/core'
import { RELEASE } from '../crawl/crawl-format.ts'

/** Form 2: a request may be set aside in doubt (state 4), which earlier releases would leave lying. */
const FORM = 2

const SCHEMA = `
  CREATE TABLE requests (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    slot TEXT NOT NULL,
    priority INTEGER NOT NULL,
    state INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL DEFAULT 1,
    redelivered INTEGER NOT NULL DEFAULT 0,
    due_ms INTEGER,
    request TEXT NOT NULL
  );
  CREATE INDEX waiting ON requests (slot, priority, row) WHERE state = 0;
  CREATE INDEX held ON requests (state) WHERE state > 0;
  CREATE TABLE seen (number INTEGER PRIMARY KEY, fingerprint NOT NULL UNIQUE);
  CREATE TABLE outputs (path TEXT PRIMARY KEY);
  CREATE TABLE crawl (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    spider TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'idle',
    finish_reason TEXT,
    begun_ms INTEGER,
    ended_ms INTEGER,
    start_cursor INTEGER NOT NULL DEFAULT 0,
    start_ended INTEGER NOT NULL DEFAULT 0,
    queue_order TEXT,
    fingerprinter TEXT,
    seen_file_bytes INTEGER NOT NULL DEFAULT 0,
    seen_file_rows INTEGER NOT NULL DEFAULT 0,
    release TEXT,
    group_by TEXT
  );
  PRAGMA user_version = ${FORM};
`

// A cache that a queue of any length fills soon: memory does not grow with what waits.
const CACHE_KIB = 8 * 1024

const SQLITE_BUSY = 5
const SQLITE_FULL = 13

export interface JobDatabaseOptions {
  /** JOBDIR, absolute. */
  readonly folder: string
  /** A folder holds the crawl of one spider. */
  readonly spiderName: string
}

export class JobDatabase {
  readonly folder: string
  readonly #spiderName: string
  readonly #statements = new Map<string, StatementSync>()
  readonly #afterCommit: (() => void)[] = []
  #connection: DatabaseSync | undefined
  #stepping = false
  #writing = false
  #failure: unknown

  constructor({ folder, spiderName }: JobDatabaseOptions) {
    this.folder = folder
    this.#spiderName = spiderName
  }

  get isOpen(): boolean {
    return this.#connection !== undefined
  }

  get isThere(): boolean {
    return existsSync(this.path('webloom.sqlite'))
  }

  /** Does nothing when it is open. Throws WL_JOBDIR_LOCKED when another process has the folder. */
  open(): void {
    if (this.#connection) return
    try {
      makeFolder(this.folder)
      this.#connection = new (sqlite().DatabaseSync)(this.path('webloom.sqlite'))
      this.#take()
    } catch (error) {
      this.#connection?.close()
      this.#connection = undefined
      throw this.#whyNot(error)
    }
    writeFileSync(this.path('webloom.lock'), `${process.pid}\n`)
  }

  close(): void {
    if (!this.#connection) return
    this.#statements.clear()
    rmSync(this.path('webloom.lock'), { force: true })
    this.#connection.close()
    this.#connection = undefined
  }

  /** POLITENESS_GROUP_BY of what is queued; null where it is not known. */
  notedGroupBy(): string | null {
    return this.get<{ groupBy: string | null }>('SELECT group_by AS groupBy FROM crawl')!.groupBy
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  /** The first row, or undefined. */
  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#statement(sql).get(...values) as Row | undefined
  }

  /** The rows one by one: no more than one of them is in memory. */
  each<Row>(sql: string, ...values: SQLInputValue[]): IterableIterator<Row> {
    return this.#statement(sql).iterate(...values) as IterableIterator<Row>
  }

  /** Changes rows, within a step or as a step of its own; returns how many, and the number of the last new one. */
  run(sql: string, ...values: SQLInputValue[]): { readonly changes: number; readonly row: number } {
    return this.atomically(() => {
      this.#beginWriting()
      const { changes, lastInsertRowid } = this.#statement(sql).run(...values)
      return { changes: Number(changes), row: Number(lastInsertRowid) }
    })
  }

  /**
   * One transaction, begun by its first change. After one that failed, what memory says of the queue may differ from
   * the file: everything is refused from then on, and the next run reads the file.
   */
  atomically<T>(step: () => T): T {
    if (this.#stepping) return step()
    if (this.#failure !== undefined) throw this.#failure
    this.#stepping = true
    let answer: T
    try {
      answer = step()
      if (this.#writing) this.#statement('COMMIT').run()
    } catch (error) {
      if (this.#writing) this.#giveUp(error)
      throw this.#failure ?? error
    } finally {
      this.#stepping = false
      this.#writing = false
    }
    for (const act of this.#afterCommit.splice(0)) act()
    return answer
  }

  /** Called once the present step is committed. */
  afterCommit(act: () => void): void {
    this.#afterCommit.push(act)
  }

  #beginWriting(): void {
    if (this.#writing) return
    this.#statement('BEGIN IMMEDIATE').run()
    this.#writing = true
  }

  #giveUp(error: unknown): void {
    this.#afterCommit.length = 0
    this.#failure = new WebloomError(
      'WL_OUTPUT_FAILED',
      `JOBDIR ${this.folder} could not be written: ${whyOf(error)}. What was committed stays; make room there, and run the same line again: the crawl goes on`,
      { cause: error },
    )
    try {
      this.#statement('ROLLBACK').run()
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
    }
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known) return known
    if (!this.#connection) throw new Error(`${this.folder} is closed`)
    const statement = this.#connection.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  /** Takes the lock, and makes the tables if there are none. */
  #take(): void {
    const connection = this.#connection!
    connection.exec(
      `PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
       PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = FILE; BEGIN IMMEDIATE`,
    )
    const { user_version: form } = connection.prepare('PRAGMA user_version').get() as { user_version: number }
    if (form > FORM) throw this.#whyNewer(connection, form)
    if (form === 0) {
      connection.exec(SCHEMA)
      connection.prepare('INSERT INTO crawl (only, spider) VALUES (1, ?)').run(this.#spiderName)
    } else if (form < FORM) connection.exec(`PRAGMA user_version = ${FORM}`)
    noteRelease(connection)
    const { spider } = connection.prepare('SELECT spider FROM crawl').get() as { spider: string }
    if (spider !== this.#spiderName)
      throw new SettingsError([
        `JOBDIR ${this.folder} holds a crawl of spider ${spider}; ${this.#spiderName} needs a folder of its own`,
      ])
    connection.exec('COMMIT')
  }

  #whyNewer(connection: DatabaseSync, form: number): Error {
    const { release } = connection.prepare('SELECT * FROM crawl').get() as { release?: string | null }
    const writer = release ? `Webloom ${release}` : 'a newer Webloom'
    const cure = release ? `npm install webloom@${release}` : 'run the newer one'
    return new SettingsError([
      `JOBDIR ${this.folder} was written by ${writer} (form ${form}; this one knows ${FORM}); ${cure}, or choose another folder`,
    ])
  }

  #whyNot(error: unknown): Error {
    if (error instanceof WebloomError) return error
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) {
      return new WebloomError(
        'WL_JOBDIR_LOCKED',
        `JOBDIR ${this.folder} is in use by ${this.#holder()}. Wait until it has ended, or choose another folder; two processes share a crawl only through Redis`,
        { cause: error },
      )
    }
    return new SettingsError([`JOBDIR ${this.folder} cannot be used: ${whyOf(error)}`])
  }

  #holder(): string {
    try {
      const pid = readFileSync(this.path('webloom.lock'), 'utf8').trim()
      if (/^\d+$/.test(pid)) return `process ${pid}`
    } catch {
      // It is about to write its name, or has just removed it.
    }
    return 'another process'
  }
}

/** Which release has the folder, for one that cannot read it. Folders of before this was noted have no such columns. */
function noteRelease(connection: DatabaseSync): void {
  const columns = connection.prepare('PRAGMA table_info(crawl)').all() as { name: string }[]
  for (const added of ['release', 'group_by'])
    if (!columns.some(({ name }) => name === added))
      connection.exec(`ALTER TABLE crawl ADD COLUMN ${added} TEXT`)
  connection.prepare('UPDATE crawl SET release = ?').run(RELEASE)
}

function whyOf(error: unknown): string {
  const { code, errcode, path, message } = error as NodeJS.ErrnoException & { readonly errcode?: number }
  if (errcode === SQLITE_FULL || code === 'ENOSPC') return 'the disk is full'
  if (code === 'EEXIST' || code === 'ENOTDIR')
    return `${path} is a file, or lies below one; expected a folder`
  return message
}
