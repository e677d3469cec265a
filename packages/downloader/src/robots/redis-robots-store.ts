/**
 * What sites' robots.txt said, for all workers of a crawl. Buckets of hosts move between workers, and the next worker of a
 * host shall not ask it again.
 *
 *     {<part>}:sites    hash: 64 bits of an origin's SHA-1 → `packed-robots.ts`. A site that allows all takes 16 bytes
 *     {<part>}:files    hash: digest → the lines that count, once for all sites that have the same
 *     …:older           the generation before
 *
 * A part is chosen by the origin, or by the file. A hash of a few hundred short fields is one packed block for Redis; a key for
 * each site took some 300 bytes. Each part is bounded by bytes: when its younger generation is full, it becomes the older one,
 * and what was told longest ago is forgotten. A part is also over when nothing was told for as long as entries are kept.
 *
 * Not chosen: one string a site, which expires by itself, but is bounded by nothing; fields that expire, which only Redis 7.4
 * has; an order of use, which would make each look-up a write.
 */

import { hash } from 'node:crypto'
import {
  type Crawler,
  crawlKey,
  crawlNameOf,
  type Logger,
  luaScriptsIn,
  RecentBytes,
  type ScriptRunner,
  type StatsCollector,
} from '@webloom/core'
import { digestOf, packedRobots, type UnpackedRobots, unpackedRobots } from './packed-robots.ts'
import { MemoryRobotsStore, type RobotsEntry, type RobotsStore } from './robots-store.ts'

/** The part of an ioredis connection that this store needs. */
export interface RobotsRedis extends ScriptRunner {
  hget(key: string, field: Buffer): Promise<string | null>
  hgetBuffer(key: string, field: string): Promise<Buffer | null>
}

export interface RedisRobotsStoreOptions {
  readonly redis: RobotsRedis
  /** A pattern that holds `%(part)s`. */
  readonly key: string
  /** The most that sites, and files, may take on Redis each. */
  readonly bytesMax: number
  /** The entries that this worker uses. */
  readonly local: MemoryRobotsStore
  readonly stats: StatsCollector
  readonly logger: Logger
  /** `Date.now` by default. */
  readonly now?: () => number
}

export const ROBOTS_KEY = '%(spider)s:robots:%(part)s'

// 4 KiB are 186 sites that allow all, as they are weighed here, and fewer fields than Redis packs (512).
const SITES_GENERATION_BYTES = 4096
const FILES_GENERATION_BYTES = 262_144
// Of a field in a packed hash, and in one with long values.
const SITE_OVERHEAD_BYTES = 4
const FILE_OVERHEAD_BYTES = 100
// Larger files stay with the worker that fetched them, so that a generation holds at least three of any site.
const SHARED_FILE_BYTES_MAX = 65_536
// A file that another site has, too, is stored again after this time, so that files in use are in the younger generation.
const FILE_STORED_AGAIN_MS = 3_600_000
const FILES_STORED_BYTES_MAX = 1_048_576
const FILE_STORED_BYTES = 128

const keep = luaScriptsIn(new URL('../../lua/', import.meta.url))('robots/keep.lua')

interface Generations {
  readonly keys: readonly [younger: string, older: string]
  readonly bytesMax: number
  readonly overheadBytes: number
}

/**
 * Entries that the workers of a crawl share; the entries that this worker uses are also in its memory.
 *
 * Redis can lose an entry or refuse one. Then each worker asks the site for itself. That is logged once and counted as
 * `robotstxt/store_error_count`.
 */
export class RedisRobotsStore implements RobotsStore {
  readonly #options: RedisRobotsStoreOptions
  readonly #local: MemoryRobotsStore
  readonly #now: () => number
  /** When this worker stored a file, by its digest. */
  readonly #filesStored = new RecentBytes<string, number>(FILES_STORED_BYTES_MAX)
  #hasFailed = false

  constructor(options: RedisRobotsStoreOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#local = options.local
  }

  static fromCrawler(crawler: Crawler): RedisRobotsStore {
    const { redis, settings, spider, stats, logger } = crawler
    return new this({
      redis: redis('queue'),
      key: crawlKey(ROBOTS_KEY, crawlNameOf(settings, spider.name)),
      bytesMax: settings.getInt('ROBOTSTXT_CACHE_MAXSIZE'),
      local: MemoryRobotsStore.fromCrawler(crawler),
      stats,
      logger,
    })
  }

  get(origin: string): RobotsEntry | undefined | Promise<RobotsEntry | undefined> {
    const own = this.#local.get(origin)
    return own && own.askAgainAtMs > this.#now() ? own : this.#shared(origin, own)
  }

  async set(origin: string, entry: RobotsEntry, ttlMs: number): Promise<void> {
    this.#local.set(origin, entry, ttlMs)
    const untilMs = this.#now() + ttlMs
    try {
      if (entry.outcome !== 'rules') await this.#keepSite(origin, packedRobots(entry, untilMs), ttlMs)
      else if (entry.file.length <= SHARED_FILE_BYTES_MAX)
        await Promise.all([
          this.#keepFile(entry.file, ttlMs),
          this.#keepSite(origin, packedRobots(entry, untilMs), ttlMs),
        ])
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Returns the entry of another worker that has asked the site since; `own` when Redis does not answer. */
  async #shared(origin: string, own: RobotsEntry | undefined): Promise<RobotsEntry | undefined> {
    try {
      const shared = await this.#site(origin)
      // An entry that was not shared, as it is large or Redis refused it, may be newer than the shared one.
      if (!shared || (own && own.askAgainAtMs >= shared.askAgainAtMs)) return own
      const entry = await this.#whole(shared)
      if (!entry) return own
      this.#local.set(origin, entry, shared.untilMs - this.#now())
      return entry
    } catch (error) {
      this.#failed(error)
      return own
    }
  }

  async #site(origin: string): Promise<UnpackedRobots | undefined> {
    const { part, field } = this.#placeOf(origin)
    const { redis } = this.#options
    // Sent together: one round trip.
    const [younger, older] = await Promise.all(part.keys.map((key) => redis.hget(key, field)))
    const text = younger ?? older ?? undefined
    const shared = text === undefined ? undefined : unpackedRobots(text)
    return shared && shared.untilMs > this.#now() ? shared : undefined
  }

  /** Returns undefined when the file of the rules is forgotten. */
  async #whole(shared: UnpackedRobots): Promise<RobotsEntry | undefined> {
    const { untilMs, ...entry } = shared
    if (entry.outcome !== 'rules') return entry
    const { redis } = this.#options
    const [younger, older] = await Promise.all(
      this.#filesOf(entry.digest).keys.map((key) => redis.hgetBuffer(key, entry.digest)),
    )
    const file = younger ?? older
    return file
      ? { outcome: 'rules', file: file.toString('latin1'), askAgainAtMs: entry.askAgainAtMs }
      : undefined
  }

  async #keepSite(origin: string, packed: string, ttlMs: number): Promise<void> {
    const { part, field } = this.#placeOf(origin)
    await this.#keep(part, field, packed, ttlMs)
  }

  async #keepFile(file: string, ttlMs: number): Promise<void> {
    const digest = digestOf(file)
    const nowMs = this.#now()
    if (nowMs - (this.#filesStored.get(digest) ?? Number.NEGATIVE_INFINITY) < FILE_STORED_AGAIN_MS) return
    await this.#keep(this.#filesOf(digest), digest, Buffer.from(file, 'latin1'), ttlMs + FILE_STORED_AGAIN_MS)
    this.#filesStored.set(digest, nowMs, FILE_STORED_BYTES)
  }

  async #keep(
    { keys, bytesMax, overheadBytes }: Generations,
    field: string | Buffer,
    value: string | Buffer,
    ttlMs: number,
  ): Promise<void> {
    if (ttlMs <= 0) return
    const forgotten = await keep.run(this.#options.redis, keys, [
      field,
      value,
      overheadBytes,
      bytesMax,
      Math.ceil(ttlMs),
    ])
    if (forgotten === 1) this.#options.stats.inc('robotstxt/shared_forgotten')
  }

  #placeOf(origin: string): { readonly part: Generations; readonly field: Buffer } {
    const digest = hash('sha1', origin, 'buffer')
    const keys = this.#keysOf('sites', SITES_GENERATION_BYTES, digest.readUInt32BE(8))
    const part = { keys, bytesMax: SITES_GENERATION_BYTES, overheadBytes: SITE_OVERHEAD_BYTES }
    return { part, field: digest.subarray(0, 8) }
  }

  #filesOf(digest: string): Generations {
    const number = Buffer.from(digest, 'base64url').readUInt32BE(0)
    const keys = this.#keysOf('files', FILES_GENERATION_BYTES, number)
    return { keys, bytesMax: FILES_GENERATION_BYTES, overheadBytes: FILE_OVERHEAD_BYTES }
  }

  /** The keys of a part. Braces, as a script has both: in a Redis Cluster they are in one slot. */
  #keysOf(what: string, generationBytes: number, number: number): readonly [string, string] {
    const parts = Math.max(1, Math.floor(this.#options.bytesMax / 2 / generationBytes))
    const key = this.#options.key.replace('%(part)s', () => `{${number % parts}}:${what}`)
    return [key, `${key}:older`]
  }

  #failed(error: unknown): void {
    const { stats, logger } = this.#options
    stats.inc('robotstxt/store_error_count')
    if (this.#hasFailed) return
    this.#hasFailed = true
    logger.warn(
      { reason: (error as Error).message },
      'robots.txt cannot be shared through Redis; each worker asks for itself',
    )
  }
}
