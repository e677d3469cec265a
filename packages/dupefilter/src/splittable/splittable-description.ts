import type { DupeFilterDescription } from '@webloom/core'
import type { SplittableParameters } from './splittable-parameters.ts'
import { depthOf, type LeafTree } from './splittable-tree.ts'

/** A `splittable-bloom` filter's leaves, and how full they are. */
export interface SplittableDescription extends DupeFilterDescription {
  /** How many leaves there are, including empty ones. */
  readonly leaves: number
  /** How often the most split leaves were split. */
  readonly depth: number
  /** How many leaves are being split. */
  readonly splitting: number
  /** How many requests a leaf may hold before it is split. */
  readonly capacityPerLeaf: number
  /** The bits of a leaf, the same for all leaves. */
  readonly bitsPerLeaf: number
  /** How many bits one request sets. */
  readonly hashes: number
  /** The share of the bits of all leaves that is set. */
  readonly fillRatio: number
  /** The probability that a new request is taken for a seen one now, by theory. */
  readonly errorNow: number
  /** How many pages were taken for seen ones so far, by theory. */
  readonly pagesLost: number
  /** Warnings for the user: leaves that are full and may split no more. */
  readonly warnings: readonly string[]
}

/** What is stored about the leaves. */
export interface LeafCounts {
  readonly count: number
  readonly pagesLost: number
  /** By leaf; an empty leaf has no entry. */
  readonly leaves: ReadonlyMap<string, { readonly inserted: number; readonly set: number }>
}

export function splittableDescription(
  { size, room, leaves: first, splitsMax }: SplittableParameters,
  tree: LeafTree,
  { count, pagesLost, leaves }: LeafCounts,
  fingerprinter: Pick<SplittableDescription, 'fingerprinter' | 'urlRules'>,
): SplittableDescription {
  const total = first + tree.inner.size + tree.frozen.size
  const inUse = [...leaves].map(([leaf, counts]) => ({ depth: depthOf(leaf), ...counts }))
  const fullForGood = inUse.filter(({ depth, inserted }) => depth >= splitsMax && inserted >= room).length
  return {
    name: 'splittable-bloom',
    ...fingerprinter,
    count,
    owners: true,
    leaves: total,
    depth: Math.max(0, ...[...tree.inner, ...tree.frozen].map((node) => depthOf(node) + 1)),
    splitting: tree.frozen.size,
    capacityPerLeaf: room,
    bitsPerLeaf: size.bits,
    hashes: size.hashes,
    fillRatio: inUse.reduce((sum, { set }) => sum + set, 0) / (size.bits * total),
    // A request is looked up in one leaf, in deep ones more seldom; beside it in a frozen leaf.
    errorNow: inUse.reduce(
      (sum, { depth, set }) => sum + (set / size.bits) ** size.hashes / 2 ** depth / first,
      0,
    ),
    pagesLost,
    warnings:
      fullForGood === 0
        ? []
        : [
            `${fullForGood} leaves are full and have been split as often as BLOOMFILTER_SPLITS_MAX=${splitsMax} allows: their error passes BLOOMFILTER_ERROR_RATE`,
          ],
  }
}
