import {
  type Logger,
  type QueuedRequest,
  type QueueOrder,
  type Request,
  type RequestJson,
  requestFromJson,
  requestToJson,
} from '@webloom/core'
import type {
  DelayedRequest,
  RequestStore,
  StoredBefore,
  StoredRequest,
  WaitingLine,
} from '../local/request-store.ts'
import { ByPriority } from '../structures/by-priority.ts'
import type { JobDatabase } from './job-database.ts'
import { SqliteFailures } from './sqlite-failures.ts'

/** `state` of a row. */
const WAITING = 0
const LEASED = 1
const DELAYED = 2
/** Of a newer form, or broken: left alone until another run may know better. */
const UNREADABLE = 3
/** Set aside: in nobody's line. */
const IN_DOUBT = 4

export interface SqliteHeld extends StoredRequest {
  readonly row: number
  readonly priority: number
  readonly attempt: number
  readonly redelivered: boolean
}

export interface SqliteDelayed extends DelayedRequest {
  readonly row: number
  readonly priority: number
}

interface RequestRow {
  readonly row: number
  readonly id: string
  readonly priority: number
  readonly attempt: number
  readonly redelivered: number
  readonly request: string
}

export interface SqliteRequestStoreOptions {
  readonly database: JobDatabase
  readonly order: QueueOrder
  readonly logger: Logger
  /** Called in the step that stores what `asker` found. */
  readonly onHandedOn: (asker: string) => void
}

/**
 * Requests as rows. In memory there is one line for each host with something waiting, holding counts and no request,
 * so a frontier of millions costs what its hosts cost.
 */
export class SqliteRequestStore implements RequestStore<SqliteHeld, SqliteDelayed> {
  readonly name = 'disk'
  readonly #database: JobDatabase
  readonly #order: QueueOrder
  readonly #logger: Logger
  readonly #onHandedOn: (asker: string) => void
  readonly failures: SqliteFailures
  unreadable = 0

  constructor({ database, order, logger, onHandedOn }: SqliteRequestStoreOptions) {
    this.#database = database
    this.failures = new SqliteFailures(database)
    this.#order = order
    this.#logger = logger
    this.#onHandedOn = onHandedOn
  }

  /** Reclaims what a killed process had leased: it may have been fetched, so it is told from the others. */
  open(): StoredBefore<SqliteHeld, SqliteDelayed> {
    const database = this.#database
    database.open()
    database.atomically(() => {
      database.run(
        `UPDATE requests SET state = ${WAITING}, attempt = attempt + 1, redelivered = 1 WHERE state = ${LEASED}`,
      )
      database.run(`UPDATE requests SET state = ${WAITING} WHERE state = ${UNREADABLE}`)
      this.#adoptOrder()
    })
    return { lines: this.#lines(), delayed: this.#delayed(), inDoubt: this.#inDoubt() }
  }

  close(): void {}

  clear(): void {
    this.#database.run('DELETE FROM requests')
  }

  atomically<T>(step: () => T): T {
    return this.#database.atomically(step)
  }

  line(slot: string): SqliteLine {
    return new SqliteLine(this, slot)
  }

  done({ row }: SqliteHeld): void {
    this.#database.run('DELETE FROM requests WHERE row = ?', row)
  }

  delay(held: SqliteHeld, changed: StoredRequest, slot: string, delayMs: number): SqliteDelayed {
    this.done(held)
    const priority = this.linePriority(changed.request)
    // Another run counts on from the wall clock; this one has it in the queue's heap.
    const row = this.#insert(changed, slot, priority, DELAYED, Date.now() + Math.ceil(delayMs))
    return { row, slot, priority }
  }

  addInDoubt(queued: StoredRequest, slot: string): SqliteHeld {
    const priority = this.linePriority(queued.request)
    const row = this.#insert(queued, slot, priority, IN_DOUBT, null)
    return { ...queued, row, priority, attempt: 1, redelivered: false }
  }

  handedOn(asker: string): void {
    this.#onHandedOn(asker)
  }

  /** fifo and lifo keep everything under priority 0. */
  linePriority(request: Request): number {
    return this.#order === 'priority' ? request.priority : 0
  }

  insertWaiting(stored: StoredRequest, slot: string, priority: number): void {
    this.#insert(stored, slot, priority, WAITING, null)
  }

  setWaiting(row: number): void {
    this.#database.run(`UPDATE requests SET state = ${WAITING}, due_ms = NULL WHERE row = ?`, row)
  }

  /** The row keeps its place among those of its line. */
  change(row: number, { request }: StoredRequest, slot: string, priority: number): void {
    this.#database.run(
      'UPDATE requests SET slot = ?, priority = ?, request = ? WHERE row = ?',
      slot,
      priority,
      JSON.stringify(requestToJson(request)),
      row,
    )
  }

  /** The row that goes next, leased from now on; undefined when it cannot be read. */
  lease(slot: string, priority: number): SqliteHeld | undefined {
    const row = this.#database.get<RequestRow>(
      `SELECT row, id, priority, attempt, redelivered, request FROM requests
       WHERE state = ${WAITING} AND slot = ? AND priority = ? ORDER BY row ${this.#order === 'lifo' ? 'DESC' : 'ASC'} LIMIT 1`,
      slot,
      priority,
    )
    if (!row) throw new Error(`no request of ${slot} is in the file, where ${priority} was counted`)
    const request = this.#read(row)
    this.#database.run('UPDATE requests SET state = ? WHERE row = ?', request ? LEASED : UNREADABLE, row.row)
    if (!request) return undefined
    const { id, attempt } = row
    return { row: row.row, id, priority, attempt, redelivered: row.redelivered === 1, request }
  }

  #read({ row, id, request }: RequestRow): Request | undefined {
    try {
      return requestFromJson(JSON.parse(request) as RequestJson)
    } catch (error) {
      this.unreadable++
      this.#logger.warn(
        { id, row, reason: (error as Error).message },
        'a queued request cannot be read; it stays in JOBDIR and the crawl goes on without it',
      )
      return undefined
    }
  }

  #insert(
    { id, request, attempt = 1, redelivered = false }: StoredRequest,
    slot: string,
    priority: number,
    state: number,
    dueMs: number | null,
  ): number {
    return this.#database.run(
      'INSERT INTO requests (id, slot, priority, state, attempt, redelivered, due_ms, request) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      id,
      slot,
      priority,
      state,
      attempt,
      redelivered ? 1 : 0,
      dueMs,
      JSON.stringify(requestToJson(request)),
    ).row
  }

  /** SCHEDULER_QUEUE_CLASS may have been changed since the last run. */
  #adoptOrder(): void {
    const before = this.#database.get<{ order: string | null }>(
      'SELECT queue_order AS "order" FROM crawl',
    )?.order
    if (before === this.#order) return
    if (before !== null && before !== undefined)
      this.#database.run(
        `UPDATE requests SET priority = ${this.#order === 'priority' ? "coalesce(request ->> 'p', 0)" : '0'}`,
      )
    this.#database.run('UPDATE crawl SET queue_order = ?', this.#order)
  }

  *#lines(): Generator<[string, SqliteLine]> {
    let line: SqliteLine | undefined
    const counts = this.#database.each<{ slot: string; priority: number; count: number }>(
      `SELECT slot, priority, count(*) AS count FROM requests WHERE state = ${WAITING} GROUP BY slot, priority ORDER BY slot`,
    )
    for (const { slot, priority, count } of counts) {
      if (line?.slot !== slot) {
        if (line) yield [line.slot, line]
        line = this.line(slot)
      }
      line.count(priority, count)
    }
    if (line) yield [line.slot, line]
  }

  *#delayed(): Generator<{ dueInMs: number; delayed: SqliteDelayed }> {
    const rows = this.#database.each<SqliteDelayed & { dueMs: number }>(
      `SELECT row, slot, priority, due_ms AS dueMs FROM requests WHERE state = ${DELAYED}`,
    )
    for (const { row, slot, priority, dueMs } of rows)
      yield { dueInMs: Math.max(0, dueMs - Date.now()), delayed: { row, slot, priority } }
  }

  /**
   * Yields the links in doubt. The askers that were told they are new died with their process, so the next question about them ends
   * the doubt.
   */
  *#inDoubt(): Generator<SqliteHeld> {
    const rows = [
      ...this.#database.each<RequestRow>(
        `SELECT row, id, priority, attempt, redelivered, request FROM requests WHERE state = ${IN_DOUBT}`,
      ),
    ]
    for (const row of rows) {
      const request = this.#read(row)
      if (request) yield { ...row, redelivered: false, request }
      else this.#database.run(`UPDATE requests SET state = ${UNREADABLE} WHERE row = ?`, row.row)
    }
  }
}

/** How many requests of one host wait, by priority. */
class SqliteLine implements WaitingLine<SqliteHeld, SqliteDelayed> {
  readonly slot: string
  readonly #store: SqliteRequestStore
  // The highest priority of those that wait. Hardly a host has others, for which alone counts are made.
  #highest = 0
  #ofHighest = 0
  #lower: ByPriority<{ waiting: number }> | undefined
  length = 0

  constructor(store: SqliteRequestStore, slot: string) {
    this.#store = store
    this.slot = slot
  }

  get headPriority(): number {
    return this.#highest
  }

  count(priority: number, waiting: number): void {
    this.length += waiting
    if (this.#ofHighest === 0) this.#highest = priority
    if (priority < this.#highest) {
      this.#countLower(priority, waiting)
      return
    }
    if (priority > this.#highest) {
      this.#countLower(this.#highest, this.#ofHighest)
      this.#highest = priority
      this.#ofHighest = 0
    }
    this.#ofHighest += waiting
  }

  #countLower(priority: number, waiting: number): void {
    this.#lower ??= new ByPriority()
    this.#lower.of(priority, () => ({ waiting: 0 })).waiting += waiting
  }

  add(stored: QueuedRequest): void {
    const priority = this.#store.linePriority(stored.request)
    this.#store.insertWaiting(stored, this.slot, priority)
    this.count(priority, 1)
  }

  join({ row, priority }: SqliteDelayed): void {
    this.#store.setWaiting(row)
    this.count(priority, 1)
  }

  requeue({ row, priority }: SqliteHeld, changed?: StoredRequest): void {
    const nowAt = changed ? this.#store.linePriority(changed.request) : priority
    if (changed) this.#store.change(row, changed, this.slot, nowAt)
    this.#store.setWaiting(row)
    this.count(nowAt, 1)
  }

  take(): SqliteHeld | undefined {
    while (this.#ofHighest > 0) {
      const held = this.#store.lease(this.slot, this.#highest)
      this.length--
      this.#ofHighest--
      if (this.#ofHighest === 0) this.#raise()
      if (held) return held
    }
    return undefined
  }

  /** None of the highest priority waits any more: the next one becomes the highest. */
  #raise(): void {
    this.#highest = this.#lower?.highest ?? 0
    this.#ofHighest = this.#lower?.first?.waiting ?? 0
    this.#lower?.dropHighest()
    if (this.#lower?.first === undefined) this.#lower = undefined
  }
}
