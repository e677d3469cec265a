import { type RedisServer, type StartRedisOptions, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { type CrawlRedisKeys, crawlRedisKeys } from '../src/redis/crawl-redis-keys.ts'

/** One real Redis for the tests of a file; each test has a crawl with keys of its own. */
export class RedisBench implements AsyncDisposable {
  readonly #connections: Redis[] = []
  #server: RedisServer | undefined
  #redis: Redis | undefined
  #crawls = 0

  async start(options: StartRedisOptions = {}): Promise<void> {
    this.#server = await startRedis(options)
    this.#redis = this.connect()
  }

  async stop(): Promise<void> {
    for (const connection of this.#connections) connection.disconnect()
    await this.#server?.stop()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  get server(): RedisServer {
    if (!this.#server) throw new Error('start() comes first')
    return this.#server
  }

  /** The test's own connection. */
  get redis(): Redis {
    if (!this.#redis) throw new Error('start() comes first')
    return this.#redis
  }

  /** As the assembly makes one, but that it comes back sooner. */
  connect(url = this.server.url): Redis {
    const redis = new Redis(url, { maxRetriesPerRequest: null, socketTimeout: 4000, retryStrategy: () => 50 })
    redis.on('error', () => {})
    this.#connections.push(redis)
    return redis
  }

  /** From now on the server says NOREPLICAS to all writes, or takes them again. */
  async refuseWrites(isRefused: boolean): Promise<void> {
    await this.redis.config('SET', 'min-replicas-to-write', isRefused ? '1' : '0')
  }

  nextKeys(): CrawlRedisKeys {
    return crawlRedisKeys({ spider: `crawl${++this.#crawls}`, crawlId: null })
  }
}
