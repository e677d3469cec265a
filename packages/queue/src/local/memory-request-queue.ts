import type { Crawler, HostClock, QueueOrder } from '@webloom/core'
import { failureBounds } from '../failures/failure-bounds.ts'
import type { HostSlots } from '../politeness/host-slots.ts'
import { MemoryHostClock } from '../politeness/memory-host-clock.ts'
import type { LocalVisits } from '../visits/local-visits.ts'
import { MemoryVisits } from '../visits/memory-visits.ts'
import { LocalRequestQueue } from './local-request-queue.ts'
import { type MemoryDelayed, MemoryRequestStore, type MemoryStored } from './memory-request-store.ts'

export interface MemoryRequestQueueOptions {
  readonly clock: HostClock
  readonly slots?: HostSlots
  readonly order?: QueueOrder
  /** FAILED_MAX. Default: 0, no failure is kept. */
  readonly failedMax?: number
  /** Absent in a crawl that does not come back to its pages. */
  readonly visits?: LocalVisits
  /** Called with how many failures were removed for it. */
  readonly onTrimmed?: (count: number) => void
}

/** A queue in this process: nothing survives its end. */
export class MemoryRequestQueue extends LocalRequestQueue<MemoryStored, MemoryDelayed> {
  constructor({ order = 'priority', ...options }: MemoryRequestQueueOptions) {
    super({ ...options, order, store: new MemoryRequestStore(order) })
  }

  static fromCrawler(crawler: Crawler, slots?: HostSlots): MemoryRequestQueue {
    return new this({
      clock: MemoryHostClock.fromCrawler(crawler),
      ...(slots && { slots }),
      order: crawler.settings.get('SCHEDULER_QUEUE_CLASS'),
      ...(crawler.settings.get('RECRAWL') !== 'off' && { visits: new MemoryVisits() }),
      ...failureBounds(crawler),
    })
  }
}
