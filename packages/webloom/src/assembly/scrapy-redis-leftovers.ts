/** The queue of scrapy-redis that a crawl of the same spider has left: where it is, and whether anything waits in it. */

import {
  crawlKey,
  keyPrefixesOf,
  type Logger,
  type Settings,
  type SpiderLike,
  UsageError,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import { RedisServers } from '../redis/redis-servers.ts'
import { typedCrawl } from '../redis/typed-crawl.ts'

/** Python knows no CRAWL_ID, and no prefix: where it has the key, SCHEDULER_QUEUE_KEY names it whole. */
export function scrapyQueueKey(settings: Settings, spider: string): string {
  const { keyPrefix = '' } = settings.isSet('SCHEDULER_QUEUE_KEY') ? {} : keyPrefixesOf(settings)
  return crawlKey(settings.getString('SCHEDULER_QUEUE_KEY'), { spider, crawlId: null, keyPrefix })
}

/** Opens the Redis on which it is: that of our own queue. Throws WL_USAGE when none is named. */
export async function scrapyQueueServer(
  settings: Settings,
  logger: Logger,
): Promise<{ redis: Redis; shown: string; close(): void }> {
  const servers = new RedisServers(settings, logger)
  const redis = servers.connection('queue')
  if (!redis)
    throw new UsageError(
      'WL_USAGE',
      'no Redis is named, where scrapy-redis keeps its queue. Set REDIS_URL=redis://localhost:6379',
    )
  await servers.open()
  return { redis, shown: servers.targets('queue')[0]!.shown, close: () => servers.close() }
}

interface LeftoversOptions {
  readonly redis: Redis
  readonly spider: Pick<SpiderLike, 'name'>
  readonly settings: Settings
  readonly logger: Logger
}

/**
 * What a crawl says of requests that a Python crawl of the same spider has left on its Redis: nobody here reads them, and it
 * must not call itself finished while they wait. With a CRAWL_ID it is a crawl of its own, which Python has no word for.
 */
export class ScrapyRedisLeftovers {
  readonly #redis: Redis
  readonly #typed: string
  readonly #key: string
  readonly #logger: Logger
  readonly #isOurs: boolean

  constructor({ redis, spider, settings, logger }: LeftoversOptions) {
    this.#redis = redis
    this.#typed = typedCrawl(spider, settings)
    this.#key = scrapyQueueKey(settings, spider.name)
    this.#logger = logger
    this.#isOurs = settings.get('CRAWL_ID') === null
  }

  /** 0 for a key that is something else. */
  async count(): Promise<number> {
    if (!this.#isOurs) return 0
    const type = await this.#redis.type(this.#key)
    if (type === 'zset') return this.#redis.zcard(this.#key)
    return type === 'list' ? this.#redis.llen(this.#key) : 0
  }

  /** A warning with the line to type, when there are any. */
  async tell(): Promise<void> {
    const count = await this.count()
    if (count === 0) return
    const requests = `${count} request${count === 1 ? '' : 's'} of scrapy-redis ${count === 1 ? 'waits' : 'wait'}`
    this.#logger.warn(
      `${requests} in ${this.#key}, which this crawl does not read: it will not be finished without them. Once no Python worker runs,  webloom import scrapy-redis ${this.#typed}  takes them over`,
    )
  }
}
