import type { HostClock, QueueOrder } from '@webloom/core'
import type { HostSlots } from '../politeness/host-slots.ts'
import type { LocalVisits } from '../visits/local-visits.ts'
import type { DelayedRequest, RequestStore, StoredRequest } from './request-store.ts'

export interface LocalRequestQueueOptions<Held extends StoredRequest, Delayed extends DelayedRequest> {
  readonly clock: HostClock
  readonly slots?: HostSlots
  readonly order: QueueOrder
  readonly store: RequestStore<Held, Delayed>
  /** FAILED_MAX. Default: 0, no failure is kept. */
  readonly failedMax?: number
  /** Absent in a crawl that does not come back to its pages. */
  readonly visits?: LocalVisits
  /** Called with how many failures were removed for it. */
  readonly onTrimmed?: (count: number) => void
}
