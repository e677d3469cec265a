import type { Crawler, HostClock, QueueOrder } from '@webloom/core'
import { MemoryHostClock } from './memory-host-clock.ts'
import { type MemoryDelayed, MemoryRequestStore } from './memory-request-store.ts'
import type { StoredRequest } from './request-store.ts'
import { TurnQueue } from './turn-queue.ts'

export interface MemoryRequestQueueOptions {
  readonly clock: HostClock
  readonly order?: QueueOrder
}

/** A queue in this process: nothing survives its end. */
export class MemoryRequestQueue extends TurnQueue<StoredRequest, MemoryDelayed> {
  constructor({ clock, order = 'priority' }: MemoryRequestQueueOptions) {
    super({ clock, order, store: new MemoryRequestStore(order) })
  }

  static fromCrawler(crawler: Crawler): MemoryRequestQueue {
    return new MemoryRequestQueue({
      clock: MemoryHostClock.fromCrawler(crawler),
      order: crawler.settings.get('SCHEDULER_QUEUE_CLASS'),
    })
  }
}
