/**
 * The axes that lead beside a node (`following-sibling`, `preceding-sibling`, `following`, `preceding`), in time that does
 * not grow with the square of a flat list.
 *
 * From each of 30 000 siblings such an axis leads to all the others. So what matches a step is found once for a parent (for
 * the whole page with `following` and `preceding`) and kept for one evaluation; the nodes on an axis of one node are a range
 * of that list:
 *
 *     matching children     a  b  c  d  e
 *     of c: preceding      [0, 2)          following      [3, 5)
 *
 * How many they are and which is the nth is known without making the range a list of its own.
 */

import type { AnyNode } from 'domhandler'
import { followingBeyond, followingIn } from '../tree/tree-walk.ts'
import type { Axis } from './expression.ts'
import { childrenOf, type Matches, rootOf, type XPathNode } from './nodes.ts'

export type NeighbourAxis = 'following-sibling' | 'preceding-sibling' | 'following' | 'preceding'

export function isNeighbourAxis(axis: Axis): axis is NeighbourAxis {
  return /^(?:following|preceding)/.test(axis)
}

/** The nodes on an axis of one node, of those that match a step. */
export class Neighbours {
  readonly #list: readonly XPathNode[]
  readonly #from: number
  readonly #to: number
  /** Places in the list of those that are not on the axis, ascending: a node does not precede what it holds. */
  readonly #without: readonly number[]
  readonly #reverse: boolean

  constructor(
    list: readonly XPathNode[],
    [from, to]: readonly [number, number],
    { without = [], reverse = false }: { without?: readonly number[]; reverse?: boolean } = {},
  ) {
    this.#list = list
    this.#from = from
    this.#to = to
    this.#without = without
    this.#reverse = reverse
  }

  get size(): number {
    return this.#to - this.#from - this.#without.length
  }

  /** By its position on the axis, from 1: counted backwards on `preceding` and `preceding-sibling`. */
  at(position: number): XPathNode | undefined {
    if (!Number.isInteger(position) || position < 1 || position > this.size) return undefined
    let place = this.#reverse ? this.#to - position : this.#from + position - 1
    for (const hole of this.#without.toReversed()) if (hole >= place) place--
    return this.#list[place]
  }

  /** In document order. */
  nodes(): XPathNode[] {
    const nodes = this.#list.slice(this.#from, this.#to)
    if (this.#without.length === 0) return nodes
    const holes = new Set(this.#without)
    return nodes.filter((_node, i) => !holes.has(this.#from + i))
  }
}

/** What a step finds beside nodes, as long as the page is what it was. */
export class NeighbourIndex {
  readonly #axis: NeighbourAxis
  readonly #matches: Matches
  /** By parent; by root for the axes that lead through the whole page. */
  readonly #known = new Map<AnyNode, Lines>()

  constructor(axis: NeighbourAxis, matches: Matches) {
    this.#axis = axis
    this.#matches = matches
  }

  of(node: XPathNode): Neighbours {
    return this.#axis.endsWith('-sibling') ? this.#siblings(node) : this.#others(node)
  }

  /**
   * One by its position, when it stands near: a callback that asks each of 30 000 siblings for its next one makes as many
   * evaluations. Undefined when it stands farther off, or nowhere.
   */
  near(node: XPathNode, position: number): XPathNode | undefined {
    if (!this.#axis.endsWith('-sibling') || node.type === 'attribute') return undefined
    const step = this.#axis === 'following-sibling' ? 'next' : 'prev'
    let found = 0
    let sibling = node[step]
    for (let looked = 0; sibling && looked < NEAR_MAX; looked++, sibling = sibling[step]) {
      if (this.#matches(sibling) && ++found === position) return sibling
    }
    return undefined
  }

  /** Of nodes in document order those whose neighbours are the neighbours of all. */
  farthest(nodes: readonly XPathNode[]): XPathNode[] {
    const last = this.#axis.startsWith('preceding')
    if (!this.#axis.endsWith('-sibling')) {
      if (last) return nodes.slice(-1)
      let most: XPathNode | undefined
      for (const node of nodes) if (!most || this.of(node).size > this.of(most).size) most = node
      return most ? [most] : []
    }
    const chosen = new Map<AnyNode, XPathNode>()
    for (const node of nodes) {
      if (node.type === 'attribute' || !node.parent) continue
      if (last || !chosen.has(node.parent)) chosen.set(node.parent, node)
    }
    return [...chosen.values()]
  }

  #siblings(node: XPathNode): Neighbours {
    if (node.type === 'attribute' || !node.parent) return NONE
    const { list, before } = this.#lines(node.parent, childrenOf(node.parent))
    return this.#axis === 'preceding-sibling'
      ? new Neighbours(list, [0, before.get(node)!], { reverse: true })
      : new Neighbours(list, [node.next ? before.get(node.next)! : list.length, list.length])
  }

  #others(node: XPathNode): Neighbours {
    const root = rootOf(node)
    const { list, before } = this.#lines(root, allWithin(root))
    if (this.#axis === 'following') {
      // An attribute has no siblings; what its element holds follows it.
      const next = node.type === 'attribute' ? followingIn(root, node.element) : followingBeyond(root, node)
      return new Neighbours(list, [next ? before.get(next)! : list.length, list.length])
    }
    const own = node.type === 'attribute' ? node.element : node
    const without: number[] = []
    for (let up: AnyNode | null = own.parent; up; up = up.parent) {
      const place: number = before.get(up)!
      if (list[place] === up) without.unshift(place)
    }
    return new Neighbours(list, [0, before.get(own)!], { without, reverse: true })
  }

  #lines(place: AnyNode, nodes: Iterable<AnyNode>): Lines {
    let lines = this.#known.get(place)
    if (!lines) {
      const list: XPathNode[] = []
      const before = new Map<AnyNode, number>()
      for (const node of nodes) {
        before.set(node, list.length)
        if (this.#matches(node)) list.push(node)
      }
      lines = { list, before }
      this.#known.set(place, lines)
    }
    return lines
  }
}

interface Lines {
  /** What matches, in document order. */
  readonly list: readonly XPathNode[]
  /** Of every node how many of them stand before it. */
  readonly before: ReadonlyMap<AnyNode, number>
}

const NEAR_MAX = 32

const NONE = new Neighbours([], [0, 0])

function* allWithin(root: AnyNode): Generator<AnyNode> {
  for (let node: AnyNode | null = root; node; node = followingIn(root, node)) yield node
}
