/**
 * In which form a crawl lies on Redis. A crawl that was begun in another form is refused, and never half read. `webloom export`
 * reads the form of the release before this one, so that what is left of such a crawl can be taken along.
 */

import { WebloomError } from '@webloom/core'
import type { Redis } from 'ioredis'
import { type CrawlRedisKeys, crawlShown } from '../redis/crawl-redis-keys.ts'

/** The form of this release, as the record's `format`. 1, which had no such field: a job and lines for each host. */
export const CRAWL_FORMAT = 2

interface CrawlOnRedis {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
}

/** Resolves to the form of a crawl; to undefined where there is none, or one without anything that has a form. */
export async function crawlFormatOf({ redis, keys }: CrawlOnRedis): Promise<number | undefined> {
  const [format, due] = await Promise.all([
    redis.hget(keys.record, 'format'),
    redis.exists(`${formerBase(keys)}:due`),
  ])
  if (format !== null) return Number(format)
  return due === 1 ? 1 : undefined
}

/** Throws WL_CRAWL_FORMAT for a crawl in another form. */
export async function refuseOtherFormat(crawl: CrawlOnRedis): Promise<void> {
  const format = await crawlFormatOf(crawl)
  if (format === undefined || format === CRAWL_FORMAT) return
  const { queueName } = crawl.keys
  const [spider, id] = queueName.slice(1, -1).split('@')
  const typed = id === undefined ? spider : `${spider} -s CRAWL_ID=${id}`
  throw new WebloomError(
    'WL_CRAWL_FORMAT',
    format > CRAWL_FORMAT
      ? `${crawlShown(crawl.keys)} was begun by a newer release of Webloom (format ${format}; this one knows ${CRAWL_FORMAT}): install that release, or clear the crawl`
      : `${crawlShown(crawl.keys)} was begun by an earlier release of Webloom, whose queue has another form (format ${format}; this one has ${CRAWL_FORMAT}). Go on with that release, or take along what is left. With no worker running: webloom export ${typed} -o left.jsonl; webloom clear ${typed}; webloom import left.jsonl ${typed}`,
  )
}

/** Where the release before this one had the queue of QUEUE_MODE=turns. */
export function formerBase({ base }: CrawlRedisKeys): string {
  return `${base}:turns`
}

/** The keys under which a crawl in an earlier form is counted; those that were given for any other. */
export async function keysAsStored({ redis, keys }: CrawlOnRedis): Promise<CrawlRedisKeys> {
  const format = await crawlFormatOf({ redis, keys })
  return format === 1 ? { ...keys, frontierCounts: `${formerBase(keys)}:counts` } : keys
}
