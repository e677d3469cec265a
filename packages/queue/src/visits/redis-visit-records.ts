import { hash } from 'node:crypto'
import {
  type AskedPage,
  type FoundVisit,
  isInALine,
  type RedisScript,
  redisError,
  type Visit,
  type VisitedPage,
  type VisitStore,
  type VisitTotals,
  visitFromBytes,
  visitToBytes,
  withRedisCodes,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { luaScript } from '../redis/lua.ts'
import { FINGERPRINT_BYTES, RequestPacker } from './packed-request.ts'

const recordScript = luaScript(
  'redis/args.lua',
  'visits/wheel.lua',
  'visits/put-on.lua',
  'visits/keep.lua',
  'visits/record.lua',
)
const rescheduleScript = luaScript(
  'redis/args.lua',
  'visits/wheel.lua',
  'visits/put-on.lua',
  'visits/reschedule.lua',
)
const askAnewScript = luaScript(
  'redis/args.lua',
  'visits/wheel.lua',
  'visits/put-on.lua',
  'visits/ask-anew.lua',
)
const forgetScript = luaScript('redis/args.lua', 'visits/wheel.lua', 'visits/forget.lua')

// A hash of more than 512 pages is no packed block any more: that comes with some 60 million. Fewer buckets save little, and searching longer ones takes longer.
const BUCKETS = 2 ** 17
const NOTE_BUCKETS = 2 ** 15
const SHA1_HEX = /^[0-9a-f]{40}$/
// Visits an hour are counted in thousand millionths, see visits/wheel.lua.
const COUNTED_PER_VISIT = 1e9
const MAX_KEYS_PER_CLEAR = 4096

export interface RedisVisitRecordsOptions {
  /** The queue's; opened and closed by whoever gives it. */
  readonly redis: Redis
  readonly keys: Pick<CrawlRedisKeys, 'visits'>
  /** Of how many short names this worker remembers what they stand for. Tests give their own. */
  readonly namesMax?: number
}

/**
 * The visits of a crawl on Redis, as far as pages are named by their fingerprints. What is read from the wheel has some bytes of one, and is for those who
 * can make them: `RedisVisits`.
 */
export class RedisVisitRecords implements Omit<VisitStore, 'due' | 'waiting'> {
  protected readonly redis: Redis
  protected readonly base: string
  protected readonly packer: RequestPacker

  constructor({ redis, keys, namesMax }: RedisVisitRecordsOptions) {
    this.redis = redis
    this.base = keys.visits
    this.packer = new RequestPacker(namesMax === undefined ? {} : { textsMax: namesMax })
  }

  async record(pages: readonly VisitedPage[]): Promise<void> {
    const names = new Map<string, string>()
    const packed = pages.flatMap(({ fingerprint, request, visit }) => {
      const name = nameOf(fingerprint)
      return [name, visitToBytes(visit), this.packer.pack(name, request, names)]
    })
    await recordScript.run(
      this.redis,
      [this.base],
      ['', names.size, ...toldNames(names), pages.length, ...packed],
    )
  }

  /** Returns the arguments by which a script notes the visit, as buckets/steps/ended.lua has them. */
  bytesOf({ fingerprint, request, visit }: VisitedPage): (Buffer | string)[] {
    const [name, names] = [nameOf(fingerprint), new Map<string, string>()]
    const packed = this.packer.pack(name, request, names)
    return [name, visitToBytes(visit), packed, ...toldNames(names)]
  }

  async find(fingerprints: readonly string[]): Promise<readonly (FoundVisit | undefined)[]> {
    const records = await this.recordsOf(fingerprints.map(nameOf))
    return records.map((record) => record && { ...visitFromBytes(record), isInALine: isInALine(record) })
  }

  reschedule(pages: readonly AskedPage[], at: number): Promise<readonly string[]> {
    return this.#askedBy(rescheduleScript, [Math.floor(at / 1000)], pages)
  }

  askAnew(pages: readonly AskedPage[]): Promise<readonly string[]> {
    return this.#askedBy(askAnewScript, [], pages)
  }

  /** Resolves to the fingerprints of those for which the script answers 1. */
  async #askedBy(
    script: RedisScript,
    first: readonly number[],
    pages: readonly AskedPage[],
  ): Promise<readonly string[]> {
    const names = new Map<string, string>()
    const packed = pages.flatMap(({ fingerprint, request }) => {
      const name = nameOf(fingerprint)
      return [name, this.packer.pack(name, request, names)]
    })
    const args = ['', ...first, names.size, ...toldNames(names), pages.length, ...packed]
    const done = (await script.run(this.redis, [this.base], args)) as number[]
    return pages.filter((_, n) => done[n] === 1).map(({ fingerprint }) => fingerprint)
  }

  async forget(fingerprints: readonly string[]): Promise<readonly string[]> {
    const names = fingerprints.map((fingerprint) => nameOf(fingerprint))
    const gone = (await forgetScript.run(this.redis, [this.base], ['', names.length, ...names])) as number[]
    return fingerprints.filter((_, n) => gone[n] === 1)
  }

  async sample(max: number): Promise<readonly Visit[]> {
    const kept = await withRedisCodes(this.redis.hvalsBuffer(`${this.base}:sample`))
    return kept.slice(0, max).map((page) => visitFromBytes(page.subarray(FINGERPRINT_BYTES)))
  }

  async totals(): Promise<VisitTotals> {
    const [pages, asked] = await withRedisCodes(this.redis.hmget(`${this.base}:counts`, 'pages', 'asked'))
    return { pages: Number(pages ?? 0), perHour: Number(asked ?? 0) / COUNTED_PER_VISIT }
  }

  async notes(names: readonly string[]): Promise<readonly (string | undefined)[]> {
    const texts = await this.pipelined(names.map((name) => ['hget', ...this.#noteKeyAndField(name)]))
    return texts.map((text) => (text as string | null) ?? undefined)
  }

  async note(notes: ReadonlyMap<string, string>): Promise<void> {
    await this.pipelined([...notes].map(([name, text]) => ['hset', ...this.#noteKeyAndField(name), text]))
  }

  /** A broad crawl has notes of as many hosts as it has pages: they lie as records do. */
  #noteKeyAndField(name: string): [key: string, field: Buffer] {
    const { bucket, field } = bucketAndField(nameOf(name))
    return [`${this.base}:notes:${bucket % NOTE_BUCKETS}`, field]
  }

  async clear(): Promise<void> {
    const spans = await this.spans()
    if (spans.length === 0 && (await this.totals()).pages === 0) return
    await this.#unlink(spans.map((span) => `due:${span}`))
    await this.#unlink(Array.from({ length: BUCKETS }, (_, n) => `of:${n}`))
    await this.#unlink(Array.from({ length: NOTE_BUCKETS }, (_, n) => `notes:${n}`))
    await this.#unlink(['spans', 'names', 'sample', 'counts', 'moving', 'forgotten'])
  }

  /** Resolves to the replies. Rejects as a script does, with a code when the same commands may succeed later. */
  protected async pipelined(commands: readonly (readonly (string | Buffer)[])[]): Promise<unknown[]> {
    if (commands.length === 0) return []
    const replies = await withRedisCodes(this.redis.pipeline(commands.map((one) => [...one])).exec())
    return (replies ?? []).map(([error, reply]) => {
      if (error) throw redisError(error)
      return reply
    })
  }

  protected async recordsOf(names: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
    const commands = names.map((name) => {
      const { bucket, field } = bucketAndField(name)
      return ['hgetBuffer', `${this.base}:of:${bucket}`, field]
    })
    return (await this.pipelined(commands)).map((record) => (record as Buffer | null) ?? undefined)
  }

  protected spans(): Promise<string[]> {
    return withRedisCodes(this.redis.zrange(`${this.base}:spans`, '0', '-1'))
  }

  async #unlink(names: readonly string[]): Promise<void> {
    for (let at = 0; at < names.length; at += MAX_KEYS_PER_CLEAR)
      await withRedisCodes(
        this.redis.unlink(names.slice(at, at + MAX_KEYS_PER_CLEAR).map((name) => `${this.base}:${name}`)),
      )
  }
}

/** The bytes by which a page is known here. */
export function nameOf(fingerprint: string): Buffer {
  const hex = SHA1_HEX.test(fingerprint) ? fingerprint : hash('sha1', fingerprint)
  return Buffer.from(hex.slice(0, 2 * FINGERPRINT_BYTES), 'hex')
}

/** Short names and what they stand for, as scripts take them. */
function toldNames(names: ReadonlyMap<string, string>): (Buffer | string)[] {
  return [...names].flatMap(([name, text]) => [Buffer.from(name, 'latin1'), text])
}

/** As `keyAndField` in visits/wheel.lua. */
function bucketAndField(name: Buffer): { readonly bucket: number; readonly field: Buffer } {
  return { bucket: name[0]! * 512 + name[1]! * 2 + (name[2]! >> 7), field: name.subarray(2) }
}
