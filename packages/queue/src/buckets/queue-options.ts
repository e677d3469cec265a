import {
  type Crawler,
  fingerprinterOf,
  type HostPace,
  type Logger,
  type ProtocolTimes,
  type QueueOrder,
} from '@webloom/core'
import type { Redis } from 'ioredis'
import { failureBounds } from '../failures/failure-bounds.ts'
import type { Placed } from '../frontier/turn-protocol.ts'
import type { GivingUp } from '../leasing/giving-up.ts'
import type { LockKeeper } from '../locks/lock-keeper.ts'
import type { CrawlChannel } from '../members/crawl-channel.ts'
import type { DocumentLine } from '../politeness/document-line.ts'
import { paceOf, slotPaces } from '../politeness/host-pace.ts'
import type { HostSlots } from '../politeness/host-slots.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'
import type { SentEntries } from '../shards/outbox-entry.ts'
import type { ShardRest } from '../shards/shard-rest.ts'
import type { RedisVisitsOptions } from '../visits/redis-visits.ts'
import type { Dispatching } from './request-handout.ts'
import type { TurnWakes } from './turn-jobs.ts'

export interface BucketQueueOptions {
  /** The queue's Redis, opened and closed by the caller. */
  readonly redis: Redis
  readonly keys: CrawlRedisKeys
  readonly workerId: string
  /** Opened and closed by the caller. Default: a channel of its own. */
  readonly channel?: CrawlChannel
  /** Keeps turns while a callback blocks the event loop. Absent: the turns are then lost after some seconds. */
  readonly keeper?: LockKeeper
  readonly order?: QueueOrder
  readonly hosts: QueueHosts
  /** Of a crawl that comes back to its pages: how it makes fingerprints. */
  readonly visits?: Pick<RedisVisitsOptions, 'fingerprint'>
  readonly givingUp?: GivingUp
  /** Returns false when no link of another worker is in doubt. Default: one may be, and Redis is asked each time. */
  readonly mayDoubt?: () => boolean
  /** How many workers the crawl has, this one too. Default: as many as listen at the server. */
  readonly workers?: () => number
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
  readonly logger?: Logger
  /** Absent: all of the crawl is here. */
  readonly shard?: ShardOfCrawl
  /** For tests: called at each named point, where a worker may be killed. */
  readonly onPoint?: (name: BucketPoint) => void
}

/** How requests are told apart by host, and how fast hosts may be asked. */
export interface QueueHosts {
  /** Default: by host. */
  readonly slots?: HostSlots
  readonly pace: (slot: string) => HostPace
  /** Slots whose pace is their own: those that DOWNLOAD_SLOTS names. Default: none. */
  readonly namedSlots?: readonly string[]
}

/** What a queue is told, and tells, that is one shard of several of a crawl. */
export interface ShardOfCrawl {
  /** Where the crawl has what belongs to all of its shards. */
  readonly home: CrawlRedisKeys
  /** Returns how many buckets each has; asked when the queue is open, and not before. */
  readonly buckets: () => number
  /** Returns where a slot's requests go in the name of that asker: the bucket, when the slot is in this shard. */
  readonly addressOf: (slot: string, asker: string) => string
  /** Whether a slot is in this shard. */
  readonly has: (slot: string) => boolean
  /** Where documents of a slot wait that pages in browsers open, whatever shard the page is of. */
  readonly documentsOf: (slot: string) => DocumentLine
  /** Hands out the requests of all shards. */
  readonly dispatching: Dispatching
  /** Waits for turns in place of BullMQ, whose connection for that would be one a shard. */
  readonly wakes: TurnWakes
  /** Whether there is anything in this shard. */
  readonly rest: Pick<ShardRest, 'isQuiet' | 'onStirred'>
  /** The run that this worker takes part in; '' where there is none. */
  readonly run: () => string
  /** How many workers the crawl has, this one too. */
  readonly workers: () => number
  /** Called with what a script was given, and what of it it has written for other shards. */
  readonly onSent: (groups: readonly Placed[], sent: readonly SentEntries[]) => void
}

/** What the settings say of a queue. */
export function queueOptionsOf(
  { settings, stats, logger, times }: Pick<Crawler, 'settings' | 'stats' | 'logger' | 'times'>,
  slots: HostSlots | undefined,
): Pick<BucketQueueOptions, 'order' | 'hosts' | 'visits' | 'givingUp' | 'times' | 'logger'> {
  return {
    order: settings.get('SCHEDULER_QUEUE_CLASS'),
    hosts: {
      pace: paceOf(settings),
      namedSlots: Object.keys(slotPaces(settings)),
      ...(slots && { slots }),
    },
    givingUp: {
      quarantineAfter: settings.getInt('QUARANTINE_AFTER'),
      ...failureBounds({ settings, stats }),
    },
    ...(settings.get('RECRAWL') !== 'off' && { visits: fingerprinterOf(settings, 'scrapy') }),
    ...(times && { times }),
    logger,
  }
}

/** What a worker has just done. */
export type BucketPoint =
  | 'fetched'
  | 'begun'
  | 'taken'
  | 'pushed'
  | 'committed'
  | 'woken'
  | 'left'
  | 'completed'
