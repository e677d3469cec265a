/**
 * `requests.seen`: the seen requests in one of Scrapy's own formats (`seen-file-form.ts`), in the order in which they were
 * seen. With the `scrapy` fingerprinter the file can go from one to the other and back. A file keeps the format it has; a new
 * one has that of the Scrapy which is installed today.
 *
 * The database decides; the file follows each commit. Database and file cannot change in one step, so each transaction
 * notes how much of the file was written before it:
 *
 *     bytes   0 ........... seen_file_bytes ........ end
 *             known to the database, rows            written since: by the last commit before a kill (the rows
 *             1 to seen_file_rows                    after seen_file_rows), or by Scrapy (imported)
 */

import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import { type Logger, SettingsError } from '@webloom/core'
import { type FingerprintKey, fingerprintOf, keyOf } from './fingerprint-key.ts'
import type { JobDatabase } from './job-database.ts'
import { BINARY, formOf, NoSuchForm, type SeenEntries, type SeenFileForm } from './seen-file-form.ts'

const CHUNK_BYTES = 1024 * 1024

interface Noted {
  readonly bytes: number
  readonly rows: number
}

export class RequestsSeenFile {
  readonly #database: JobDatabase
  readonly #logger: Logger
  #file: number | undefined
  #form: SeenFileForm = BINARY
  #bytes = 0
  #rows = 0
  /** Of the present transaction. */
  #appended: string[] = []

  constructor({ database, logger }: { database: JobDatabase; logger: Logger }) {
    this.#database = database
    this.#logger = logger
  }

  /** Brings file and database to the same state, whichever is ahead. Throws `SettingsError` for a file of no known form. */
  async open(): Promise<void> {
    this.#file = openSync(this.#database.path('requests.seen'), 'a+')
    this.#form = this.#formOfFile()
    const noted = this.#noted()
    const isKnown = this.#endsEntry(noted.bytes)
    const bytes = this.#cutTornEntry(isKnown ? noted.bytes : 0)
    const missing = isKnown ? this.#importTail(noted, bytes) : this.#importAll(bytes)
    for (let some = take(missing); some.length > 0; some = take(missing)) this.#write(some)
    this.#bytes = fstatSync(this.#file).size
    this.#rows = this.#lastRow()
    this.#database.run('UPDATE crawl SET seen_file_bytes = ?, seen_file_rows = ?', this.#bytes, this.#rows)
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  /** Empty, the file keeps its form for as long as it is open. */
  clear(): void {
    if (this.#file === undefined) return
    ftruncateSync(this.#file, 0)
    this.#bytes = 0
    this.#rows = 0
    this.#database.run('UPDATE crawl SET seen_file_bytes = 0, seen_file_rows = 0')
  }

  /** The fingerprint goes to the file once the present transaction is committed. */
  append(fingerprint: string): void {
    if (this.#appended.length === 0) {
      this.#database.run('UPDATE crawl SET seen_file_bytes = ?, seen_file_rows = ?', this.#bytes, this.#rows)
      this.#database.afterCommit(() => {
        const appended = this.#appended
        this.#appended = []
        this.#write(appended)
        this.#rows += appended.length
      })
    }
    this.#appended.push(fingerprint)
  }

  #write(fingerprints: readonly string[]): void {
    // After close only a filter that nobody opened again could still be asked.
    if (this.#file === undefined || fingerprints.length === 0) return
    const bytes = Buffer.concat(fingerprints.map((fingerprint) => this.#form.encode(fingerprint)))
    let written = 0
    while (written < bytes.length) written += writeSync(this.#file, bytes, written)
    this.#bytes += bytes.length
  }

  #formOfFile(): SeenFileForm {
    const first = Buffer.alloc(1)
    return readSync(this.#file!, first, 0, 1, 0) === 1 ? formOf(first[0]!) : BINARY
  }

  /** Whether the file can be the one that was written up to there. It may have been removed or replaced from outside. */
  #endsEntry(bytes: number): boolean {
    if (bytes === 0) return true
    if (bytes > fstatSync(this.#file!).size) return false
    // Where a record begins is known only by those before it.
    const from = this.#form === BINARY ? 0 : bytes - 1
    return from + this.#wholeBytes(from, bytes) === bytes
  }

  #wholeBytes(from: number, to: number): number {
    let whole = 0
    for (const { bytes } of this.#entries(from, to)) whole += bytes
    return whole
  }

  /** A killed run leaves half an entry. Returns the bytes that are left. */
  #cutTornEntry(from: number): number {
    const { size } = fstatSync(this.#file!)
    const end = from + this.#wholeBytes(from, size)
    if (end === size) return size
    ftruncateSync(this.#file!, end)
    this.#logger.warn(
      { bytes: size - end },
      'requests.seen ended in the middle of an entry, as after a kill; the incomplete entry was cut off',
    )
    return end
  }

  /** Takes over what was written since the last note; returns what the last commit has not written. */
  #importTail(noted: Noted, bytes: number): Iterator<string> {
    const unwritten = new Map<string, string>()
    for (const { fingerprint } of this.#database.each<SeenRow>(
      'SELECT fingerprint FROM seen WHERE number > ?',
      noted.rows,
    ))
      unwritten.set(this.#form.known(fingerprintOf(fingerprint)), fingerprintOf(fingerprint))
    this.#import(noted.bytes, bytes, unwritten)
    return unwritten.values()
  }

  /** Takes over the whole file and empties it; returns everything that is seen. */
  #importAll(bytes: number): Iterator<string> {
    this.#logger.warn(
      'requests.seen is not the file that this crawl wrote last; its entries are taken over, and the file is written anew',
    )
    this.#import(0, bytes, new Map())
    ftruncateSync(this.#file!, 0)
    return this.#everything()
  }

  *#everything(): Generator<string> {
    for (const { fingerprint } of this.#database.each<SeenRow>(
      'SELECT fingerprint FROM seen ORDER BY number',
    ))
      yield fingerprintOf(fingerprint)
  }

  /** In one transaction: a kill in the middle imports nothing. What is in `unwritten` is taken out of it. */
  #import(from: number, to: number, unwritten: Map<string, string>): void {
    let imported = 0
    this.#database.atomically(() => {
      for (const { fingerprints } of this.#entries(from, to))
        for (const fingerprint of fingerprints) {
          if (unwritten.delete(fingerprint)) continue
          imported += this.#database.run(
            'INSERT OR IGNORE INTO seen (fingerprint) VALUES (?)',
            keyOf(fingerprint),
          ).changes
        }
    })
    if (imported === 0) return
    this.#logger.info(`requests.seen: ${imported} seen requests imported`)
    if (existsSync(this.#database.path('requests.queue')))
      this.#logger.warn(
        'requests.queue of Scrapy cannot be read: what waits in it counts as seen and is not fetched. Remove requests.seen to fetch everything again',
      )
  }

  *#entries(from: number, to: number): Generator<SeenEntries> {
    const buffer = Buffer.alloc(CHUNK_BYTES)
    let rest: Buffer = Buffer.alloc(0)
    // Where `rest` begins.
    let at = from
    try {
      while (at + rest.length < to) {
        const next = at + rest.length
        const read = readSync(this.#file!, buffer, 0, Math.min(CHUNK_BYTES, to - next), next)
        if (read === 0) return
        const bytes = Buffer.concat([rest, buffer.subarray(0, read)])
        const entries = this.#form.read(bytes)
        yield entries
        rest = bytes.subarray(entries.bytes)
        at += entries.bytes
        // No fingerprint is as long as that.
        if (rest.length > CHUNK_BYTES) throw new NoSuchForm(0)
      }
      this.#form.checkTorn(rest)
    } catch (error) {
      throw error instanceof NoSuchForm ? this.#neither(at + error.at) : error
    }
  }

  #neither(at: number): SettingsError {
    const path = this.#database.path('requests.seen')
    return new SettingsError([
      `${path} is neither of Scrapy’s formats: it begins as ${this.#form.name}, and is none from byte ${at} on. A Scrapy from 2.19 on that was given a file of an older one leaves such a file. Put an older copy back, or remove it: it is written anew from what webloom.sqlite knows, and what only the file knew counts as new`,
    ])
  }

  #noted(): Noted {
    return this.#database.get<Noted>('SELECT seen_file_bytes AS bytes, seen_file_rows AS rows FROM crawl')!
  }

  #lastRow(): number {
    return this.#database.get<{ row: number }>('SELECT coalesce(max(number), 0) AS row FROM seen')!.row
  }
}

interface SeenRow {
  readonly fingerprint: FingerprintKey
}

const MAX_ENTRIES_PER_WRITE = 10_000

function take(fingerprints: Iterator<string>): string[] {
  const taken: string[] = []
  while (taken.length < MAX_ENTRIES_PER_WRITE) {
    const { value, done } = fingerprints.next()
    if (done) break
    taken.push(value)
  }
  return taken
}
