import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Cluster, Redis } from 'ioredis'

/** A connection that its owner opened and will close. */
export type RedisConnection = Redis | Cluster

export type RedisArgument = string | number | Buffer

/** A script made of one or more files of `lua/`, one behind the other: Redis has no include. */
export class RedisScript {
  readonly #lua: string
  readonly #sha1: string

  constructor(...files: readonly string[]) {
    this.#lua = files.map((file) => readFileSync(new URL(`../lua/${file}`, import.meta.url), 'utf8')).join('')
    this.#sha1 = hash('sha1', this.#lua)
  }

  /** Sends the script's name, and the script itself only to a server that does not know it yet. */
  async run(
    redis: RedisConnection,
    keys: readonly string[],
    args: readonly RedisArgument[],
  ): Promise<unknown> {
    try {
      return await redis.evalsha(this.#sha1, keys.length, ...keys, ...args)
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      return redis.eval(this.#lua, keys.length, ...keys, ...args)
    }
  }
}
