/**
 * A key for each fingerprint, with a lifetime: after DUPEFILTER_TTL a request counts as new again.
 *
 *     {<key>}:met:<era>:<fingerprint>     empty; Redis deletes it when its lifetime is over
 *     {<key>}:record                      era, and how many were ever recorded
 *
 * Clearing begins a new era: one step, however many keys there are, and without a scan of all other keys of that Redis. No
 * worker asks for keys of the old era, and Redis deletes them after one lifetime at the latest.
 *
 * There is no cache of seen requests (DUPEFILTER_CACHE_SIZE): here they may become new again without notice.
 */

import {
  type Crawler,
  type DupeFilterDescription,
  fingerprinterOfNote,
  fingerprinterShown,
  type Request,
  SettingsError,
} from '@webloom/core'
import { type Asked, askedAbout } from '../asking/asked.ts'
import { companionKey } from './filter-keys.ts'
import { RedisDupeFilter } from './redis-dupefilter.ts'
import type { RedisDupeFilterOptions, StoreQuestion } from './redis-dupefilter-options.ts'
import { filterKeyOf, redisFilterOptionsOf } from './redis-filter-settings.ts'

/** The options of a `redis-key` filter. */
export interface RedisKeyDupeFilterOptions extends Omit<RedisDupeFilterOptions, 'cacheSize'> {
  /** DUPEFILTER_TTL: milliseconds until a request counts as new again, unless its `meta.dedupTtl` (seconds) says otherwise. */
  readonly ttlMs: number
}

/** The description of the filter. */
export interface RedisKeyDescription extends DupeFilterDescription {
  /** How many requests were ever recorded, including those whose lifetime is over: only Redis knows which are. */
  readonly count: number
  /** Milliseconds until a request counts as new again: DUPEFILTER_TTL. */
  readonly ttlMs: number
}

/** A longer lifetime would overflow the time at which Redis deletes a key. */
const TTL_MS_MAX = 1e15

/** Keys with a lifetime on Redis: exact and shared; it can forget, and forgets by itself. */
export class RedisKeyDupeFilter extends RedisDupeFilter {
  readonly #ttlMs: number
  readonly #prefix: string
  #isInvalidSaid = false

  constructor(options: RedisKeyDupeFilterOptions) {
    super(
      { ...options, cacheSize: 0 },
      ['redis/key-store.lua', 'redis/key-record.lua', 'redis/exact.lua'],
      'scrapy-redis',
    )
    if (!isLifetime(options.ttlMs)) {
      throw new SettingsError([
        `DUPEFILTER_TTL is ${options.ttlMs / 1000}; expected seconds, more than 0: after that time a request counts as new again`,
      ])
    }
    this.#ttlMs = Math.ceil(options.ttlMs)
    this.#prefix = companionKey(this.keys.main, 'met')
  }

  /** Makes the filter that the settings ask for, on the crawl's connection. */
  static fromCrawler(crawler: Crawler): RedisKeyDupeFilter {
    const ttl = crawler.settings.get('DUPEFILTER_TTL')
    if (ttl === null) {
      throw new SettingsError([
        'DUPEFILTER_CLASS is redis-key, which keeps a request for a while, and DUPEFILTER_TTL does not say how long: set it to seconds (86400 is a day). For good it is kept by redis-set',
      ])
    }
    return new this({
      ...redisFilterOptionsOf(crawler, 'scrapy-redis'),
      key: filterKeyOf(crawler),
      ttlMs: ttl * 1000,
    })
  }

  async describe(): Promise<RedisKeyDescription> {
    await this.followNote()
    const recorded = await this.redis.hget(this.keys.record, 'recorded')
    return {
      name: 'redis-key',
      ...fingerprinterShown(this.fingerprinter),
      count: Number(recorded ?? 0),
      owners: true,
      ttlMs: this.#ttlMs,
    }
  }

  async has(request: Request): Promise<boolean> {
    const era = await this.redis.hget(this.keys.record, 'era')
    const { fingerprint } = askedAbout(request, this.fingerprinter)
    return era !== null && (await this.redis.exists(`${this.#prefix}:${era}:${fingerprint}`)) === 1
  }

  async forget(request: Request): Promise<void> {
    await this.erase(request)
  }

  protected question(asked: readonly Asked[]): StoreQuestion {
    const lifetimes: Record<number, number> = {}
    for (const [n, { request }] of asked.entries()) {
      const own = this.#ownTtlMs(request)
      // Lua counts from 1.
      if (own !== undefined) lifetimes[n + 1] = own
    }
    return {
      members: asked.map(({ fingerprint }) => fingerprint),
      header: { prefix: this.#prefix, ttlMs: this.#ttlMs, lifetimes },
    }
  }

  protected async openStore(): Promise<void> {
    const { main, record } = this.keys
    const type = await this.redis.type(main)
    if (type !== 'none') {
      throw new SettingsError([
        `DUPEFILTER_CLASS is redis-key, but the key ${main} holds a ${type}, as redis-set or a Bloom filter does; set DUPEFILTER_CLASS to what filled it, or another SCHEDULER_DUPEFILTER_KEY`,
      ])
    }
    const note = await this.redis.hget(record, 'fingerprinter')
    const stored = note === null ? this.fingerprinter.name : fingerprinterOfNote(note)
    if (stored !== this.fingerprinter.name) {
      throw new SettingsError([
        `the keys of ${main} were made with fingerprints by ${stored}, and this worker makes them by ${this.fingerprinter.name} (FINGERPRINTER, DUPEFILTER_DIGEST, CANONICALIZER): set these back, or choose another SCHEDULER_DUPEFILTER_KEY, or delete ${record}`,
      ])
    }
  }

  protected override async storeKeys(): Promise<readonly string[]> {
    return []
  }

  /** Undefined, as only Redis knows how many keys are left. */
  override async memoryBytes(): Promise<undefined> {}

  /** Returns `meta.dedupTtl` in milliseconds; undefined when it is absent or invalid. */
  #ownTtlMs(request: Request): number | undefined {
    const seconds = request.hasMeta ? request.meta.dedupTtl : undefined
    if (seconds === undefined || seconds === null) return undefined
    if (typeof seconds === 'number' && isLifetime(seconds * 1000)) return Math.ceil(seconds * 1000)
    if (!this.#isInvalidSaid) {
      this.#isInvalidSaid = true
      this.logger.warn(
        { url: request.url, dedupTtl: seconds },
        'meta.dedupTtl must be a number of seconds above 0; DUPEFILTER_TTL is used. Further ones are not logged',
      )
    }
    return undefined
  }
}

function isLifetime(ms: number): boolean {
  return ms > 0 && ms <= TTL_MS_MAX
}
