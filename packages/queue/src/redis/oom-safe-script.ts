import { isRedisFull, type RedisScript, type ScriptRunner } from '@webloom/core'
import { luaScript } from './lua.ts'

/**
 * A script that runs on a full Redis, too: without heartbeats, for one, all workers would count as lost. Redis refuses
 * scripts that write once it is at its maxmemory, but Redis 7 runs those that declare `allow-oom`. These scripts write only
 * a few bytes, mostly over older ones. An older Redis refuses them, and `run` rejects with its error.
 */
export class OomSafeScript {
  readonly #files: readonly string[]
  readonly #script: RedisScript
  #whenFull: RedisScript | undefined

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
    try {
      this.#whenFull ??= luaScript('redis/allow-oom.lua', ...this.#files)
      return await this.#whenFull.run(redis, keys, args)
    } catch {
      throw refusal
    }
  }
}
