import { setTimeout as sleep } from 'node:timers/promises'
import { isSlotMoving, luaScriptsIn, type RedisScript, WebloomError } from '@webloom/core'
import type { Cluster, Redis } from 'ioredis'

/** A connection that its opener will close. */
export type RedisConnection = Redis | Cluster

/** An argument of a script on Redis. */
export type RedisArgument = string | number | Buffer

/** A script made of files of `lua/`, each by its folder and name. */
export const luaScript = luaScriptsIn(new URL('../../lua/', import.meta.url))

const MOVING_RETRY_MS = 50
const MOVING_MS_MAX = 10_000

/**
 * Runs a script that may be run again after an error in its middle, as those of the asker protocol. Lists of askers are no KEYS, as nobody
 * knows them all. So while a cluster moves their slot, a script that meets one which is not there, or no longer there, ends in its middle.
 */
export async function runThroughMoves(
  script: RedisScript,
  redis: RedisConnection,
  keys: readonly string[],
  args: readonly RedisArgument[],
): Promise<unknown> {
  for (let waitedMs = 0; ; waitedMs += MOVING_RETRY_MS) {
    try {
      return await script.run(redis, keys, args)
    } catch (error) {
      if (!isSlotMoving(error)) throw error
      if (waitedMs >= MOVING_MS_MAX) throw stillMoving(keys[0]!, error)
      await sleep(MOVING_RETRY_MS)
    }
  }
}

/** The scheduler waits, and asks again. */
function stillMoving(key: string, cause: Error): WebloomError {
  const message = `the cluster has been moving the slot of ${key} for more than ${MOVING_MS_MAX / 1000} s: redis-cli --cluster fix ends a move that was broken off`
  return new WebloomError('WL_REDIS_AWAY', message, { cause })
}
