/**
 * The crawls that a Redis has, so that whoever looks at it finds them without a search through its keys.
 *
 * Each worker notes its crawl when it joins. The note stays when the crawl is cleared, as what its runs came to does. It has a slot of its own, as it is of all
 * crawls; so it is not part of any script, and a worker goes on without it.
 */

import type { CrawlName, KeyPrefixes } from '@webloom/core'
import type { Redis } from 'ioredis'
import { type CrawlRedisKeys, crawlRedisKeys, crawlsKey } from '../redis/crawl-redis-keys.ts'

/** A crawl that workers of this Redis have joined, whatever has become of it since. */
export interface KnownCrawl extends CrawlName {
  /** As in its keys: `{quotes}`, `{quotes@2026-11}`. */
  readonly queueName: string
  /** STATS_KEY with the crawl's name in it. */
  readonly statsKey: string
  /** When a worker last joined it, by that worker's clock. */
  readonly joinedAt: Date
  /** The release of that worker. */
  readonly release: string
}

/** Crawls with a CRAWL_ID for each day come to many in years; those that were joined longest ago are forgotten. */
const CRAWLS_MAX = 1000

interface Noted {
  readonly spider: string
  readonly crawlId: string | null
  readonly statsKey: string
  readonly joinedAt: number
  readonly release: string
}

/** Notes that a worker has joined the crawl. */
export async function noteCrawl(
  redis: Redis,
  { statsKey, release, ...name }: CrawlName & Pick<KnownCrawl, 'statsKey' | 'release'>,
): Promise<void> {
  const { spider, crawlId } = name
  const { crawls, queueName } = crawlRedisKeys(name)
  const noted: Noted = { spider, crawlId, statsKey, joinedAt: Date.now(), release }
  const isNew = await redis.hset(crawls, queueName, JSON.stringify(noted))
  if (isNew === 1 && (await redis.hlen(crawls)) > CRAWLS_MAX) await forgetOldest(redis, name)
}

/** Resolves to false for a crawl that nobody has begun here: its name may be misspelt. One that was cleared is known. */
export async function isCrawlKnown(
  redis: Redis,
  { queueName, record, runs, crawls }: CrawlRedisKeys,
): Promise<boolean> {
  const [kept, noted] = await Promise.all([redis.exists(record, runs), redis.hexists(crawls, queueName)])
  return kept + noted > 0
}

/** Deletes the note, and what the crawl's runs came to. A worker that joins the crawl notes it anew. */
export async function forgetCrawl(
  redis: Redis,
  { queueName, runs, monitors, crawls }: CrawlRedisKeys,
): Promise<void> {
  await redis.unlink(runs, monitors)
  await redis.hdel(crawls, queueName)
}

/** Resolves to the known crawls whose keys have these prefixes. The crawl that was joined last comes first. */
export async function readCrawls(
  redis: Redis,
  { keyPrefix = '', queuePrefix = 'webloom' }: KeyPrefixes = {},
): Promise<KnownCrawl[]> {
  const prefixes = { keyPrefix, queuePrefix }
  const noted = Object.entries(await redis.hgetall(crawlsKey(prefixes)))
  return noted
    .flatMap(([queueName, text]) => knownOf(queueName, text) ?? [])
    .map((crawl) => ({ ...crawl, ...prefixes }))
    .sort(latestFirst)
}

async function forgetOldest(redis: Redis, prefixes: KeyPrefixes): Promise<void> {
  const old = (await readCrawls(redis, prefixes)).slice(CRAWLS_MAX).map(({ queueName }) => queueName)
  if (old.length > 0) await redis.hdel(crawlsKey(prefixes), ...old)
}

function latestFirst(a: KnownCrawl, b: KnownCrawl): number {
  return b.joinedAt.getTime() - a.joinedAt.getTime()
}

/** Undefined for what another release wrote in a form that this one cannot read. */
function knownOf(queueName: string, text: string): KnownCrawl | undefined {
  try {
    const { spider, crawlId, statsKey, joinedAt, release } = JSON.parse(text) as Noted
    return { spider, crawlId, statsKey, joinedAt: new Date(joinedAt), release, queueName }
  } catch {
    return undefined
  }
}
