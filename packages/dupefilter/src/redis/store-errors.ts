import {
  isRedisFull,
  redisError,
  redisRefusal,
  ScriptRefusal,
  SettingsError,
  WebloomError,
} from '@webloom/core'

/** Explains the error of a script. A script that fails has recorded nothing; the message says so, and what to do about it. */
export function explained(error: unknown, key: string): unknown {
  if (!(error instanceof Error)) return error
  if (isRedisFull(error)) {
    // A full Redis may have room again, so the scheduler waits for it.
    return new WebloomError(
      'WL_DUPEFILTER_FULL',
      `Redis has reached its maxmemory and records no more requests at ${key}. No request is dropped. Raise maxmemory, or use a filter that needs less (DUPEFILTER_CLASS=redis-bloom)`,
      { cause: error },
    )
  }
  if (error instanceof ScriptRefusal) {
    // The scheduler waits, and asks again.
    return new WebloomError(
      'WL_REDIS_AWAY',
      `the filter ${key} was changed by others each time it was asked; asking again`,
      {
        cause: error,
      },
    )
  }
  const refusal = redisRefusal(error)
  if (refusal === 'wrong-type') {
    return new SettingsError([
      `the key ${key}, or one beside it, holds something else than this filter's data (${error.message}); choose another SCHEDULER_DUPEFILTER_KEY, or the DUPEFILTER_CLASS that filled it`,
    ])
  }
  if (refusal === 'unknown-command') {
    return new SettingsError([
      `the Redis that keeps ${key} is too old: a dupefilter needs Redis 6.2 or later (${error.message})`,
    ])
  }
  return redisError(error)
}
