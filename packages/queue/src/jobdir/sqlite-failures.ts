import {
  type FailureSnapshot,
  type LedgerEntry,
  type LedgerGroup,
  type LedgerPage,
  OTHER_FAILURES,
} from '@webloom/core'
import {
  failedRequest,
  type KnownFailure,
  type NewFailure,
  stored,
  summaryOf,
} from '../failures/failed-entry.ts'
import { FAILURES_BYTES_MAX, type FailureStore, SIGNATURES_MAX } from '../failures/failure-store.ts'
import type { JobDatabase } from './job-database.ts'

interface FailureRow {
  readonly number: number
  readonly id: string
  readonly signature: string
  readonly known: string
  readonly request: string
}

interface SignatureRow {
  readonly signature: string
  readonly total: number
  readonly kept: number
  readonly trimmed: number
  readonly first: string
  readonly last: string
}

/** Made with the first failure: folders of earlier releases, and crawls without one, have none of it. */
const TABLES = [
  `CREATE TABLE IF NOT EXISTS failures (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    signature TEXT NOT NULL,
    known TEXT NOT NULL,
    request TEXT NOT NULL,
    bytes INTEGER NOT NULL
  )`,
  'CREATE INDEX IF NOT EXISTS failures_of ON failures (signature, number)',
  `CREATE TABLE IF NOT EXISTS failure_signatures (
    signature TEXT PRIMARY KEY,
    total INTEGER NOT NULL DEFAULT 0,
    kept INTEGER NOT NULL DEFAULT 0,
    trimmed INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    first TEXT NOT NULL,
    last TEXT NOT NULL,
    snapshot TEXT
  )`,
]

/** The ledger of a crawl in its JOBDIR. */
export class SqliteFailures implements FailureStore {
  readonly #database: JobDatabase
  #hasTables = false

  constructor(database: JobDatabase) {
    this.#database = database
  }

  keep({ id, signature: asked, known: told, request }: NewFailure, most: number): number {
    this.#makeTables()
    this.#remove(id)
    const number = this.#totals().total + 1
    const known = stored(told, number, Date.now())
    const signature = this.#signatureFor(asked)
    const bytes = known.length + request.length
    this.#database.run(
      'INSERT INTO failures (number, id, signature, known, request, bytes) VALUES (?, ?, ?, ?, ?, ?)',
      number,
      id,
      signature,
      known,
      request,
      bytes,
    )
    this.#database.run(
      `INSERT INTO failure_signatures (signature, total, kept, bytes, first, last) VALUES (?, 1, 1, ?, ?, ?)
       ON CONFLICT (signature) DO UPDATE SET total = total + 1, kept = kept + 1, bytes = bytes + excluded.bytes, last = excluded.last`,
      signature,
      bytes,
      known,
      known,
    )
    return this.#trim(most)
  }

  keepSnapshot(signature: string, snapshot: FailureSnapshot): void {
    this.#database.run(
      'UPDATE failure_signatures SET snapshot = coalesce(snapshot, ?) WHERE signature = ?',
      JSON.stringify(snapshot),
      signature,
    )
  }

  take(id: string, key: string): boolean {
    if (!this.#exists()) return false
    const row = this.#database.get<{ number: number }>('SELECT number FROM failures WHERE id = ?', id)
    return row !== undefined && `f${row.number}` === key && this.#remove(id)
  }

  counts(): { kept: number; total: number; trimmed: number } {
    if (!this.#exists()) return { kept: 0, total: 0, trimmed: 0 }
    const { kept, total, trimmed } = this.#totals()
    return { kept, total, trimmed }
  }

  groups(): LedgerGroup[] {
    if (!this.#exists()) return []
    const rows = this.#database.each<SignatureRow>(
      'SELECT signature, total, kept, trimmed, first, last FROM failure_signatures',
    )
    return [...rows].map(({ first, last, ...counts }) => ({
      ...counts,
      first: summaryOf(JSON.parse(first) as KnownFailure),
      last: summaryOf(JSON.parse(last) as KnownFailure),
    }))
  }

  page(max: number, { cursor, signature }: { cursor?: string; signature?: string }): LedgerPage {
    if (!this.#exists()) return { entries: [] }
    const rows = [
      ...this.#database.each<FailureRow>(
        `SELECT number, id, signature, known, request FROM failures
         WHERE ${signature === undefined ? '? IS NULL' : 'signature = ?'} AND number < ? ORDER BY number DESC LIMIT ?`,
        signature ?? null,
        Number(cursor ?? Number.MAX_SAFE_INTEGER),
        max,
      ),
    ]
    return {
      entries: rows.map(requestOf),
      ...(rows.length === max && { cursor: String(rows.at(-1)!.number) }),
    }
  }

  find(ids: readonly string[]): LedgerEntry[] {
    if (!this.#exists()) return []
    return ids.flatMap((id) => {
      const row = this.#database.get<FailureRow>(
        'SELECT number, id, signature, known, request FROM failures WHERE id = ?',
        id,
      )
      return row ? [requestOf(row)] : []
    })
  }

  snapshot(signature: string): FailureSnapshot | undefined {
    if (!this.#exists()) return undefined
    const row = this.#database.get<{ snapshot: string | null }>(
      'SELECT snapshot FROM failure_signatures WHERE signature = ?',
      signature,
    )
    return row?.snapshot ? (JSON.parse(row.snapshot) as FailureSnapshot) : undefined
  }

  clear(): void {
    if (!this.#exists()) return
    this.#database.run('DELETE FROM failures')
    this.#database.run('DELETE FROM failure_signatures')
  }

  #totals(): { kept: number; total: number; trimmed: number; bytes: number } {
    return this.#database.get(
      `SELECT coalesce(sum(kept), 0) AS kept, coalesce(sum(total), 0) AS total, coalesce(sum(trimmed), 0) AS trimmed,
       coalesce(sum(bytes), 0) AS bytes FROM failure_signatures`,
    )!
  }

  #signatureFor(signature: string): string {
    const row = this.#database.get<{ known: number; count: number }>(
      'SELECT count(*) AS count, coalesce(sum(signature = ?), 0) AS known FROM failure_signatures',
      signature,
    )!
    return row.known > 0 || row.count < SIGNATURES_MAX ? signature : OTHER_FAILURES
  }

  /** Deletes the oldest failures of the signature that has the most, until no more than so many are left. Returns how many went. */
  #trim(most: number): number {
    let trimmed = 0
    for (let all = this.#totals(); all.kept > most || all.bytes > FAILURES_BYTES_MAX; all = this.#totals()) {
      const oldest = this.#database.get<{ id: string; signature: string }>(
        `SELECT id, signature FROM failures WHERE signature =
         (SELECT signature FROM failure_signatures ORDER BY kept DESC LIMIT 1) ORDER BY number LIMIT 1`,
      )!
      this.#remove(oldest.id)
      this.#database.run(
        'UPDATE failure_signatures SET trimmed = trimmed + 1 WHERE signature = ?',
        oldest.signature,
      )
      trimmed++
    }
    return trimmed
  }

  #remove(id: string): boolean {
    const row = this.#database.get<{ signature: string; bytes: number }>(
      'SELECT signature, bytes FROM failures WHERE id = ?',
      id,
    )
    if (!row) return false
    this.#database.run('DELETE FROM failures WHERE id = ?', id)
    this.#database.run(
      'UPDATE failure_signatures SET kept = kept - 1, bytes = bytes - ? WHERE signature = ?',
      row.bytes,
      row.signature,
    )
    return true
  }

  #makeTables(): void {
    if (this.#hasTables) return
    for (const table of TABLES) this.#database.run(table)
    this.#hasTables = true
  }

  #exists(): boolean {
    this.#hasTables ||=
      this.#database.get("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'failures'") !==
      undefined
    return this.#hasTables
  }
}

function requestOf({ id, signature, known, request, number }: FailureRow): LedgerEntry {
  return failedRequest(id, signature, { ...(JSON.parse(known) as KnownFailure), number }, request)
}
