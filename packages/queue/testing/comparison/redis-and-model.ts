/**
 * A real Redis and a model side by side: each operation goes to both, with the same clock, and must get the same answer. What
 * BullMQ would do happens in the model, and its outcome is written to Redis.
 */

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { PROTOCOL_TIMES, type QueueOrder } from '@webloom/core'
import type { Redis } from 'ioredis'
import { BucketScripts } from '../../src/buckets/scripts/bucket-scripts.ts'
import { WentBack } from '../../src/buckets/scripts/command-numbers.ts'
import { ShardScripts } from '../../src/buckets/scripts/shard-scripts.ts'
import type { CrawlRedisKeys } from '../../src/redis/crawl-redis-keys.ts'
import { FrontierModel } from '../model/frontier-model.ts'
import type { FrontierState } from '../model/frontier-state.ts'
import { type Dump, dumpOfJobs, dumpOfModel, dumpOfRedis } from './state-dump.ts'

const CLOCK_LUA = readFileSync(new URL('../../lua/slots/clock.lua', import.meta.url), 'utf8')
const VIRTUAL_CLOCK_LUA = readFileSync(new URL('./virtual-clock.lua', import.meta.url), 'utf8')
const SNAPSHOT_DATABASE = 1
export const LOCK_MS = PROTOCOL_TIMES.turns.lockMs

export interface RedisAndModelOptions {
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  readonly order: QueueOrder
  /** Says which seed and operation it is, for errors. */
  readonly where: () => string
  /** It is one of several shards. */
  readonly isShard?: boolean
}

export class RedisAndModel {
  readonly #redis: Redis
  readonly #keys: CrawlRedisKeys
  readonly #where: () => string
  readonly #scripts: BucketScripts
  readonly #shardScripts: ShardScripts
  readonly isShard: boolean
  readonly model: FrontierModel
  readonly #published: string[] = []
  #snapshot: FrontierState | undefined
  nowMs = 1_700_000_000_000

  constructor({ redis, keys, order, where, isShard = false }: RedisAndModelOptions) {
    this.#redis = redis
    this.#keys = keys
    this.#where = where
    this.isShard = isShard
    const timed = withVirtualClock(redis)
    this.#scripts = new BucketScripts({ redis: timed, keys, order, isShard })
    this.#shardScripts = new ShardScripts({ redis: timed, keys, order })
    this.model = new FrontierModel({
      order,
      isShard,
      lockMs: LOCK_MS,
      now: () => this.nowMs,
      onPublished: (channel, text) => void this.#published.push(`${keys.frontier}:${channel}\n${text}`),
    })
  }

  /** Runs the operation on both, and returns the answer, or that Redis has gone back. */
  run<Answer>(
    name: string,
    operation: (on: BucketScripts | FrontierModel) => Answer,
  ): Promise<Awaited<Answer> | WentBack> {
    return this.#run(
      name,
      () => operation(this.#scripts),
      () => operation(this.model),
    )
  }

  /** The same for an operation that is about other shards. */
  runShard<Answer>(
    name: string,
    operation: (on: ShardScripts | FrontierModel) => Answer,
  ): Promise<Awaited<Answer> | WentBack> {
    return this.#run(
      name,
      () => operation(this.#shardScripts),
      () => operation(this.model),
    )
  }

  async #run<Answer>(
    name: string,
    onRedis: () => Answer,
    onModel: () => Answer,
  ): Promise<Awaited<Answer> | WentBack> {
    const { present, replid } = this.model
    void this.#redis.mset('clock:now', this.nowMs, 'clock:present', present, 'clock:replid', replid)
    const [real, model] = [await answerOf(onRedis), await answerOf(onModel)]
    const [one, other] = [real, model].map((answer) =>
      answer instanceof WentBack ? { wentBackTo: answer.heard } : answer,
    )
    this.#same(`the answer to ${name}`, one, other)
    return model as Awaited<Answer> | WentBack
  }

  /** Does something to BullMQ's jobs in the model, and writes to Redis what that has changed. */
  async changeJobs<Result>(change: (model: FrontierModel) => Result): Promise<Result> {
    const before = dumpOfJobs(this.model.state, this.#keys, this.nowMs)
    const result = change(this.model)
    const after = dumpOfJobs(this.model.state, this.#keys, this.nowMs)
    const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
      (key) => !isDeepStrictEqual(before[key], after[key]),
    )
    if (changed.length === 0) return result
    const multi = this.#redis
      .multi()
      .del(...changed)
      .zrem('clock:ends', ...changed)
    for (const key of changed) this.#write(multi, key, after[key])
    await multi.exec()
    return result
  }

  /** Compares the whole state, and what was published. */
  async compare(): Promise<void> {
    // Whether a shard is left alone is not the model's to know.
    const said = (await this.#redis.lrange('clock:said', 0, -1)).filter((text) => !text.includes(':rests\n'))
    this.#same('what was published', said, this.#published)
    await this.#redis.del('clock:said')
    this.#published.length = 0
    const real = await dumpOfRedis(this.#redis, this.nowMs)
    this.#same('the state', real, dumpOfModel(this.model.state, this.#keys, this.nowMs))
  }

  async takeSnapshot(): Promise<void> {
    this.#snapshot = structuredClone(this.model.state)
    const multi = this.#redis.multi().select(SNAPSHOT_DATABASE).flushdb().select(0)
    for (const key of await this.#redis.keys('*')) multi.copy(key, key, 'DB', SNAPSHOT_DATABASE)
    await multi.exec()
  }

  /** Both come back with the state of the last snapshot. Returns false when there is none. */
  async goBack(): Promise<boolean> {
    if (!this.#snapshot) return false
    await this.compare()
    this.model.state = structuredClone(this.#snapshot)
    await this.#redis.select(SNAPSHOT_DATABASE)
    const keys = await this.#redis.keys('*')
    const multi = this.#redis.multi().select(0).flushdb().select(SNAPSHOT_DATABASE)
    for (const key of keys) multi.copy(key, key, 'DB', 0)
    await multi.select(0).del('clock:said').exec()
    return true
  }

  #write(multi: ReturnType<Redis['multi']>, key: string, value: unknown): void {
    if (value === undefined) return
    if (key.endsWith(':lock')) {
      const job = key.slice(key.indexOf('}:') + 2, -':lock'.length)
      multi.set(key, value as string).zadd('clock:ends', this.model.state.jobs.locks.get(job)!.untilMs, key)
    } else if (typeof value === 'string') multi.set(key, value)
    else if (key.endsWith(':stalled')) multi.sadd(key, ...(value as string[]))
    else if (Array.isArray(value)) multi.rpush(key, ...(value as string[]))
    else if (/:(prioritized|delayed|marker)$/.test(key))
      multi.zadd(
        key,
        ...Object.entries(value as Record<string, string>).flatMap(([job, score]) => [score, job]),
      )
    else multi.hset(key, value as Record<string, string>)
  }

  #same(what: string, real: unknown, model: unknown): void {
    if (isDeepStrictEqual(real, model)) return
    const differences = differing(real, model)
    throw new Error(`${this.#where()}: ${what} differs\n${differences}`)
  }
}

async function answerOf(operation: () => unknown): Promise<unknown> {
  try {
    return await operation()
  } catch (error) {
    if (error instanceof WentBack) return error
    throw error
  }
}

function differing(real: unknown, model: unknown): string {
  const [one, other] = [real, model].map((value) => (value ?? {}) as Dump)
  const names = [...new Set([...Object.keys(one!), ...Object.keys(other!)])]
  return names
    .filter((name) => !isDeepStrictEqual(one![name], other![name]))
    .map((name) => `${name}\n  Redis ${JSON.stringify(one![name])}\n  model ${JSON.stringify(other![name])}`)
    .join('\n')
}

/** A connection whose scripts take the time from `clock:now`. */
function withVirtualClock(redis: Redis): Redis {
  const sha1s = new Map<string, string>()
  const runner = {
    eval: (lua: string, keyCount: number, ...rest: string[]) => {
      const timed = lua.replace(CLOCK_LUA, () => VIRTUAL_CLOCK_LUA)
      if (timed === lua) throw new Error('this script does not begin with slots/clock.lua')
      sha1s.set(hash('sha1', lua), hash('sha1', timed))
      return redis.eval(timed, keyCount, ...rest)
    },
    evalsha: (sha1: string, keyCount: number, ...rest: string[]) =>
      redis.evalsha(sha1s.get(sha1)!, keyCount, ...rest),
    sadd: (key: string, ...members: string[]) => redis.sadd(key, ...members).then(() => {}),
    srem: (key: string, ...members: string[]) => redis.srem(key, ...members).then(() => {}),
    // A day of Redis's own clock: no run lasts so long.
    pexpire: async () => {},
    hdel: (key: string, ...fields: string[]) => redis.hdel(key, ...fields),
    zrem: (key: string, ...members: string[]) => redis.zrem(key, ...members),
    unlink: (...keys: string[]) => redis.unlink(...keys),
  }
  return runner as unknown as Redis
}
