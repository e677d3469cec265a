import type { HostClock, Logger, QueueOrder } from '@webloom/core'
import { LocalRequestQueue } from '../local/local-request-queue.ts'
import type { HostSlots } from '../politeness/host-slots.ts'
import type { LocalVisits } from '../visits/local-visits.ts'
import type { JobDatabase } from './job-database.ts'
import { type SqliteDelayed, type SqliteHeld, SqliteRequestStore } from './sqlite-request-store.ts'

export interface SqliteRequestQueueOptions {
  readonly database: JobDatabase
  readonly clock: HostClock
  readonly slots?: HostSlots
  readonly order: QueueOrder
  readonly logger: Logger
  /** FAILED_MAX. Default: 0, no failure is kept. */
  readonly failedMax?: number
  /** Absent in a crawl that does not come back to its pages. */
  readonly visits?: LocalVisits
  /** Called with how many failures were removed for it. */
  readonly onTrimmed?: (count: number) => void
  /** Called in the step that stores what `asker` found. */
  readonly onHandedOn: (asker: string) => void
}

/** A queue on disk: it survives the process, however that ends. */
export class SqliteRequestQueue extends LocalRequestQueue<SqliteHeld, SqliteDelayed> {
  constructor({ database, logger, onHandedOn, ...options }: SqliteRequestQueueOptions) {
    const { order } = options
    super({ ...options, store: new SqliteRequestStore({ database, order, logger, onHandedOn }) })
  }
}
