import { carryVisit, type DuePages, type KeptVisits, type QueuedRequest } from '@webloom/core'
import { type ReadEntries, readIn } from './read-entries.ts'
import { nameOf } from './redis-visit-records.ts'
import { RedisVisits, type RedisVisitsOptions } from './redis-visits.ts'

export interface BucketVisitsOptions extends RedisVisitsOptions {
  /** Takes pages off the wheel and queues them, in one step. Resolves to how many it queued. */
  readonly queue: (
    read: ReadEntries,
    pages: readonly (QueuedRequest & { readonly name: Buffer })[],
  ) => Promise<number>
}

/** The visits of a crawl on Redis, beside its lines. */
export class BucketVisits extends RedisVisits implements KeptVisits {
  readonly #queue: BucketVisitsOptions['queue']

  constructor({ queue, ...options }: BucketVisitsOptions) {
    super(options)
    this.#queue = queue
  }

  async queueDue({ pages, token }: DuePages): Promise<number> {
    if (token === '') return 0
    const requests = pages.map(({ request, fingerprint, visit }) => {
      carryVisit(request, fingerprint, visit)
      return { id: fingerprint, request, name: nameOf(fingerprint) }
    })
    return this.#queue(readIn(token), requests)
  }
}
