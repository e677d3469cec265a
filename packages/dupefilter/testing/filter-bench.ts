import { type RedisServer, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { describe, test } from 'vitest'
import { RedisBloomDupeFilter } from '../src/bloom/redis-bloom-dupefilter.ts'
import type { RedisDupeFilter } from '../src/redis/redis-dupefilter.ts'
import type { RedisDupeFilterOptions } from '../src/redis/redis-dupefilter-options.ts'
import { RedisSetDupeFilter } from '../src/redis/redis-set-dupefilter.ts'

/** Short, for tests that wait for an asker to go stale. */
export const STALE_MS = 400
/** For all others: a slow machine must not have an asker go stale between two lines of a test. */
const NEVER_STALE_MS = 60_000

type Make<Filter> = (options: RedisDupeFilterOptions) => Filter

/** One real Redis for the tests of a file; each filter has a key of its own. */
export class FilterBench {
  readonly #connections: Redis[] = []
  #server: RedisServer | undefined
  #keys = 0

  async start(): Promise<void> {
    this.#server = await startRedis()
  }

  async stop(): Promise<void> {
    for (const connection of this.#connections) connection.disconnect()
    await this.#server?.stop()
  }

  get url(): string {
    if (!this.#server) throw new Error('start() comes first')
    return this.#server.url
  }

  connect(url = this.url): Redis {
    const redis = new Redis(url)
    redis.on('error', () => {})
    this.#connections.push(redis)
    return redis
  }

  nextKey(): string {
    return `test${++this.#keys}:dupefilter`
  }

  async open<Filter extends RedisDupeFilter>(
    make: Make<Filter>,
    options: Partial<RedisDupeFilterOptions> = {},
  ): Promise<Filter> {
    const filter = make({
      redis: options.redis ?? this.connect(),
      key: options.key ?? this.nextKey(),
      pendingStaleMs: NEVER_STALE_MS,
      ...options,
    })
    await filter.open()
    return filter
  }

  /** What the contract suite asks for. */
  contract(make: Make<RedisDupeFilter>) {
    return {
      create: async () => {
        const redis = this.connect()
        const subject = await this.open(make, { redis })
        return { subject, dispose: () => dispose([subject], [redis]) }
      },
      createShared: async (pendingStaleMs: number) => {
        const [a, b] = [this.connect(), this.connect()]
        let run = 1
        const shared = { key: this.nextKey(), redisRunId: () => `run ${run}`, pendingStaleMs }
        const queueComesBack = () => void run++
        const filter = await this.open(make, { ...shared, redis: a })
        const other = await this.open(make, { ...shared, redis: b })
        const stores = { filter, other, pendingStaleMs, queueComesBack }
        return { ...stores, dispose: () => dispose([filter, other], [a, b]) }
      },
    }
  }
}

async function dispose(filters: readonly RedisDupeFilter[], connections: readonly Redis[]): Promise<void> {
  for (const filter of filters) {
    await filter.close()
    await filter.clear()
  }
  for (const redis of connections) redis.disconnect()
}

/** Runs a contract suite: most of its tests of askers that go stale is waiting, and they wait at once. */
export const RUNNER = {
  describe: (name: string, body: () => void) =>
    (name.includes('whose askers go stale') ? describe.concurrent : describe)(name, body),
  test,
}

/** One that keeps fingerprints whole, and one that keeps bits of them. */
export const REDIS_FILTERS: Record<string, (options: RedisDupeFilterOptions) => RedisDupeFilter> = {
  'redis-set': (options) => new RedisSetDupeFilter(options),
  'redis-bloom': (options) => new RedisBloomDupeFilter({ ...options, capacity: 200_000, errorRate: 1e-9 }),
}

/** Waits: for times that only Redis's clock can tell: until an asker is stale, or what is remembered for a second is asked again. */
export const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
