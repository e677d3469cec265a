import type { MarkupType } from '../tree/parse-document.ts'
import { followingIn } from '../tree/tree-walk.ts'
import type { Axis } from './expression.ts'
import type { NeighbourAxis } from './neighbours.ts'
import { attributesOf, childrenOf, type Matches, parentOf, type XPathNode } from './nodes.ts'

/** The axes that lead up or down; those that lead beside a node are in `neighbours.ts`. */
export type VerticalAxis = Exclude<Axis, NeighbourAxis>

/** Returns true for axes that count positions backwards: `ancestor::*[1]` is the parent. */
export function isReverse(axis: VerticalAxis): boolean {
  return axis === 'ancestor' || axis === 'ancestor-or-self'
}

/** Returns what matches on an axis of a node, in document order, or in reverse order on a reverse axis. */
export function nodesOnAxis(
  axis: VerticalAxis,
  node: XPathNode,
  matches: Matches,
  type: MarkupType,
): XPathNode[] {
  const found: XPathNode[] = []
  const take = (candidate: XPathNode) => {
    if (matches(candidate)) found.push(candidate)
  }
  switch (axis) {
    case 'self':
      take(node)
      break
    case 'child':
      for (const child of childrenOf(node)) take(child)
      break
    case 'attribute':
      for (const attribute of attributesOf(node, type)) take(attribute)
      break
    case 'parent': {
      const parent = parentOf(node)
      if (parent) take(parent)
      break
    }
    case 'descendant-or-self':
      take(node)
      takeDescendants(node, take)
      break
    case 'descendant':
      takeDescendants(node, take)
      break
    case 'ancestor-or-self':
      take(node)
      takeAncestors(node, take)
      break
    case 'ancestor':
      takeAncestors(node, take)
      break
  }
  return found
}

type Take = (candidate: XPathNode) => void

function takeDescendants(node: XPathNode, take: Take): void {
  if (node.type === 'attribute') return
  for (let next = followingIn(node, node); next; next = followingIn(node, next)) take(next)
}

function takeAncestors(node: XPathNode, take: Take): void {
  for (let up = parentOf(node); up; up = up.parent) take(up)
}
