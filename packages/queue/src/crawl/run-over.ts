import { WebloomError } from '@webloom/core'

/** The crawl was cleared, or another run of it has begun: nothing may be done for this worker's any more. */
export class RunOver extends WebloomError {
  constructor() {
    super(
      'WL_LEASE_LOST',
      'the crawl was cleared, or another run of it has begun: nothing of this worker’s is queued or fetched any more',
    )
  }
}
