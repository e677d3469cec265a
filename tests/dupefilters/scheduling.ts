/** A scheduler over a real filter and queue, asked without an engine. */

import { type Lease, scaledTimes } from '@webloom/core'
import { BucketQueue, BullJobQueue, crawlRedisKeys } from '@webloom/queue'
import type { InUse } from '@webloom/testkit'
import { Redis } from 'ioredis'
import type { Scheduler } from '../../packages/scheduler/src/scheduler.ts'
import { UNPACED, unpacedClock } from '../../packages/scheduler/testing/scheduler-of.ts'

export const SCHEDULER_TIMES = scaledTimes(0.1)

/** The queue of a worker on Redis, as QUEUE_MODE has it. */
export function queueOf(mode: 'turns' | 'job', redis: Redis, workerId: string): BucketQueue | BullJobQueue {
  const keys = crawlRedisKeys({ spider: 'test', crawlId: null })
  const options = { redis, keys, workerId, times: SCHEDULER_TIMES }
  return mode === 'turns'
    ? new BucketQueue({ ...options, hosts: { pace: () => UNPACED } })
    : new BullJobQueue({ ...options, clock: unpacedClock() })
}

/** A connection that asks until it is answered, and is closed when `used` is. */
export function connectedTo(url: string, used: InUse): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 20 })
  redis.on('error', () => {})
  used.defer(() => redis.disconnect())
  return redis
}

/** Leases until it has so many requests. Returns them by path. */
export async function leased(scheduler: Scheduler, count: number): Promise<Map<string, Lease>> {
  const leases = new Map<string, Lease>()
  while (leases.size < count) {
    for (const lease of await scheduler.next(count - leases.size))
      leases.set(new URL(lease.request.url).pathname.slice(1), lease)
  }
  return leases
}

/** Fetches all that is left, as pages without links. Returns their paths. */
export async function fetchedRest(scheduler: Scheduler, until: AbortSignal): Promise<string[]> {
  const fetched: string[] = []
  while (!(await scheduler.isEmpty(until))) {
    for (const lease of await scheduler.next(8, until)) {
      fetched.push(new URL(lease.request.url).pathname.slice(1))
      await scheduler.commit(lease, [])
    }
  }
  return fetched.sort()
}
