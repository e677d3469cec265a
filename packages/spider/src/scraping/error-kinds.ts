import { WebloomError } from '@webloom/core'

/** Returns true when another worker has the request, or runs start(). */
export function isLeaseLost(error: unknown): boolean {
  return error instanceof WebloomError && error.code === 'WL_LEASE_LOST'
}

/** Returns true when an output cannot be written. Every further item would be lost, so the crawl ends. */
export function isOutputFailure(error: unknown): boolean {
  return error instanceof WebloomError && error.code === 'WL_OUTPUT_FAILED'
}

/** A component of the user's own answered what cannot be used, and would do so again. */
export function isWrongAnswer(error: unknown): boolean {
  return error instanceof WebloomError && error.code === 'WL_COMPONENT_ANSWER'
}
