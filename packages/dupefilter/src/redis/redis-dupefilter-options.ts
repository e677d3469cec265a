import type { Fingerprinter, Logger, ProtocolTimes, ShardPart, StatsCollector } from '@webloom/core'
import type { OnQueueBack, RedisRunId } from '../asking/redis-run.ts'
import type { RedisArgument, RedisConnection } from './redis-script.ts'

/** The options of each filter on Redis. */
export interface RedisDupeFilterOptions {
  /** Opened and closed by the caller. */
  readonly redis: RedisConnection
  /** The name of the main key, as users and Python crawlers know it. */
  readonly key: string
  /** Says which requests are equal. Default: by the rules of the filter's kind. */
  readonly fingerprinter?: Fingerprinter
  /**
   * DUPEFILTER_PENDING_STALE: after so many milliseconds without being settled an asker is stale, and its links are free.
   * Default 10 000.
   */
  readonly pendingStaleMs?: number
  /**
   * Returns the run id of the queue's Redis, as the server says it now. It is asked for about once a second, and must not
   * be remembered over a reconnect. Default, for a queue in this process: an id of this object's own.
   */
  readonly redisRunId?: RedisRunId
  /** The same, asked for by who deletes: rejects while that Redis could be replaced by one that is older. Default: `redisRunId`. */
  readonly keptRunId?: RedisRunId
  /** Tells when the queue's Redis is there again. Absent where the queue is in this process. */
  readonly onQueueBack?: OnQueueBack
  /**
   * Returns the crawl and its run: the same for all its workers, and for no other crawl of this filter. `open` calls it.
   * Default '': this crawl alone uses the filter.
   */
  readonly crawl?: () => string
  /** The crawl as it is written on a command line, for messages: `quotes -s CRAWL_ID=monday`. Default `<spider>`. */
  readonly typed?: string
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
  /** Which part of a filter this is: of one that is spread over several servers, or that has several keys. Default: the whole filter. */
  readonly shard?: ShardPart
  /** DUPEFILTER_CACHE_SIZE: how many fingerprints that are seen for good this process remembers. Default 0: none, nor others for a while. */
  readonly cacheSize?: number
  /** Counts `dupefilter/cache_hits` and `dupefilter/cache_emptied`. */
  readonly stats?: Pick<StatsCollector, 'inc'>
  /** Default: nothing is logged. */
  readonly logger?: Logger
}

/** What a filter of several parts asks of each. */
export interface PartOfFilter {
  /** Undefined: the whole filter. */
  readonly shard: ShardPart | undefined
  /** The main key of the whole filter. */
  readonly key: string
  /** The part as its record has it. */
  readonly text: string | undefined
  /** Notes which part this is. Throws SettingsError when another one is stored. */
  open(): Promise<void>
  /** Throws SettingsError when another part of a filter is stored than this one. Writes nothing. */
  refuseOther(): Promise<void>
  /** Whether an attempt of the asker is under way in this process, and has asked this part. */
  hasAsked(asker: string): boolean
  /** Whether that attempt was told here that a link is new. */
  hasTold(asker: string): boolean
  /** Returns what the other parts are told when `asker` is settled. */
  settlingElsewhere(asker: string): Elsewhere
  /** Takes that. It travels with a question, or alone a second later. */
  settledElsewhere(asker: string, settling: Elsewhere): Promise<void> | undefined
}

/** An asker that is settled, as the parts know it that it has not asked. */
export interface Elsewhere {
  /** The asker with the tag of its crawl. */
  readonly taggedAsker: string
  /** `-`: none of this part. */
  readonly attempt: string
  /** The queue's run when its attempt began. */
  readonly run?: string
}

/** A filter's own part of a question. */
export interface StoreQuestion {
  /** What the filter remembers each request by, in the order of the question. */
  readonly members: readonly RedisArgument[]
  /** The keys of the filter's own store, beside the keys that all filters have; KEYS of its Lua files. */
  readonly keys?: readonly string[]
  /** What its Lua files read from the question's header, beside what all filters put there. */
  readonly header?: Readonly<Record<string, unknown>>
  /** What its Lua files read after the members. */
  readonly args?: readonly RedisArgument[]
}
