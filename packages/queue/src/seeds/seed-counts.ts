import type { Redis } from 'ioredis'
import { luaScript } from '../redis/lua.ts'
import { type SeedKeys, seedKeys } from './seed-keys.ts'

/** Messages with start URLs, by where they are. */
export interface SeedCounts {
  readonly waiting: number
  /** Taken by a worker, and not queued yet. */
  readonly inWork: number
  /** On the invalid list, as no request could be made of them. */
  readonly invalid: number
}

const pendingScript = luaScript('seeds/pending.lua')

/** Messages that no worker has taken, and messages that are not done. */
export async function pendingSeeds(
  redis: Redis,
  { main, processing }: SeedKeys,
): Promise<{ waiting: number; inWork: number }> {
  const [waiting, inWork] = (await pendingScript.run(redis, [main, processing], [])) as [number, number]
  return { waiting, inWork }
}

/** `key`: the main key of the start URLs. */
export async function readSeedCounts(redis: Redis, key: string): Promise<SeedCounts> {
  const keys = seedKeys(key, redis)
  const [pending, invalid] = await Promise.all([pendingSeeds(redis, keys), redis.llen(keys.invalid)])
  return { ...pending, invalid }
}
