import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'

/**
 * Deletes the numbers of commands that a killed `webloom import` leaves. It has no heartbeat, so that only its number tells whether it is
 * there: one that has stayed the same for `silentMsMax`, and is not a worker's, is deleted. An import that goes on after all sends its
 * requests again, as to a Redis that has gone back, and nothing is queued twice.
 */
export class LeftNumbers {
  readonly #redis: Redis
  readonly #key: string
  readonly #silentMsMax: number
  /** Of those that are not worker's: the number, and since when it has been that. */
  #known = new Map<string, { readonly number: string; readonly sinceMs: number }>()

  constructor({ redis, keys, silentMsMax }: { redis: Redis; keys: CrawlRedisKeys; silentMsMax: number }) {
    this.#redis = redis
    this.#key = `${keys.frontier}:heard`
    this.#silentMsMax = silentMsMax
  }

  /** @param workers those that have a heartbeat, or were lost not long ago */
  async sweep(workers: ReadonlySet<string>, nowMs: number): Promise<void> {
    const numbers = Object.entries(await this.#redis.hgetall(this.#key)).filter(([id]) => !workers.has(id))
    const seen = numbers.map(([id, number]) => {
      const before = this.#known.get(id)
      return [id, before?.number === number ? before : { number, sinceMs: nowMs }] as const
    })
    const left = seen.filter(([, { sinceMs }]) => sinceMs <= nowMs - this.#silentMsMax).map(([id]) => id)
    this.#known = new Map(seen.filter(([id]) => !left.includes(id)))
    if (left.length > 0) await this.#redis.hdel(this.#key, ...left)
  }
}
