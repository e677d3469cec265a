import { type Request, WebloomError } from '@webloom/core'

/** The lease of `request` ended before its holder was done: what its holder brings of it is refused. */
export function leaseLost(request: Request | undefined, why: string): WebloomError {
  return new WebloomError('WL_LEASE_LOST', `the lease of ${request ?? 'a request'} is lost: ${why}`)
}
