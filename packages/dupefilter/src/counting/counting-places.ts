import { nativeBlock, nativeOffsets } from '../bloom-sizing/bloom-offsets.ts'
import type { BloomLayer, BloomOptions, BloomParameters } from '../bloom-sizing/bloom-parameters.ts'
import { bloomParameters } from '../bloom-sizing/bloom-parameters.ts'

/**
 * The largest value of four bits. A counter that has reached it counts no further requests, and is never counted down
 * again.
 */
export const COUNTER_MAX = 15

/** The counters of a request: all in one block, each once, even when two of its hashes meet the same counter. */
export interface CountingPlaces {
  readonly block: number
  readonly places: readonly number[]
}

export function countingPlaces(digest: string, { bits, hashes, blocks }: BloomLayer): CountingPlaces {
  return { block: nativeBlock(digest, blocks), places: [...new Set(nativeOffsets(digest, bits, hashes))] }
}

// 2 ** 28 counters are 128 MiB, as much as a plain filter's 2 ** 30 bits.
const BIT_DEFAULT = 28

/** Returns the parameters. Throws SettingsError for a size that a counting filter cannot have. */
export function countingParameters(options: BloomOptions): BloomParameters {
  const isSized = options.bit !== undefined || options.capacity !== undefined
  return bloomParameters(isSized ? options : { ...options, bit: BIT_DEFAULT }, 4)
}

export const CANNOT_GROW =
  'a counting Bloom filter cannot grow: of several layers nobody could tell in which one a request is counted. Make it large enough with BLOOMFILTER_CAPACITY'
