import { SettingsError } from '@webloom/core'
import { type BloomSize, capacityAt } from '../bloom-sizing/bloom-theory.ts'

/** The size of a `splittable-bloom` filter and of its leaves. */
export interface SplittableOptions {
  /** BLOOMFILTER_CAPACITY: how many requests are expected. More may come. Default: as many as one leaf holds. */
  readonly capacity?: number
  /** BLOOMFILTER_ERROR_RATE: the error that no leaf may exceed, however many requests come. Default 1e-6. */
  readonly errorRate?: number
  /** BLOOMFILTER_HASH_NUMBER. Default: the best number for the error. */
  readonly hashNumber?: number
  /** BLOOMFILTER_LEAF_BIT: a leaf has 2 ** leafBit bits. Default 23. */
  readonly leafBit?: number
  /** BLOOMFILTER_SPLITS_MAX: how often a leaf, its children and theirs may split. Default 10. */
  readonly splitsMax?: number
}

export interface SplittableParameters {
  /** The size of each leaf. */
  readonly size: BloomSize
  readonly errorRate: number
  /** How many requests a leaf may hold: with more its error would exceed `errorRate`. */
  readonly room: number
  /** From how many requests on a leaf is split. The split is done before the leaf is full, so that no asker has to wait. */
  readonly ripe: number
  /** How many leaves the first level has. */
  readonly leaves: number
  readonly splitsMax: number
}

// 1 MiB holds 291 000 requests at 1e-6. Splitting it takes Redis some seconds in many steps, none longer than 2 ms.
const LEAF_BIT_DEFAULT = 23
const LEAF_BIT_MIN = 10
/** 4 MiB, which the first bit makes a string take at once. A longer step would block Redis too long. */
const LEAF_BIT_MAX = 25
// 2 ** 10 times as many requests as were expected.
const SPLITS_DEFAULT = 10
const SPLITS_MAX = 24
const RIPE_AT = 0.9
/** Their keys are named in one command when the filter is cleared. */
const LEAVES_MAX = 10_000

/** Throws SettingsError with all problems at once. */
export function splittableParameters(options: SplittableOptions): SplittableParameters {
  const { errorRate = 1e-6, leafBit = LEAF_BIT_DEFAULT, splitsMax = SPLITS_DEFAULT } = options
  const hashes = options.hashNumber ?? Math.max(1, Math.round(-Math.log2(errorRate)))
  const problems = problemsOf({ ...options, errorRate, leafBit, splitsMax, hashNumber: hashes })
  if (problems.length > 0) throw new SettingsError(problems)
  const size = { bits: 2 ** leafBit, hashes }
  const room = capacityAt(size, errorRate)
  const ripe = Math.max(1, Math.floor(room * RIPE_AT))
  const leaves = options.capacity === undefined ? 1 : Math.ceil(options.capacity / usualLoad(ripe))
  if (leaves > LEAVES_MAX) {
    throw new SettingsError([
      `BLOOMFILTER_CAPACITY=${options.capacity} needs ${leaves} leaves of 2 ** ${leafBit} bits; ${LEAVES_MAX} are the most to begin with. Raise BLOOMFILTER_LEAF_BIT`,
    ])
  }
  return { size, errorRate, room, ripe, leaves, splitsMax }
}

/**
 * Returns how many requests each leaf may get on average so that hardly any leaf is split: requests fall on leaves at
 * random, with a deviation of the square root.
 */
function usualLoad(ripe: number): number {
  return Math.max(1, (Math.sqrt(ripe + 9 / 4) - 3 / 2) ** 2)
}

function problemsOf(options: Required<Omit<SplittableOptions, 'capacity'>> & SplittableOptions): string[] {
  const { capacity, errorRate, hashNumber, leafBit, splitsMax } = options
  const isWhole = (value: number, least: number, most: number) =>
    Number.isInteger(value) && value >= least && value <= most
  const problems: string[] = []
  if (!isWhole(leafBit, LEAF_BIT_MIN, LEAF_BIT_MAX))
    problems.push(
      `BLOOMFILTER_LEAF_BIT is ${leafBit}; expected a whole number from ${LEAF_BIT_MIN} to ${LEAF_BIT_MAX} (23 is 2 ** 23 bits, 1 MiB a leaf)`,
    )
  if (!isWhole(splitsMax, 0, SPLITS_MAX))
    problems.push(`BLOOMFILTER_SPLITS_MAX is ${splitsMax}; expected a whole number from 0 to ${SPLITS_MAX}`)
  if (capacity !== undefined && !isWhole(capacity, 1, Number.MAX_SAFE_INTEGER))
    problems.push(`BLOOMFILTER_CAPACITY is ${capacity}; expected how many requests are to come, 1 or more`)
  // 64 bits of a request are kept. With 10 ** 10 requests, one in 2 * 10 ** 9 new ones has the same bits as another.
  if (!(errorRate >= 1e-9 && errorRate < 1))
    problems.push(`BLOOMFILTER_ERROR_RATE is ${errorRate}; expected 1e-9 or more, and less than 1`)
  if (!isWhole(hashNumber, 1, 64))
    problems.push(`BLOOMFILTER_HASH_NUMBER is ${hashNumber}; expected a whole number from 1 to 64`)
  return problems
}
