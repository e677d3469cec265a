import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from './crawl-redis-keys.ts'

export interface PauseCallsOptions {
  /** Left open; a connection that listens is made of it. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  /** `host` as in jobs and keys. */
  readonly onPause: (host: string, ms: number) => void
}

/**
 * Pauses that other workers have called, for hosts of which several have turns: what lies ready here must not go. Whoever
 * misses one hears of it when it next takes something of that host.
 */
export class PauseCalls {
  readonly #listening: Redis
  readonly #channel: string

  constructor({ redis, keys, onPause }: PauseCallsOptions) {
    this.#channel = `${keys.turns}:pauses`
    this.#listening = redis.duplicate({ lazyConnect: true })
    // The crawl's own connection, to the same server, is the one that complains.
    this.#listening.on('error', () => {})
    this.#listening.on('message', (_channel, message: string) => {
      const [ms, host] = message.split('\n', 2)
      onPause(host!, Number(ms))
    })
  }

  async open(): Promise<void> {
    await this.#listening.subscribe(this.#channel)
  }

  close(): void {
    this.#listening.disconnect()
  }
}
