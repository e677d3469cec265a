/** Start URLs in a Redis, and the workers that take them. */

import { MemoryStatsCollector, Request, type Seed, silentLogger } from '@webloom/core'
import { type RedisServer, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest'
import { RedisSeedSource, type RedisSeedSourceOptions } from '../src/seeds/redis-seed-source.ts'

/** Short, so that tests need not wait long. */
export const LEASE_MS = 1000
export const RIPE_MS = 400

export interface Worker {
  readonly source: RedisSeedSource
  readonly stats: MemoryStatsCollector
  /** What the crawl does with a seed whose request it has queued. */
  readonly queue: (seeds: readonly Seed[]) => Promise<void>
  readonly redis: Redis
}

export const url = (n: number) => `https://example.com/${n}`
export const urls = (seeds: readonly Seed[]) => seeds.map(({ request }) => request.url)
export const eventually = (check: () => Promise<void>) => vi.waitFor(check, { interval: 20 })

/** For the tests of a file: one Redis, a key of its own for each test, and workers that take seeds from it. */
export function seedsOfFile() {
  let server: RedisServer
  let key = ''
  let keys = 0
  const cleanups: (() => unknown)[] = []
  beforeAll(async () => {
    server = await startRedis({ appendonly: 'always' })
  })
  afterAll(() => server.stop())
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  const nextKey = () => {
    key = `spider${++keys}:start_urls`
    return key
  }

  function connect(url = server.url): Redis {
    const redis = new Redis(url, { maxRetriesPerRequest: null })
    redis.on('error', () => {})
    cleanups.push(() => redis.disconnect())
    return redis
  }

  async function worker(options: Partial<RedisSeedSourceOptions> = {}): Promise<Worker> {
    const stats = new MemoryStatsCollector()
    const redis = options.redis ?? connect()
    const source = new RedisSeedSource({
      redis,
      key,
      batchSize: 100,
      workerId: 'host:1:abc',
      makeRequests: (data) => [new Request(data)],
      redisRunId: async () => 'run-1',
      settled: async () => {},
      logger: silentLogger,
      stats,
      leaseMs: LEASE_MS,
      ripeMs: RIPE_MS,
      ...options,
    })
    await source.open()
    cleanups.push(() => source.close())
    const queue = async (seeds: readonly Seed[]) => {
      for (const seed of seeds) await source.acknowledge(seed)
    }
    return { source, stats, queue, redis }
  }

  /** A worker that takes what there is and is never heard of again: its process was killed. */
  async function deadWorkerTakes(): Promise<Seed[]> {
    const redis = connect()
    const { source } = await worker({ redis, workerId: 'host:2:dead' })
    const seeds = await source.next(100)
    redis.disconnect()
    return seeds
  }

  const push = (...messages: (string | Buffer)[]) => server.command('RPUSH', key, ...messages)
  const invalid = async () =>
    ((await server.command('LRANGE', `${key}:invalid`, 0, -1)) as string[]).map(
      (text) => JSON.parse(text) as Record<string, string>,
    )

  /** Asks again and again until the seeds are there. */
  const come = async ({ source }: Worker, count: number): Promise<Seed[]> => {
    const seeds: Seed[] = []
    await eventually(async () => {
      seeds.push(...(await source.next(100)))
      expect(seeds.length).toBeGreaterThanOrEqual(count)
    })
    return seeds
  }

  return {
    get server(): RedisServer {
      return server
    },
    get key(): string {
      return key
    },
    set key(name: string) {
      key = name
    },
    nextKey,
    connect,
    worker,
    deadWorkerTakes,
    push,
    invalid,
    come,
  }
}
