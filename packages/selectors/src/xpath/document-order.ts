import type { AnyNode } from 'domhandler'
import { followingIn } from '../tree/tree-walk.ts'
import { rootOf, type XPathNode } from './nodes.ts'

/**
 * The order of a document's nodes, for the node-sets that are not found in it: unions, ancestors of several nodes.
 *
 * Numbered when first asked for and for one evaluation, because the tree may be changed between two.
 */
export class DocumentOrder {
  readonly #places = new Map<AnyNode, number>()

  /** The nodes in document order, each once. */
  sorted(nodes: readonly XPathNode[]): XPathNode[] {
    if (nodes.length < 2) return [...nodes]
    const placed = nodes.map((node) => ({ node, place: this.placeOf(node) }))
    placed.sort((a, b) => a.place - b.place)
    return placed.filter(({ place }, i) => place !== placed[i - 1]?.place).map(({ node }) => node)
  }

  /** The same number for the same node, a greater one for a later node. */
  placeOf(node: XPathNode): number {
    if (node.type !== 'attribute') return this.#placeInTree(node)
    // Attributes come after their element and before what it holds.
    const names = Object.keys(node.element.attribs)
    return this.#placeInTree(node.element) + (names.indexOf(node.name) + 1) / (names.length + 1)
  }

  #placeInTree(node: AnyNode): number {
    if (!this.#places.has(node)) this.#number(rootOf(node))
    return this.#places.get(node)!
  }

  /** A second tree (what re:match makes) comes after the first. */
  #number(root: AnyNode): void {
    for (let node: AnyNode | null = root; node; node = followingIn(root, node)) {
      this.#places.set(node, this.#places.size)
    }
  }
}
