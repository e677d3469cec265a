import type { HostPace, Logger, ProtocolTimes, QueueOrder } from '@webloom/core'
import type { Redis } from 'ioredis'
import type { GivingUp } from '../leasing/giving-up.ts'
import type { LockKeeper } from '../locks/lock-keeper.ts'
import type { CrawlChannel } from '../members/crawl-channel.ts'
import type { HostSlots } from '../politeness/host-slots.ts'
import type { CrawlRedisKeys } from '../redis/crawl-redis-keys.ts'

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
  readonly givingUp?: GivingUp
  /** Returns false when no link of another worker is in doubt. Default: one may be, and Redis is asked each time. */
  readonly mayDoubt?: () => boolean
  /** Default: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
  readonly logger?: Logger
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
