import { randomUUID } from 'node:crypto'
import { type DupeFilterDescription, type Request, SettingsError } from '@webloom/core'
import { RedisDupeFilter, type RedisDupeFilterOptions, type StoreQuestion } from './redis-dupefilter.ts'
import { RedisScript } from './redis-script.ts'

/**
 * How a fingerprint is kept. Measured with 10^6 of them on Redis 7 (benchmarks/dupefilter-bench.ts):
 *
 * - `hex`: 40 digits, as scrapy-redis keeps them; 88 bytes each
 * - `binary20`: the same 20 bytes; 72 bytes each, and scrapy-redis does not understand them
 * - `binary16`: the first 16 bytes; as large as `binary20`, as Redis allocates both alike
 */
export type SetMembers = 'hex' | 'binary20' | 'binary16'

export interface RedisSetDupeFilterOptions extends RedisDupeFilterOptions {
  /** Default hex. A filter keeps what it was begun with. */
  readonly members?: SetMembers
}

/** Bytes of a member. A custom fingerprint that is no SHA-1 in hex is kept as the text it is. */
const BYTES: Record<SetMembers, number | undefined> = { hex: undefined, binary20: 20, binary16: 16 }

/**
 * A Redis set of fingerprints, as scrapy-redis keeps it: exact, shared, and able to forget. A set that a Python crawler
 * filled goes on being used when the fingerprints are made as there (`scrapy-redis`, the default here).
 */
export class RedisSetDupeFilter extends RedisDupeFilter {
  readonly #members: SetMembers
  readonly #forgetScript = new RedisScript('owners.lua', 'set-forget.lua')

  constructor(options: RedisSetDupeFilterOptions) {
    super(options, ['set-store.lua'], 'scrapy-redis')
    this.#members = options.members ?? 'hex'
  }

  protected get askAtOnceMax(): number {
    return 500
  }

  async describe(): Promise<DupeFilterDescription> {
    const count = await this.redis.scard(this.keys.main)
    return { name: 'redis-set', fingerprinter: this.fingerprinter.name, count, owners: true }
  }

  async has(request: Request): Promise<boolean> {
    return (await this.redis.sismember(this.keys.main, this.#member(this.#fingerprint(request)))) === 1
  }

  async forget(request: Request): Promise<void> {
    const { main, pending, owners, settled, record } = this.keys
    const member = this.#member(this.#fingerprint(request))
    await this.#forgetScript.run(
      this.redis,
      [main, pending, owners, settled, record],
      ['{}', member, randomUUID()],
    )
    this.forgetCached()
  }

  protected question(fingerprints: readonly string[]): StoreQuestion {
    return { members: fingerprints.map((fingerprint) => this.#member(fingerprint)) }
  }

  protected async openStore(): Promise<void> {
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
    if (type === 'set') await this.#checkMembers()
  }

  protected async clearStore(): Promise<void> {
    await this.redis.unlink(this.keys.main)
  }

  /** A set of 40 digits, asked for 20 bytes, would have everything met again. */
  async #checkMembers(): Promise<void> {
    const member = await this.redis.srandmemberBuffer(this.keys.main)
    if (!(member instanceof Buffer)) return
    const found = /^[0-9a-f]{40}$/.test(member.toString('latin1'))
      ? 'hex'
      : member.length === 20
        ? 'binary20'
        : member.length === 16
          ? 'binary16'
          : undefined
    if (found === undefined || found === this.#members) return
    throw new SettingsError([
      `the set ${this.keys.main} keeps its fingerprints as ${found}, and this worker is set to ${this.#members}; give it members: '${found}', or another SCHEDULER_DUPEFILTER_KEY`,
    ])
  }

  #fingerprint(request: Request): string {
    return this.fingerprinter.fingerprint(request)
  }

  #member(fingerprint: string): string | Buffer {
    const bytes = BYTES[this.#members]
    if (bytes === undefined || !SHA1_HEX.test(fingerprint)) return fingerprint
    return Buffer.from(fingerprint.slice(0, 2 * bytes), 'hex')
  }
}

const SHA1_HEX = /^[0-9a-f]{40}$/
