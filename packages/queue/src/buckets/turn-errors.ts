/** The errors that callers of a queue of buckets get. */

import { isRedisFull, ScriptRefusal, WebloomError } from '@webloom/core'

const FULL =
  'the queue’s Redis has reached its maxmemory and accepts no more requests. Nothing is lost; Webloom tries again. Raise maxmemory'
const OUTBOX_FULL =
  'so much is on its way to shards of the crawl that do not answer that no more is accepted (64 MiB). Nothing is lost; Webloom tries again. webloom doctor says which server is away'

/** Returns WL_QUEUE_FULL when a script refused, or Redis did, as there is no room now; undefined for any other error. */
export function fullError(cause: unknown): WebloomError | undefined {
  // lua/outbox/send.lua
  if (cause instanceof ScriptRefusal && cause.code === 'OUTBOXFULL')
    return new WebloomError('WL_QUEUE_FULL', OUTBOX_FULL, { cause })
  // The reply names the server.
  return isRedisFull(cause)
    ? new WebloomError('WL_QUEUE_FULL', `${FULL} (${(cause as Error).message})`, { cause })
    : undefined
}

/** Returns the reply of a script that adds requests, with its errors explained. */
export async function explained<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw fullError(error) ?? error
  }
}
