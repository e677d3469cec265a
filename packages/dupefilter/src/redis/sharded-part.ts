import { SettingsError, type ShardPart } from '@webloom/core'
import type { FilterKeys } from './filter-keys.ts'
import type { RedisConnection } from './redis-script.ts'

/** Returns the part as it is stored in field `shard` of the record. The record of a whole filter has no such field. */
export function partText({ index, count }: ShardPart): string {
  return `${index}/${count}`
}

/**
 * Throws SettingsError when another part of a filter is stored than `wanted`, or a whole one. Writes nothing.
 *
 * @param exists resolves to true when anything of the filter is stored
 */
export async function refuseOtherPart(
  redis: RedisConnection,
  { main, record }: FilterKeys,
  wanted: ShardPart | undefined,
  exists: () => Promise<boolean>,
): Promise<void> {
  const stored = await redis.hget(record, 'shard')
  if (stored === (wanted ? partText(wanted) : null)) return
  if (stored !== null || (await exists())) throw otherPart(main, stored, wanted)
}

function otherPart(key: string, stored: string | null, wanted: ShardPart | undefined): SettingsError {
  const place = wanted ? `server ${wanted.index + 1} of the ${wanted.count}` : 'the only server'
  return new SettingsError([
    `${place} in DUPEFILTER_REDIS_URL has ${shown(stored)} of the filter ${key}. The list must name the same servers in the same order as when the filter was begun, each once: set it back, or clear the filter with the list that it was begun with, or choose another SCHEDULER_DUPEFILTER_KEY`,
  ])
}

function shown(stored: string | null): string {
  const [index, count] = (stored ?? '').split('/')
  return stored === null ? 'all' : `part ${Number(index) + 1} of ${count}`
}
