/**
 * What a crawl on Redis has still to fetch, read a part at a time by somebody who takes no part in it: for `webloom export`.
 *
 * It reads without a lock, so it is right only while nothing moves: whoever calls it has made sure of that, and compares how
 * many there were with what the queue counts.
 */

import type { Request } from '@webloom/core'
import type { Redis } from 'ioredis'
import { formerBase } from '../crawl/crawl-format.ts'
import { LANES_MAX } from '../frontier/turn-protocol.ts'
import { unpackRequest } from '../leasing/packed-request.ts'
import { bucketOf, isBucket } from '../politeness/bucket-of.ts'
import { slotKey } from '../politeness/slot-key.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { readShards } from '../shards/crawl-shards.ts'
import { textsUnderWay } from './shard-counts.ts'

/** A request that waits, is delayed, or is in flight. `unreadable` says why this release cannot read it. */
export type FrontierEntry =
  | { readonly id: string; readonly request: Request; readonly unreadable?: never }
  | { readonly id: string; readonly unreadable: string; readonly request?: never }

interface CrawlOnRedis {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
}

/** Requests may be large: bodies, meta. */
const MAX_ENTRIES_PER_READ = 200

/** Yields the requests host by host, or job by job. */
export async function* crawlFrontier(crawl: CrawlOnRedis): AsyncGenerator<FrontierEntry> {
  for await (const texts of packedTexts(crawl)) for (const text of texts) yield entryOf(text)
}

async function* packedTexts({ redis, keys }: CrawlOnRedis): AsyncGenerator<readonly string[]> {
  const shards = await readShards(redis, keys)
  for (const part of shards.parts) yield* textsOfPart({ redis, keys: part }, shards.buckets)
  if (shards.count > 1) yield* textsUnderWay(redis, shards)
}

async function* textsOfPart(crawl: CrawlOnRedis, buckets: number): AsyncGenerator<readonly string[]> {
  yield* textsOfBuckets(crawl, buckets)
  yield* textsOfHosts(crawl)
  yield* textsOfJobs(crawl)
  yield* textsInDoubt(crawl)
}

/** Yields the links in doubt of either mode (`lua/leasing/doubts.lua`). */
async function* textsInDoubt({ redis, keys: { doubts } }: CrawlOnRedis): AsyncGenerator<readonly string[]> {
  for await (const ids of membersOf(redis, `${doubts}:since`)) {
    const texts = await redis.hmget(doubts, ...ids)
    yield texts.filter((text) => text !== null)
  }
}

/** QUEUE_MODE=turns; the layout is in `lua/slots/keys.lua`. Keeps the slots' own order. */
async function* textsOfBuckets(
  { redis, keys }: CrawlOnRedis,
  buckets: number,
): AsyncGenerator<readonly string[]> {
  const { frontier } = keys
  const units = await unitsOf(redis, frontier)
  const slots = units.filter((unit) => !isBucket(unit))
  for (const unit of new Set([...units, ...slots.map((slot) => bucketOf(slot, buckets))])) {
    for await (const late of membersOf(redis, `${frontier}:late:${unit}`))
      yield late.map((text) => after(text, 3))
    for (let lane = 0; lane < LANES_MAX; lane++)
      yield (await redis.hvals(`${frontier}:flight:${lane}:${unit}`)).map((text) => after(text, 2))
    if (isBucket(unit)) yield* textsOfLines(redis, frontier, unit)
  }
}

async function* textsOfLines(
  redis: Redis,
  frontier: string,
  bucket: string,
): AsyncGenerator<readonly string[]> {
  // A scan may meet a field twice.
  const listed = new Set<string>()
  let cursor = '0'
  do {
    const [next, fields] = await redis.hscanBuffer(
      `${frontier}:lines:${bucket}`,
      cursor,
      'COUNT',
      MAX_ENTRIES_PER_READ,
    )
    cursor = String(next)
    for (let at = 0; at < fields.length; at += 2) {
      const slot = String(fields[at])
      if (listed.has(slot)) continue
      listed.add(slot)
      const texts = shortLine(fields[at + 1]!)
      if (texts) yield texts
      else yield* listsOf(redis, frontier, slot)
    }
  } while (cursor !== '0')
}

/**
 * Returns the first requests of a slot's line, in its order, at most `max`: of a slot that no worker has at the moment, as whoever has
 * it holds the next few itself. QUEUE_MODE=turns alone keeps lines.
 */
export async function lineSample(
  { redis, keys }: CrawlOnRedis,
  slot: string,
  max: number,
): Promise<FrontierEntry[]> {
  const name = slotKey(slot)
  const shards = await readShards(redis, keys)
  const { frontier } = shards.ofSlot(name)
  const value = await redis.hgetBuffer(`${frontier}:lines:${bucketOf(name, shards.buckets)}`, name)
  if (value === null) return []
  const short = shortLine(value)
  if (short) return short.slice(0, max).map(entryOf)
  const entries: FrontierEntry[] = []
  for await (const texts of listsOf(redis, frontier, name, max)) {
    entries.push(...texts.map(entryOf))
    if (entries.length >= max) break
  }
  return entries.slice(0, max)
}

/** Undefined for a long line, which has lists of its own; see `lua/slots/lines.lua`. Lengths are in bytes. */
function shortLine(value: Buffer): string[] | undefined {
  let from = value.indexOf('\n') + 1
  if (value[from] === '@'.charCodeAt(0)) return undefined
  const texts: string[] = []
  while (from < value.length) {
    const start = value.indexOf('\n', from) + 1
    const length = Number(value.toString('latin1', value.indexOf(' ', from) + 1, start - 1))
    texts.push(value.toString('utf8', start, start + length))
    from = start + length
  }
  return texts
}

/**
 * QUEUE_MODE=turns of an earlier release (record without `format`): a job for each host. Such a crawl cannot be gone on with, but
 * `webloom export` takes it along.
 */
async function* textsOfHosts({ redis, keys }: CrawlOnRedis): AsyncGenerator<readonly string[]> {
  const turns = formerBase(keys)
  for (const host of await unitsOf(redis, turns)) {
    for await (const late of membersOf(redis, `${turns}:late:${host}`))
      yield late.map((text) => after(text, 2))
    for (let lane = 0; lane < LANES_MAX; lane++)
      yield (await redis.hvals(`${turns}:flight:${lane}:${host}`)).map((text) => after(text, 1))
    yield* listsOf(redis, turns, host)
  }
}

async function unitsOf(redis: Redis, base: string): Promise<string[]> {
  const units = new Set<string>()
  for await (const jobs of membersOf(redis, `${base}:due`))
    for (const job of jobs) units.add(job.replace(/~\d+~\d+$/, ''))
  return [...units]
}

async function* listsOf(
  redis: Redis,
  base: string,
  slot: string,
  perRead = MAX_ENTRIES_PER_READ,
): AsyncGenerator<readonly string[]> {
  const priorities = await redis.zrevrange(`${base}:prios:${slot}`, 0, -1)
  const above = priorities.filter((priority) => Number(priority) > 0)
  const below = priorities.filter((priority) => Number(priority) < 0)
  for (const priority of [...above, '0', ...below])
    yield* listed(redis, `${base}:line:${priority}:${slot}`, perRead)
}

/** Reads the texts of QUEUE_MODE=job. */
async function* textsOfJobs({ redis, keys }: CrawlOnRedis): AsyncGenerator<readonly string[]> {
  const key = (name: string) => `${keys.base}:${name}`
  const ids = async function* () {
    for (const list of ['active', 'wait', 'paused']) yield* listed(redis, key(list))
    for (const set of ['prioritized', 'delayed']) yield* membersOf(redis, key(set))
  }
  for await (const some of ids()) {
    const found = await Promise.all(some.map((id) => redis.hmget(key(id), 'name', 'data')))
    // In turns mode the jobs are turns.
    yield found.flatMap(([name, data]) => (name === 'request' && data ? [JSON.parse(data) as string] : []))
  }
}

async function* listed(redis: Redis, key: string, perRead = MAX_ENTRIES_PER_READ): AsyncGenerator<string[]> {
  for (let from = 0; ; from += perRead) {
    const found = await redis.lrange(key, from, from + perRead - 1)
    if (found.length === 0) return
    yield found
  }
}

async function* membersOf(redis: Redis, key: string): AsyncGenerator<string[]> {
  for (let from = 0; ; from += MAX_ENTRIES_PER_READ) {
    const found = await redis.zrange(key, String(from), String(from + MAX_ENTRIES_PER_READ - 1))
    if (found.length === 0) return
    yield found
  }
}

/** Returns what comes after so many line ends. */
function after(text: string, lines: number): string {
  let from = 0
  for (let line = 0; line < lines; line++) from = text.indexOf('\n', from) + 1
  return text.slice(from)
}

export function entryOf(text: string): FrontierEntry {
  const { id, request, unreadable } = unpackRequest(text)
  return request ? { id, request } : { id, unreadable: unreadable ?? 'it cannot be read' }
}
