/**
 * Which bits a request sets.
 *
 * Native filters split 128 bits of a SHA-1: x (52 bits), y (52) and z (24), and the k-th place on a circle of 2 ** 52 is x
 * + k y + k(k-1)/2 z. It is scaled to the filter at the end, so that two requests whose places agree in a small filter need
 * not agree in all of them, as they do when x and y are first taken modulo its size. The other 32 bits choose the block. 52
 * bits, as that many can be added in a double without rounding.
 *
 * The two Python forks hash character by character, and not well: germey's first hash is the sum of the characters.
 * `compat-error.ts` has the error of their filters; a new filter should not use their bits.
 */

import { hash } from 'node:crypto'
import { SettingsError } from '@webloom/core'

/** The Python crawlers whose bits a filter may share: BLOOMFILTER_COMPAT. */
export type BloomCompat = 'germey' | 'liuxingming' | 'liuxingming-demo'

export interface BloomOffsetsOptions {
  readonly compat: BloomCompat
  /** Default 30 for germey, 31 for the others. */
  readonly bit?: number
  /** germey: the seeds are the numbers from 0 to hashNumber - 1. Default 6. */
  readonly hashNumber?: number
  /** liuxingming: how many strings the bits are spread over. Default 1. */
  readonly blockNum?: number
  readonly seeds?: readonly number[]
}

export interface BloomPlace {
  /** The number of the string, which its key ends in. Undefined for germey, which has one string. */
  readonly block?: number
  readonly offsets: number[]
}

export const LIUXINGMING_SEEDS: Readonly<Record<'liuxingming' | 'liuxingming-demo', readonly number[]>> = {
  liuxingming: [5, 7, 11, 13, 31, 37, 61],
  'liuxingming-demo': [5, 7, 11, 13, 31],
}

/** Returns the bits that the Python forks set for a value, in the order of their seeds. */
export function bloomOffsets(value: string | Uint8Array, options: BloomOffsetsOptions): BloomPlace {
  const { compat, blockNum = 1 } = options
  if (compat === 'germey') {
    const seeds = options.seeds ?? Array.from({ length: options.hashNumber ?? 6 }, (_, seed) => seed)
    return { offsets: placesOf(textOf(value), seeds, options.bit ?? 30) }
  }
  const text = compat === 'liuxingming' ? hash('md5', value) : textOf(value)
  const block = Number.parseInt(text.slice(0, 2), 16) % blockNum
  if (Number.isNaN(block)) {
    throw new SettingsError([
      `BLOOMFILTER_COMPAT is liuxingming-demo, which takes the number of the block from the first two hex digits of what it keeps; ${JSON.stringify(text)} has none. Use a FINGERPRINTER that gives hex digits, or BLOOMFILTER_COMPAT=liuxingming`,
    ])
  }
  const seeds = options.seeds ?? LIUXINGMING_SEEDS[compat].slice(0, options.hashNumber)
  return { block, offsets: placesOf(text, seeds, options.bit ?? 31) }
}

/** Returns the places of a digest in `bits` bits. */
export function nativeOffsets(digest: string, bits: number, hashes: number): number[] {
  let x = Number.parseInt(digest.slice(0, 13), 16)
  let y = Number.parseInt(digest.slice(13, 26), 16)
  // Odd, so that the steps never form a short cycle on the circle.
  const z = Number.parseInt(digest.slice(26, 32), 16) * 2 ** 28 + 1
  const scale = bits / CIRCLE
  const offsets: number[] = []
  for (let i = 0; i < hashes; i++) {
    offsets.push(Math.floor(x * scale))
    x += y
    if (x >= CIRCLE) x -= CIRCLE
    y += z
    if (y >= CIRCLE) y -= CIRCLE
  }
  return offsets
}

export function nativeBlock(digest: string, blocks: number): number {
  return blocks === 1 ? 0 : Number.parseInt(digest.slice(32, 40), 16) % blocks
}

const CIRCLE = 2 ** 52

/**
 * Python computes with numbers of any length and masks at the end. There are only sums and products, so masking to 32 bits
 * at every step gives the same result.
 */
function placesOf(text: string, seeds: readonly number[], bit: number): number[] {
  const points = Array.from(text, (character) => character.codePointAt(0)!)
  return seeds.map((seed) => {
    let place = 0
    for (const point of points) place = (Math.imul(place, seed + 1) + point) | 0
    return bit >= 32 ? place >>> 0 : (place & (2 ** bit - 1)) >>> 0
  })
}

function textOf(value: string | Uint8Array): string {
  return typeof value === 'string' ? value : Buffer.from(value).toString('utf8')
}
