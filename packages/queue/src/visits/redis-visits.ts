import { hash } from 'node:crypto'
import {
  type AskedPage,
  type DuePages,
  type FoundVisit,
  isInALine,
  type RedisScript,
  type Request,
  redisError,
  type ScriptRunner,
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
import { RequestPacker, unpackRequest } from './packed-request.ts'
import { type ReadEntry, tokenOf } from './read-entries.ts'

const recordScript = luaScript(
  'redis/args.lua',
  'visits/wheel.lua',
  'visits/put-on.lua',
  'visits/keep.lua',
  'visits/record.lua',
)
const dueScript = luaScript('visits/wheel.lua', 'visits/due.lua')
const rescheduleScript = luaScript(
  'redis/args.lua',
  'visits/wheel.lua',
  'visits/put-on.lua',
  'visits/reschedule.lua',
)
const moveScript = luaScript('redis/args.lua', 'visits/wheel.lua', 'visits/put-on.lua', 'visits/move.lua')
const forgetScript = luaScript('redis/args.lua', 'visits/wheel.lua', 'visits/forget.lua')

// Of a fingerprint's bytes: with 10 ** 8 pages one in 4 000 crawls has two that are taken for one.
const FINGERPRINT_BYTES = 8
/** Of an entry that cannot be read: no page has it. */
const NO_NAME = Buffer.alloc(FINGERPRINT_BYTES)
// A hash of more than 512 pages is no packed block any more: that comes with some 60 million. Fewer buckets save little, and searching longer ones takes longer.
const BUCKETS = 2 ** 17
const NOTE_BUCKETS = 2 ** 15
const SHA1_HEX = /^[0-9a-f]{40}$/
// Visits an hour are counted in thousand millionths, see visits/wheel.lua.
const COUNTED_PER_VISIT = 1e9
const MAX_KEYS_PER_CLEAR = 4096
const ENTRIES_PER_READ = 500
// As SPAN_S in visits/wheel.lua.
const SPAN_MS = 600_000

export interface RedisVisitsOptions {
  /** The queue's; opened and closed by whoever gives it. */
  readonly redis: Redis
  readonly keys: Pick<CrawlRedisKeys, 'visits'>
  /** As the crawl makes fingerprints: only a part of one is kept. */
  readonly fingerprint: (request: Request) => string
  /** Of how many short names this worker remembers what they stand for. Tests give their own. */
  readonly namesMax?: number
}

/**
 * The visits of a crawl that workers share, beside its queue.
 *
 * A page has a record in one of 2 ** 17 hashes, each of which is one packed block to Redis, and an entry in the list of its time. A list has
 * the pages that are due within ten minutes, and a sorted set has the times: what is due is found without a search.
 */
export class RedisVisits implements VisitStore {
  readonly #redis: Redis
  readonly #base: string
  readonly #fingerprint: (request: Request) => string
  readonly #packer: RequestPacker
  /** Replies as bytes: records are no text. */
  readonly #bytes: ScriptRunner

  constructor({ redis, keys, fingerprint, namesMax }: RedisVisitsOptions) {
    this.#redis = redis
    this.#bytes = {
      evalsha: (...args) => redis.callBuffer('evalsha', ...args),
      eval: (...args) => redis.callBuffer('eval', ...args),
    }
    this.#base = keys.visits
    this.#fingerprint = fingerprint
    this.#packer = new RequestPacker(namesMax === undefined ? {} : { textsMax: namesMax })
  }

  async record(pages: readonly VisitedPage[]): Promise<void> {
    const names = new Map<string, string>()
    const packed = pages.flatMap(({ fingerprint, request, visit }) => [
      nameOf(fingerprint),
      visitToBytes(visit),
      this.#packer.pack(request, names),
    ])
    await recordScript.run(
      this.#redis,
      [this.#base],
      ['', names.size, ...toldNames(names), pages.length, ...packed],
    )
  }

  /** Returns the arguments by which a script notes the visit, as buckets/steps/ended.lua has them. */
  bytesOf({ fingerprint, request, visit }: VisitedPage): (Buffer | string)[] {
    const names = new Map<string, string>()
    const packed = this.#packer.pack(request, names)
    return [nameOf(fingerprint), visitToBytes(visit), packed, ...toldNames(names)]
  }

  async find(fingerprints: readonly string[]): Promise<readonly (FoundVisit | undefined)[]> {
    const records = await this.#recordsOf(fingerprints.map(nameOf))
    return records.map((record) => record && { ...visitFromBytes(record), isInALine: isInALine(record) })
  }

  async due(now: number, max: number): Promise<DuePages> {
    const [span, ...packed] = (await this.#run(dueScript, [Math.floor(now / 1000), max])) as Buffer[]
    if (span === undefined) return { pages: [], read: 0, token: '' }
    const read = await this.#read(packed)
    const { entries, unreadable } = read
    const pages = pagesAt(Number(span), read)
    const { moved, unknown } = await this.#moved(read, Number(span))
    pages.push(...moved)
    return {
      ...{ pages, read: packed.length, token: tokenOf({ span: span.toString(), entries }) },
      ...(unreadable.length > 0 && { unreadable }),
      ...(moved.length > 0 && { moved: moved.length }),
      ...(unknown > 0 && { unknown }),
    }
  }

  async reschedule(pages: readonly AskedPage[], at: number): Promise<readonly string[]> {
    const names = new Map<string, string>()
    const packed = pages.flatMap(({ fingerprint, request }) => [
      nameOf(fingerprint),
      this.#packer.pack(request, names),
    ])
    const known = (await rescheduleScript.run(
      this.#redis,
      [this.#base],
      ['', Math.floor(at / 1000), names.size, ...toldNames(names), pages.length, ...packed],
    )) as number[]
    return pages.filter((_, n) => known[n] === 1).map(({ fingerprint }) => fingerprint)
  }

  async forget(fingerprints: readonly string[]): Promise<readonly string[]> {
    const names = fingerprints.map((fingerprint) => nameOf(fingerprint))
    const gone = (await forgetScript.run(this.#redis, [this.#base], ['', names.length, ...names])) as number[]
    return fingerprints.filter((_, n) => gone[n] === 1)
  }

  async sample(max: number): Promise<readonly Visit[]> {
    const kept = await withRedisCodes(this.#redis.hvalsBuffer(`${this.#base}:sample`))
    return kept.slice(0, max).map((page) => visitFromBytes(page.subarray(FINGERPRINT_BYTES)))
  }

  async totals(): Promise<VisitTotals> {
    const [pages, asked] = await withRedisCodes(this.#redis.hmget(`${this.#base}:counts`, 'pages', 'asked'))
    return { pages: Number(pages ?? 0), perHour: Number(asked ?? 0) / COUNTED_PER_VISIT }
  }

  async *waiting(): AsyncGenerator<readonly VisitedPage[]> {
    const spans = await this.#spans()
    // A page that is put at another moment meanwhile has a new entry, behind these.
    const lengths = (await this.#pipelined(
      spans.map((span) => ['llen', `${this.#base}:due:${span}`]),
    )) as number[]
    for (const [n, span] of spans.entries()) {
      const length = lengths[n]!
      for (let from = 0; from < length; from += ENTRIES_PER_READ) {
        const list = `${this.#base}:due:${span}`
        const entries = await withRedisCodes(
          this.#redis.lrangeBuffer(list, from, Math.min(from + ENTRIES_PER_READ, length) - 1),
        )
        if (entries.length === 0) break
        const pages = pagesAt(Number(span), await this.#read(entries))
        // A page that was visited twice in its span stands there twice.
        yield [...new Map(pages.map((page) => [page.fingerprint, page])).values()]
      }
    }
  }

  /** Reads entries of the wheel, with the records of their pages. */
  async #read(packed: readonly Buffer[]): Promise<WheelRead> {
    const unreadable: unknown[] = []
    const asked = await this.#unpacked(packed, (error) => unreadable.push(error))
    const entries = asked.map((page, n) => ({
      packed: packed[n]!,
      name: page ? nameOf(page.fingerprint) : NO_NAME,
    }))
    return { asked, entries, unreadable, records: await this.#recordsOf(entries.map(({ name }) => name)) }
  }

  /**
   * Puts pages at this time whose entries have come up, and whose fingerprints lead to no time that is to come: FINGERPRINTER makes others of them than
   * before. `unknown` are entries of pages that were forgotten.
   *
   * @param span the earliest there is
   */
  async #moved({ asked, entries, records }: WheelRead, span: number) {
    const astray = asked.flatMap((page, n) => {
      const [{ name, packed }, record] = [entries[n]!, records[n]]
      return page && (!record || isLeft(record, span)) ? [{ page, name, packed, isKnown: !!record }] : []
    })
    if (astray.length === 0) return { moved: [], unknown: 0 }
    const fresh = visitToBytes(neverVisited(span * SPAN_MS))
    const args = astray.flatMap(({ name, packed }) => [name, fresh, packed])
    const put = await this.#run(moveScript, ['', span, astray.length, ...args])
    const moved = astray.flatMap(({ page }, n) => {
      const record = put[n]
      return record ? [{ ...page, visit: visitFromBytes(record) }] : []
    })
    return { moved, unknown: astray.filter(({ isKnown }, n) => !isKnown && !put[n]).length }
  }

  async notes(names: readonly string[]): Promise<readonly (string | undefined)[]> {
    const texts = await this.#pipelined(names.map((name) => ['hget', ...this.#noteKeyAndField(name)]))
    return texts.map((text) => (text as string | null) ?? undefined)
  }

  async note(notes: ReadonlyMap<string, string>): Promise<void> {
    await this.#pipelined([...notes].map(([name, text]) => ['hset', ...this.#noteKeyAndField(name), text]))
  }

  /** A broad crawl has notes of as many hosts as it has pages: they lie as records do. */
  #noteKeyAndField(name: string): [key: string, field: Buffer] {
    const { bucket, field } = bucketAndField(nameOf(name))
    return [`${this.#base}:notes:${bucket % NOTE_BUCKETS}`, field]
  }

  async clear(): Promise<void> {
    const spans = await this.#spans()
    if (spans.length === 0 && (await this.totals()).pages === 0) return
    await this.#unlink(spans.map((span) => `due:${span}`))
    await this.#unlink(Array.from({ length: BUCKETS }, (_, n) => `of:${n}`))
    await this.#unlink(Array.from({ length: NOTE_BUCKETS }, (_, n) => `notes:${n}`))
    await this.#unlink(['spans', 'names', 'sample', 'counts', 'forgotten'])
  }

  async #run(script: RedisScript, args: readonly (string | number | Buffer)[]): Promise<(Buffer | null)[]> {
    return (await script.run(this.#bytes, [this.#base], args)) as (Buffer | null)[]
  }

  /** Resolves to the replies. Rejects as a script does, with a code when the same commands may succeed later. */
  async #pipelined(commands: readonly (readonly (string | Buffer)[])[]): Promise<unknown[]> {
    if (commands.length === 0) return []
    const replies = await withRedisCodes(this.#redis.pipeline(commands.map((one) => [...one])).exec())
    return (replies ?? []).map(([error, reply]) => {
      if (error) throw redisError(error)
      return reply
    })
  }

  async #recordsOf(names: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
    const commands = names.map((name) => {
      const { bucket, field } = bucketAndField(name)
      return ['hgetBuffer', `${this.#base}:of:${bucket}`, field]
    })
    return (await this.#pipelined(commands)).map((record) => (record as Buffer | null) ?? undefined)
  }

  #spans(): Promise<string[]> {
    return withRedisCodes(this.#redis.zrange(`${this.#base}:spans`, '0', '-1'))
  }

  async #unlink(names: readonly string[]): Promise<void> {
    for (let at = 0; at < names.length; at += MAX_KEYS_PER_CLEAR)
      await withRedisCodes(
        this.#redis.unlink(names.slice(at, at + MAX_KEYS_PER_CLEAR).map((name) => `${this.#base}:${name}`)),
      )
  }

  /** Resolves to how to ask for these pages; undefined for one that cannot be told, and `onUnreadable` is told why. */
  async #unpacked(
    packed: readonly Buffer[],
    onUnreadable: (error: unknown) => void,
  ): Promise<(AskedPage | undefined)[]> {
    const names = await this.#namesIn(packed)
    return packed.map((one) => {
      try {
        const request = unpackRequest(one, names)
        return { fingerprint: this.#fingerprint(request), request }
      } catch (error) {
        onUnreadable(error)
        return undefined
      }
    })
  }

  /** What the short names of one read stand for: what this worker knows otherwise may be gone before the read is over. */
  async #namesIn(packed: readonly Buffer[]): Promise<ReadonlyMap<string, string | undefined>> {
    const names = this.#packer.namesIn(packed)
    const unknown = [...names].flatMap(([name, text]) => (text === undefined ? [name] : []))
    if (unknown.length === 0) return names
    const fields = unknown.map((name) => Buffer.from(name, 'latin1'))
    const texts = await withRedisCodes(this.#redis.hmget(`${this.#base}:names`, ...fields))
    for (const [n, name] of unknown.entries()) {
      const text = texts[n]
      if (text === null || text === undefined) continue
      names.set(name, text)
      this.#packer.learn(name, text)
    }
    return names
  }
}

/** Entries of the wheel, as read: undefined for a page of which it cannot be told how to ask for it. */
interface WheelRead {
  readonly asked: readonly (AskedPage | undefined)[]
  readonly entries: readonly ReadEntry[]
  readonly records: readonly (Buffer | undefined)[]
  readonly unreadable: readonly unknown[]
}

/** Returns the pages whose entries count. An entry counts only while its page's record names its time. */
function pagesAt(span: number, { asked, records }: WheelRead): VisitedPage[] {
  return asked.flatMap((page, n) => {
    const record = records[n]
    if (!page || !record || isInALine(record)) return []
    const visit = visitFromBytes(record)
    return spanOf(visit) === span ? [{ ...page, visit }] : []
  })
}

/** Whether a page may be at a time whose entries have all come up; visits/move.lua knows. */
function isLeft(record: Buffer, span: number): boolean {
  return !isInALine(record) && spanOf(visitFromBytes(record)) < span
}

function spanOf({ dueAt }: Visit): number {
  return Math.floor(dueAt / SPAN_MS)
}

function neverVisited(dueAt: number): Visit {
  const counts = { visits: 0, changes: 0, failures: 0, goneAnswers: 0, callbackVersion: 0 }
  const evidence = { stillHours: 0, seen: 0, gapLogs: 0, dated: 0 }
  return { visitedAt: 0, dueAt, ...counts, evidence, isOutdated: false }
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
