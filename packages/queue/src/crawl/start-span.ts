import { WebloomError } from '@webloom/core'

/** The elements of start() that one push stores. */
export interface StartSpan {
  /** The first element; the start cursor must have come as far. */
  readonly from: number
  /** Where the start cursor is moved to. */
  readonly to: number
}

/** The error of an element of start() before which others are missing. The worker that runs start() begins again from there. */
export function startGap(): WebloomError {
  return new WebloomError(
    'WL_LEASE_LOST',
    'the queue’s Redis has come back with an older state, in which start() had not come so far; it is run again from there',
  )
}
