import { type Request, WebloomError } from '@webloom/core'

/**
 * Returns the error of a lease that was lost before its holder had ended it. The queue does not take the holder's
 * result.
 */
export function leaseLost(request: Request | undefined, why: string): WebloomError {
  return new WebloomError('WL_LEASE_LOST', `the lease of ${request ?? 'a request'} is lost: ${why}`)
}
