/** What a crawl yields, as its stats and the key of the pipeline `redis` have it. */

import type { CrawlStatus, ItemsSeen } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlFromOutside } from '../assembly/crawl-from-outside.ts'
import { itemsKey } from './read-status.ts'

const SHOWN_MAX = 5
/** An item may be large; this much of each tells what it is. */
const ITEM_CHARS_MAX = 4000
/** After so much no further one is read. */
const READ_CHARS_MAX = 512 * 1024

export async function readItems(
  crawl: CrawlFromOutside,
  { stats, itemsPerMinute }: CrawlStatus,
): Promise<ItemsSeen> {
  return {
    count: Number(stats.item_scraped_count ?? 0),
    perMinute: itemsPerMinute,
    fields: fieldsOf(stats),
    last: await lastOf(crawl),
  }
}

const FIELD_STAT = 'item_field_count/'

/** Returns how many items have a value in each field. */
export function fieldsOf(stats: CrawlStatus['stats']): ItemsSeen['fields'] {
  const fields = Object.entries(stats).filter(([key]) => key.startsWith(FIELD_STAT))
  return Object.fromEntries(fields.map(([key, value]) => [key.slice(FIELD_STAT.length), Number(value)]))
}

async function lastOf(crawl: CrawlFromOutside): Promise<ItemsSeen['last']> {
  const redis = await crawl.servers.opened('items')
  return redis ? newestItems(redis, itemsKey(crawl)) : null
}

/**
 * Returns the last few, which are at the end of a list or stream; null where there is neither. They are read one by one, as an item may
 * have megabytes, and while a Redis sends fifty it does nothing else. A list does not tell when they came.
 */
export async function newestItems(redis: Redis, key: string): Promise<ItemsSeen['last']> {
  const type = await redis.type(key)
  if (type === 'list') return firstOf(fromList(redis, key))
  return type === 'stream' ? firstOf(fromStream(redis, key)) : null
}

async function firstOf(entries: AsyncIterable<readonly [json: string, at: string | null]>) {
  const shown: { at: string | null; json: string }[] = []
  let chars = 0
  for await (const [json, at] of entries) {
    shown.push(entryOf(json, at))
    chars += json.length
    if (shown.length === SHOWN_MAX || chars > READ_CHARS_MAX) break
  }
  return shown
}

async function* fromList(redis: Redis, key: string) {
  for (let index = (await redis.llen(key)) - 1; index >= 0; index--) {
    const json = await redis.lindex(key, index)
    if (json !== null) yield [json, null] as const
  }
}

async function* fromStream(redis: Redis, key: string) {
  for (let end = '+'; ; ) {
    const [entry] = await redis.xrevrange(key, end, '-', 'COUNT', 1)
    if (!entry) return
    const [id, fields] = entry
    const [ms = '0', n = '0'] = id.split('-')
    yield [fields.at(1) ?? '', new Date(Number(ms)).toISOString()] as const
    // An id without its number means the last of its millisecond.
    end = n === '0' ? `${BigInt(ms) - 1n}` : `${ms}-${BigInt(n) - 1n}`
  }
}

function entryOf(json: string, at: string | null) {
  return { at, json: json.length > ITEM_CHARS_MAX ? `${json.slice(0, ITEM_CHARS_MAX)}…` : json }
}
