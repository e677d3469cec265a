/**
 * What a crawl on Redis has still to fetch, read a part at a time by somebody who takes no part in it: for `webloom export`.
 *
 * It reads without a lock, so it is right only while nothing moves: whoever calls it has made sure of that, and compares how
 * many there were with what the queue counts.
 */

import type { Request } from '@webloom/core'
import type { Redis } from 'ioredis'
import { unpackRequest } from '../leasing/packed-request.ts'
import { BULL_PREFIX, type CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'

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

async function* packedTexts(crawl: CrawlOnRedis): AsyncGenerator<readonly string[]> {
  yield* textsOfTurns(crawl)
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

/** QUEUE_MODE=turns; the layout is in `lua/hosts/host.lua`. Keeps the names of the hosts. */
async function* textsOfTurns({ redis, keys: { turns } }: CrawlOnRedis): AsyncGenerator<readonly string[]> {
  const hosts = new Set<string>()
  for await (const units of membersOf(redis, `${turns}:due`))
    for (const unit of units) hosts.add(unit.replace(/~\d+~\d+$/, ''))
  for (const host of hosts) {
    const priorities = await redis.zrevrange(`${turns}:prios:${host}`, 0, -1)
    const above = priorities.filter((priority) => Number(priority) > 0)
    const below = priorities.filter((priority) => Number(priority) < 0)
    for await (const late of membersOf(redis, `${turns}:late:${host}`)) yield late.map(withoutTwoLines)
    const lanes = Array.from({ length: LANES_MAX }, (_, lane) => `${turns}:flight:${lane}:${host}`)
    for (const lane of lanes) yield (await redis.hvals(lane)).map(withoutLine)
    for (const priority of [...above, '0', ...below])
      yield* listed(redis, `${turns}:line:${priority}:${host}`)
  }
}

/** As many as `hosts/host.lua` has. */
const LANES_MAX = 16

/** QUEUE_MODE=job. */
async function* textsOfJobs({ redis, keys }: CrawlOnRedis): AsyncGenerator<readonly string[]> {
  const key = (name: string) => `${BULL_PREFIX}:${keys.queueName}:${name}`
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

async function* listed(redis: Redis, key: string): AsyncGenerator<string[]> {
  for (let from = 0; ; from += MAX_ENTRIES_PER_READ) {
    const found = await redis.lrange(key, from, from + MAX_ENTRIES_PER_READ - 1)
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

function withoutLine(text: string): string {
  return text.slice(text.indexOf('\n') + 1)
}

function withoutTwoLines(text: string): string {
  return withoutLine(withoutLine(text))
}

export function entryOf(text: string): FrontierEntry {
  const { id, request, unreadable } = unpackRequest(text)
  return request ? { id, request } : { id, unreadable: unreadable ?? 'it cannot be read' }
}
