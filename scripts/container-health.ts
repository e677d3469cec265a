/**
 * Health check of a worker's container (HEALTHCHECK in the Dockerfile): ends with 0 when the queue's and the dupefilter's
 * Redis, as the environment names them, answer PING in time, and no worker of this container is stuck; else with 1, and says what
 * is wrong.
 *
 * A Redis that is away is no reason to kill the worker: it waits for it and goes on by itself. A worker that is stuck is one.
 */

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import {
  environmentSettings,
  keyPrefixesOf,
  newRedisClient,
  type RedisTarget,
  redisTargets,
  Settings,
} from '@webloom/core'
import { type StuckWorker, stuckWorkers } from '@webloom/queue'
import * as ioredis from 'ioredis'

/** Less than the timeout of the HEALTHCHECK, so that it is told which Redis is silent. */
const ANSWER_MS_MAX = 3000
/** `starttime` of proc(5), counted from the field after the name; in ticks since the machine was started. */
const START_FIELD = 19
const TICKS_PER_S = 100
const CLOCK_SLACK_MS = 2000

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
const [queue] = redisTargets(settings, 'queue')
for (const target of targets.values()) {
  const redis = await connected(target).catch((error: Error) => fail(`${target.shown}: ${error.message}`))
  if (target.shown === queue?.shown) await refuseStuck(redis)
  targets.delete(target.shown)
}
process.exit(0)

async function refuseStuck(redis: ioredis.Redis): Promise<void> {
  const stuck = (await stuckWorkers(redis, hostname(), keyPrefixesOf(settings))).filter(isRunning)
  if (stuck.length > 0) fail(stuck.map(({ id, why }) => `worker ${id} ${why}`).join(', '))
}

/** What a former process of that number has told is in Redis for a while. */
function isRunning({ pid, startedAt }: StuckWorker): boolean {
  const runsSince = startOf(pid)
  return runsSince !== undefined && startedAt.getTime() >= runsSince - CLOCK_SLACK_MS
}

/** When a process was started, milliseconds since 1970; undefined: there is none of that number. */
function startOf(pid: number): number | undefined {
  try {
    const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '')
    const bootedS = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))![1])
    return (bootedS + Number(afterName.split(' ')[START_FIELD]) / TICKS_PER_S) * 1000
  } catch {
    return undefined
  }
}

async function connected({ options }: RedisTarget): Promise<ioredis.Redis> {
  const redis = newRedisClient(ioredis, options, {
    lazyConnect: true,
    retryStrategy: null,
    maxRetriesPerRequest: 0,
  })
  // `connect` itself rejects with "Connection is closed", whatever the cause.
  const cause = once(redis, 'error').then(([error]) => Promise.reject(error))
  // A cluster tells of each node, and an error without a listener is printed with its stack.
  redis.on('error', () => {})
  await Promise.race([
    cause,
    redis.connect().then(
      () => redis.ping(),
      () => cause,
    ),
  ])
  return redis as ioredis.Redis
}

function fail(reason: string): never {
  console.error(reason)
  process.exit(1)
}
