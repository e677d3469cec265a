import { type Settings, SettingsError, type ShardPart } from '@webloom/core'
import type { BloomOptions } from './bloom-parameters.ts'
import type { BloomPartitionOptions } from './bloom-partition.ts'

/** Returns the size that the settings ask for. Parts that are not set are left to the filter. */
export function bloomOptionsOf(settings: Settings): BloomOptions {
  const [capacity, blockNum] = [settings.get('BLOOMFILTER_CAPACITY'), settings.get('BLOOMFILTER_BLOCK_NUM')]
  return {
    ...(capacity !== null && { capacity }),
    // When it is not set, the mode's own default counts.
    ...(settings.isSet('BLOOMFILTER_BIT') && { bit: settings.getInt('BLOOMFILTER_BIT') }),
    ...(settings.isSet('BLOOMFILTER_HASH_NUMBER') && {
      hashNumber: settings.getInt('BLOOMFILTER_HASH_NUMBER'),
    }),
    errorRate: settings.getFloat('BLOOMFILTER_ERROR_RATE'),
    ...(blockNum !== null && { blockNum }),
  }
}

/**
 * Returns the size of a filter that no Python crawler has. Throws SettingsError when the settings ask for a Python
 * crawler's bits.
 */
export function nativeBloomOptionsOf(settings: Settings, filter: string): BloomOptions {
  const compat = settings.get('BLOOMFILTER_COMPAT')
  if (compat !== 'native') {
    throw new SettingsError([
      `BLOOMFILTER_COMPAT is ${compat}, whose bits are on Redis, and the filter is ${filter}: use DUPEFILTER_CLASS=redis-bloom without BLOOMFILTER_PARTITION_BY, or unset BLOOMFILTER_COMPAT`,
    ])
  }
  return bloomOptionsOf(settings)
}

/** Returns the partition options, for filters by host or domain. */
export function partitionOptionsOf(settings: Settings): BloomPartitionOptions {
  const partitionBy = settings.get('BLOOMFILTER_PARTITION_BY')
  return {
    ...(partitionBy !== 'fingerprint' && { partitionBy }),
    partitions: settings.getInt('BLOOMFILTER_PARTITIONS'),
  }
}

/** Throws for partition settings of a filter that has no parts: a setting without effect is a mistake. */
export function refusePartition(settings: Settings, filter: string): void {
  const partitionBy = settings.get('BLOOMFILTER_PARTITION_BY')
  if (partitionBy === 'fingerprint') return
  throw new SettingsError([
    `BLOOMFILTER_PARTITION_BY is ${partitionBy}, and DUPEFILTER_CLASS is ${filter}, which is one filter for all hosts: use redis-bloom or memory-bloom`,
  ])
}

/**
 * Returns the share of one part in BLOOMFILTER_CAPACITY, which counts all parts: requests fall evenly on them. BLOOMFILTER_BIT counts
 * one server.
 */
export function shareOf<Size extends Pick<BloomOptions, 'capacity' | 'parts'>>(
  size: Size,
  shard: ShardPart | undefined,
): Size {
  if (!shard) return size
  if (size.capacity !== undefined) return { ...size, capacity: Math.ceil(size.capacity / shard.count) }
  return shard.hasOwnKeys ? { ...size, parts: shard.count } : size
}
