import { SettingsError } from '@webloom/core'
import { type BloomCompat, LIUXINGMING_SEEDS } from './bloom-offsets.ts'
import {
  type BloomSize,
  bitsFor,
  blockBitsFor,
  capacityAt,
  optimalSize,
  roundedSize,
} from './bloom-theory.ts'
import { compatCapacity } from './compat-error.ts'

/** The bits of a filter: its own (`native`), or those of a Python crawler. */
export type BloomMode = 'native' | BloomCompat

/** The size of a Bloom filter: by capacity and error, or by bits and hashes. */
export interface BloomOptions {
  /** BLOOMFILTER_BIT: 2 ** bit bits, from 33 on in blocks of 2 ** 32. Default 30 (31 for liuxingming). */
  readonly bit?: number
  /** BLOOMFILTER_HASH_NUMBER. Default 6; with a capacity, the best number for it. */
  readonly hashNumber?: number
  /** BLOOMFILTER_CAPACITY: how many requests the filter is made for, instead of `bit`. */
  readonly capacity?: number
  /** BLOOMFILTER_ERROR_RATE: the error at the capacity. Default 1e-6. */
  readonly errorRate?: number
  /** BLOOMFILTER_BLOCK_NUM: how many strings the bits are in. With `bit` each has 2 ** bit bits. */
  readonly blockNum?: number
  /** How many filters have the bits of `bit` together. Default 1. */
  readonly parts?: number
  /** BLOOMFILTER_COMPAT: the bits of a Python fork, to go on with its filter. Default native. */
  readonly compat?: BloomMode
}

/** One Bloom filter. A filter that grows has several. */
export interface BloomLayer {
  /** The bits of one block. */
  readonly bits: number
  /** How many Redis strings of `bits` bits there are. */
  readonly blocks: number
  /** How many bits one request sets. */
  readonly hashes: number
  /**
   * The probability that a new request is taken for a seen one when `capacity` requests are in the layer: 0.001 is one in a
   * thousand.
   */
  readonly errorRate: number
  /** How many requests raise the error to `errorRate`. */
  readonly capacity: number
}

/** The size that follows from `BloomOptions`. */
export interface BloomParameters {
  /** The hashes: our own, or a Python fork's. */
  readonly mode: BloomMode
  /** The first layer; further layers of a filter that grows follow from it. */
  readonly layer: BloomLayer
  /** The layer that an earlier release made for the same capacity. */
  readonly older?: BloomLayer
}

/** The longest Redis string has 512 MiB. */
const BLOCK_BITS_MAX = 2 ** 32
const BITS_MAX = 2 ** 40
const HASHES_MAX = 64
// Block numbers come from eight bits in the originals, and a filter of more blocks than this is larger than any Redis.
const BLOCKS_MAX = 256
// 2 ** 30 bits are 128 MiB; with six hashes they hold 19 million requests at 1e-6, and 100 million at 0.6 %.
const BIT_DEFAULT = 30
const HASHES_DEFAULT = 6
const ERROR_RATE_DEFAULT = 1e-6

export function sizeOf({ bits, blocks, hashes }: BloomLayer): BloomSize {
  return { bits: bits * blocks, hashes }
}

/**
 * Throws SettingsError with all problems at once.
 *
 * @param bitsEach how many bits a place takes: 4 for counters, which make the filter four times as large
 */
export function bloomParameters(options: BloomOptions, bitsEach: 1 | 4 = 1): BloomParameters {
  const mode = options.compat ?? 'native'
  const problems = [...rangeProblems(options), ...combinationProblems(options, mode)]
  if (problems.length > 0) throw new SettingsError(problems)
  const layer =
    mode === 'native' ? nativeLayer(options, BLOCK_BITS_MAX / bitsEach) : compatLayer(options, mode)
  const bits = layer.bits * layer.blocks * bitsEach
  if (bits > BITS_MAX) {
    throw new SettingsError([
      `${wish(options)} needs ${bits.toExponential(1)} bits; 2 ** 40 (128 GiB) is the most. Raise BLOOMFILTER_ERROR_RATE, or spread the filter over several servers`,
    ])
  }
  const { capacity } = options
  if (capacity === undefined) return { mode, layer }
  return { mode, layer, older: olderLayer({ ...options, capacity }, BLOCK_BITS_MAX / bitsEach) }
}

/**
 * Returns the next layer of a full filter: twice the capacity at half the error, so that all errors together stay below
 * twice the first.
 */
export function nextLayer(last: BloomLayer): BloomLayer {
  return nativeLayer({ capacity: last.capacity * 2, errorRate: last.errorRate / 2 })
}

function nativeLayer(options: BloomOptions, blockPlacesMax = BLOCK_BITS_MAX): BloomLayer {
  const errorRate = options.errorRate ?? ERROR_RATE_DEFAULT
  const { capacity } = options
  if (capacity === undefined) {
    const { bit = BIT_DEFAULT, parts = 1 } = options
    const places = Math.ceil(2 ** bit / parts)
    const blocks = Math.max(1, Math.ceil(places / blockPlacesMax))
    return layerOf({
      bits: Math.ceil(places / blocks),
      blocks: (options.blockNum ?? 1) * blocks,
      hashes: options.hashNumber ?? HASHES_DEFAULT,
      errorRate,
    })
  }
  const size =
    options.hashNumber === undefined
      ? optimalSize(capacity, errorRate)
      : { bits: bitsFor(capacity, errorRate, options.hashNumber), hashes: options.hashNumber }
  const { hashes } = size
  let blocks = options.blockNum ?? Math.max(1, Math.ceil(size.bits / blockPlacesMax))
  let bits = blockBitsFor(capacity, errorRate, hashes, blocks)
  if (options.blockNum === undefined && bits > blockPlacesMax) {
    blocks++
    bits = blockBitsFor(capacity, errorRate, hashes, blocks)
  }
  return { bits, blocks, hashes, errorRate, capacity }
}

function olderLayer(
  options: BloomOptions & { readonly capacity: number },
  blockPlacesMax: number,
): BloomLayer {
  const { capacity, errorRate = ERROR_RATE_DEFAULT } = options
  const size = roundedSize(capacity, errorRate, options.hashNumber)
  const blocks = options.blockNum ?? Math.max(1, Math.ceil(size.bits / blockPlacesMax))
  return { bits: Math.ceil(size.bits / blocks), blocks, hashes: size.hashes, errorRate, capacity }
}

function compatLayer(options: BloomOptions, mode: BloomCompat): BloomLayer {
  const { errorRate = ERROR_RATE_DEFAULT, blockNum: blocks = 1 } = options
  if (mode === 'germey') {
    const hashes = options.hashNumber ?? HASHES_DEFAULT
    return compatLayerOf(mode, { bits: 2 ** (options.bit ?? BIT_DEFAULT), blocks: 1, hashes, errorRate })
  }
  return compatLayerOf(mode, {
    bits: 2 ** (options.bit ?? 31),
    blocks,
    hashes: LIUXINGMING_SEEDS[mode].length,
    errorRate,
  })
}

function compatLayerOf(mode: BloomCompat, layer: Omit<BloomLayer, 'capacity'>): BloomLayer {
  const load = compatCapacity(mode, layer.bits, layer.hashes, layer.errorRate)
  return { ...layer, capacity: Math.max(1, Math.floor(load * layer.bits * layer.blocks)) }
}

function layerOf(layer: Omit<BloomLayer, 'capacity'>): BloomLayer {
  const size = { bits: layer.bits * layer.blocks, hashes: layer.hashes }
  return { ...layer, capacity: capacityAt(size, layer.errorRate) }
}

function rangeProblems({ bit, hashNumber, capacity, errorRate, blockNum }: BloomOptions): string[] {
  const problems: string[] = []
  if (bit !== undefined && !isWhole(bit, 1, 40)) {
    problems.push(
      bit > 40
        ? `BLOOMFILTER_BIT is ${bit}; 40 is the most (2 ** 8 blocks of 2 ** 32 bits). For 10 ** 10 requests at 1e-6 use BLOOMFILTER_CAPACITY=1e10`
        : `BLOOMFILTER_BIT is ${bit}; expected a whole number from 1 to 40 (30 is 2 ** 30 bits, 128 MiB)`,
    )
  }
  if (hashNumber !== undefined && !isWhole(hashNumber, 1, HASHES_MAX)) {
    problems.push(
      `BLOOMFILTER_HASH_NUMBER is ${hashNumber}; expected a whole number from 1 to ${HASHES_MAX}, usually 6. Without any hash nothing could be told apart`,
    )
  }
  if (capacity !== undefined && !isWhole(capacity, 1, Number.MAX_SAFE_INTEGER)) {
    problems.push(
      `BLOOMFILTER_CAPACITY is ${capacity}; expected how many requests the filter is to hold, 1 or more`,
    )
  }
  if (errorRate !== undefined && !(errorRate > 0 && errorRate < 1)) {
    problems.push(
      `BLOOMFILTER_ERROR_RATE is ${errorRate}; expected more than 0 and less than 1. For no error at all use DUPEFILTER_CLASS=redis-set`,
    )
  }
  if (blockNum !== undefined && !isWhole(blockNum, 1, BLOCKS_MAX)) {
    problems.push(`BLOOMFILTER_BLOCK_NUM is ${blockNum}; expected a whole number from 1 to ${BLOCKS_MAX}`)
  }
  return problems
}

function combinationProblems(options: BloomOptions, mode: BloomMode): string[] {
  const { bit, blockNum, capacity, hashNumber } = options
  const problems: string[] = []
  if (capacity !== undefined && bit !== undefined) {
    problems.push(
      'BLOOMFILTER_BIT and BLOOMFILTER_CAPACITY are both given; each says how large the filter is',
    )
  }
  if (mode === 'native') return problems
  const other = `BLOOMFILTER_COMPAT is ${mode}, whose filters`
  if (capacity !== undefined) {
    problems.push(`${other} are sized by BLOOMFILTER_BIT; BLOOMFILTER_CAPACITY is for native ones`)
  }
  if (bit !== undefined && bit > 32) {
    problems.push(`${other} have strings of at most 2 ** 32 bits; BLOOMFILTER_BIT is ${bit}`)
  }
  if (mode === 'germey' && blockNum !== undefined && blockNum !== 1) {
    problems.push(`${other} have one string; BLOOMFILTER_BLOCK_NUM is ${blockNum}`)
  }
  if (mode !== 'germey' && hashNumber !== undefined && hashNumber !== LIUXINGMING_SEEDS[mode].length) {
    problems.push(
      `${other} have ${LIUXINGMING_SEEDS[mode].length} hashes; BLOOMFILTER_HASH_NUMBER is ${hashNumber}`,
    )
  }
  return problems
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most
}

function wish({ bit, capacity, blockNum = 1 }: BloomOptions): string {
  return capacity === undefined
    ? `BLOOMFILTER_BIT=${bit} with BLOOMFILTER_BLOCK_NUM=${blockNum}`
    : `BLOOMFILTER_CAPACITY=${capacity}`
}
