import { MemoryStatsCollector, type StatsCollector } from '@webloom/core'
import type { Redis } from 'ioredis'
import { vi } from 'vitest'
import { doOwed, type OwedOptions, type Todo } from '../src/crawl/crawl-todo.ts'
import { RedisCrawlRecord, type RedisCrawlRecordOptions } from '../src/crawl/redis-crawl-record.ts'
import { CrawlChannel } from '../src/members/crawl-channel.ts'
import {
  WorkerHeartbeat,
  type WorkerHeartbeatOptions,
  type WorkerObeys,
  type WorkerTells,
} from '../src/members/worker-heartbeat.ts'
import { type CrawlView, readCrawl } from '../src/outside/crawl-view.ts'
import type { CrawlRedisKeys } from '../src/redis/crawl-redis-keys.ts'
import { RedisBench } from './redis-bench.ts'

interface JoinOptions extends Partial<Omit<WorkerHeartbeatOptions, 'tells' | 'obeys'>> {
  readonly tells?: Partial<WorkerTells>
  readonly obeys?: Partial<WorkerObeys>
  /** Default: true. */
  readonly persists?: boolean
}

/** Records, heartbeats and channels of crawls on one Redis. */
export class CrawlBench extends RedisBench {
  readonly #heartbeats: WorkerHeartbeat[] = []
  readonly #channels: CrawlChannel[] = []
  #workers = 0

  override async stop(): Promise<void> {
    await Promise.all(this.#heartbeats.map((heartbeat) => heartbeat.close()))
    for (const channel of this.#channels) channel.close()
    await super.stop()
  }

  /**
   * A connection for a worker that may have to wait. Whoever waits asks the same question again and again, and `RedisScript`
   * sends a script over a connection by EVALSHA from the second time on.
   */
  watched(): WatchedConnection {
    const redis = this.connect()
    const again = vi.spyOn(redis, 'evalsha')
    return { redis, hasAskedAgain: () => again.mock.calls.length > 0 }
  }

  statsKey(keys: CrawlRedisKeys): string {
    return `${keys.queueName.slice(1, -1)}:stats`
  }

  nextWorker(): string {
    return `test:${process.pid}:${++this.#workers}`
  }

  record(keys: CrawlRedisKeys, options: Partial<RedisCrawlRecordOptions> = {}): RedisCrawlRecord {
    return new RedisCrawlRecord({
      redis: this.redis,
      keys,
      workerId: this.nextWorker(),
      begins: false,
      persists: false,
      ...options,
    })
  }

  /** A record whose crawl has begun, and whose start() is over. */
  async begun(
    keys: CrawlRedisKeys,
    options: Partial<RedisCrawlRecordOptions> = {},
  ): Promise<RedisCrawlRecord> {
    const record = this.record(keys, options)
    await record.open()
    await record.takeStart(new AbortController().signal)
    await record.startEnded(0)
    return record
  }

  stateOf(keys: CrawlRedisKeys): Promise<string | null> {
    return this.redis.hget(keys.record, 'state')
  }

  /** How many workers are noted. */
  entriesOf(keys: CrawlRedisKeys): Promise<number> {
    return this.redis.hlen(keys.workers)
  }

  view(keys: CrawlRedisKeys): Promise<CrawlView> {
    return readCrawl({ redis: this.redis, keys, statsKey: this.statsKey(keys) })
  }

  /** What is owed to the crawl; it is then done. */
  async todoOf(keys: CrawlRedisKeys): Promise<Todo[]> {
    const todo: Todo[] = []
    await this.doOwed(keys, async (what) => void todo.push(what))
    return todo
  }

  /** Does what is owed to the crawl as another worker each time; see doOwed. */
  doOwed(
    keys: CrawlRedisKeys,
    act: (todo: Todo) => Promise<void> = async () => {},
    options: Partial<OwedOptions> = {},
  ): Promise<boolean> {
    return doOwed({ redis: this.redis, keys, worker: this.nextWorker(), act, ...options })
  }

  /** A worker that takes part: its record is open, its heart beats. */
  async join(
    keys: CrawlRedisKeys,
    { tells, obeys, persists = true, ...options }: JoinOptions = {},
  ): Promise<JoinedWorker> {
    const workerId = options.workerId ?? this.nextWorker()
    const redis = options.redis ?? this.redis
    const stats = options.stats ?? new MemoryStatsCollector()
    const told: string[] = []
    let changed = Promise.withResolvers<void>()
    const tell = (what: string) => {
      told.push(what)
      changed.resolve()
      changed = Promise.withResolvers<void>()
    }
    const { alike } = options
    const record = this.record(keys, { redis, workerId, persists, ...(alike && { alike }) })
    await record.open()
    const channel = new CrawlChannel({ redis, keys })
    this.#channels.push(channel)
    await channel.open()
    const heartbeat = new WorkerHeartbeat({
      redis,
      keys,
      channel,
      statsKey: this.statsKey(keys),
      workerId,
      stats,
      tells: { activity: () => ({ downloading: 2, scraping: 1 }), ...tells },
      obeys: {
        onPause: () => tell('pause'),
        onResume: () => tell('resume'),
        onStop: (reason) => tell(`stop: ${reason}`),
        ...obeys,
      },
      ...options,
    })
    this.#heartbeats.push(heartbeat)
    await heartbeat.open(record.run)
    const hears = async (what: string) => {
      while (!told.includes(what)) await changed.promise
    }
    return { record, heartbeat, stats, told, workerId, hears }
  }

  /** As if these workers' last heartbeat were so old. */
  async unheardFor(ms: number, keys: CrawlRedisKeys, ...workerIds: readonly string[]): Promise<void> {
    for (const id of workerIds) {
      const entry = (await this.redis.hget(keys.workers, id))!
      await this.redis.hset(keys.workers, id, entry.replace(/^\{"at":\d+/, `{"at":${Date.now() - ms}`))
    }
  }
}

/** Leaves as the engine does when the crawl is finished. */
export async function finished(record: RedisCrawlRecord): ReturnType<RedisCrawlRecord['leave']> {
  if (!(await record.finish())) throw new Error('the crawl is not finished')
  await record.ended('finished')
  return record.leave()
}

/** Leaves as the engine does that was told to by a signal. */
export async function stopped(record: RedisCrawlRecord): ReturnType<RedisCrawlRecord['leave']> {
  await record.ended('shutdown')
  return record.leave()
}

export interface JoinedWorker {
  readonly record: RedisCrawlRecord
  readonly heartbeat: WorkerHeartbeat
  readonly stats: StatsCollector
  /** `pause`, `resume`, `stop: <reason>`, as they came. */
  readonly told: readonly string[]
  readonly workerId: string
  hears(what: string): Promise<void>
}

export interface WatchedConnection {
  readonly redis: Redis
  hasAskedAgain(): boolean
}

/** Resolves when the worker has asked again, and so was told to wait; rejects when `work` ends before. */
export async function waits(work: Promise<unknown>, { hasAskedAgain }: WatchedConnection): Promise<void> {
  let ended = false
  const end = () => {
    ended = true
  }
  void work.then(end, end)
  await until(() => ended || hasAskedAgain(), 10_000)
  if (ended) throw new Error('it did not wait')
}

/** Resolves when `holds` does; asks anew each 50 ms. */
export async function until(holds: () => Promise<boolean> | boolean, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`${holds} did not hold within ${withinMs} ms`)
    // Waits: between two looks.
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
