/** What callers of a queue of host turns are told. */

import { type Request, WebloomError } from '@webloom/core'

export function lostError(reason: string, request?: Request): WebloomError {
  return new WebloomError('WL_LEASE_LOST', `the lease of ${request ?? 'a request'} is lost: ${reason}`)
}

export function fullError(cause: Error): WebloomError {
  return new WebloomError(
    'WL_QUEUE_FULL',
    'the queue’s Redis has reached its maxmemory and takes no more requests; nothing is lost, it is tried again. Raise maxmemory',
    { cause },
  )
}

/** The answer of a script that adds requests. */
export async function explained<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Error && error.message.includes('OOM')) throw fullError(error)
    throw error
  }
}
