/** The errors that callers of a queue of buckets get. */

import { isRedisFull, WebloomError } from '@webloom/core'

export function fullError(cause: unknown): WebloomError {
  return new WebloomError(
    'WL_QUEUE_FULL',
    'the queue’s Redis has reached its maxmemory and accepts no more requests. Nothing is lost; Webloom tries again. Raise maxmemory',
    { cause },
  )
}

/** Returns the reply of a script that adds requests, with its errors explained. */
export async function explained<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (isRedisFull(error)) throw fullError(error)
    throw error
  }
}
