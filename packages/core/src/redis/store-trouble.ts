/**
 * Why a store, such as Redis, cannot do its work now although it will be able to, or never will. Redis says so in words only:
 * they are read here, where its answers come in, and become codes. All others go by the codes.
 */

import { type ErrorCode, WebloomError } from '../errors/errors.ts'

/** There is no room now; others make some, or somebody raises maxmemory. */
const FULL: readonly ErrorCode[] = ['WL_REDIS_FULL', 'WL_QUEUE_FULL', 'WL_DUPEFILTER_FULL']

// As the first word of an answer, or within that of a script: `… -OOM command not allowed when used memory > 'maxmemory'`.
const OUT_OF_MEMORY = /(?:^|[\s(-])OOM (?:command not allowed|Out of memory)/i

// It restarts, fails over or is busy, or the connection to it is lost.
const PASSING =
  /^(?:BUSY|LOADING|READONLY|TRYAGAIN|CLUSTERDOWN|MASTERDOWN|MISCONF|NOREPLICAS)\b|Connection is closed|Command timed out|Socket timeout|ECONNRESET|EPIPE/

/**
 * What a connection to Redis has thrown, as those are told who speak no Redis: WL_REDIS_FULL and WL_REDIS_AWAY where the same
 * command may succeed later; any other error as it is.
 */
export function redisError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof WebloomError) return error
  if (OUT_OF_MEMORY.test(error.message))
    return new WebloomError('WL_REDIS_FULL', error.message, { cause: error })
  return PASSING.test(error.message)
    ? new WebloomError('WL_REDIS_AWAY', error.message, { cause: error })
    : error
}

const WRONG_TYPE = /(?:^|[\s(-])WRONGTYPE\b/
const UNKNOWN_COMMAND = /unknown (?:redis )?command/i
const REFUSED = /^(?:NOPERM|NOAUTH|WRONGPASS|ERR)\b/

/**
 * Why a server would refuse the same command again: the key holds a value of another type, the server does not know the
 * command, or anything else. Undefined: it may run it later, or did not answer.
 */
export function redisRefusal(error: unknown): 'wrong-type' | 'unknown-command' | 'other' | undefined {
  if (!(error instanceof Error) || storeTrouble(redisError(error))) return undefined
  if (WRONG_TYPE.test(error.message)) return 'wrong-type'
  if (UNKNOWN_COMMAND.test(error.message)) return 'unknown-command'
  return REFUSED.test(error.message) ? 'other' : undefined
}

/** What `work` comes to; where it rejects, with `redisError`. For those who speak Redis, where they are called by others. */
export async function withRedisCodes<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw redisError(error)
  }
}

/** Whether Redis refused a command because it has reached its maxmemory: as the connection, or `redisError`, says it. */
export function isRedisFull(error: unknown): boolean {
  const told = redisError(error)
  return told instanceof WebloomError && told.code === 'WL_REDIS_FULL'
}

/** `full`: there is no room now. `passing`: the store is away or busy. Undefined: the same step would fail again. */
export function storeTrouble(error: unknown): 'full' | 'passing' | undefined {
  if (!(error instanceof WebloomError)) return undefined
  if (FULL.includes(error.code)) return 'full'
  return error.code === 'WL_REDIS_AWAY' ? 'passing' : undefined
}
