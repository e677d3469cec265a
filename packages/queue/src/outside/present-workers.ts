import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import { readPresence } from './crawl-view.ts'

const LOOKS_EVERY_MS = 4000

/**
 * How many workers a crawl on a Redis Cluster has, by their heartbeats. On one server it is known by who listens there; in a cluster
 * each node knows only those that listen at itself.
 */
export class PresentWorkers {
  readonly #crawl: { readonly redis: Redis; readonly keys: CrawlRedisKeys }
  #looking: NodeJS.Timeout | undefined
  #count = 1

  constructor(crawl: { readonly redis: Redis; readonly keys: CrawlRedisKeys }) {
    this.#crawl = crawl
  }

  /** As of the last look; this worker is there, too. */
  get count(): number {
    return this.#count
  }

  async open(): Promise<void> {
    this.#looking = setInterval(() => void this.#look(), LOOKS_EVERY_MS).unref()
    await this.#look()
  }

  close(): void {
    clearInterval(this.#looking)
  }

  /** While Redis does not answer, the last count holds. */
  async #look(): Promise<void> {
    const seen = await readPresence(this.#crawl).catch(() => undefined)
    if (seen) this.#count = Math.max(1, seen.present.length)
  }
}
