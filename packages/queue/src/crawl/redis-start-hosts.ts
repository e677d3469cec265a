import { ENTRY_BYTES, RecentBytes, type StartHosts } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { OomSafeScript } from '../redis/oom-safe-script.ts'

// 2 ** 21, 2 MiB: some 13 000 hosts. What is not remembered costs one command, no more.
const KNOWN_BYTES_MAX = 2_097_152

// A full Redis must not end start() here: the request itself waits for room later.
const addScript = new OomSafeScript('crawl/add-start-host.lua')

/** The start hosts of a crawl that workers share: sets beside the queue. */
export class RedisStartHosts implements StartHosts {
  readonly #redis: Redis
  readonly #key: string
  readonly #publicKey: string
  #known = new RecentBytes<string, true>(KNOWN_BYTES_MAX)

  /** @param redis the queue's; opened and closed by whoever gives it */
  constructor({ redis, keys }: { redis: Redis; keys: CrawlRedisKeys }) {
    this.#redis = redis
    this.#key = keys.startHosts
    this.#publicKey = keys.publicHosts
  }

  async add(hostAndPort: string): Promise<void> {
    if (this.#known.get(hostAndPort)) return
    await addScript.run(this.#redis, [this.#key], [hostAndPort])
    this.#known.set(hostAndPort, true, ENTRY_BYTES + hostAndPort.length)
  }

  /** Asks Redis each time, as another worker may have found a public address since. */
  async has(hostAndPort: string): Promise<boolean> {
    const [isStartHost, isPublic] = await Promise.all([
      this.#redis.sismember(this.#key, hostAndPort),
      this.#redis.sismember(this.#publicKey, hostAndPort),
    ])
    return isStartHost === 1 && isPublic === 0
  }

  async notePublic(hostAndPort: string): Promise<void> {
    const isStartHost =
      this.#known.get(hostAndPort) || (await this.#redis.sismember(this.#key, hostAndPort)) === 1
    if (isStartHost) await addScript.run(this.#redis, [this.#publicKey], [hostAndPort])
  }

  /** Called when queue and filter are emptied, as the next crawl has start hosts of its own. */
  async clear(): Promise<void> {
    this.#known = new RecentBytes(KNOWN_BYTES_MAX)
    await this.#redis.unlink(this.#key, this.#publicKey)
  }
}
