/** What a script of a splittable filter gets: the leaves that members belong to, and their bits there. */

import { nativeOffsets } from '../bloom-sizing/bloom-offsets.ts'
import type { StoreQuestion } from '../redis/redis-dupefilter-options.ts'
import type { SplittableKeys } from './splittable-keys.ts'
import type { SplittableParameters } from './splittable-parameters.ts'
import {
  childOf,
  childrenOf,
  depthOf,
  type LeafPlace,
  type LeafTree,
  parentOf,
  placeOf,
} from './splittable-tree.ts'

/** Members that belong to the same leaf. */
interface LeafGroup {
  readonly leaf: string
  /** True when the leaf takes new members: it is not frozen. */
  readonly top: boolean
  /** The frozen leaf whose child it is, which is asked, too. */
  readonly under?: string
  /** The indexes of the members, from 1. */
  readonly who: number[]
  /** A JSON list of texts without its brackets, a comma before each. */
  offsets: string
}

export interface LeafSurroundings {
  readonly keys: SplittableKeys
  readonly parameters: SplittableParameters
}

/** Returns what a question about these members needs. */
export function leafQuestion(
  surroundings: LeafSurroundings,
  tree: LeafTree,
  marks: readonly Buffer[],
): StoreQuestion {
  const groups = new Map<string, LeafGroup>()
  for (const [n, mark] of marks.entries()) {
    const place = placeOf(mark)
    const offsets = listed(place, surroundings.parameters)
    const { leaf, frozen } = tree.way(place, surroundings.parameters.leaves)
    if (frozen !== undefined) put(groups, { leaf: frozen, top: false }, n + 1, offsets)
    put(groups, { leaf, top: true, ...(frozen !== undefined && { under: frozen }) }, n + 1, offsets)
  }
  return questionOf(surroundings, [...groups.values()], marks, { tree: tree.id })
}

/** Returns what one step of splitting a leaf needs: these of its members go to its children. */
export function splitQuestion(
  surroundings: LeafSurroundings,
  node: string,
  marks: readonly Buffer[],
): StoreQuestion {
  const groups = new Map<string, LeafGroup>()
  for (const leaf of childrenOf(node)) groups.set(leaf, { leaf, top: true, who: [], offsets: '' })
  for (const [n, mark] of marks.entries()) {
    const place = placeOf(mark)
    put(groups, { leaf: childOf(node, place), top: true }, n + 1, listed(place, surroundings.parameters))
  }
  return questionOf(surroundings, [...groups.values()], marks, { node, parent: parentOf(node) })
}

/** Returns the places of a request's bits in its leaf. */
export function leafOffsets(place: LeafPlace, { size }: SplittableParameters): number[] {
  return nativeOffsets(place.digest, size.bits, size.hashes)
}

function listed(place: LeafPlace, parameters: SplittableParameters): string {
  let text = ''
  for (const offset of leafOffsets(place, parameters)) text += `,"${offset}"`
  return text
}

function put(
  groups: Map<string, LeafGroup>,
  found: Pick<LeafGroup, 'leaf' | 'top' | 'under'>,
  index: number,
  offsets: string,
): void {
  const group = groups.get(found.leaf)
  if (group) {
    group.who.push(index)
    group.offsets += offsets
  } else groups.set(found.leaf, { ...found, who: [index], offsets })
}

function questionOf(
  { keys, parameters }: LeafSurroundings,
  groups: readonly LeafGroup[],
  members: readonly Buffer[],
  header: object,
): StoreQuestion {
  const { size, room, ripe, splitsMax } = parameters
  const splits = ({ leaf, top }: LeafGroup) => top && depthOf(leaf) < splitsMax
  const kept = groups.filter(splits)
  const marksAt = FIXED_KEYS + groups.length + 2
  return {
    members,
    keys: [
      ...groups.map(({ leaf }) => keys.bits(leaf)),
      keys.leaves,
      ...kept.map(({ leaf }) => keys.marks(leaf)),
      keys.tree,
    ],
    header: {
      ...header,
      layers: 1,
      bits: size.bits,
      hashes: size.hashes,
      room,
      ripe,
      groups: groups.map((group) => ({
        leaf: group.leaf,
        k: size.hashes,
        who: group.who,
        ...(group.top && { top: true, under: group.under }),
        // A leaf that cannot be split further needs no marks.
        ...(splits(group) && { splits: true, marks: marksAt + kept.indexOf(group) }),
      })),
    },
    args: groups.map(({ offsets }) => `[${offsets.slice(1)}]`),
  }
}

/** main, pending, askers, settled, record: the first keys of every filter's script. */
const FIXED_KEYS = 5
