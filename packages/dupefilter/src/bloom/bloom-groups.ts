/** The places of bits for several requests, grouped by the string that they are in, in the form that the script takes. */

import { bloomOffsets, nativeBlock, nativeOffsets } from '../bloom-sizing/bloom-offsets.ts'
import type { BloomLayer, BloomMode } from '../bloom-sizing/bloom-parameters.ts'
import { bitsKey } from './bit-strings.ts'

/** Members whose bits are in the same string. */
export interface BitGroup {
  readonly key: string
  /** The number of the string's layer. */
  readonly layer: number
  /** A JSON list of texts: Redis 7.0 takes 0.3 µs to print a number for its own command. */
  readonly offsets: string
  /** The indexes of the members, from 1; undefined when they are all members, in order. */
  readonly who?: readonly number[]
}

/** Returns the groups of one layer of a native filter. */
export function nativeGroups(
  main: string,
  number: number,
  layer: BloomLayer,
  digests: readonly string[],
): BitGroup[] {
  const { bits, hashes, blocks } = layer
  if (blocks === 1) {
    let offsets = ''
    for (const digest of digests) offsets += listed(nativeOffsets(digest, bits, hashes))
    return [{ key: bitsKey(main, 'native', number, 0), layer: number, offsets: `[${offsets.slice(1)}]` }]
  }
  return byBlock(
    digests.map((digest) => ({
      block: nativeBlock(digest, blocks),
      offsets: listed(nativeOffsets(digest, bits, hashes)),
    })),
    (block) => ({ key: bitsKey(main, 'native', number, block), layer: number }),
  )
}

/** Returns the groups of a Python fork's filter, which has one layer. */
export function compatGroups(
  main: string,
  compat: Exclude<BloomMode, 'native'>,
  layer: BloomLayer,
  fingerprints: readonly string[],
): BitGroup[] {
  const options = { compat, bit: Math.log2(layer.bits), hashNumber: layer.hashes, blockNum: layer.blocks }
  return byBlock(
    fingerprints.map((fingerprint) => {
      const { block = 0, offsets } = bloomOffsets(fingerprint, options)
      return { block, offsets: listed(offsets) }
    }),
    (block) => ({ key: bitsKey(main, compat, 0, block), layer: 0 }),
  )
}

/** Returns the offsets, each with a comma before it. */
function listed(offsets: readonly number[]): string {
  let text = ''
  for (const offset of offsets) text += `,"${offset}"`
  return text
}

function byBlock(
  places: readonly { block: number; offsets: string }[],
  placeOf: (block: number) => Pick<BitGroup, 'key' | 'layer'>,
): BitGroup[] {
  const groups = new Map<number, { offsets: string; who: number[] }>()
  for (const [n, { block, offsets }] of places.entries()) {
    const group = groups.get(block)
    if (group) {
      group.offsets += offsets
      group.who.push(n + 1)
    } else groups.set(block, { offsets, who: [n + 1] })
  }
  return [...groups].map(([block, { offsets, who }]) => ({
    ...placeOf(block),
    offsets: `[${offsets.slice(1)}]`,
    who,
  }))
}
