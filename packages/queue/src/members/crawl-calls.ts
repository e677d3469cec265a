/**
 * What the workers of a crawl call out to each other, over one connection that listens.
 *
 * A call spares a wait, and nothing depends on it: what was missed is found in Redis, by the next sign of life, the next
 * look at the turns, or whoever next takes something of that host.
 */

import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'

/** How all turns of a crawl stood when one worker looked after them. */
export interface Swept {
  /** Who looked, and will again. */
  readonly worker: string
  readonly workers: number
  /** Turns that wait in BullMQ. */
  readonly waiting: number
  /** Requests that are waiting, delayed or leased. */
  readonly requests: number
}

export interface CrawlListener {
  /** A host of which several workers have turns must not be asked: what lies ready must not go. `host` as in keys. */
  onPause?(host: string, ms: number): void
  onSwept?(swept: Swept): void
  /** Something is asked of the crawl, or may have been while nothing was heard: the record tells. */
  onAsked?(): void
}

export interface CrawlCallsOptions {
  /** Left open; a connection that listens is made of it. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
}

export class CrawlCalls {
  readonly #listening: Redis
  readonly #channels: ReadonlyMap<string, (message: string) => void>
  readonly #listeners: CrawlListener[] = []

  constructor({ redis, keys }: CrawlCallsOptions) {
    this.#channels = new Map<string, (message: string) => void>([
      [`${keys.turns}:pauses`, (message) => this.#paused(message)],
      [`${keys.turns}:sweeps`, (message) => this.#swept(message)],
      [`${keys.record}:asked`, () => this.#asked()],
    ])
    this.#listening = redis.duplicate({ lazyConnect: true })
    // The crawl's own connection, to the same server, is the one that complains.
    this.#listening.on('error', () => {})
    this.#listening.on('ready', () => this.#asked())
    this.#listening.on('message', (channel, message) => this.#channels.get(channel)?.(message))
  }

  async open(): Promise<void> {
    await this.#listening.subscribe(...this.#channels.keys())
  }

  close(): void {
    this.#listening.disconnect()
  }

  listen(listener: CrawlListener): void {
    this.#listeners.push(listener)
  }

  #paused(message: string): void {
    const [ms, host] = message.split('\n', 2)
    for (const listener of this.#listeners) listener.onPause?.(host!, Number(ms))
  }

  #swept(message: string): void {
    const [worker, ...counts] = message.split('\n')
    const [workers, waiting, requests] = counts.map(Number)
    const swept = { worker: worker!, workers: workers!, waiting: waiting!, requests: requests! }
    for (const listener of this.#listeners) listener.onSwept?.(swept)
  }

  #asked(): void {
    for (const listener of this.#listeners) listener.onAsked?.()
  }
}
