/**
 * How many runs schedules have begun, and how many they have not, by crawl: kept with the schedules, so that a worker's end loses none.
 *
 *     <schedules>:counts   hash: `<outcome> <CRAWL_ID>` → how many
 */

import {
  crawlQueueName,
  type KeyPrefixes,
  type ScheduledOutcome,
  type ScheduledRunsSeen,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import { type CrawlRedisKeys, scheduledSpidersKey } from '../redis/crawl-redis-keys.ts'
import { luaScript } from '../redis/lua.ts'
import { type LastFire, lastKey, type Schedule, scheduleKeys } from './schedule-queue.ts'
import { newUntold, UNTOLD_MAX, untoldKey } from './untold.ts'

const noteScript = luaScript('schedules/note-fire.lua')

const OUTCOMES: readonly ScheduledOutcome[] = ['begun', 'resumed', 'going', 'failed']

const countsKey = ({ schedules }: CrawlRedisKeys) => `${schedules}:counts`

const fieldOf = (outcome: ScheduledOutcome, crawlId: string | null) => `${outcome} ${crawlId ?? ''}`

/** Notes how a fire went, counts it once, and that people are to be told that it failed. `keys` are those of the spider's schedules. */
export async function noteFire(
  redis: Redis,
  keys: CrawlRedisKeys,
  { name, crawlId }: Pick<Schedule, 'name' | 'crawlId'>,
  last: LastFire,
): Promise<void> {
  const field = fieldOf(last.outcome, crawlId)
  const { why = 'its log says why' } = last
  const told = last.outcome === 'failed' ? newUntold({ schedule: name, crawlId, why }) : ['', '']
  await noteScript.run(
    redis,
    [lastKey(keys), countsKey(keys), untoldKey(keys)],
    [name, JSON.stringify(last), field, ...told, UNTOLD_MAX],
  )
}

/** Counts from 0 on: who reads a count again and again sees its first step only so. */
export async function beginCounts(
  redis: Redis,
  keys: CrawlRedisKeys,
  crawlIds: Iterable<string | null>,
): Promise<void> {
  const fields = [...new Set(crawlIds)].flatMap((id) => OUTCOMES.map((outcome) => fieldOf(outcome, id)))
  await Promise.all(fields.map((field) => redis.hsetnx(countsKey(keys), field, '0')))
}

/** Forgets those of a crawl that has no schedule any more. */
export async function forgetCounts(
  redis: Redis,
  keys: CrawlRedisKeys,
  crawlId: string | null,
): Promise<void> {
  await redis.hdel(countsKey(keys), ...OUTCOMES.map((outcome) => fieldOf(outcome, crawlId)))
}

/** Resolves to the counts of all crawls that have schedules; `id` is the name of the crawl's queue without its braces. */
export async function readScheduledRuns(
  redis: Redis,
  prefixes: KeyPrefixes,
): Promise<readonly (ScheduledRunsSeen & { readonly spider: string })[]> {
  const spiders = await redis.smembers(scheduledSpidersKey(prefixes))
  const read = spiders.map(async (spider) => {
    const counts = await redis.hgetall(countsKey(scheduleKeys({ spider, crawlId: null, ...prefixes })))
    const ids = new Set(Object.keys(counts).map((field) => field.slice(field.indexOf(' ') + 1)))
    return [...ids].map((text) => {
      const crawlId = text === '' ? null : text
      const count = (outcome: ScheduledOutcome) => Number(counts[fieldOf(outcome, crawlId)] ?? 0)
      return {
        id: crawlQueueName({ spider, crawlId, ...prefixes }).slice(1, -1),
        spider,
        counts: {
          begun: count('begun'),
          resumed: count('resumed'),
          going: count('going'),
          failed: count('failed'),
        },
      }
    })
  })
  return (await Promise.all(read)).flat()
}
