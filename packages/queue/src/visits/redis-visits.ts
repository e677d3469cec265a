import {
  type AskedPage,
  type DuePages,
  HOUR_MS,
  isInALine,
  type RedisScript,
  type Request,
  type ScriptRunner,
  type Visit,
  type VisitedPage,
  type VisitStore,
  visitFromBytes,
  visitToBytes,
  withRedisCodes,
} from '@webloom/core'
import { luaScript } from '../redis/lua.ts'
import { unpackRequest } from './packed-request.ts'
import { type ReadEntry, tokenOf } from './read-entries.ts'
import {
  FINGERPRINT_BYTES,
  nameOf,
  RedisVisitRecords,
  type RedisVisitRecordsOptions,
} from './redis-visit-records.ts'

const dueScript = luaScript('visits/wheel.lua', 'visits/due.lua')
const moveScript = luaScript('redis/args.lua', 'visits/wheel.lua', 'visits/put-on.lua', 'visits/move.lua')

/** Of an entry that cannot be read: no page has it. */
const NO_NAME = Buffer.alloc(FINGERPRINT_BYTES)
const ENTRIES_PER_READ = 500
/** A page on which FINGERPRINTER throws is tried again then: later than a run that ends looks ahead (`earlyMsOf` of the scheduler). */
const AGAIN_MS = 2 * HOUR_MS
// As SPAN_S in visits/wheel.lua.
const SPAN_MS = 600_000

export interface RedisVisitsOptions extends RedisVisitRecordsOptions {
  /** As the crawl makes fingerprints: only a part of one is kept. */
  readonly fingerprint: (request: Request) => string
}

/**
 * The visits of a crawl that workers share, beside its queue.
 *
 * A page has a record in one of 2 ** 17 hashes, each of which is one packed block to Redis, and an entry in the list of its time. A list has
 * the pages that are due within ten minutes, and a sorted set has the times: what is due is found without a search.
 */
export class RedisVisits extends RedisVisitRecords implements VisitStore {
  readonly #fingerprint: (request: Request) => string
  /** Replies as bytes: records are no text. */
  readonly #bytes: ScriptRunner

  constructor({ fingerprint, ...options }: RedisVisitsOptions) {
    super(options)
    const { redis } = this
    this.#bytes = {
      evalsha: (...args) => redis.callBuffer('evalsha', ...args),
      eval: (...args) => redis.callBuffer('eval', ...args),
    }
    this.#fingerprint = fingerprint
  }

  async due(now: number, max: number): Promise<DuePages> {
    const [span, ...packed] = (await this.#run(dueScript, [Math.floor(now / 1000), max])) as Buffer[]
    if (span === undefined) return { pages: [], read: 0, token: '' }
    const read = await this.#read(packed, Math.ceil((now + AGAIN_MS) / SPAN_MS))
    const { entries, unreadable, unnamed } = read
    const pages = pagesAt(Number(span), read)
    const { moved, unknown } = await this.#moved(read, Number(span))
    pages.push(...moved)
    return {
      ...{ pages, read: packed.length, token: tokenOf({ span: span.toString(), entries }) },
      ...(unreadable.length > 0 && { unreadable }),
      ...(unnamed.length > 0 && { unnamed }),
      ...(moved.length > 0 && { moved: moved.length }),
      ...(unknown > 0 && { unknown }),
    }
  }

  async *waiting(): AsyncGenerator<readonly VisitedPage[]> {
    const spans = await this.spans()
    // A page that is put at another moment meanwhile has a new entry, behind these.
    const lengths = (await this.pipelined(
      spans.map((span) => ['llen', `${this.base}:due:${span}`]),
    )) as number[]
    for (const [n, span] of spans.entries()) {
      const length = lengths[n]!
      for (let from = 0; from < length; from += ENTRIES_PER_READ) {
        const list = `${this.base}:due:${span}`
        const entries = await withRedisCodes(
          this.redis.lrangeBuffer(list, from, Math.min(from + ENTRIES_PER_READ, length) - 1),
        )
        if (entries.length === 0) break
        const pages = pagesAt(Number(span), await this.#read(entries))
        // A page that was visited twice in its span stands there twice.
        yield [...new Map(pages.map((page) => [page.fingerprint, page])).values()]
      }
    }
  }

  /**
   * Reads entries of the wheel, with the records of their pages.
   *
   * @param later the span to which entries go on which FINGERPRINTER throws
   */
  async #read(packed: readonly Buffer[], later = 0): Promise<WheelRead> {
    const [unreadable, unnamed]: [unknown[], unknown[]] = [[], []]
    const names = await this.#namesIn(packed)
    const read = packed.map((one): { readonly name: Buffer; readonly page?: AskedPage } => {
      let request: Request
      try {
        request = unpackRequest(one, names)
      } catch (error) {
        unreadable.push(error)
        return { name: NO_NAME }
      }
      try {
        const fingerprint = this.#fingerprint(request)
        return { name: nameOf(fingerprint), page: { fingerprint, request } }
      } catch (error) {
        unnamed.push(error)
        return { name: Buffer.concat([NO_NAME, Buffer.from(`${later}`)]) }
      }
    })
    const records = await this.recordsOf(read.map(({ name }) => name))
    const entries = read.map(({ name }, n) => ({ packed: packed[n]!, name }))
    return { asked: read.map(({ page }) => page), entries, records, unreadable, unnamed }
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

  async #run(script: RedisScript, args: readonly (string | number | Buffer)[]): Promise<(Buffer | null)[]> {
    return (await script.run(this.#bytes, [this.base], args)) as (Buffer | null)[]
  }

  /** What the short names of one read stand for: what this worker knows otherwise may be gone before the read is over. */
  async #namesIn(packed: readonly Buffer[]): Promise<ReadonlyMap<string, string | undefined>> {
    const names = this.packer.namesIn(packed)
    const unknown = [...names].flatMap(([name, text]) => (text === undefined ? [name] : []))
    if (unknown.length === 0) return names
    const fields = unknown.map((name) => Buffer.from(name, 'latin1'))
    const texts = await withRedisCodes(this.redis.hmget(`${this.base}:names`, ...fields))
    for (const [n, name] of unknown.entries()) {
      const text = texts[n]
      if (text === null || text === undefined) continue
      names.set(name, text)
      this.packer.learn(name, text)
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
  readonly unnamed: readonly unknown[]
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
