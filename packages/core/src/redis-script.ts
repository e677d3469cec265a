import { hash } from 'node:crypto'

/** What a script needs of an ioredis connection. */
export interface ScriptRunner {
  evalsha(sha1: string, keyCount: number, ...keysAndArgs: (string | number | Buffer)[]): Promise<unknown>
  eval(lua: string, keyCount: number, ...keysAndArgs: (string | number | Buffer)[]): Promise<unknown>
}

/** A Lua script that runs in Redis. It is sent by its hash, and whole only to a server that does not know it yet. */
export class RedisScript {
  readonly lua: string
  readonly #sha1: string

  constructor(lua: string) {
    this.lua = lua
    this.#sha1 = hash('sha1', lua)
  }

  async run(
    redis: ScriptRunner,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown> {
    try {
      return await redis.evalsha(this.#sha1, keys.length, ...keys, ...args)
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      return redis.eval(this.lua, keys.length, ...keys, ...args)
    }
  }
}
