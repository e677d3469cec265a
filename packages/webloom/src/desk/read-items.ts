/** What a crawl yields, as its stats and the key of the pipeline `redis` have it. */

import type { CrawlStatus, ItemsSeen } from '@webloom/core'
import type { CrawlFromOutside } from '../assembly/crawl-from-outside.ts'
import { itemsKey } from './read-status.ts'

const SHOWN_MAX = 5
/** An item may be large; this much of each tells what it is. */
const ITEM_CHARS_MAX = 4000

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

/** How many items have a value in each field. */
export function fieldsOf(stats: CrawlStatus['stats']): ItemsSeen['fields'] {
  const fields = Object.entries(stats).filter(([key]) => key.startsWith(FIELD_STAT))
  return Object.fromEntries(fields.map(([key, value]) => [key.slice(FIELD_STAT.length), Number(value)]))
}

/** The newest are at the end of a list or stream. A list does not tell when they came. */
async function lastOf(crawl: CrawlFromOutside): Promise<ItemsSeen['last']> {
  const redis = crawl.servers.connection('items')
  const key = itemsKey(crawl)
  const type = await redis?.type(key)
  if (type === 'list')
    return (await redis!.lrange(key, -SHOWN_MAX, -1)).reverse().map((json) => entryOf(json, null))
  if (type !== 'stream') return null
  const entries = await redis!.xrevrange(key, '+', '-', 'COUNT', SHOWN_MAX)
  return entries.map(([id, fields]) =>
    entryOf(fields.at(1) ?? '', new Date(Number(id.split('-')[0])).toISOString()),
  )
}

function entryOf(json: string, at: string | null) {
  return { at, json: json.length > ITEM_CHARS_MAX ? `${json.slice(0, ITEM_CHARS_MAX)}…` : json }
}
