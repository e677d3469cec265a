import { WebloomError } from '@webloom/core'

/** Returns true when another worker has the request, or runs start(). */
export function isLeaseLost(error: unknown): boolean {
  return error instanceof WebloomError && error.code === 'WL_LEASE_LOST'
}

/** Returns true when an output cannot be written. Every further item would be lost, so the crawl ends. */
export function isOutputFailure(error: unknown): boolean {
  return error instanceof WebloomError && error.code === 'WL_OUTPUT_FAILED'
}

/** Returns true when a component of the user's own answered what cannot be used, and would do so again. */
export function isWrongAnswer(error: unknown): boolean {
  return error instanceof WebloomError && error.code === 'WL_COMPONENT_ANSWER'
}

/** More is not a name. */
const NAME_CHARS_MAX = 100

/**
 * Returns the name of what was thrown; of what is not an error, its type. Never throws: anything may be thrown, and a library or a page's
 * JSON may have put anything in an error's `name`.
 */
export function thrownName(thrown: unknown): string {
  return ownText(thrown, (error) => error.name, typeof thrown)?.slice(0, NAME_CHARS_MAX) || 'Error'
}

/** Returns what it says. Never throws. */
export function thrownMessage(thrown: unknown): string {
  return ownText(thrown, (error) => error.message, thrown) ?? 'it has no message that can be read'
}

/** Returns the text of what was thrown; undefined when none can be read. */
function ownText(thrown: unknown, read: (error: Error) => unknown, otherwise: unknown): string | undefined {
  try {
    return String(thrown instanceof Error ? read(thrown) : otherwise)
  } catch {
    return undefined
  }
}
