import type { HostClock, Logger, QueueOrder } from '@webloom/core'
import type { JobDatabase } from './job-database.ts'
import { type SqliteDelayed, type SqliteHeld, SqliteRequestStore } from './sqlite-request-store.ts'
import { TurnQueue } from './turn-queue.ts'

export interface SqliteRequestQueueOptions {
  readonly database: JobDatabase
  readonly clock: HostClock
  readonly order: QueueOrder
  readonly logger: Logger
  /** Called in the step that stores what `owner` found. */
  readonly onHandedOn: (owner: string) => void
}

/** A queue on disk: it survives the process, however that ends. */
export class SqliteRequestQueue extends TurnQueue<SqliteHeld, SqliteDelayed> {
  constructor({ database, clock, order, logger, onHandedOn }: SqliteRequestQueueOptions) {
    super({ clock, order, store: new SqliteRequestStore({ database, order, logger, onHandedOn }) })
  }
}
