/**
 * Requests in quarantine: they killed every worker that took them, or every worker rejected them. They do not hold the crawl
 * open, and stay until somebody retries or clears them. Written by `lua/leasing/quarantine.lua`, within the step that
 * takes the request out of the queue.
 */

import { type QueuedRequest, type RequestJson, type RequestQueue, requestFromJson } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'

/** What happened to a request, oldest first. */
export interface QuarantineEvent {
  /** Milliseconds since 1970, by the clock of the queue's Redis. */
  readonly at: number
  /** Id of the worker that had the request. */
  readonly worker: string
  readonly what: string
}

export interface QuarantinedRequest {
  readonly id: string
  /** Empty when the request cannot be read at all. */
  readonly url: string
  readonly reason: string
  readonly history: readonly QuarantineEvent[]
  readonly quarantinedAt: number
}

/** A quarantined request as it is stored. `request` is a text when it is no JSON. */
interface StoredEntry extends Omit<QuarantinedRequest, 'url'> {
  readonly request: RequestJson | string | null
}

// A page is small, as requests may be large: bodies, meta.
const MAX_REQUESTS_PER_READ = 50

/** Hash: request id → its history, until it is quarantined or done. */
export function historyKey(keys: CrawlRedisKeys): string {
  return `${keys.quarantine}:history`
}

export class Quarantine {
  readonly #redis: Redis
  readonly #keys: CrawlRedisKeys

  constructor({ redis, keys }: { redis: Redis; keys: CrawlRedisKeys }) {
    this.#redis = redis
    this.#keys = keys
  }

  get size(): Promise<number> {
    return this.#redis.hlen(this.#keys.quarantine)
  }

  /** Resolves to at most `max` requests, the latest first. */
  async list(max: number): Promise<QuarantinedRequest[]> {
    const listed = new Map<string, QuarantinedRequest>()
    for await (const { request, ...entry } of this.#entries('all')) {
      if (listed.size >= max) break
      listed.set(entry.id, { ...entry, url: urlOf(request) })
    }
    return [...listed.values()].sort((a, b) => b.quarantinedAt - a.quarantinedAt)
  }

  /**
   * Queues the requests again, unmarked, as if they had never been tried. Resolves to their ids. Each request is queued before it
   * leaves quarantine, and under an asker of its own, so that a crash in between neither loses nor doubles it. Requests that this
   * release cannot read stay in quarantine.
   */
  async take(
    which: readonly string[] | 'all',
    queue: Pick<RequestQueue, 'push' | 'settled'>,
  ): Promise<string[]> {
    const taken: string[] = []
    for await (const entry of this.#entries(which)) {
      const queued = queuedOf(entry)
      if (!queued) continue
      const asker = `quarantine/${entry.id}/${entry.quarantinedAt}`
      await queue.push([queued], asker)
      await this.#redis.hdel(this.#keys.quarantine, entry.id)
      await queue.settled(asker)
      taken.push(entry.id)
    }
    return taken
  }

  async clear(): Promise<void> {
    await this.#redis.unlink(this.#keys.quarantine, historyKey(this.#keys))
  }

  async *#entries(which: readonly string[] | 'all'): AsyncGenerator<StoredEntry> {
    for await (const texts of which === 'all' ? this.#all() : this.#named(which)) {
      for (const text of texts) if (text !== null) yield JSON.parse(text) as StoredEntry
    }
  }

  async *#named(ids: readonly string[]): AsyncGenerator<readonly (string | null)[]> {
    for (let at = 0; at < ids.length; at += MAX_REQUESTS_PER_READ) {
      yield await this.#redis.hmget(this.#keys.quarantine, ...ids.slice(at, at + MAX_REQUESTS_PER_READ))
    }
  }

  /** Reads all entries in pages. Some may come twice while others are added. */
  async *#all(): AsyncGenerator<readonly string[]> {
    let cursor = '0'
    do {
      const [next, found] = await this.#redis.hscan(
        this.#keys.quarantine,
        cursor,
        'COUNT',
        MAX_REQUESTS_PER_READ,
      )
      yield found.filter((_text, n) => n % 2 === 1)
      cursor = next
    } while (cursor !== '0')
  }
}

function urlOf(request: StoredEntry['request']): string {
  return typeof request === 'object' && typeof request?.url === 'string' ? request.url : ''
}

function queuedOf({ id, request }: StoredEntry): QueuedRequest | undefined {
  try {
    return { id, request: requestFromJson(request as RequestJson) }
  } catch {
    return undefined
  }
}
