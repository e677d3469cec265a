/** How large the Bloom filter of one host is (BLOOMFILTER_PARTITION_BY). */

import { SettingsError } from '@webloom/core'
import { type BloomOptions, type BloomParameters, bloomParameters, sizeOf } from './bloom-parameters.ts'
import type { PartitionOptions } from './bloom-partition.ts'

/** 2 ** 18 bits are 32 KiB, as the Internet Archive had them; Apoide's 8 KiB are 16. */
const BIT_DEFAULT = 18
/** 4 MiB: what a string grows to with its first bit, and no Redis should stand still for. */
export const HOST_BIT_MAX = 25

/** The filter of each host. Throws SettingsError for what none should be. */
export function hostParameters({
  partitionBy = 'host',
  ...options
}: BloomOptions & PartitionOptions): BloomParameters {
  const isSized = options.bit !== undefined || options.capacity !== undefined
  const parameters = bloomParameters(isSized ? options : { ...options, bit: BIT_DEFAULT })
  const { layer } = parameters
  if (sizeOf(layer).bits > 2 ** HOST_BIT_MAX || layer.blocks > 1) {
    throw new SettingsError([
      `BLOOMFILTER_PARTITION_BY is ${partitionBy}, and each filter would have ${sizeOf(layer).bits} bits in ${layer.blocks} strings; 2 ** ${HOST_BIT_MAX} (4 MiB) in one is the most. BLOOMFILTER_BIT and BLOOMFILTER_CAPACITY are for one of the filters here: ${BIT_DEFAULT}, the default, are 32 KiB`,
    ])
  }
  return parameters
}
