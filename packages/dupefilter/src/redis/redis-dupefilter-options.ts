import type { Fingerprinter, Logger, ProtocolTimes, ShardPart, StatsCollector } from '@webloom/core'
import type { OnQueueBack, RedisRunId } from '../asking/redis-run.ts'
import type { RedisArgument, RedisConnection } from './redis-script.ts'

/** What each filter on Redis is made of. */
export interface RedisDupeFilterOptions {
  /** Opened and closed by whoever gives it. */
  readonly redis: RedisConnection
  /** The name of the main key, as users and Python crawlers know it. */
  readonly key: string
  /** Says which requests are equal. Default: by the rules of the filter's kind. */
  readonly fingerprinter?: Fingerprinter
  /** DUPEFILTER_PENDING_STALE: how long an asker may leave unsettled what it was told is new. Default 10 000. */
  readonly pendingStaleMs?: number
  /**
   * The run id of the queue's Redis, as the server says it now: it is asked for about once a second, and must not be
   * remembered over a reconnect. Default, for a queue in this process: an id of this object's own.
   */
  readonly redisRunId?: RedisRunId
  /** Tells when the queue's Redis is there again. Absent where the queue is in this process. */
  readonly onQueueBack?: OnQueueBack
  /**
   * The crawl and its run, the same for all its workers and for no other crawl of this filter; asked for by `open`. Default
   * '': the filter is this crawl's alone.
   */
  readonly crawl?: () => string
  /** What stands for the crawl on a command line, in messages: `quotes -s CRAWL_ID=monday`. Default `<spider>`. */
  readonly typed?: string
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
  /** Which part of a filter that is spread over several servers this one is. Default: the whole of it. */
  readonly shard?: ShardPart
  /** DUPEFILTER_CACHE_SIZE: how many fingerprints that are seen are remembered in this process. Default 0. */
  readonly cacheSize?: number
  /** Counts `dupefilter/cache_hits` and `dupefilter/cache_emptied`. */
  readonly stats?: Pick<StatsCollector, 'inc'>
  /** Default: nobody is told anything. */
  readonly logger?: Logger
}

/** A filter's own part of a question. */
export interface StoreQuestion {
  /** What each request is remembered by, in the order of the question. */
  readonly members: readonly RedisArgument[]
  /** Where the filter keeps them, beside the keys that all filters have; KEYS of its Lua files. */
  readonly keys?: readonly string[]
  /** What its Lua files read of the question's header, beside what all filters put there. */
  readonly header?: Readonly<Record<string, unknown>>
  /** What its Lua files read behind the members. */
  readonly args?: readonly RedisArgument[]
}
