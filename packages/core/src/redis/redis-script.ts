import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hasOwnUser, withRightsCheck } from './rights-check.ts'
import { scriptRefusal } from './script-refusal.ts'
import { redisError } from './store-trouble.ts'

/** The part of an ioredis connection that a script needs. */
export interface ScriptRunner {
  /** Runs a script that the server knows by its hash. Rejects with NOSCRIPT when the server does not know it. */
  evalsha(sha1: string, keyCount: number, ...keysAndArgs: (string | number | Buffer)[]): Promise<unknown>
  /** Runs a script that is sent whole. */
  eval(lua: string, keyCount: number, ...keysAndArgs: (string | number | Buffer)[]): Promise<unknown>
}

/**
 * A Lua script that runs in Redis. Over each connection it is first sent whole, then by its hash, and whole again only to a
 * server that no longer knows it.
 *
 * The first call does not use the hash: a server that does not know it refuses calls, which are then sent again after
 * others that were sent later. The order over a connection must be kept: of seeds, for example, the highest go first.
 */
export class RedisScript {
  readonly #texts: readonly string[]
  readonly #plain = new SentScript(() => this.lua)
  /** For users with rights of their own. */
  #checked: SentScript | undefined

  /** @param texts each but the first becomes a function inside the one before it, as `luaScriptsIn` tells */
  constructor(...texts: readonly string[]) {
    this.#texts = texts
  }

  /** The whole script. It is made when it is asked for: whole ones of a crawl take 1.4 MB, their files a sixth of that. */
  get lua(): string {
    return this.#texts.join('\nreturn (function()\n') + 'end)()\n'.repeat(this.#texts.length - 1)
  }

  /** Rejects with WL_REDIS_AWAY or WL_REDIS_FULL when the same call may succeed later, with `ScriptRefusal` when the script refuses. */
  async run(
    redis: ScriptRunner,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown> {
    try {
      return await this.#for(redis).send(redis, keys, args)
    } catch (error) {
      throw scriptRefusal(error) ?? redisError(error)
    }
  }

  #for(redis: ScriptRunner): SentScript {
    if (!hasOwnUser(redis)) return this.#plain
    this.#checked ??= new SentScript(() => withRightsCheck(this.lua))
    return this.#checked
  }
}

class SentScript {
  readonly #lua: () => string
  #sha1 = ''
  readonly #sentTo = new WeakSet<ScriptRunner>()

  constructor(lua: () => string) {
    this.#lua = lua
  }

  async send(
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
    const lua = this.#lua()
    this.#sha1 = hash('sha1', lua)
    this.#sentTo.add(redis)
    return redis.eval(lua, keys.length, ...keys, ...args)
  }
}

/**
 * Makes scripts of the files below a folder. Files are joined, as Redis has no include, and are read at once, each a single
 * time. What a file defines, all files after it see.
 *
 * A script's functions are made anew each time that it runs. So each file but the first is a function inside the one before it:
 * where a local of the same function is captured, Lua looks for it among all that are captured so far, and the scripts of buckets
 * have more than a hundred functions. Lua allows a function to use 60 names from outside: a file, and all after it together.
 *
 * @returns a function from the files' paths below the folder, or their URLs, to the script that they make
 */
export function luaScriptsIn(folder: URL): (...files: readonly (string | URL)[]) => RedisScript {
  const read = new Map<string, string>()
  const textOf = (file: string | URL): string => {
    const url = new URL(file, folder)
    const text = read.get(url.href) ?? readFileSync(url, 'utf8')
    read.set(url.href, text)
    return text
  }
  return (...files) => new RedisScript(...files.map(textOf))
}
