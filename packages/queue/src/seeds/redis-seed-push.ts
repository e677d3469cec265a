import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { luaScript } from '../redis/lua.ts'
import { replyOfSeeds, type SeedType, seedKeys } from './seed-keys.ts'

/** One message for a crawl; `score` counts in a sorted set only, and the highest goes first. */
export interface SeedToPush {
  readonly message: string
  readonly score: number
}

export interface RedisSeedPushOptions {
  /** Opened and closed by whoever gives it. */
  readonly redis: Redis
  /** The key of the start URLs, with spider and CRAWL_ID in it. */
  readonly key: string
  /** The type of a key that does not exist yet. A key that exists keeps its type. */
  readonly type: SeedType
  /** For a list: adds before all messages that wait, each batch in its order. */
  readonly front?: boolean
}

/** What a batch did. */
export interface SeedBatchPushed {
  readonly type: SeedType
  /** How many messages were new; for a list, all of them. */
  readonly added: number
  /** How many messages wait now. */
  readonly waiting: number
}

const PUSH = luaScript('seeds/push.lua')
/** A batch that is sent again after a lost reply comes within seconds. */
const PUSH_KEPT_S = 3600

/** Adds many messages to the start URLs, batch after batch; a batch whose reply was lost is not added twice. */
export class RedisSeedPush {
  readonly #options: RedisSeedPushOptions
  readonly #keys: readonly [main: string, push: string]
  #batches = 0

  constructor(options: RedisSeedPushOptions) {
    const { main, push } = seedKeys(options.key, options.redis)
    this.#options = options
    this.#keys = [main, `${push}:${randomUUID()}`]
  }

  /**
   * Adds up to MAX_SEEDS_PER_PUSH seeds. One batch at a time: the next when this one has resolved. Rejects with `SettingsError`
   * when the key has become something else than start URLs.
   */
  async push(seeds: readonly SeedToPush[]): Promise<SeedBatchPushed> {
    const { redis, key, type, front } = this.#options
    const pairs = seeds.flatMap(({ score, message }) => [score, message])
    const args = [++this.#batches, type, front ? 'front' : 'back', PUSH_KEPT_S, ...pairs]
    const reply = await replyOfSeeds(key, PUSH.run(redis, this.#keys, args))
    const [found, added, waiting] = reply as [SeedType, number, number]
    return { type: found, added, waiting }
  }
}

/** Lua's unpack() takes some 8 000 values, two a message in a sorted set. */
export const MAX_SEEDS_PER_PUSH = 1000
