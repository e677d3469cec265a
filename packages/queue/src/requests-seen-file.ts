/**
 * `requests.seen`: the seen requests in Scrapy's own format, one fingerprint and a line feed each, in the order in
 * which they were seen. With the `scrapy` fingerprinter the file can go from one to the other and back.
 *
 * The database decides; the file follows each commit. Database and file cannot change in one step, so each transaction
 * notes how much of the file was written before it:
 *
 *     bytes   0 ........... seen_file_bytes ........ end
 *             known to the database, rows            written since: by the last commit before a kill (the rows
 *             1 to seen_file_rows                    after seen_file_rows), or by Scrapy (imported)
 */

import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import type { Logger } from '@webloom/core'
import { type FingerprintKey, fingerprintOf, keyOf } from './fingerprint-key.ts'
import type { JobDatabase } from './job-database.ts'

const CHUNK_BYTES = 1024 * 1024

const LF = 0x0a

interface Noted {
  readonly bytes: number
  readonly rows: number
}

export class RequestsSeenFile {
  readonly #database: JobDatabase
  readonly #logger: Logger
  #file: number | undefined
  #bytes = 0
  #rows = 0
  /** Lines of the present transaction. */
  #lines: string[] = []

  constructor({ database, logger }: { database: JobDatabase; logger: Logger }) {
    this.#database = database
    this.#logger = logger
  }

  /** Brings file and database to the same state, whichever is ahead. */
  async open(): Promise<void> {
    this.#file = openSync(this.#database.path('requests.seen'), 'a+')
    const bytes = this.#cutTornLine()
    const noted = this.#noted()
    // Shorter than it was: removed or replaced from outside. What it says is taken over, and then it is written anew.
    const missing = bytes < noted.bytes ? this.#importAll(bytes) : this.#importTail(noted, bytes)
    for (let lines = take(missing); lines.length > 0; lines = take(missing)) this.#write(lines)
    this.#bytes = fstatSync(this.#file).size
    this.#rows = this.#lastRow()
    this.#database.run('UPDATE crawl SET seen_file_bytes = ?, seen_file_rows = ?', this.#bytes, this.#rows)
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  clear(): void {
    if (this.#file === undefined) return
    ftruncateSync(this.#file, 0)
    this.#bytes = 0
    this.#rows = 0
    this.#database.run('UPDATE crawl SET seen_file_bytes = 0, seen_file_rows = 0')
  }

  /** The fingerprint goes to the file once the present transaction is committed. */
  append(fingerprint: string): void {
    if (this.#lines.length === 0) {
      this.#database.run('UPDATE crawl SET seen_file_bytes = ?, seen_file_rows = ?', this.#bytes, this.#rows)
      this.#database.afterCommit(() => {
        const lines = this.#lines
        this.#lines = []
        this.#write(lines)
        this.#rows += lines.length
      })
    }
    this.#lines.push(fingerprint)
  }

  #write(fingerprints: readonly string[]): void {
    // After close only a filter that nobody opened again could still be asked.
    if (this.#file === undefined || fingerprints.length === 0) return
    const text = Buffer.from(
      fingerprints.map((fingerprint) => `${fingerprint.replaceAll(/[\r\n]/g, ' ')}\n`).join(''),
    )
    let written = 0
    while (written < text.length) written += writeSync(this.#file, text, written)
    this.#bytes += text.length
  }

  /** A killed run leaves half a line. Answers the bytes that are left. */
  #cutTornLine(): number {
    const file = this.#file!
    const { size } = fstatSync(file)
    let end = size
    const last = Buffer.alloc(1)
    // A fingerprint has 40 letters: this reads a few of them one by one.
    while (end > 0 && readSync(file, last, 0, 1, end - 1) === 1 && last[0] !== LF) end--
    if (end === size) return size
    ftruncateSync(file, end)
    this.#logger.warn(
      { bytes: size - end },
      'requests.seen ended in half a line, as a killed run leaves it; it was cut off',
    )
    return end
  }

  /** Takes over what was written since the last note; answers what the last commit has not written. */
  #importTail(noted: Noted, bytes: number): Iterator<string> {
    const unwritten = new Set<string>()
    for (const { fingerprint } of this.#database.each<SeenRow>(
      'SELECT fingerprint FROM seen WHERE number > ?',
      noted.rows,
    ))
      unwritten.add(fingerprintOf(fingerprint))
    this.#import(noted.bytes, bytes, unwritten)
    return unwritten.values()
  }

  /** Takes over the whole file and empties it; answers everything that is seen. */
  #importAll(bytes: number): Iterator<string> {
    this.#logger.warn('requests.seen is shorter than it was; it is written anew')
    this.#import(0, bytes, new Set())
    ftruncateSync(this.#file!, 0)
    return this.#everything()
  }

  *#everything(): Generator<string> {
    for (const { fingerprint } of this.#database.each<SeenRow>(
      'SELECT fingerprint FROM seen ORDER BY number',
    ))
      yield fingerprintOf(fingerprint)
  }

  /** In one transaction: a kill in the middle imports nothing. Lines in `unwritten` are taken out of it. */
  #import(from: number, to: number, unwritten: Set<string>): void {
    let imported = 0
    this.#database.atomically(() => {
      for (const line of this.#linesBetween(from, to)) {
        const fingerprint = line.trimEnd()
        if (fingerprint === '' || unwritten.delete(fingerprint)) continue
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

  *#linesBetween(from: number, to: number): Generator<string> {
    const buffer = Buffer.alloc(CHUNK_BYTES)
    let rest = Buffer.alloc(0)
    for (let at = from; at < to; ) {
      const read = readSync(this.#file!, buffer, 0, Math.min(CHUNK_BYTES, to - at), at)
      if (read === 0) return
      at += read
      const bytes = Buffer.concat([rest, buffer.subarray(0, read)])
      const end = bytes.lastIndexOf(LF) + 1
      if (end > 0) yield* bytes.toString('utf8', 0, end - 1).split('\n')
      rest = bytes.subarray(end)
    }
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

const WRITTEN_AT_ONCE = 10_000

function take(fingerprints: Iterator<string>): string[] {
  const taken: string[] = []
  while (taken.length < WRITTEN_AT_ONCE) {
    const { value, done } = fingerprints.next()
    if (done) break
    taken.push(value)
  }
  return taken
}
