/**
 * The queue of a scrapy-redis crawl (`<spider>:requests`): a sorted set, or a list into which the left end is pushed.
 *
 * It is read from the end that was queued first (a list) or goes first (a sorted set), a part at a time. What has been queued
 * elsewhere leaves it in a step with a number, so that a step whose reply was lost is done once; an entry that stays is
 * passed over by its place.
 */

import { randomUUID } from 'node:crypto'
import { UsageError, WebloomError } from '@webloom/core'
import type { Redis } from 'ioredis'
import { luaScript } from '../redis/lua.ts'

export type ScrapyQueueType = 'zset' | 'list'

export interface ScrapyEntry {
  /** As it stands there; undefined for one that is longer than `ENTRY_BYTES_MAX`. */
  readonly data: Buffer | undefined
  readonly bytes: number
}

/** What a step of an import needs to know of the one before. */
export interface ImportStep {
  /** The same until the import is done. */
  readonly importId: string
  readonly step: number
  /** Entries at the beginning that stay, and are passed over. */
  readonly stay: number
}

export const ENTRY_BYTES_MAX = 32 * 1024 * 1024
const MAX_BYTES_PER_READ = 4 * 1024 * 1024

const readScript = luaScript('scrapy-redis/read.lua')
const removeScript = luaScript('scrapy-redis/remove.lua')

export class ScrapyRedisQueue {
  readonly key: string
  readonly #redis: Redis
  readonly #stepsKey: string

  constructor({ redis, key }: { redis: Redis; key: string }) {
    this.#redis = redis
    this.key = key
    // The key is their hash tag: one slot of a cluster.
    this.#stepsKey = `{${key}}:import`
  }

  /** Undefined when there is none. Throws WL_USAGE for a key that is not a queue. */
  async type(): Promise<ScrapyQueueType | undefined> {
    const type = await this.#redis.type(this.key)
    if (type === 'none') return undefined
    if (type === 'zset' || type === 'list') return type
    throw new UsageError(
      'WL_USAGE',
      `${this.key} is a ${type}; the queue of scrapy-redis is a list or a sorted set. Set SCHEDULER_QUEUE_KEY to its key`,
    )
  }

  async size(): Promise<number> {
    const type = await this.type()
    if (type === undefined) return 0
    return type === 'zset' ? this.#redis.zcard(this.key) : this.#redis.llen(this.key)
  }

  /** Fewer than `count` when they are large; none at the end. */
  async read(
    type: ScrapyQueueType,
    { from, count }: { from: number; count: number },
  ): Promise<ScrapyEntry[]> {
    const args = [type, from, count, MAX_BYTES_PER_READ, ENTRY_BYTES_MAX]
    const reply = (await this.#binary(readScript.lua, [this.key], args)) as (Buffer | number)[]
    const entries: ScrapyEntry[] = []
    for (let n = 0; n < reply.length; n += 2) {
      const [data, bytes] = [reply[n] as Buffer, reply[n + 1] as number]
      entries.push({ data: bytes > ENTRY_BYTES_MAX ? undefined : data, bytes })
    }
    return entries
  }

  /** Where an import goes on that was begun before, or a new one. */
  async beginImport(): Promise<ImportStep> {
    await this.#redis.hsetnx(this.#stepsKey, 'id', randomUUID())
    await this.#redis.hsetnx(this.#stepsKey, 'steps', '0')
    const [importId, step, stay] = await this.#redis.hmget(this.#stepsKey, 'id', 'steps', 'stay')
    return { importId: importId!, step: Number(step), stay: Number(stay ?? 0) }
  }

  /** Returns how many were still there. */
  async remove(
    type: ScrapyQueueType,
    entries: readonly Buffer[],
    { step, stay }: Pick<ImportStep, 'step' | 'stay'>,
  ): Promise<number> {
    const args = [type, step, stay, ...entries]
    const removed = (await removeScript.run(this.#redis, [this.key, this.#stepsKey], args)) as number
    return removed === -1 ? entries.length : removed
  }

  async endImport(): Promise<void> {
    await this.#redis.del(this.#stepsKey)
  }

  /** Queues requests as scrapy-redis does. */
  async push(type: ScrapyQueueType, requests: readonly { data: Buffer; priority: number }[]): Promise<void> {
    if (requests.length === 0) return
    if (type === 'zset')
      await this.#redis.zadd(this.key, ...requests.flatMap(({ data, priority }) => [-priority, data]))
    else await this.#redis.lpush(this.key, ...requests.map(({ data }) => data))
  }

  async #binary(lua: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const reply = await this.#redis.callBuffer('EVAL', lua, keys.length, ...keys, ...args)
    if (Array.isArray(reply)) return reply
    throw new WebloomError('WL_IMPORT_REFUSED', `${this.key} could not be read`)
  }
}
