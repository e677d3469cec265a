/** The errors that callers of a queue of buckets get. */

import { isRedisFull, WebloomError } from '@webloom/core'

const FULL =
  'the queue’s Redis has reached its maxmemory and accepts no more requests. Nothing is lost; Webloom tries again. Raise maxmemory'
const OUTBOX_FULL =
  'so much is on its way to shards of the crawl that do not answer that no more is accepted (64 MiB). Nothing is lost; Webloom tries again. webloom doctor says which server is away'

export function fullError(cause: unknown): WebloomError {
  const isOutbox = String(cause).includes('the outbox is full')
  return new WebloomError('WL_QUEUE_FULL', isOutbox ? OUTBOX_FULL : FULL, { cause })
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
