/**
 * The ledger of failures of a crawl on Redis, in either QUEUE_MODE. What a commit tells is written by `lua/failures/ledger.lua`
 * in the step that ends the page; requests in quarantine are written by `lua/leasing/quarantine.lua`, and read here as failures
 * with the reason `quarantined`.
 *
 *     reading   in pages, signature by signature; what is read costs what is shown, however many there are
 *     retry     one step takes an entry out of the ledger and puts its request into its line: killed at any moment, each is in
 *               one of the two
 */

import type {
  FailureEvent,
  FailureLedger,
  FailureSnapshot,
  FailureSummary,
  GivenUp,
  LedgerCounts,
  LedgerEntry,
  LedgerGroup,
  LedgerPage,
  QueuedRequest,
  RequestJson,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { luaScript } from '../redis/lua.ts'
import { backOnSchedule } from '../visits/back-on-schedule.ts'
import { RedisVisitRecords } from '../visits/redis-visit-records.ts'
import {
  failedRequest,
  isQuarantined,
  type KnownFailure,
  laterThan,
  quarantinedSignature,
  retriedOf,
  summaryOf,
} from './failed-entry.ts'
import { groupsOf, type SignatureFields } from './failure-groups.ts'

/** A failed request on its way back into the queue. */
export interface Retried extends QueuedRequest {
  readonly key: string
}

export interface RedisFailuresOptions {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  /** Sends the script of the queue's mode. Absent for one who only reads. */
  readonly retry?: (retried: readonly Retried[]) => Promise<readonly string[] | 'ended'>
}

/** A quarantined request as it is stored. `request` is a text when it is not JSON. */
interface Quarantined {
  readonly id: string
  readonly reason: string
  readonly history: readonly FailureEvent[]
  readonly quarantinedAt: number
  readonly request: RequestJson | string | null
}

/** Requests may be large. */
const MAX_ENTRIES_PER_READ = 50
/** How many entries one script takes out. */
const MAX_ENTRIES_PER_STEP = 200
/** How many requests in quarantine are read to be told apart by signature; the others count as one more. */
const QUARANTINED_READ_MAX = 1000

const dropScript = luaScript('failures/ledger.lua', 'failures/take.lua', 'failures/drop.lua')
const clearScript = luaScript('failures/all.lua', 'failures/clear.lua')
const forgetGoneScript = luaScript('failures/forget-gone.lua')

export class RedisFailures implements FailureLedger {
  readonly #redis: Redis
  readonly #keys: CrawlRedisKeys
  readonly #retry: RedisFailuresOptions['retry']

  constructor({ redis, keys, retry }: RedisFailuresOptions) {
    this.#redis = redis
    this.#keys = keys
    this.#retry = retry
  }

  async counts(): Promise<LedgerCounts> {
    const { failures, quarantine } = this.#keys
    const [kept, quarantined, [total, trimmed]] = await Promise.all([
      this.#redis.hlen(failures),
      this.#redis.hlen(quarantine),
      this.#redis.hmget(`${failures}:counts`, 'total', 'trimmed') as Promise<[string | null, string | null]>,
    ])
    return { kept, total: Number(total ?? 0), trimmed: Number(trimmed ?? 0), quarantined }
  }

  async groups(): Promise<LedgerGroup[]> {
    const { failures } = this.#keys
    const [fields, sizes] = await Promise.all([
      this.#redis.hgetall(`${failures}:signatures`),
      this.#redis.zrange(`${failures}:sizes`, '0', '-1', 'WITHSCORES'),
    ])
    const kept = new Map<string, number>()
    for (let at = 0; at < sizes.length; at += 2) kept.set(sizes[at]!, Number(sizes[at + 1]))
    return groupsOf(
      fieldsOf(fields, kept),
      await this.#someQuarantined(),
      await this.#redis.hlen(this.#keys.quarantine),
    )
  }

  async page(
    max: number,
    { cursor, signature }: { cursor?: string; signature?: string } = {},
  ): Promise<LedgerPage> {
    const from = cursor ?? (signature === undefined || isQuarantined(signature) ? 'q0' : `f:${signature}`)
    if (from.startsWith('q')) {
      const { entries, ...next } = await this.#quarantinedPage(max, from.slice(1))
      if (signature === undefined) return { entries, ...next }
      const isLast = next.cursor?.startsWith('f') ?? true
      return { entries: entries.filter((one) => one.signature === signature), ...(isLast ? {} : next) }
    }
    const [, before = '', of = ''] = /^f(\d*):(.*)$/s.exec(from) ?? []
    const page = await this.#signaturePage(max, of, before === '' ? '+inf' : `(${before}`)
    const isOver = signature !== undefined && !page.cursor?.endsWith(`:${signature}`)
    return isOver ? { entries: page.entries } : page
  }

  async laterThanNow(): Promise<(entry: LedgerEntry) => boolean> {
    return laterThan((await this.counts()).total)
  }

  async find(ids: readonly string[]): Promise<LedgerEntry[]> {
    const found: LedgerEntry[] = []
    for (let at = 0; at < ids.length; at += MAX_ENTRIES_PER_READ) {
      const some = ids.slice(at, at + MAX_ENTRIES_PER_READ)
      const quarantined = await this.#redis.hmget(this.#keys.quarantine, ...some)
      for (const text of quarantined) if (text !== null) found.push(quarantinedOf(text))
      found.push(...(await this.#read(some)))
    }
    return found
  }

  async snapshot(signature: string): Promise<FailureSnapshot | undefined> {
    const text = await this.#redis.hget(`${this.#keys.failures}:snapshots`, signature)
    return text === null ? undefined : (JSON.parse(text) as FailureSnapshot)
  }

  /**
   * Keeps the response of a failure if it is the first of its signature: after the page has ended, as no page waits for it. A
   * Redis that is full refuses it, and the next worker that meets the signature has another.
   */
  async keepSnapshot({ signature, snapshot }: GivenUp): Promise<void> {
    const { failures } = this.#keys
    // A signature beyond the most is counted with others, and has none of its own.
    if ((await this.#redis.hexists(`${failures}:signatures`, `total|${signature}`)) === 0) return
    await this.#redis.hsetnx(`${failures}:snapshots`, signature, JSON.stringify(snapshot))
  }

  async retry(entries: readonly LedgerEntry[]): Promise<string[] | 'ended'> {
    if (!this.#retry) throw new Error('this ledger was opened to be read')
    const queued: string[] = []
    for (let at = 0; at < entries.length; at += MAX_ENTRIES_PER_STEP) {
      const retried = entries.slice(at, at + MAX_ENTRIES_PER_STEP).flatMap((entry) => {
        const request = retriedOf(entry)
        return request ? [{ ...request, key: entry.key }] : []
      })
      if (retried.length === 0) continue
      const ids = await this.#retry(retried)
      if (ids === 'ended') return queued.length > 0 ? queued : 'ended'
      queued.push(...ids)
    }
    return queued
  }

  async drop(entries: readonly LedgerEntry[]): Promise<string[]> {
    const gone: string[] = []
    const keys = [this.#base, this.#keys.quarantine]
    for (let at = 0; at < entries.length; at += MAX_ENTRIES_PER_STEP) {
      const some = entries.slice(at, at + MAX_ENTRIES_PER_STEP)
      // What was given up was visited as it ended; what is in quarantine has not ended.
      await backOnSchedule(
        this.#visits,
        some.filter(({ reason }) => reason === 'quarantined'),
      )
      const named = some.flatMap(({ id, key }) => [id, key])
      gone.push(...((await dropScript.run(this.#redis, keys, named)) as string[]))
    }
    return gone
  }

  async forgetGone(): Promise<void> {
    const { failures } = this.#keys
    const beside = ['counts', 'signatures', 'snapshots'].map((part) => `${failures}:${part}`)
    await forgetGoneScript.run(this.#redis, [failures, ...beside], [])
  }

  async clear(): Promise<void> {
    const { failures, quarantine } = this.#keys
    await clearScript.run(this.#redis, [failures, quarantine, `${quarantine}:history`], [])
  }

  /** Pages are found there by the ids of their requests. */
  get #visits(): RedisVisitRecords {
    return new RedisVisitRecords({ redis: this.#redis, keys: this.#keys })
  }

  /** What scripts put before the names of keys. */
  get #base(): string {
    return this.#keys.failures.slice(0, -'failures'.length)
  }

  async #quarantinedPage(max: number, cursor: string): Promise<LedgerPage> {
    const [next, found] = await this.#redis.hscan(this.#keys.quarantine, cursor, 'COUNT', max)
    const entries = found.filter((_text, n) => n % 2 === 1).map(quarantinedOf)
    if (next !== '0') return { entries, cursor: `q${next}` }
    const [first] = await this.#signatures()
    return { entries, ...(first !== undefined && { cursor: `f:${first}` }) }
  }

  async #signaturePage(max: number, signature: string, below: string): Promise<LedgerPage> {
    const of = `${this.#keys.failures}:of:${signature}`
    const found = await this.#redis.zrevrangebyscore(of, below, '-inf', 'WITHSCORES', 'LIMIT', 0, max)
    const ids = found.filter((_text, n) => n % 2 === 0)
    const entries = await this.#read(ids)
    if (ids.length === max) return { entries, cursor: `f${found.at(-1)}:${signature}` }
    const next = (await this.#signatures()).find((one) => one > signature)
    return { entries, ...(next !== undefined && { cursor: `f:${next}` }) }
  }

  /** All signatures with entries, in an order that does not change with their numbers. */
  async #signatures(): Promise<string[]> {
    return (await this.#redis.zrange(`${this.#keys.failures}:sizes`, '0', '-1')).sort()
  }

  async #read(ids: readonly string[]): Promise<LedgerEntry[]> {
    if (ids.length === 0) return []
    const texts = await this.#redis.hmget(this.#keys.failures, ...ids)
    return texts.flatMap((text, n) => (text === null ? [] : [failureOf(ids[n]!, text)]))
  }

  async #someQuarantined(): Promise<LedgerEntry[]> {
    const some = new Map<string, LedgerEntry>()
    let cursor = '0'
    do {
      const page = await this.#redis.hscan(this.#keys.quarantine, cursor, 'COUNT', MAX_ENTRIES_PER_READ)
      cursor = page[0]
      for (let n = 1; n < page[1].length; n += 2) {
        const entry = quarantinedOf(page[1][n]!)
        some.set(entry.id, entry)
      }
    } while (cursor !== '0' && some.size < QUARANTINED_READ_MAX)
    return [...some.values()]
  }
}

function failureOf(id: string, text: string): LedgerEntry {
  const [signature = '', known = '', request = ''] = text.split('\n')
  return failedRequest(id, signature, JSON.parse(known) as KnownFailure, request)
}

function quarantinedOf(text: string): LedgerEntry {
  const { id, reason, history, quarantinedAt, request } = JSON.parse(text) as Quarantined
  const isJson = typeof request === 'object' && request !== null
  const url = isJson && typeof request.url === 'string' ? request.url : ''
  return {
    id,
    key: `q${quarantinedAt}`,
    at: quarantinedAt,
    url,
    reason: 'quarantined',
    kind: 'quarantined',
    message: reason,
    signature: quarantinedSignature(reason),
    attempts: history.length,
    worker: history.at(-1)?.worker ?? '',
    history,
    ...(isJson && { request }),
  }
}

function fieldsOf(
  fields: Readonly<Record<string, string>>,
  kept: ReadonlyMap<string, number>,
): SignatureFields[] {
  return Object.keys(fields)
    .filter((field) => field.startsWith('total|'))
    .map((field) => {
      const signature = field.slice('total|'.length)
      return {
        signature,
        total: Number(fields[field]),
        kept: kept.get(signature) ?? 0,
        trimmed: Number(fields[`trimmed|${signature}`] ?? 0),
        first: summaryOf(JSON.parse(fields[`first|${signature}`]!) as FailureSummary),
        last: summaryOf(JSON.parse(fields[`last|${signature}`]!) as FailureSummary),
      }
    })
}
