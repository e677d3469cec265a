/**
 * The dupefilters that DUPEFILTER_CLASS names. One more is a row here, and its name in core's DUPEFILTER_NAMES: messages, the
 * settings table and what each can do follow from these.
 */

import type { ComponentClass, DupeFilter, DupeFilterName, Settings } from '@webloom/core'
import { MemoryBloomDupeFilter } from './bloom/memory-bloom-dupefilter.ts'
import { MemoryHostBloomDupeFilter } from './bloom/memory-host-bloom-dupefilter.ts'
import { RedisBloomDupeFilter } from './bloom/redis-bloom-dupefilter.ts'
import { RedisHostBloomDupeFilter } from './bloom/redis-host-bloom-dupefilter.ts'
import { CountingBloomDupeFilter } from './counting/counting-bloom-dupefilter.ts'
import { MemoryCountingBloomDupeFilter } from './counting/memory-counting-bloom-dupefilter.ts'
import { MemoryDupeFilter } from './process/memory-dupefilter.ts'
import { ProcessDupeFilter } from './process/process-dupefilter.ts'
import { RedisKeyDupeFilter } from './redis/redis-key-dupefilter.ts'
import { RedisSetDupeFilter } from './redis/redis-set-dupefilter.ts'
import type { Shard } from './sharded/sharded-dupefilter.ts'
import { SplittableBloomDupeFilter } from './splittable/splittable-bloom-dupefilter.ts'

interface Classes<Filter> {
  readonly Class: ComponentClass<Filter>
  /** In its place where BLOOMFILTER_PARTITION_BY is a host or domain. */
  readonly byHost?: ComponentClass<Filter>
}

/** One that has both is on Redis where a Redis is named. */
export interface BuiltinDupeFilter {
  readonly onRedis?: Classes<Shard['filter']>
  readonly inProcess?: Classes<DupeFilter>
  /** Requests count as new again after DUPEFILTER_TTL. */
  readonly expires?: true
}

export const DUPEFILTERS: Readonly<Record<Exclude<DupeFilterName, 'none'>, BuiltinDupeFilter>> = {
  memory: { inProcess: { Class: MemoryDupeFilter } },
  'memory-bloom': { inProcess: { Class: MemoryBloomDupeFilter, byHost: MemoryHostBloomDupeFilter } },
  'redis-set': { onRedis: { Class: RedisSetDupeFilter } },
  'redis-key': { onRedis: { Class: RedisKeyDupeFilter }, expires: true },
  'redis-bloom': { onRedis: { Class: RedisBloomDupeFilter, byHost: RedisHostBloomDupeFilter } },
  'counting-bloom': {
    onRedis: { Class: CountingBloomDupeFilter },
    inProcess: { Class: MemoryCountingBloomDupeFilter },
  },
  'splittable-bloom': { onRedis: { Class: SplittableBloomDupeFilter } },
}

/** Returns the class of a filter that the settings mean. */
export function filterClass<Filter>(
  { Class, byHost = Class }: Classes<Filter>,
  settings: Settings,
): ComponentClass<Filter> {
  return settings.get('BLOOMFILTER_PARTITION_BY') === 'fingerprint' ? Class : byHost
}

/** Filters that can make a request new again, for messages: `memory, redis-set`. */
export function forgettingFilters({ onRedis: isOnRedis = false } = {}): string {
  const forgets = (classes: Classes<DupeFilter> | undefined) =>
    classes !== undefined && 'forget' in classes.Class.prototype
  return namesOf(({ onRedis, inProcess }) => forgets(onRedis) || (!isOnRedis && forgets(inProcess)))
}

/** Filters whose requests count as new again after a while, for messages. */
export function expiringFilters(): string {
  return namesOf(({ expires }) => expires === true)
}

/** Returns whether requests that this class keeps count as new again after a while; of a class that extends a built-in one, too. */
export function expires(Class: ComponentClass<unknown>): boolean {
  return Object.values(DUPEFILTERS).some((row) => {
    const builtin = row.expires && row.onRedis?.Class
    return builtin !== undefined && (Class === builtin || Class.prototype instanceof builtin)
  })
}

/** Returns whether this class keeps requests in the process that crawls; of a class that extends a built-in one, too. */
export function isInProcess(Class: ComponentClass<unknown>): boolean {
  return Class.prototype instanceof ProcessDupeFilter
}

function namesOf(isMeant: (row: BuiltinDupeFilter) => boolean): string {
  const rows = Object.entries(DUPEFILTERS)
  return rows.flatMap(([name, row]) => (isMeant(row) ? [name] : [])).join(', ')
}
