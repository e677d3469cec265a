/** What is told of a crawl that is gone from Redis while its workers are there, and by the next worker of its name. */

import { type Settings, type SpiderLike, UsageError } from '@webloom/core'
import { crawlShown } from '@webloom/queue'
import { typedWithNotes } from '../redis/filter-note.ts'
import { typedWorker } from '../redis/typed-crawl.ts'

export interface LostCrawl {
  /** The crawl as it is typed, with the settings by which it is found. */
  readonly crawl: string
  /** The same for a worker, with all that was set for this one. */
  readonly worker: string
  /** The queue's Redis, without its password. */
  readonly redis: string
}

/** @param redis the queue's, without its password */
export function lostCrawlOf(spider: Pick<SpiderLike, 'name'>, settings: Settings, redis: string): LostCrawl {
  return { crawl: typedWithNotes(spider, settings), worker: typedWorker(spider, settings), redis }
}

/** Returns what happened, what is lost and what to do. */
export function crawlLostText(lost: LostCrawl): string {
  return `the crawl, or a shard of it, is gone from Redis at ${lost.redis}, and nobody cleared it: that Redis was emptied (FLUSHALL), restarted without its data (appendonly no), or its keys were deleted or evicted. All requests that were queued there are lost; items that are written stay. This worker ends with crawl_lost, exit code 1. The dupefilter may still know the pages that were queued, and would leave them out. ${howToBeginAnew(lost)}`
}

/**
 * Returns why the next worker does not begin.
 *
 * @param besides the queues of other crawls that use its dupefilter: emptied, it would have those fetch their pages again
 * @param own the crawl's queue
 */
export function lostBefore(lost: LostCrawl, besides: readonly string[] = [], own = ''): Error {
  return new UsageError(
    'WL_CRAWL_LOST',
    `the dupefilter still knows pages of an earlier crawl of this name, and would leave them out: that crawl was not finished with it. It is gone from Redis at ${lost.redis}, which was emptied (FLUSHALL), restarted without its data (appendonly no), or its keys were deleted or evicted; or workers with another DUPEFILTER_REDIS_URL went on with it, and left this dupefilter behind. ${besides.length > 0 ? `${usedBy(besides, own)}; it is not to be emptied before that is over. ` : ''}${howToBeginAnew(lost)}. If the earlier crawl is well, on another Redis, and is to share this dupefilter, give the crawl that you begin here another CRAWL_ID`,
  )
}

/** Returns why the next worker does not go on with a crawl of several shards. */
export function shardLost(lost: LostCrawl): Error {
  return new UsageError(
    'WL_CRAWL_LOST',
    `a shard of the crawl is gone from Redis at ${lost.redis}: ${EMPTIED}. The requests that were queued there are lost, and so the crawl cannot be finished. ${DATA_BACK}. ${howToBeginAnew(lost)}`,
  )
}

/**
 * Returns why a command brings it nothing.
 *
 * @param persists its filter keeps what it has seen
 */
export function lostTarget({ crawl, redis }: LostCrawl, persists: boolean): Error {
  const next = persists
    ? 'its dupefilter would leave out the pages that were queued, and so no worker begins'
    : 'the next worker begins from the start, and would empty the dupefilter, and with it the marks of what is brought now'
  return new UsageError(
    'WL_CRAWL_LOST',
    `what was queued of this crawl is gone from Redis at ${redis}, all of it or a shard, before it was finished: ${EMPTIED}. Nothing was queued, as ${next}. ${DATA_BACK}. Otherwise run webloom clear ${crawl}, then this command again`,
  )
}

/** Returns the words about crawls that use a dupefilter, by their queues, beside the one whose queue is `own`. */
export function usedBy(besides: readonly string[], own: string): string {
  const shown = (queueName: string) =>
    queueName === own ? 'a crawl of the same name, on another queue’s Redis' : crawlShown({ queueName })
  const names = besides.map(shown).join(', ')
  return `The dupefilter is also that of ${names}, and was asked for ${besides.length === 1 ? 'it' : 'them'} in the last ten minutes`
}

/** Returns what `webloom stop` says of it. */
export function stoppedLost(lost: LostCrawl): string {
  return `stopped before: what was queued of this crawl is gone from Redis at ${lost.redis} (crawl_lost). ${DATA_BACK}. ${howToBeginAnew(lost)}`
}

/** Returns what `webloom doctor` says of it, and the line to type. */
export function lostFound(
  { crawl, worker, redis }: LostCrawl,
  shown: string,
): Record<'found' | 'type', string> {
  return {
    found: `${shown} is lost: what was queued of it is gone from Redis at ${redis} (crawl_lost). ${DATA_BACK}. Otherwise begin it anew`,
    type: `webloom clear ${crawl} && webloom worker ${worker}`,
  }
}

const EMPTIED =
  'a server was emptied (FLUSHALL), came back without its data (appendonly no), or keys were deleted or evicted'

const DATA_BACK =
  'If that server can be given its data back, do that first: then a worker goes on with the crawl'

function howToBeginAnew({ crawl, worker }: LostCrawl): string {
  return `To crawl again, run webloom clear ${crawl}, then webloom worker ${worker}. To prevent this, set appendonly yes and maxmemory-policy noeviction`
}
