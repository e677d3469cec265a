import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { scriptRefusal } from './script-refusal.ts'
import { redisError } from './store-trouble.ts'

/** What a script needs of an ioredis connection. */
export interface ScriptRunner {
  /** Runs a script that the server knows by its hash; rejects with NOSCRIPT when it does not. */
  evalsha(sha1: string, keyCount: number, ...keysAndArgs: (string | number | Buffer)[]): Promise<unknown>
  /** Runs a script that is sent whole. */
  eval(lua: string, keyCount: number, ...keysAndArgs: (string | number | Buffer)[]): Promise<unknown>
}

/**
 * A Lua script that runs in Redis. Over a connection it is sent whole the first time, then by its hash, and whole again only to
 * a server that does not know it any more.
 *
 * Not by its hash from the first time on: a server that does not know it refuses some, which are sent again behind others that
 * were sent later. What is sent first over a connection is to be done first: of seeds the highest, for example.
 */
export class RedisScript {
  readonly lua: string
  readonly #sha1: string
  readonly #sentTo = new WeakSet<ScriptRunner>()

  constructor(lua: string) {
    this.lua = lua
    this.#sha1 = hash('sha1', lua)
  }

  /** Throws WL_REDIS_AWAY and WL_REDIS_FULL where it may succeed later, `ScriptRefusal` where the script itself says no. */
  async run(
    redis: ScriptRunner,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown> {
    try {
      return await this.#send(redis, keys, args)
    } catch (error) {
      throw scriptRefusal(error) ?? redisError(error)
    }
  }

  async #send(
    redis: ScriptRunner,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown> {
    if (this.#sentTo.has(redis)) {
      try {
        return await redis.evalsha(this.#sha1, keys.length, ...keys, ...args)
      } catch (error) {
        if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      }
    }
    this.#sentTo.add(redis)
    return redis.eval(this.lua, keys.length, ...keys, ...args)
  }
}

/**
 * Makes scripts of the files below a folder, one file behind the other: Redis has no include. They are read at once.
 *
 * @returns a function from the files' paths below the folder, or their URLs, to the script that they make
 */
export function luaScriptsIn(folder: URL): (...files: readonly (string | URL)[]) => RedisScript {
  return (...files) =>
    new RedisScript(files.map((file) => readFileSync(new URL(file, folder), 'utf8')).join(''))
}
