/** A request as a BullMQ job: its id, its priority, its data. */

import type { QueuedRequest, QueueOrder, Request } from '@webloom/core'
import { type PackedTries, packRequest } from '../leasing/packed-request.ts'

/**
 * Returns the id under which a request's job is known, in BullMQ and Bull Board: never a number, and without a colon.
 */
export function bullJobId(id: string): string {
  return `r-${id.replace(/[%:]/g, (character) => encodeURIComponent(character))}`
}

// BullMQ's priorities are 1 to 2 ** 21 - 1, lower first; 0 would go before all others. So a million either way has a place of its own.
const PRIORITY_MIDDLE = 2 ** 20
const PRIORITY_MAX = 2 ** 21 - 1

/** Returns the job's priority. Priorities of more than a million above or below 0 count as a million. */
export function bullPriority(request: Request, order: QueueOrder): number {
  if (order !== 'priority') return PRIORITY_MIDDLE
  return Math.min(PRIORITY_MAX, Math.max(1, PRIORITY_MIDDLE - Math.round(request.priority)))
}

/** Returns a job's data, which BullMQ has as JSON: the packed request as one string. */
export function bullData(text: string): string {
  return JSON.stringify(text)
}

/** Returns what the scripts take to add a job: id, data, priority. */
export function bullJob(
  queued: QueuedRequest,
  order: QueueOrder,
  tries?: Partial<PackedTries>,
): [string, string, number] {
  return [bullJobId(queued.id), bullData(packRequest(queued, tries)), bullPriority(queued.request, order)]
}

/** Returns the same; for a link in doubt: id, packed request, `doubt`. */
export function jobOrDoubt(queued: QueuedRequest, order: QueueOrder): [string, string, number | 'doubt'] {
  return queued.inDoubt ? [queued.id, packRequest(queued), 'doubt'] : bullJob(queued, order)
}
