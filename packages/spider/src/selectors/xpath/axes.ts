import type { AnyNode } from 'domhandler'
import type { MarkupType } from '../parse-document.ts'
import { followingBeyond, followingIn } from '../tree-walk.ts'
import type { Axis } from './expression.ts'
import {
  attributesOf,
  childrenOf,
  isWithin,
  type Matches,
  parentOf,
  rootOf,
  type XPathNode,
} from './nodes.ts'

/** Those axes count positions backwards: `ancestor::*[1]` is the parent. */
const REVERSE = new Set<Axis>(['ancestor', 'ancestor-or-self', 'preceding', 'preceding-sibling'])

export function isReverse(axis: Axis): boolean {
  return REVERSE.has(axis)
}

/** What matches on an axis of a node, in document order, or in reverse order on a reverse axis. */
export function nodesOnAxis(axis: Axis, node: XPathNode, matches: Matches, type: MarkupType): XPathNode[] {
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
    default:
      if (node.type === 'attribute') takeAroundAttribute(axis, node.element, take)
      else takeAround(axis, node, take)
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

function takeAround(axis: Axis, node: AnyNode, take: Take): void {
  if (axis === 'following-sibling') for (let next = node.next; next; next = next.next) take(next)
  else if (axis === 'preceding-sibling') for (let prev = node.prev; prev; prev = prev.prev) take(prev)
  else if (axis === 'following') takeFrom(followingBeyond(rootOf(node), node), take)
  else takePreceding(node, take)
}

/** An attribute has no siblings; what its element holds follows it. */
function takeAroundAttribute(axis: Axis, element: AnyNode, take: Take): void {
  if (axis === 'following') takeFrom(followingIn(rootOf(element), element), take)
  else if (axis === 'preceding') takePreceding(element, take)
}

function takeFrom(first: AnyNode | null, take: Take): void {
  if (first) for (let next: AnyNode | null = first; next; next = followingIn(rootOf(first), next)) take(next)
}

function takePreceding(node: AnyNode, take: Take): void {
  const before: AnyNode[] = []
  const root = rootOf(node)
  for (let next: AnyNode | null = root; next && next !== node; next = followingIn(root, next)) {
    if (!isWithin(node, next)) before.push(next)
  }
  for (const candidate of before.reverse()) take(candidate)
}
