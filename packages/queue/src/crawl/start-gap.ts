import { WebloomError } from '@webloom/core'

/** An element of start() was to be queued, and others before it are missing. Whoever runs start() begins it again from there. */
export function startGap(): WebloomError {
  return new WebloomError(
    'WL_LEASE_LOST',
    'the queue’s Redis has come back with an older state, in which start() had not come so far; it is run again from there',
  )
}
