/**
 * Health check of a worker's container (HEALTHCHECK in the Dockerfile): ends with 0 when the queue's and the dupefilter's
 * Redis, as the environment names them, answer PING in time; else with 1, and says which did not.
 *
 * Away is no reason to kill the worker: it waits for its Redis and goes on by itself.
 */

import { once } from 'node:events'
import { environmentSettings, newRedisClient, type RedisTarget, redisTargets, Settings } from '@webloom/core'
import * as ioredis from 'ioredis'

/** Less than the timeout of the HEALTHCHECK, so that it is told which Redis is silent. */
const ANSWER_MS_MAX = 3000

const settings = Settings.fromLayers({ environment: environmentSettings(process.env) })
const targets = new Map(
  (['queue', 'dupefilter'] as const)
    .flatMap((role) => redisTargets(settings, role))
    .map((target) => [target.shown, target]),
)
if (targets.size === 0) fail('no Redis is named: set REDIS_URL')
setTimeout(
  () => fail(`no answer within ${ANSWER_MS_MAX} ms from ${[...targets.keys()].join(', ')}`),
  ANSWER_MS_MAX,
)
for (const target of targets.values()) {
  await ping(target).catch((error: Error) => fail(`${target.shown}: ${error.message}`))
  targets.delete(target.shown)
}
process.exit(0)

async function ping({ options }: RedisTarget): Promise<void> {
  const redis = newRedisClient(ioredis, options, {
    lazyConnect: true,
    retryStrategy: null,
    maxRetriesPerRequest: 0,
  })
  // `connect` itself rejects with "Connection is closed", whatever the cause.
  const cause = once(redis, 'error').then(([error]) => Promise.reject(error))
  await Promise.race([
    cause,
    redis.connect().then(
      () => redis.ping(),
      () => cause,
    ),
  ])
}

function fail(reason: string): never {
  console.error(reason)
  process.exit(1)
}
