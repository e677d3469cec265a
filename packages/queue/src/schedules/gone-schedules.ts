/**
 * Schedules that are not there any more: somebody has removed them, or their Redis has lost them.
 *
 *     <schedules>:removed   hash that expires: name → `removed`, or `gone` when people are told that it is
 */

import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { luaScript } from '../redis/lua.ts'
import type { Schedule } from './schedule-queue.ts'
import { newUntold, UNTOLD_MAX, untoldKey } from './untold.ts'

const goneScript = luaScript('schedules/note-gone.lua')

/** A process that was cut off from Redis for longer takes a schedule that was removed meanwhile for one that is lost. */
const KEPT_MS = 30 * 24 * 3_600_000

const removedKey = ({ schedules }: CrawlRedisKeys) => `${schedules}:removed`

/** Before it is removed: whoever misses it must know by whom. */
export async function noteRemoved(redis: Redis, keys: CrawlRedisKeys, name: string): Promise<void> {
  await redis.multi().hset(removedKey(keys), name, 'removed').pexpire(removedKey(keys), KEPT_MS).exec()
}

/** It is there again. */
export async function noteMade(redis: Redis, keys: CrawlRedisKeys, name: string): Promise<void> {
  await redis.hdel(removedKey(keys), name)
}

/** Resolves to true when nobody removed it, and no other process has noted that; people are then to be told `why`. */
export async function noteGone(
  redis: Redis,
  keys: CrawlRedisKeys,
  { name, crawlId }: Schedule,
  why: string,
): Promise<boolean> {
  const untold = newUntold({ schedule: name, crawlId, why, isGone: true })
  const noted = await goneScript.run(
    redis,
    [removedKey(keys), untoldKey(keys)],
    [name, ...untold, UNTOLD_MAX, KEPT_MS],
  )
  return noted === 1
}
