import { companionKey, type FilterKeys } from '../redis/filter-keys.ts'

/** The keys that a splittable filter has beside those of every filter. It has nothing at its main key. */
export interface SplittableKeys {
  /** Hash: node → 'inner', or 'frozen' and how far it has been split. A leaf has no field. */
  readonly tree: string
  /** Hash: leaf → how many requests it has, and how many bits set. */
  readonly leaves: string
  /** String: the bits of a leaf. */
  bits(leaf: string): string
  /** String: the marks of a leaf's requests, one after the other. */
  marks(leaf: string): string
}

export function splittableKeys({ main }: FilterKeys): SplittableKeys {
  return {
    tree: companionKey(main, 'tree'),
    leaves: companionKey(main, 'leaves'),
    bits: (leaf) => companionKey(main, `leaf:${leaf}`),
    marks: (leaf) => companionKey(main, `marks:${leaf}`),
  }
}
