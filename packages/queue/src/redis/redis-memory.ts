/** How full a Redis is, and whether it is set up so that a crawl's queue is safe there. */

import { infoOf, mastersOf, PROTOCOL_TIMES, type ProtocolTimes, type ServerSeen, within } from '@webloom/core'
import type { Redis } from 'ioredis'

/** While Redis does not answer, the last known value holds. */
const ANSWER_MS_MAX = 2000

/** Watches the memory of one server, or of the fullest of several. */
export class RedisMemory {
  readonly #redis: Redis
  readonly #key: string | undefined
  readonly #lookEveryMs: number
  #used = 0
  #lookedAt = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | undefined

  /** @param key whose server is watched; absent: all masters of the client are, as a crawl in shards lies on all of them */
  constructor({
    redis,
    key,
    times = PROTOCOL_TIMES,
  }: {
    redis: Redis
    key?: string | undefined
    times?: ProtocolTimes
  }) {
    this.#key = key
    this.#lookEveryMs = times.redis.memoryLookEveryMs
    this.#redis = redis
  }

  /**
   * True when more than this part of the server's maxmemory is used: what adds to it should wait. Never for a server
   * without a maxmemory, nor for `highWater` 0.
   */
  async isAbove(highWater: number): Promise<boolean> {
    if (highWater === 0) return false
    if (performance.now() - this.#lookedAt >= this.#lookEveryMs) await this.#look()
    return this.#used > highWater
  }

  #look(): Promise<void> {
    this.#looking ??= this.#ask().finally(() => {
      this.#lookedAt = performance.now()
      this.#looking = undefined
    })
    return this.#looking
  }

  async #ask(): Promise<void> {
    const answers = await Promise.allSettled(
      this.#questions().map(async (question) => bytesIn(fieldsOf(await question))),
    )
    // A server that is away, or does not allow the question, says nothing new. The queue itself fails when no more fits in.
    const used = answers.flatMap((answer) => (answer.status === 'fulfilled' ? partUsed(answer.value) : []))
    if (used.length > 0) this.#used = Math.max(...used)
  }

  #questions(): Promise<string>[] {
    const key = this.#key
    const asked =
      key === undefined
        ? mastersOf(this.#redis).map((master) => master.info('memory'))
        : [infoOf(this.#redis, key, 'memory')]
    return asked.map((question) => within(ANSWER_MS_MAX, 'INFO memory', question))
  }
}

function partUsed({
  usedBytes,
  maxBytes,
}: {
  readonly usedBytes: number
  readonly maxBytes: number
}): number {
  return maxBytes > 0 ? usedBytes / maxBytes : 0
}

/** What a crawl should know of a server before it trusts it with a queue. */
export interface RedisHealth extends Omit<ServerSeen, 'roles' | 'shown'> {
  /** What the eviction policy may cost a crawl, in words; undefined when Redis evicts nothing. */
  readonly eviction?: string
  /** What was taken in so many last milliseconds may be lost in a fail-over; undefined when there are no replicas, no bound, or it is not known. */
  readonly lossMs?: number
  /** What a fail-over may cost a crawl, or why nothing is written; undefined when that is bounded, or there are no replicas. */
  readonly replication?: string
  /** What it could not write to its disk, in words; undefined when all is written that is to be. */
  readonly disk?: string
  /** How many more connections it takes; undefined where it does not tell. */
  readonly clientsLeft?: number
}

export async function redisHealth(redis: Redis): Promise<RedisHealth> {
  const fields = fieldsOf(await redis.info('default'))
  const lossMs = await lossMsOf(redis, fields)
  const health = {
    version: versionOf(fields),
    maxmemoryPolicy: fields.get('maxmemory_policy') ?? 'unknown',
    persistence: fields.get('aof_enabled') === '1' ? ('aof' as const) : await snapshots(redis),
    ...bytesIn(fields),
    cpuSeconds: Number(fields.get('used_cpu_user') ?? 0) + Number(fields.get('used_cpu_sys') ?? 0),
  }
  const eviction = evictionOf(health.maxmemoryPolicy)
  const replication = replicationOf(fields, { lossMs, hasSentinels: Boolean(redis.options.sentinels) })
  const failed = diskFailureIn(fields)
  const disk =
    failed &&
    `${failed}. Writes may be refused (MISCONF), and a restart loses what is not there. ${DISK_CURE}`
  return {
    ...health,
    ...(eviction !== undefined && { eviction }),
    ...(lossMs !== undefined && { lossMs }),
    ...(replication !== undefined && { replication }),
    ...(disk !== undefined && { disk }),
    ...clientsIn(fields),
    warnings: [
      ...[eviction, replication, disk].filter((warning) => warning !== undefined),
      ...persistenceWarnings(health.persistence),
    ],
  }
}

function clientsIn(fields: ReadonlyMap<string, string>): Pick<RedisHealth, 'clientsLeft'> {
  const [max, now] = [fields.get('maxclients'), fields.get('connected_clients')].map(Number)
  return max! > 0 ? { clientsLeft: max! - now! } : {}
}

function evictionOf(policy: string): string | undefined {
  if (policy === 'noeviction' || policy === 'unknown') return undefined
  return `maxmemory-policy is ${policy}: when it is full, this Redis deletes queued requests or the right to them. Set maxmemory-policy noeviction`
}

interface FailOver {
  readonly lossMs: number | undefined
  readonly hasSentinels: boolean
}

/** One replica alone may be a copy that nobody puts in the master's place, but not where Sentinels do. */
function replicationOf(
  fields: ReadonlyMap<string, string>,
  { lossMs, hasSentinels }: FailOver,
): string | undefined {
  // There only with min-replicas-to-write.
  const good = fields.get('min_slaves_good_slaves')
  if (good === '0')
    return 'this Redis takes no writes, as no replica is near enough (min-replicas-to-write): the crawl waits until one is. Start its replicas, or set min-replicas-to-write 0'
  const cure = good === undefined ? 'Set cluster-node-timeout 3000' : 'Set min-replicas-max-lag 1'
  if (lossMs !== undefined && lossMs > BRIDGED_MS)
    return `what this Redis took in the last ${lossMs / 1000} s is lost when a replica takes its place, and a crawl bridges ${BRIDGED_MS / 1000} s: links may be lost. ${cure}`
  if (lossMs !== undefined) return undefined
  if (good !== undefined)
    return `this Redis has replicas, and its user may not ask how old they may be (CONFIG GET): if that is more than 3 s, a fail-over may lose links. ${cure}`
  if (isClusterWithReplicas(fields))
    return `this Redis has replicas, and its user may not ask how soon one takes its place (CONFIG GET cluster-node-timeout): if that is more than 3.3 s, a fail-over may lose links. ${cure}`
  const replicas = Number(fields.get('connected_slaves') ?? 0)
  if (replicas === 1 && hasSentinels)
    return 'this Redis takes writes also when it is cut off from its only replica, and what it took then is lost when the Sentinels put that in its place. Start a second one (with one alone the crawl would wait after a fail-over until the old master is back). Set min-replicas-to-write 1 and min-replicas-max-lag 1'
  if (replicas < 2) return undefined
  return 'this Redis takes writes also when it is cut off from all its replicas, and what it took then is lost when one takes its place. Set min-replicas-to-write 1 and min-replicas-max-lag 1'
}

function isClusterWithReplicas(fields: ReadonlyMap<string, string>): boolean {
  return fields.get('cluster_enabled') === '1' && Number(fields.get('connected_slaves') ?? 0) > 0
}

/** How long all is kept that would be needed if the queue's Redis came back older: marks of settled askers, outboxes, seeds. */
const BRIDGED_MS = Math.min(
  PROTOCOL_TIMES.filter.markKeptMs,
  PROTOCOL_TIMES.shards.keptMs,
  PROTOCOL_TIMES.seeds.ripeMs,
)
/** A master looks once a second how near its replicas are, and counts in whole seconds. */
const LAG_LOOKED_MS = 2000
/** A node asks another one after half of cluster-node-timeout, and waits the whole of it for the answer. Then it may be the only one left, and stops. */
const NODE_TIMEOUTS = 1.5

/** For how long a master that is cut off from its replicas takes writes; undefined where nothing bounds it, or it is not known. */
async function lossMsOf(redis: Redis, fields: ReadonlyMap<string, string>): Promise<number | undefined> {
  const bounds: (number | undefined)[] = await Promise.all([
    fields.get('min_slaves_good_slaves') === undefined
      ? undefined
      : numberOf(redis, 'min-replicas-max-lag').then((lag) => lag * 1000 + LAG_LOOKED_MS),
    isClusterWithReplicas(fields)
      ? numberOf(redis, 'cluster-node-timeout').then((ms) => ms * NODE_TIMEOUTS)
      : undefined,
  ]).catch(() => [])
  const known = bounds.filter((bound) => bound !== undefined)
  return known.length > 0 ? Math.min(...known) : undefined
}

async function numberOf(redis: Redis, name: string): Promise<number> {
  const [, value] = (await redis.config('GET', name)) as string[]
  return Number(value)
}

/**
 * Returns which settings to change when a fail-over may lose more than the time after which the filter takes an asker for dead;
 * undefined when it may not.
 *
 * @param pendingStaleMs DUPEFILTER_PENDING_STALE
 */
export function staleTooSoon(
  { lossMs }: Pick<RedisHealth, 'lossMs'>,
  pendingStaleMs: number,
): string | undefined {
  if (lossMs === undefined || pendingStaleMs > lossMs) return undefined
  return `DUPEFILTER_PENDING_STALE is ${pendingStaleMs / 1000} s, and a fail-over may lose the last ${lossMs / 1000} s: links would be told to be new twice. Set DUPEFILTER_PENDING_STALE=${Math.max(10, Math.ceil((2 * lossMs) / 1000))}`
}

/** What is to be done where a disk fails. */
export const DISK_CURE =
  'Its log says why: mostly the disk is full, or its folder may not be written. Make room, then type there: redis-cli BGSAVE'

/** Returns what a server failed to write when it last tried, by what INFO says; undefined when nothing. */
export function diskFailureIn(info: string | ReadonlyMap<string, string>): string | undefined {
  const fields = typeof info === 'string' ? fieldsOf(info) : info
  if (fields.get('aof_last_write_status') === 'err')
    return 'this Redis could not write to its append-only file (aof_last_write_status:err)'
  return fields.get('rdb_last_bgsave_status') === 'err'
    ? 'this Redis could not write its last snapshot (rdb_last_bgsave_status:err)'
    : undefined
}

async function snapshots(redis: Redis): Promise<'rdb' | 'none' | 'unknown'> {
  try {
    const [, save = ''] = (await redis.config('GET', 'save')) as string[]
    return save === '' ? 'none' : 'rdb'
  } catch {
    return 'unknown'
  }
}

function persistenceWarnings(persistence: RedisHealth['persistence']): string[] {
  return [
    ...(persistence === 'none'
      ? [
          'this Redis keeps nothing on disk: when it restarts, the crawl is gone. Set appendonly yes, or save to what may be lost',
        ]
      : []),
    ...(persistence === 'rdb'
      ? [
          'this Redis writes snapshots only: a restart takes the crawl back to the last one, and pages since then are fetched again. Set appendonly yes to lose a second at most',
        ]
      : []),
    ...(persistence === 'unknown'
      ? [
          'this Redis has no append-only file, and its user may not ask whether it writes snapshots (CONFIG GET): a restart takes the crawl back to the last one, or to nothing. Set appendonly yes to lose a second at most',
        ]
      : []),
  ]
}

/** What replicas and the append-only file hold back is not part of what maxmemory bounds. */
function bytesIn(fields: ReadonlyMap<string, string>): { usedBytes: number; maxBytes: number } {
  const bytes = (name: string) => Number(fields.get(name) ?? 0)
  return {
    usedBytes: bytes('used_memory') - bytes('mem_not_counted_for_evict'),
    maxBytes: bytes('maxmemory'),
  }
}

function fieldsOf(info: string): Map<string, string> {
  return new Map(
    info.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(':')
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)] as const] : []
    }),
  )
}

/** Valkey's `redis_version` is that of the Redis which it is compatible with. */
function versionOf(fields: ReadonlyMap<string, string>): string {
  const valkey = fields.get('valkey_version')
  return valkey === undefined ? (fields.get('redis_version') ?? 'unknown') : `Valkey ${valkey}`
}
