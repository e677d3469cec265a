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
  withRedisCodes,
} from '@webloom/core'
import { luaScript } from '../redis/lua.ts'
import { unpackRequest } from './packed-request.ts'
import { type ReadEntry, tokenOf } from './read-entries.ts'
import { nameOf, RedisVisitRecords, type RedisVisitRecordsOptions } from './redis-visit-records.ts'
import { NO_NAME, type WheelEntry, wheelEntry } from './wheel-entry.ts'

const dueScript = luaScript('visits/wheel.lua', 'visits/due.lua')

export const ENTRIES_PER_READ = 500
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
 * the pages that are due within ten minutes, and a sorted set has the times: what is due is found without a search. An entry has the name under
 * which its page's record is kept, so a page is never taken for another one, whatever FINGERPRINTER makes of it now.
 */
export class RedisWheel extends RedisVisitRecords implements VisitStore {
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
    const [first, ...packed] = (await this.run(dueScript, [Math.floor(now / 1000), max])) as Buffer[]
    if (first === undefined) return { pages: [], read: 0, token: '' }
    const span = Number(first)
    const entries = await this.read(packed.map(wheelEntry))
    const laterSpan = Math.ceil((now + AGAIN_MS) / SPAN_MS)
    const due = dueAmong(span, entries).filter(({ entry }) => !entry.trouble)
    const moved = due.filter(({ entry }) => isMoved(entry)).length
    const unknown = entries.filter(({ page, record }) => page && !record).length
    const [unreadable, unnamed] = [errorsOf(entries, 'unreadable'), errorsOf(entries, 'unnamed')]
    return {
      pages: due.map(({ page }) => page),
      read: packed.length,
      token: tokenOf(
        `${span}`,
        entries.map((entry) => fateOf(entry, laterSpan)),
      ),
      ...(unreadable.length > 0 && { unreadable }),
      ...(unnamed.length > 0 && { unnamed }),
      ...(moved > 0 && { moved }),
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
        const whole = await this.entriesAt(span, from, Math.min(from + ENTRIES_PER_READ, length) - 1)
        if (whole.length === 0) break
        const pages = dueAmong(Number(span), await this.read(whole.map(wheelEntry))).map(asKept)
        // A page that was visited twice in its span stands there twice.
        yield [...new Map(pages.map((page) => [page.fingerprint, page])).values()]
      }
    }
  }

  protected entriesAt(span: string, from: number, to: number): Promise<Buffer[]> {
    return withRedisCodes(this.redis.lrangeBuffer(`${this.base}:due:${span}`, from, to))
  }

  /** Reads entries of the wheel, with the records of their pages. */
  protected async read(entries: readonly WheelEntry[]): Promise<KnownEntry[]> {
    const requests = await this.requestsOf(entries)
    const read = entries.map((entry, n) => ({ ...entry, ...this.#named(entry, requests[n]) }))
    const records = await this.recordsOf(read.map(({ name }) => name))
    return read.map((entry, n) => ({ ...entry, record: entry.carried ?? records[n] }))
  }

  /** Resolves to how to ask for each page; to why it cannot be read; undefined for an entry of no page. */
  protected async requestsOf(entries: readonly WheelEntry[]): Promise<(Request | Unreadable | undefined)[]> {
    const names = await this.#namesIn(entries.flatMap(({ packed }) => (packed ? [packed] : [])))
    return entries.map(({ packed }) => {
      try {
        return packed && unpackRequest(packed, names)
      } catch (error) {
        return { unreadable: error }
      }
    })
  }

  #named(
    { name }: WheelEntry,
    request: Request | Unreadable | undefined,
  ): Pick<KnownEntry, 'name' | 'now' | 'page' | 'trouble'> {
    const kept = name ?? NO_NAME
    if (!request) return { name: kept }
    if ('unreadable' in request)
      return { name: kept, trouble: { kind: 'unreadable', error: request.unreadable } }
    try {
      const fingerprint = this.#fingerprint(request)
      const now = nameOf(fingerprint)
      return { name: name ?? now, now, page: { fingerprint, request } }
    } catch (error) {
      const page = { fingerprint: fingerprintOf(kept), request }
      return { name: kept, page, trouble: { kind: 'unnamed', error } }
    }
  }

  protected async run(
    script: RedisScript,
    args: readonly (string | number | Buffer)[],
  ): Promise<(Buffer | null)[]> {
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

/** An entry of which it cannot be told how to ask for its page, and why. */
export interface Unreadable {
  readonly unreadable: unknown
}

/** An entry, as a worker has read it. */
export interface KnownEntry extends Omit<WheelEntry, 'name'> {
  readonly name: Buffer
  /** The name that the page has now; undefined where none can be made. */
  readonly now?: Buffer
  /** Undefined where it cannot be read how to ask for it. */
  readonly page?: AskedPage
  readonly record: Buffer | undefined
  readonly trouble?: { readonly kind: 'unreadable' | 'unnamed'; readonly error: unknown }
}

/** FINGERPRINTER makes another fingerprint of the page than that under which it is kept. */
export function isMoved({ name, now }: Pick<KnownEntry, 'name' | 'now'>): boolean {
  return now !== undefined && !now.equals(name)
}

/** Returns the pages whose entries count. An entry counts only while its page's record names its time. */
function dueAmong(span: number, entries: readonly KnownEntry[]) {
  return entries.flatMap((entry) => {
    const { page, record } = entry
    if (!page || !record || isInALine(record)) return []
    const visit = visitFromBytes(record)
    return spanOf(visit) === span ? [{ entry, page: { ...page, visit } }] : []
  })
}

/** Returns the page by a fingerprint that begins as that under which it is kept. */
function asKept({ entry, page }: ReturnType<typeof dueAmong>[number]): VisitedPage {
  return isMoved(entry) ? { ...page, fingerprint: fingerprintOf(entry.name) } : page
}

/** Returns a fingerprint of which `nameOf` makes that name. */
function fingerprintOf(name: Buffer): string {
  return name.toString('hex').padEnd(40, '0')
}

function fateOf(entry: KnownEntry, laterSpan: number): ReadEntry {
  const { whole, name, now, carried, trouble } = entry
  return {
    ...{ packed: whole, name },
    ...(now && isMoved(entry) && { now }),
    ...(carried && { carried }),
    ...(trouble && { fate: trouble.kind === 'unreadable' ? 'forget' : { laterSpan } }),
  }
}

function errorsOf(
  entries: readonly KnownEntry[],
  kind: NonNullable<KnownEntry['trouble']>['kind'],
): unknown[] {
  return entries.flatMap(({ trouble }) => (trouble?.kind === kind ? [trouble.error] : []))
}

function spanOf({ dueAt }: Visit): number {
  return Math.floor(dueAt / SPAN_MS)
}
