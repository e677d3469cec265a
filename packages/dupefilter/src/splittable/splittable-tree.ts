/**
 * The tree of leaves, as a worker knows it, and where a request belongs in it.
 *
 * A node is named by the way to it: `5` is the sixth leaf of the first level, `5.0` and `5.1` its children, `5.01` a child
 * of the former. A node that is not known as an inner or a frozen one is a leaf, even when it is empty.
 */

import { hash } from 'node:crypto'

/** Bytes kept of a request: 64 bits, from which everything else follows, so that a leaf can be split. */
export const MARK_BYTES = 8

/** Where a request belongs. */
export interface LeafPlace {
  /** The place in the first level: from 0 to less than 1. */
  readonly first: number
  /** The locating hashes below: '0' and '1', one for each split. */
  readonly turns: string
  /** 40 hex digits for its bits in the leaf, whichever leaf that is. */
  readonly digest: string
}

/** @param digest hex digits, as good as random, of the request's fingerprint */
export function markOf(digest: string): Buffer {
  return Buffer.from(digest.slice(0, 2 * MARK_BYTES), 'hex')
}

/** Returns the place of a mark. It is hashed again, so that the way to a leaf tells nothing about the bits in it. */
export function placeOf(mark: Buffer): LeafPlace {
  const digits = hash('sha256', mark)
  return {
    first: Number.parseInt(digits.slice(40, 48), 16) / 2 ** 32,
    turns: Number.parseInt(digits.slice(48, 56), 16).toString(2).padStart(32, '0'),
    digest: digits.slice(0, 40),
  }
}

export function childOf(node: string, { turns }: Pick<LeafPlace, 'turns'>): string {
  return childrenOf(node)[Number(turns[depthOf(node)])]!
}

export function childrenOf(node: string): [string, string] {
  const way = node.includes('.') ? node : `${node}.`
  return [`${way}0`, `${way}1`]
}

/** Returns undefined for a node of the first level. */
export function parentOf(node: string): string | undefined {
  return node.includes('.') ? node.slice(0, -1).replace(/\.$/, '') : undefined
}

export function depthOf(node: string): number {
  return node.includes('.') ? node.length - node.indexOf('.') - 1 : 0
}

export class LeafTree {
  /** Which tree it is: another one grows after `clear`. '' while no leaf was split. */
  readonly id: string
  readonly #inner = new Set<string>()
  readonly #frozen = new Set<string>()

  /** @param nodes as they are stored: 'inner', or 'frozen' and how far the node has been split */
  constructor(id: string, nodes: Readonly<Record<string, string>>) {
    this.id = id
    for (const [node, state] of Object.entries(nodes)) {
      ;(state === 'inner' ? this.#inner : this.#frozen).add(node)
    }
  }

  /** Leaves that are being split: they take no more requests, and are asked together with their children. */
  get frozen(): ReadonlySet<string> {
    return this.#frozen
  }

  get inner(): ReadonlySet<string> {
    return this.#inner
  }

  /** Returns the leaf that a request belongs to, and the frozen one that it may still be in. */
  way(place: LeafPlace, leaves: number): { readonly leaf: string; readonly frozen?: string } {
    let node = String(Math.floor(place.first * leaves))
    while (this.#inner.has(node)) node = childOf(node, place)
    return this.#frozen.has(node) ? { leaf: childOf(node, place), frozen: node } : { leaf: node }
  }
}
