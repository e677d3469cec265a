/** What `webloom doctor` says of a Redis by what that says of itself: in the words of the log at a worker's start. */

import type { RedisRole, RedisTarget } from '@webloom/core'
import { type RedisHealth, staleTooSoon } from '@webloom/queue'
import { oldVersionIn } from '../redis/redis-readiness.ts'
import { byteSize } from '../terminal/figures.ts'
import type { CheckResult, CheckResults } from './check-result.ts'
import { adminCliOf } from './redis-cli-line.ts'

/** Above this part of its maxmemory a Redis has no room for what one crawl adds. */
const USED_MAX = 0.9
/** Of a worker with one server for all roles: docs/guides/redis.md. */
const CONNECTIONS_MIN = 4
/** The image that compose files and docs name, too. */
const IMAGE = 'redis:8-alpine'

export interface Server {
  readonly target: RedisTarget
  readonly roles: readonly RedisRole[]
  /** The address with its roles, for people. */
  readonly named: string
  readonly isCluster: boolean
  /** DUPEFILTER_PENDING_STALE. */
  readonly pendingStaleMs: number
}

export function healthResults(health: RedisHealth, server: Server): CheckResults {
  return [
    ...versionResults(health, server),
    ...storageResults(health, server),
    ...memoryResults(health, server),
    ...roomResults(health, server),
    ...staleResults(health, server),
  ]
}

export function memoryOf({ usedBytes, maxBytes }: RedisHealth): string {
  return maxBytes > 0
    ? `${byteSize(usedBytes)} of ${byteSize(maxBytes)} used`
    : `${byteSize(usedBytes)} used, no maxmemory`
}

function versionResults({ version }: RedisHealth, { named }: Server): CheckResults {
  const old = oldVersionIn(`redis_version:${version}`)
  return old === undefined
    ? []
    : [{ check: 'Redis version', state: 'fail', found: `${named}: ${old}`, type: startedBy() }]
}

function storageResults(health: RedisHealth, { target, roles, named }: Server): CheckResults {
  const { eviction, replication, disk, warnings } = health
  const isQueueOrFilter = roles.includes('queue') || roles.includes('dupefilter')
  const set = (name: string, value: string) => `${adminCliOf(target.options)} CONFIG SET ${name} ${value}`
  return [
    ...warnings.map((warning): CheckResult => {
      if (warning === disk) {
        const type = `${adminCliOf(target.options)} BGSAVE`
        return { check: 'Redis on disk', state: 'fail', found: `${named}: ${warning}`, type }
      }
      const found = `${named}: ${warning}, and write it into its redis.conf`
      if (warning === replication) {
        const isWaiting = warning.includes('takes no writes')
        const check = 'Redis replicas'
        if (isWaiting) return { check, state: 'fail', found, type: `${adminCliOf(target.options)} ROLE` }
        const isByTimeout = warning.includes('cluster-node-timeout')
        // It may be well already, and a user with the rights that suffice is not told.
        if (warning.includes('may not ask')) {
          const name = isByTimeout ? 'cluster-node-timeout' : 'min-replicas-max-lag'
          return { check, state: 'info', found, type: `${adminCliOf(target.options)} CONFIG GET ${name}` }
        }
        const type = isByTimeout
          ? set('cluster-node-timeout', '3000')
          : set('min-replicas-to-write', '1 min-replicas-max-lag 1')
        return { check, state: 'warn', found, type }
      }
      return warning === eviction
        ? {
            check: 'Redis policy',
            state: isQueueOrFilter ? 'fail' : 'warn',
            found,
            type: set('maxmemory-policy', 'noeviction'),
          }
        : { check: 'Redis on disk', state: 'warn', found, type: set('appendonly', 'yes') }
    }),
  ]
}

function memoryResults({ usedBytes, maxBytes }: RedisHealth, { named, target }: Server): CheckResults {
  if (maxBytes === 0 || usedBytes <= USED_MAX * maxBytes) return []
  const isFull = usedBytes > maxBytes
  // Twice what is there, as what is used may be more than what is allowed.
  const type = `${adminCliOf(target.options)} CONFIG SET maxmemory ${2 * Math.max(usedBytes, maxBytes)}`
  const found = isFull
    ? `${named} is full, and takes no writes: the crawl waits until there is room`
    : `${named} is nearly full: new links wait while what is queued is crawled`
  return [{ check: 'Redis memory', state: isFull ? 'fail' : 'warn', found, type }]
}

/** Our own connection is one of a worker's. */
function roomResults({ clientsLeft }: RedisHealth, { named, target, roles }: Server): CheckResults {
  if (clientsLeft === undefined || !roles.includes('queue')) return []
  const left = clientsLeft + 1
  if (left >= CONNECTIONS_MIN) return []
  const found = `${named} takes ${left} more connections (maxclients), and another worker needs ${CONNECTIONS_MIN}: it would stand still`
  const type = `${adminCliOf(target.options)} CONFIG SET maxclients 10000`
  return [{ check: 'Redis connections', state: 'warn', found, type }]
}

function staleResults(health: RedisHealth, { named, pendingStaleMs }: Server): CheckResults {
  const found = staleTooSoon(health, pendingStaleMs)
  if (found === undefined) return []
  const [, line = ''] = /Set (\S+)$/.exec(found) ?? []
  return [
    { check: 'Redis replicas', state: 'warn', found: `${named}: ${found}`, type: `export WEBLOOM_${line}` },
  ]
}

/** Returns the line that starts a Redis whose data outlives the container. */
export function startedBy(port = 6379): string {
  return `docker run -d -p ${port}:6379 -v webloom-redis:/data ${IMAGE} redis-server --appendonly yes --maxmemory-policy noeviction`
}
