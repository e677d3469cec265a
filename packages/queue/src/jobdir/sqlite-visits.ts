import {
  type AskedPage,
  type DuePages,
  type FoundVisit,
  requestFromJson,
  requestToJson,
  type Visit,
  type VisitedPage,
  type VisitTotals,
  visitFromBytes,
  visitToBytes,
} from '@webloom/core'
import { DuePagesInOneStep, type LocalVisits } from '../visits/local-visits.ts'
import { visitsPerHour } from '../visits/memory-visits.ts'
import { type FingerprintKey, fingerprintOf, keyOf } from './fingerprint-key.ts'
import type { JobDatabase } from './job-database.ts'

const PAGES_PER_READ = 500

interface VisitRow {
  readonly fingerprint: FingerprintKey
  readonly visit: Uint8Array
  readonly request: string
}

/**
 * The visits of a crawl in its JOBDIR. A step of the queue may hold those of this store too (`JobDatabase.atomically`): a page is then
 * done and due again in one transaction.
 */
export class SqliteVisits extends DuePagesInOneStep implements LocalVisits {
  readonly #database: JobDatabase
  #hasTable = false

  /** @param database opened and closed by the crawl's record */
  constructor({ database }: { database: JobDatabase }) {
    super()
    this.#database = database
  }

  async record(pages: readonly VisitedPage[]): Promise<void> {
    this.recordNow(pages)
  }

  recordNow(pages: readonly VisitedPage[]): void {
    this.#makeTable()
    // A visit that is known was sent before. Its time alone does not tell: a page may be visited twice in a second.
    this.#database.atomically(() => {
      for (const { fingerprint, request, visit } of pages)
        this.#database.run(
          `INSERT INTO visits (fingerprint, visited_s, due_s, in_line, per_hour, visit, request) VALUES (?, ?, ?, 0, ?, ?, ?)
           ON CONFLICT (fingerprint) DO UPDATE SET visited_s = excluded.visited_s, due_s = excluded.due_s, in_line = 0,
             per_hour = excluded.per_hour, visit = excluded.visit, request = excluded.request
           WHERE visits.visit <> excluded.visit`,
          keyOf(fingerprint),
          seconds(visit.visitedAt),
          seconds(visit.dueAt),
          visitsPerHour(visit),
          visitToBytes(visit),
          JSON.stringify(requestToJson(request)),
        )
    })
  }

  async find(fingerprints: readonly string[]): Promise<readonly (FoundVisit | undefined)[]> {
    this.#makeTable()
    return fingerprints.map((fingerprint) => {
      const row = this.#database.get<VisitRow & { readonly inLine: number }>(
        'SELECT visit, in_line AS inLine FROM visits WHERE fingerprint = ?',
        keyOf(fingerprint),
      )
      return row && { ...visitFromBytes(Buffer.from(row.visit)), isInALine: row.inLine === 1 }
    })
  }

  async due(now: number, max: number): Promise<DuePages> {
    this.#makeTable()
    const rows = this.#database.each<VisitRow & { readonly due_s: number }>(
      'SELECT fingerprint, visit, request, due_s FROM visits WHERE in_line = 0 AND due_s <= ? ORDER BY due_s, visited_s LIMIT ?',
      seconds(now),
      max,
    )
    const [pages, moved, lost, unreadable]: [VisitedPage[], VisitedPage[], string[], unknown[]] = [
      [],
      [],
      [],
      [],
    ]
    for (const row of rows)
      try {
        const page = pageOf(row)
        ;(seconds(page.visit.dueAt) === row.due_s ? pages : moved).push(page)
      } catch (error) {
        lost.push(fingerprintOf(row.fingerprint))
        unreadable.push(error)
      }
    const read = pages.length + moved.length + lost.length
    this.#putRight(moved)
    pages.push(...moved.filter(({ visit }) => seconds(visit.dueAt) <= seconds(now)))
    if (lost.length === 0) return { pages, read, token: '' }
    return { pages, read, unreadable, token: JSON.stringify(lost) }
  }

  /** A row that says another time than its visit, as after a damage, would be due at each look and taken at none: the visit is right. */
  #putRight(pages: readonly VisitedPage[]): void {
    if (pages.length === 0) return
    this.#database.atomically(() => {
      for (const { fingerprint, visit } of pages)
        this.#database.run(
          'UPDATE visits SET due_s = ? WHERE fingerprint = ? AND in_line = 0',
          seconds(visit.dueAt),
          keyOf(fingerprint),
        )
    })
  }

  /** Pages that cannot be asked for again are forgotten: when they are met once more they are new. */
  override takeDue({ pages, token }: DuePages): readonly string[] {
    this.#makeTable()
    const lost = token === '' ? [] : (JSON.parse(token) as string[])
    return this.#database.atomically(() => {
      for (const fingerprint of lost)
        this.#database.run('DELETE FROM visits WHERE fingerprint = ? AND in_line = 0', keyOf(fingerprint))
      return pages
        .filter(
          ({ fingerprint, visit }) =>
            this.#database.run(
              'UPDATE visits SET in_line = 1 WHERE fingerprint = ? AND in_line = 0 AND due_s = ?',
              keyOf(fingerprint),
              seconds(visit.dueAt),
            ).changes === 1,
        )
        .map(({ fingerprint }) => fingerprint)
    })
  }

  async reschedule(pages: readonly AskedPage[], at: number): Promise<readonly string[]> {
    this.#makeTable()
    return this.#database.atomically(() => {
      const known: string[] = []
      for (const { fingerprint, request } of pages) {
        const row = this.#database.get<VisitRow>(
          'SELECT visit FROM visits WHERE fingerprint = ?',
          keyOf(fingerprint),
        )
        if (!row) continue
        known.push(fingerprint)
        const visit = { ...visitFromBytes(Buffer.from(row.visit)), dueAt: at }
        this.#database.run(
          'UPDATE visits SET due_s = ?, per_hour = ?, visit = ?, request = ? WHERE fingerprint = ? AND in_line = 0',
          seconds(at),
          visitsPerHour(visit),
          visitToBytes(visit),
          JSON.stringify(requestToJson(request)),
          keyOf(fingerprint),
        )
      }
      return known
    })
  }

  async askAnew(pages: readonly AskedPage[]): Promise<readonly string[]> {
    this.#makeTable()
    return this.#database.atomically(() =>
      pages.flatMap(({ fingerprint, request }) => {
        const { changes } = this.#database.run(
          'UPDATE visits SET request = ? WHERE fingerprint = ? AND in_line = 0',
          JSON.stringify(requestToJson(request)),
          keyOf(fingerprint),
        )
        return changes === 1 ? [fingerprint] : []
      }),
    )
  }

  override pageAt(fingerprint: string): AskedPage | undefined {
    const row = this.#database.get<VisitRow>(
      'SELECT fingerprint, visit, request FROM visits WHERE fingerprint = ?',
      keyOf(fingerprint),
    )
    return row && readablePageOf(row)[0]
  }

  override rename(moves: ReadonlyMap<string, string | undefined>): void {
    // By way of numbers, which are nobody's fingerprints: a page may go where another one is that goes, too.
    this.#database.atomically(() => {
      for (const [n, [before, now]] of [...moves].entries())
        if (now === undefined) this.#database.run('DELETE FROM visits WHERE fingerprint = ?', keyOf(before))
        else this.#database.run('UPDATE visits SET fingerprint = ? WHERE fingerprint = ?', n, keyOf(before))
      for (const [n, now] of [...moves.values()].entries())
        if (now !== undefined)
          this.#database.run(
            'UPDATE OR REPLACE visits SET fingerprint = ? WHERE fingerprint = ?',
            keyOf(now),
            n,
          )
    })
  }

  async forget(fingerprints: readonly string[]): Promise<readonly string[]> {
    this.#makeTable()
    return this.#database.atomically(() =>
      fingerprints.filter(
        (fingerprint) =>
          this.#database.run('DELETE FROM visits WHERE fingerprint = ?', keyOf(fingerprint)).changes === 1,
      ),
    )
  }

  async sample(max: number): Promise<readonly Visit[]> {
    this.#makeTable()
    return this.#someRows(max).map(({ visit }) => visitFromBytes(Buffer.from(visit)))
  }

  async totals(): Promise<VisitTotals> {
    // Asked of crawls that do not recrawl, too: they get no table by it.
    if (!this.#database.get("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'visits'"))
      return { pages: 0, perHour: 0 }
    const { pages, perHour } = this.#database.get<VisitTotals>(
      'SELECT count(*) AS pages, total(per_hour) AS perHour FROM visits',
    )!
    return { pages, perHour }
  }

  waiting(): AsyncGenerator<readonly VisitedPage[]> {
    return this.#all('WHERE in_line = 0 AND fingerprint > ?')
  }

  override async *kept(max?: number): AsyncGenerator<readonly AskedPage[]> {
    this.#makeTable()
    if (max === undefined) yield* this.#all('WHERE fingerprint > ?')
    else yield this.#someRows(max).flatMap(readablePageOf)
  }

  async *#all(where: string): AsyncGenerator<readonly VisitedPage[]> {
    this.#makeTable()
    let rows: VisitRow[] = []
    do {
      rows = [
        ...this.#database.each<VisitRow>(
          `SELECT fingerprint, visit, request FROM visits ${where} ORDER BY fingerprint LIMIT ?`,
          rows.at(-1)?.fingerprint ?? 0,
          PAGES_PER_READ,
        ),
      ]
      if (rows.length > 0) yield rows.flatMap(readablePageOf)
    } while (rows.length === PAGES_PER_READ)
  }

  async notes(names: readonly string[]): Promise<readonly (string | undefined)[]> {
    this.#makeTable()
    return names.map(
      (name) =>
        this.#database.get<{ text: string }>('SELECT text FROM visit_notes WHERE name = ?', name)?.text,
    )
  }

  async note(notes: ReadonlyMap<string, string>): Promise<void> {
    this.#makeTable()
    this.#database.atomically(() => {
      for (const [name, text] of notes)
        this.#database.run('INSERT OR REPLACE INTO visit_notes (name, text) VALUES (?, ?)', name, text)
    })
  }

  async clear(): Promise<void> {
    this.#makeTable()
    this.#database.run('DELETE FROM visits')
    this.#database.run('DELETE FROM visit_notes')
  }

  /** Fingerprints are as good as random: those behind a random one are a fair sample. */
  #someRows(max: number): readonly VisitRow[] {
    const from = Buffer.from(Array.from({ length: 4 }, () => Math.floor(Math.random() * 256)))
    const behind = [...this.#rowsFrom('>=', from, max)]
    return behind.length < max ? [...behind, ...this.#rowsFrom('<', from, max - behind.length)] : behind
  }

  #rowsFrom(side: '>=' | '<', from: Buffer, max: number): IterableIterator<VisitRow> {
    return this.#database.each<VisitRow>(
      `SELECT fingerprint, visit, request FROM visits WHERE fingerprint ${side} ? ORDER BY fingerprint LIMIT ?`,
      from,
      max,
    )
  }

  /** A crawl that does not recrawl has no table of visits. */
  #makeTable(): void {
    if (this.#hasTable) return
    // A token that a page was asked for with is overwritten where it is replaced, also in requests that are done.
    this.#database.get('PRAGMA secure_delete = FAST')
    this.#database.run(
      `CREATE TABLE IF NOT EXISTS visits (fingerprint PRIMARY KEY, visited_s INTEGER NOT NULL, due_s INTEGER NOT NULL,
         in_line INTEGER NOT NULL, per_hour REAL NOT NULL, visit BLOB NOT NULL, request TEXT NOT NULL) WITHOUT ROWID`,
    )
    this.#database.run('CREATE INDEX IF NOT EXISTS visits_due ON visits (due_s) WHERE in_line = 0')
    this.#database.run('CREATE TABLE IF NOT EXISTS visit_notes (name TEXT PRIMARY KEY, text TEXT NOT NULL)')
    this.#hasTable = true
  }
}

/** One that cannot be read is told when it is due. */
function readablePageOf(row: VisitRow): VisitedPage[] {
  try {
    return [pageOf(row)]
  } catch {
    return []
  }
}

function pageOf({ fingerprint, visit, request }: VisitRow): VisitedPage {
  return {
    fingerprint: fingerprintOf(fingerprint),
    request: requestFromJson(JSON.parse(request)),
    visit: visitFromBytes(Buffer.from(visit)),
  }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
