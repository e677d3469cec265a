import { WebloomError } from '@webloom/core'

/** Another worker has the request, or runs start(). */
export function isLeaseLost(error: unknown): boolean {
  return error instanceof WebloomError && error.code === 'WL_LEASE_LOST'
}

/** Every further item would be lost as well: the crawl ends. */
export function isOutputFailure(error: unknown): boolean {
  return error instanceof WebloomError && error.code === 'WL_OUTPUT_FAILED'
}
