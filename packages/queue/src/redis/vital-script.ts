import { isRedisFull, type RedisScript, type ScriptRunner } from '@webloom/core'
import { luaScript } from './lua.ts'

/**
 * A script that a crawl cannot do without when its Redis is full: without signs of life all workers would be taken for
 * lost. Redis refuses a script that writes once it is at its maxmemory, but Redis 7 runs one that says it may go above.
 * These write a few bytes over older ones. An older Redis refuses them, and what was asked for is refused with it.
 */
export class VitalScript {
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

  async run(
    redis: ScriptRunner,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    try {
      return await this.#script.run(redis, keys, args)
    } catch (error) {
      if (!isRedisFull(error)) throw error
      return this.#runWhenFull(redis, keys, args, error)
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
