import { isRedisFull, type RedisScript, type ScriptRunner } from '@webloom/core'
import { luaScript } from './lua.ts'

const WHEN_FULL = 'redis/allow-oom.lua'
const WHEN_FULL_BEFORE_7 = 'redis/oom-before-7.lua'

/**
 * A script that runs on a full Redis, too: without heartbeats, for one, all workers would count as lost. Redis refuses
 * scripts that write once it is at its maxmemory, but Redis 7 runs those that declare `allow-oom`, and an older one those that have
 * written before. These scripts write only a few bytes, mostly over older ones.
 */
export class OomSafeScript {
  readonly #files: readonly string[]
  readonly #script: RedisScript
  /** For Redis 7 and later, and for older ones. */
  #whenFull: readonly RedisScript[] | undefined

  constructor(...files: readonly string[]) {
    this.#files = files
    this.#script = luaScript(...files)
  }

  get lua(): string {
    return this.#script.lua
  }

  /** @param argsWhenFull for a full Redis, in place of `args`, where these would write more than a few bytes */
  async run(
    redis: ScriptRunner,
    keys: readonly string[],
    args: readonly (string | number)[],
    argsWhenFull = args,
  ): Promise<unknown> {
    try {
      return await this.#script.run(redis, keys, args)
    } catch (error) {
      if (!isRedisFull(error)) throw error
      return this.#runWhenFull(redis, keys, argsWhenFull, error)
    }
  }

  async #runWhenFull(
    redis: ScriptRunner,
    keys: readonly string[],
    args: readonly (string | number)[],
    refusal: unknown,
  ): Promise<unknown> {
    this.#whenFull ??= [WHEN_FULL, WHEN_FULL_BEFORE_7].map((first) => luaScript(first, ...this.#files))
    for (const script of this.#whenFull) {
      try {
        return await script.run(redis, keys, args)
      } catch {
        // An older Redis cannot read the first.
      }
    }
    throw refusal
  }
}
