/** The size of one host's Bloom filter (BLOOMFILTER_PARTITION_BY). */

import { SettingsError } from '@webloom/core'
import { type BloomOptions, type BloomParameters, bloomParameters, sizeOf } from './bloom-parameters.ts'
import type { BloomPartitionOptions } from './bloom-partition.ts'

/** 2 ** 18 bits are 32 KiB, as in the Internet Archive's crawler; Apoide's 8 KiB are 2 ** 16. */
const BIT_DEFAULT = 18
/** 4 MiB, which the first bit makes a string take at once. A longer step would block Redis too long. */
export const HOST_BIT_MAX = 25

/** Returns the parameters of each host's filter. Throws SettingsError for a size that it must not have. */
export function hostParameters({
  partitionBy = 'host',
  ...options
}: BloomOptions & BloomPartitionOptions): BloomParameters {
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
