/**
 * What BullMQ works on. Its own would ask each connection for the server's version and eviction policy, and write what it
 * thinks of them to the console; the crawl warns of the policy itself, once and in its log.
 */

import { hasOwnUser, reconnectWith, withRightsCheck } from '@webloom/core'
import type { BackendFactory, RedisConnection, RedisQueueBackend } from 'bullmq'
import type { Redis } from 'ioredis'

type BullMQ = typeof import('bullmq')

/**
 * For each connection that is made for BullMQ. A lazy one is opened by BullMQ, which gives it up for good when Redis is away
 * at that moment; one that opens itself tries until Redis is there.
 */
export const KEEPS_TRYING = { lazyConnect: false }

/**
 * @param prefix BullMQ's, which its own options have, too
 * @param blockingOf makes the connection that a worker waits with, which BullMQ closes; absent for what never waits
 */
export function bullBackend(
  bullmq: BullMQ,
  prefix: string,
  blockingOf?: (redis: Redis, name: string) => Redis,
): BackendFactory<RedisQueueBackend> {
  const { QueueKeys, RedisQueueBackend } = bullmq
  return (name, options) => {
    const opts = { ...options, prefix }
    const redis = opts.connection as Redis
    const blocking = blockingOf?.(redis, `${prefix}:${Buffer.from(name).toString('base64')}`)
    // BullMQ listens until it closes the connection; what comes after that is of no interest.
    blocking?.on('error', () => {})
    if (blocking) reconnectWith(redis, blocking)
    const keys = new QueueKeys(prefix)
    return new RedisQueueBackend(
      silent(bullmq, redis, { shared: true }),
      name,
      keys.getKeys(name),
      (type) => keys.toKey(name, type),
      opts,
      blocking && silent(bullmq, blocking, { shared: false }),
    )
  }
}

// What BullMQ takes the server for that it does not ask: one of version 5, which waits for whole seconds only. Scripts of
// ours need a later one anyway.
const CAPABILITIES = { canDoubleTimeout: true, canBlockFor1Ms: false }

function silent(bullmq: BullMQ, redis: Redis, options: { shared: boolean }): RedisConnection {
  if (hasOwnUser(redis)) defineWithRightsCheck(redis)
  // Of one that blocks BullMQ would end a cluster’s tries to connect, to try once itself. Ours try until they are ended.
  const connection = new bullmq.RedisConnection(redis, {
    ...options,
    blocking: false,
    skipVersionCheck: true,
  })
  const told = () => {
    connection.capabilities = CAPABILITIES
  }
  // Errors come out where it is used.
  connection.client.then(told, () => {})
  return connection
}

/** BullMQ's scripts, too, are done as a whole or not at all. */
function defineWithRightsCheck(redis: Redis): void {
  if (Object.hasOwn(redis, 'defineCommand')) return
  const define = redis.defineCommand.bind(redis)
  redis.defineCommand = (name, definition) =>
    define(name, { ...definition, lua: withRightsCheck(definition.lua) })
}
