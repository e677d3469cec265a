/**
 * How much more the filters of the Python forks err than theory says of independent hashes. With their hashes
 * (`bloom-offsets.ts`), an error is the product of the probabilities that each hash meets a bit that is set.
 *
 * germey's first hash is the sum of the characters. For 40 hex digits there are some thousand sums. So after some thousand
 * requests this hash always meets a set bit and distinguishes nothing: the error is that of one hash fewer.
 *
 * A hash that multiplies by 32 (seed 31 of LiuXingMing's) writes the characters side by side, five bits each, of which hex
 * digits take 16 values of 32. Its places crowd together, the more the longer the filter, and there the hash meets bits of
 * its own. How crowded a place is, r times the average, is counted digit by digit; the average is taken over the places of
 * some values.
 *
 * The other hashes spread evenly, which simulations confirm within a few per cent.
 */

import { hash } from 'node:crypto'
import { type BloomCompat, bloomOffsets, LIUXINGMING_SEEDS } from './bloom-offsets.ts'

/** The error of a fork's filter when a share of its bits is set. */
export interface CompatStanding {
  /** Requests for each bit. */
  readonly load: number
  /** The probability that a new request is taken for a seen one. */
  readonly error: number
}

const CROWDED_SEED = 31
const CHARACTER_BITS = 5
const SAMPLES = 400
const HEX_DIGITS = Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))
const LOAD_MAX = 64

/** @param bits the bits of each string */
export function compatStanding(
  mode: BloomCompat,
  bits: number,
  hashes: number,
  fill: number,
): CompatStanding {
  let [low, high] = [0, LOAD_MAX]
  for (let n = 0; n < 60; n++) {
    const middle = (low + high) / 2
    if (fillAtLoad(mode, bits, hashes, middle) < fill) low = middle
    else high = middle
  }
  return { load: low, error: errorAtLoad(mode, bits, hashes, low) }
}

/** Returns how many requests for each bit raise the error to `errorRate`. */
export function compatCapacity(mode: BloomCompat, bits: number, hashes: number, errorRate: number): number {
  let [low, high] = [0, LOAD_MAX]
  for (let n = 0; n < 60; n++) {
    const middle = (low + high) / 2
    if (errorAtLoad(mode, bits, hashes, middle) < errorRate) low = middle
    else high = middle
  }
  return low
}

function errorAtLoad(mode: BloomCompat, bits: number, hashes: number, load: number): number {
  const even = evenHashes(mode, hashes)
  const met = fillAtLoad(mode, bits, hashes, load) ** even
  if (mode === 'germey') return met
  const open = mean(crowding(mode, bits).map((times) => Math.exp(-load * times)))
  return met * (1 - Math.exp(-even * load) * open)
}

function fillAtLoad(mode: BloomCompat, bits: number, hashes: number, load: number): number {
  const open = Math.exp(-evenHashes(mode, hashes) * load)
  if (mode === 'germey') return 1 - open
  return 1 - open * (1 - mean(crowding(mode, bits).map((times) => -Math.expm1(-load * times) / times)))
}

/**
 * Returns the number of evenly spread hashes: of germey's all but the first, of LiuXingMing's all but the crowded one. A
 * filter with one hash has only that one.
 */
function evenHashes(mode: BloomCompat, hashes: number): number {
  return mode === 'germey' ? Math.max(1, hashes - 1) : LIUXINGMING_SEEDS[mode].length - 1
}

const known = new Map<number, readonly number[]>()

/** Returns how crowded the places of the crowded hash are, in multiples of the average. */
function crowding(mode: BloomCompat, bits: number): readonly number[] {
  const found = known.get(bits)
  if (found) return found
  const bit = Math.log2(bits)
  const times = Array.from({ length: SAMPLES }, (_, n) => {
    const { offsets } = bloomOffsets(hash('md5', String(n)), { compat: mode, bit, seeds: [CROWDED_SEED] })
    return likelihood(offsets[0]!, bit) * bits
  })
  known.set(bits, times)
  return times
}

/**
 * Returns the probability that hex digits, five bits apart, add up to this place. It is computed digit by digit, with what
 * each digit carries to the next.
 */
function likelihood(place: number, bit: number): number {
  let carried = new Map([[0, 1]])
  for (let at = 0; at < bit; at += CHARACTER_BITS) {
    const size = 2 ** Math.min(CHARACTER_BITS, bit - at)
    const wanted = Math.floor(place / 2 ** at) % size
    const next = new Map<number, number>()
    for (const [carry, chance] of carried) {
      for (const digit of HEX_DIGITS) {
        const sum = digit + carry
        if (sum % size !== wanted) continue
        const on = sum >> CHARACTER_BITS
        next.set(on, (next.get(on) ?? 0) + chance / HEX_DIGITS.length)
      }
    }
    carried = next
  }
  let sum = 0
  for (const chance of carried.values()) sum += chance
  return sum
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
