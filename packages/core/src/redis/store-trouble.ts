/**
 * Why a store, such as Redis, cannot do its work now but will be able to later, or never will. Redis says so only in words:
 * they are read here, where its replies come in, and become codes. All other code compares codes.
 */

import { type ErrorCode, WebloomError } from '../errors/errors.ts'

/** There is no room now. Other clients may make some, or the user raises maxmemory. */
const FULL: readonly ErrorCode[] = ['WL_REDIS_FULL', 'WL_QUEUE_FULL', 'WL_DUPEFILTER_FULL']

// The first word of a reply, or within that of a script: `… -OOM command not allowed when used memory > 'maxmemory'`.
const OUT_OF_MEMORY = /(?:^|[\s(-])OOM (?:command not allowed|Out of memory)/i

// Redis restarts, fails over or is busy, or the connection to it is lost. Before Redis 7 a script wraps what its commands were told.
const PASSING =
  /^(?:BUSY|LOADING|READONLY|TRYAGAIN|CLUSTERDOWN|MASTERDOWN|MISCONF|NOREPLICAS)\b|\s-(?:READONLY|MASTERDOWN|MISCONF|NOREPLICAS) |Connection is closed|Command timed out|Socket timeout|ECONNRESET|EPIPE/

/**
 * Returns the error of a connection to Redis in the codes of all stores: WL_REDIS_FULL and WL_REDIS_AWAY when the same
 * command may succeed later. Any other error is returned as it is.
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
 * Returns why a server would refuse the same command again: the key holds a value of another type, the server does not know
 * the command, or another reason. Undefined: the server may run the command later, or did not reply.
 */
export function redisRefusal(error: unknown): 'wrong-type' | 'unknown-command' | 'other' | undefined {
  if (!(error instanceof Error) || storeTrouble(redisError(error))) return undefined
  if (WRONG_TYPE.test(error.message)) return 'wrong-type'
  if (UNKNOWN_COMMAND.test(error.message)) return 'unknown-command'
  // In our words already, as for a login that Redis does not know any more.
  if ('code' in error && error.code === 'WL_REDIS_REFUSED') return 'other'
  return REFUSED.test(error.message) ? 'other' : undefined
}

const IS_MOVING = 'Script attempted to access a non local key'

/** Returns whether a cluster has ended a script in its middle, as it is moving the slot of a key that the script made itself. */
export function isSlotMoving(error: unknown): error is Error {
  return error instanceof Error && error.message.includes(IS_MOVING)
}

/**
 * Settles as `work` does, but rejects with its `redisError`. For code that speaks Redis and is called by code that does
 * not.
 */
export async function withRedisCodes<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw redisError(error)
  }
}

/**
 * Returns whether Redis refused a command because it has reached its maxmemory; for an error of the connection, or of
 * `redisError`.
 */
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
