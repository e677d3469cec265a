import {
  type Crawler,
  type DupeFilterDescription,
  fingerprinterOfNote,
  fingerprinterShown,
  type Request,
  SettingsError,
} from '@webloom/core'
import type { Asked } from '../asking/asked.ts'
import { RedisDupeFilter } from './redis-dupefilter.ts'
import type { RedisDupeFilterOptions, StoreQuestion } from './redis-dupefilter-options.ts'
import { filterKeyOf, redisFilterOptionsOf } from './redis-filter-settings.ts'

/**
 * How a fingerprint is stored. Measured with 10^6 of them on Redis 7 (benchmarks/dupefilter-bench.ts):
 *
 * - `hex`: 40 digits, as in scrapy-redis; 88 bytes each
 * - `binary20`: the same 20 bytes; 72 bytes each, and scrapy-redis does not understand them
 * - `binary16`: the first 16 bytes; as large as `binary20`, as Redis allocates both alike
 *
 * Of a hash other than SHA-1 the first 20 or 16 bytes are stored, or all if it has fewer. A fingerprint that is not a hash (a
 * user's own, a URL) is stored as text.
 */
export type SetMembers = 'hex' | 'binary20' | 'binary16'

/** The options of a `redis-set` filter. */
export interface RedisSetDupeFilterOptions extends RedisDupeFilterOptions {
  /** DUPEFILTER_MEMBERS. Default hex. A filter keeps the form that it was begun with. */
  readonly members?: SetMembers
}

const BYTES: Readonly<Record<SetMembers, number>> = { hex: 0, binary20: 20, binary16: 16 }

/**
 * A Redis set of fingerprints, as in scrapy-redis: exact, shared, and able to forget. A set that a Python crawler filled
 * can be used further when the fingerprints are made as there (`scrapy-redis`, the default here).
 */
export class RedisSetDupeFilter extends RedisDupeFilter {
  /** Bytes of a member; 0: the fingerprint is stored as text. */
  readonly #bytes: number

  constructor(options: RedisSetDupeFilterOptions) {
    super(options, ['redis/set-store.lua', 'redis/exact.lua'], 'scrapy-redis')
    this.#bytes = Math.min(BYTES[options.members ?? 'hex'], this.fingerprinter.hashBytes ?? 0)
  }

  /** Makes the filter that the settings ask for, on the crawl's connection. */
  static fromCrawler(crawler: Crawler): RedisSetDupeFilter {
    return new this({
      ...redisFilterOptionsOf(crawler, 'scrapy-redis'),
      key: filterKeyOf(crawler),
      members: crawler.settings.get('DUPEFILTER_MEMBERS'),
    })
  }

  async describe(): Promise<DupeFilterDescription> {
    await this.#checkType()
    const count = await this.redis.scard(this.keys.main)
    await this.followNote()
    return { name: 'redis-set', ...fingerprinterShown(this.fingerprinter), count, owners: true }
  }

  async has(request: Request): Promise<boolean> {
    return (await this.redis.sismember(this.keys.main, this.#memberOf(request))) === 1
  }

  async forget(request: Request): Promise<void> {
    await this.erase(request)
  }

  protected question(asked: readonly Asked[]): StoreQuestion {
    return { members: asked.map(({ fingerprint }) => this.#member(fingerprint)) }
  }

  protected async openStore(): Promise<void> {
    const type = await this.#checkType()
    // Notes about a set that is gone do not hold for the next one.
    if (type === 'none') await this.redis.hdel(this.keys.record, 'generation', 'fingerprinter')
    else {
      await this.#checkFingerprinter()
      await this.#checkMembers()
    }
  }

  async #checkType(): Promise<string> {
    const { main } = this.keys
    const type = await this.redis.type(main)
    if (type === 'string') {
      throw new SettingsError([
        `DUPEFILTER_CLASS is redis-set, but the key ${main} holds a string, as a Bloom filter does; set DUPEFILTER_CLASS=redis-bloom (and BLOOMFILTER_COMPAT if a Python crawler filled it), or another SCHEDULER_DUPEFILTER_KEY`,
      ])
    }
    if (type !== 'set' && type !== 'none') {
      throw new SettingsError([
        `SCHEDULER_DUPEFILTER_KEY is ${main}, a key that holds a ${type}; redis-set needs a set or a key that is not used yet`,
      ])
    }
    return type
  }

  protected override async note(): Promise<string | null> {
    // Notes about a set that is gone do not hold for the next one.
    return (await this.redis.exists(this.keys.main)) === 1 ? super.note() : null
  }

  /**
   * Throws when the settings make other fingerprints than the stored ones: each request would be new again. A Python
   * crawler leaves no note.
   */
  async #checkFingerprinter(): Promise<void> {
    const { main, record } = this.keys
    const note = await this.redis.hget(record, 'fingerprinter')
    if (note === null) return
    const stored = fingerprinterOfNote(note)
    if (stored === this.fingerprinter.name) return
    throw new SettingsError([
      `the set ${main} was filled with fingerprints made by ${stored}, and this worker makes them by ${this.fingerprinter.name} (FINGERPRINTER, DUPEFILTER_DIGEST, CANONICALIZER): set these back, or choose another SCHEDULER_DUPEFILTER_KEY, or delete ${main}`,
    ])
  }

  /**
   * Throws when the settings ask for another form than the stored one: a set of 40 digits, asked for 20 bytes, would have
   * each request new again.
   */
  async #checkMembers(): Promise<void> {
    const { hashBytes } = this.fingerprinter
    const member = await this.redis.srandmemberBuffer(this.keys.main)
    // The form of a user's own texts is unknown.
    if (hashBytes === undefined || !(member instanceof Buffer)) return
    const found = formOf(member)
    const own = this.#bytes === 0 ? `${2 * hashBytes} hex digits` : `${this.#bytes} bytes`
    if (found === undefined || found === own) return
    throw new SettingsError([
      `the set ${this.keys.main} keeps its members as ${found}, and this worker as ${own} (DUPEFILTER_MEMBERS, DUPEFILTER_DIGEST): set these to what the set was begun with, or choose another SCHEDULER_DUPEFILTER_KEY, or delete ${this.keys.main}`,
    ])
  }

  #memberOf(request: Request): string | Buffer {
    return this.#member(this.fingerprinter.fingerprint(request))
  }

  #member(fingerprint: string): string | Buffer {
    return this.#bytes === 0 ? fingerprint : Buffer.from(fingerprint.slice(0, 2 * this.#bytes), 'hex')
  }
}

/**
 * Returns a member's form; undefined for a form that is never stored here: another program has added the member, and one
 * member is not all.
 */
function formOf(member: Buffer): string | undefined {
  const { length } = member
  if (/^([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})$/.test(member.toString('latin1')))
    return `${length} hex digits`
  return length === 20 || length === 16 ? `${length} bytes` : undefined
}
