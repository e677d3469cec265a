import { type Crawler, crawlKey, type Logger, type StatsCollector } from '@webloom/core'
import { MemoryRobotsStore, type RobotsEntry, type RobotsStore } from './robots-store.ts'

/** The part of an ioredis connection that this store needs. */
export interface RobotsRedis {
  get(key: string): Promise<string | null>
  set(key: string, value: string, px: 'PX', ttlMs: number): Promise<unknown>
}

export interface RedisRobotsStoreOptions {
  readonly redis: RobotsRedis
  /** A pattern that holds `%(origin)s`. */
  readonly key: string
  /** The entries that this worker uses. */
  readonly local: MemoryRobotsStore
  readonly stats: StatsCollector
  readonly logger: Logger
  /** `Date.now` by default. */
  readonly now?: () => number
}

// One string for each site, not one hash for all, as only Redis 7.4 can let single fields of a hash expire.
export const ROBOTS_KEY = '%(spider)s:robots:%(origin)s'

// Larger files stay with the worker that fetched them: any number of sites could fill Redis with files of 500 KiB.
const SHARED_FILE_BYTES_MAX = 65_536

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
      key: crawlKey(ROBOTS_KEY, { spider: spider.name, crawlId: settings.get('CRAWL_ID') }),
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
    if (entry.outcome === 'rules' && entry.file.length > SHARED_FILE_BYTES_MAX) return
    const { redis } = this.#options
    try {
      await redis.set(
        this.#key(origin),
        JSON.stringify({ ...entry, untilMs: this.#now() + ttlMs }),
        'PX',
        ttlMs,
      )
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Returns the entry of another worker that has asked the site since; `own` when Redis does not answer. */
  async #shared(origin: string, own: RobotsEntry | undefined): Promise<RobotsEntry | undefined> {
    try {
      const text = await this.#options.redis.get(this.#key(origin))
      const shared = text === null ? undefined : sharedEntry(text)
      // An entry that was not shared, as it is large or Redis refused it, may be newer than the shared one.
      if (!shared || (own && own.askAgainAtMs >= shared.askAgainAtMs)) return own
      const { untilMs, ...entry } = shared
      this.#local.set(origin, entry, untilMs - this.#now())
      return entry
    } catch (error) {
      this.#failed(error)
      return own
    }
  }

  #key(origin: string): string {
    return this.#options.key.replace('%(origin)s', () => origin)
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

/** Returns what another worker wrote; undefined when this release does not understand it. */
function sharedEntry(text: string): (RobotsEntry & { untilMs: number }) | undefined {
  const value = JSON.parse(text) as Partial<Record<string, unknown>> | null
  const isEntry =
    typeof value?.askAgainAtMs === 'number' &&
    typeof value.untilMs === 'number' &&
    HAS_PARTS[String(value.outcome)]?.(value)
  return isEntry ? (value as unknown as RobotsEntry & { untilMs: number }) : undefined
}

const HAS_PARTS: Readonly<Record<string, (value: Partial<Record<string, unknown>>) => boolean>> = {
  rules: ({ file }) => typeof file === 'string',
  absent: () => true,
  unreachable: ({ reason, tries, sinceMs, isGivenUp }) =>
    typeof reason === 'string' &&
    typeof tries === 'number' &&
    typeof sinceMs === 'number' &&
    typeof isGivenUp === 'boolean',
}
