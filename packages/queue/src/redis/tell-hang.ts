import { type Logger, within } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { CrawlRedisKeys } from './crawl-redis-keys.ts'

/** A Redis that takes writes answers sooner. */
const ANSWER_MS_MAX = 1000

/**
 * Warns that BullMQ hangs and is made anew, unless it waits as all others do: for a Redis that is away, takes no writes or does not let this
 * process in. That has been told by whoever found it.
 */
export async function tellHang(
  {
    redis,
    keys,
    logger,
  }: {
    readonly redis: Redis
    readonly keys: Pick<CrawlRedisKeys, 'queueName' | 'bullPrefix'>
    readonly logger: Logger
  },
  error: Error,
  text: string,
): Promise<void> {
  try {
    // Writes nothing: it has no time to live.
    await within(ANSWER_MS_MAX, 'the queue', redis.persist(`${keys.bullPrefix}:${keys.queueName}:meta`))
    logger.warn({ err: error }, text)
  } catch (why) {
    logger.debug({ err: why }, `${text}; the queue’s Redis does not answer it either`)
  }
}
