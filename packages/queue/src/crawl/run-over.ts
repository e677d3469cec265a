import { WebloomError } from '@webloom/core'

/** The crawl has finished or was cleared, or another run of it has begun: this worker may write nothing more for its run. */
export class RunOver extends WebloomError {
  constructor() {
    super(
      'WL_LEASE_LOST',
      'the crawl has ended or was cleared, or another run of it has begun: nothing of this worker’s is queued or fetched any more',
    )
  }
}
