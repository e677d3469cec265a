import { renameSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { gunzipSync, gzipSync } from 'node:zlib'
import { type Crawler, type Logger, makeFolder, SettingsError, sqlite } from '@webloom/core'
import {
  BrokenCacheEntry,
  type CachedExchange,
  cacheName,
  cacheStorageOptionsOf,
  type HttpCacheStorage,
  type HttpCacheStorageOptions,
} from './http-cache-storage.ts'

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS exchanges (
    fingerprint TEXT PRIMARY KEY,
    stored_ms REAL NOT NULL,
    head TEXT NOT NULL,
    request_body BLOB NOT NULL,
    body BLOB NOT NULL,
    gzip INTEGER NOT NULL
  ) WITHOUT ROWID;
`

// Node 22 writes NULL for an empty array that has no memory of its own, such as what `TextEncoder` makes of ''.
const NOTHING = new Uint8Array(new ArrayBuffer(1), 0, 0)

// How long a call waits for another worker's write, which takes milliseconds.
const BUSY_TIMEOUT_MS = 5000

interface Row {
  readonly stored_ms: number
  readonly head: string
  readonly request_body: Uint8Array
  readonly body: Uint8Array
  readonly gzip: number
}

type Head = Pick<CachedExchange, 'method' | 'url' | 'requestHeaders' | 'status' | 'responseHeaders'>

/** A cache in one SQLite file for each spider. Quicker than files where pages are many and small. */
export class SqliteCacheStorage implements HttpCacheStorage {
  readonly #path: string
  readonly #expirationMs: number
  readonly #gzip: boolean
  readonly #database: DatabaseSync
  readonly #select: StatementSync
  readonly #insert: StatementSync
  readonly #delete: StatementSync

  /** Opens the file. A file that is not a SQLite database is renamed, and the cache begins empty. */
  constructor(options: HttpCacheStorageOptions & { readonly logger: Logger }) {
    const { folder, spiderName, expirationMs, gzip, logger } = options
    makeCacheFolder(resolve(folder))
    this.#path = join(resolve(folder), `${cacheName(spiderName)}.sqlite`)
    this.#expirationMs = expirationMs
    this.#gzip = gzip
    this.#database = this.#open(logger)
    this.#select = this.#database.prepare('SELECT * FROM exchanges WHERE fingerprint = ?')
    this.#insert = this.#database.prepare('INSERT OR REPLACE INTO exchanges VALUES (?, ?, ?, ?, ?, ?)')
    this.#delete = this.#database.prepare('DELETE FROM exchanges WHERE fingerprint = ?')
  }

  static fromCrawler(crawler: Crawler): SqliteCacheStorage {
    return new this({ ...cacheStorageOptionsOf(crawler), logger: crawler.logger })
  }

  retrieve(fingerprint: string): CachedExchange | undefined {
    try {
      return this.#exchange(this.#select.get(fingerprint) as unknown as Row | undefined)
    } catch (cause) {
      throw new BrokenCacheEntry(`${this.#path}: ${(cause as Error).message}`, { cause })
    }
  }

  store(fingerprint: string, exchange: CachedExchange): void {
    const { storedAtMs, requestBody, body, ...head } = exchange
    const bytes = (part: Uint8Array) => (this.#gzip ? gzipSync(part) : part.length > 0 ? part : NOTHING)
    this.#insert.run(
      fingerprint,
      storedAtMs,
      JSON.stringify(head),
      bytes(requestBody),
      bytes(body),
      Number(this.#gzip),
    )
  }

  remove(fingerprint: string): void {
    this.#delete.run(fingerprint)
  }

  close(): void {
    this.#database.close()
  }

  #exchange(row: Row | undefined): CachedExchange | undefined {
    if (!row) return undefined
    if (this.#expirationMs > 0 && Date.now() - row.stored_ms > this.#expirationMs) return undefined
    const bytes = (part: Uint8Array) => (row.gzip ? gunzipSync(part) : part)
    return {
      ...(JSON.parse(row.head) as Head),
      storedAtMs: row.stored_ms,
      requestBody: bytes(row.request_body),
      body: bytes(row.body),
    }
  }

  #open(logger: Logger): DatabaseSync {
    try {
      return openDatabase(this.#path)
    } catch (error) {
      if (!NOT_A_DATABASE.test((error as Error).message)) throw error
      const aside = `${this.#path}.broken-${Date.now()}`
      renameSync(this.#path, aside)
      logger.warn(
        { path: this.#path, aside },
        'the HTTP cache is not a SQLite file: it was moved aside, and a new one is begun',
      )
      return openDatabase(this.#path)
    }
  }
}

const NOT_A_DATABASE = /not a database|malformed/i

function openDatabase(path: string): DatabaseSync {
  const database = new (sqlite().DatabaseSync)(path)
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    // A page that is lost in a power cut is fetched again, so no write waits for the disk.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
    database.exec(SCHEMA)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function makeCacheFolder(folder: string): void {
  try {
    makeFolder(folder)
  } catch (error) {
    throw new SettingsError([
      `HTTPCACHE_DIR ${folder} cannot be used: ${(error as Error).message}. Name a folder that can be written, or set HTTPCACHE_ENABLED=false`,
    ])
  }
}
