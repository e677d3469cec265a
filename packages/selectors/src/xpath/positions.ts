/** What predicates ask of positions, told before anything is evaluated. */

import { CORE_FUNCTIONS } from './core-functions.ts'
import type { Expression } from './expression.ts'
import type { NeighbourIndex, Neighbours } from './neighbours.ts'
import type { XPathNode } from './nodes.ts'

/** Returns whether a predicate depends on where a node stands: a number, something that may be one, position() or last(). */
export function mayBePosition(predicate: Expression): boolean {
  return mayBeNumber(predicate) || asksForPosition(predicate)
}

export function mayBeNumber(expression: Expression): boolean {
  if (expression.kind === 'call') return CORE_FUNCTIONS[expression.name]?.isNumber === true
  if (expression.kind === 'binary') return ['+', '-', '*', 'div', 'mod'].includes(expression.operator)
  if (expression.kind === 'constant') return typeof expression.value === 'number'
  return expression.kind === 'variable' || expression.kind === 'negative'
}

export function asksForPosition(expression: Expression): boolean {
  switch (expression.kind) {
    case 'call':
      return ['position', 'last'].includes(expression.name) || expression.arguments.some(asksForPosition)
    case 'binary':
      return asksForPosition(expression.left) || asksForPosition(expression.right)
    case 'negative':
      return asksForPosition(expression.operand)
    case 'filter':
      return asksForPosition(expression.of)
    case 'path':
      return typeof expression.from === 'object' && asksForPosition(expression.from)
    default:
      return false
  }
}

/**
 * Returns how many `[position() > 3]` and its like leave out at the beginning of an axis; undefined for other
 * predicates.
 */
export function skippedBy(predicate: Expression): number | undefined {
  if (predicate.kind !== 'binary') return undefined
  const { left, operator, right } = predicate
  const isTurned = isCallOf('position', right)
  if (!isTurned && !isCallOf('position', left)) return undefined
  const bound = isTurned ? left : right
  if (bound.kind !== 'constant' || typeof bound.value !== 'number' || Number.isNaN(bound.value))
    return undefined
  if (operator === (isTurned ? '<' : '>')) return Math.max(0, Math.floor(bound.value))
  if (operator === (isTurned ? '<=' : '>=')) return Math.max(0, Math.ceil(bound.value) - 1)
  return undefined
}

/** Some of a node's neighbours, in the axis's order. */
export type Pick = (known: NeighbourIndex, node: XPathNode) => XPathNode[]

/**
 * Returns what `[3]`, `[position() = 3]`, `[position() < 3]` and `[last()]` choose; undefined for other predicates.
 */
export function pickOf(predicate: Expression): Pick | undefined {
  if (predicate.kind === 'constant' && typeof predicate.value === 'number') return one(predicate.value)
  if (isCallOf('last', predicate)) return last
  if (predicate.kind !== 'binary' || !isCallOf('position', predicate.left)) return undefined
  const { operator, right } = predicate
  if (operator === '=' && isCallOf('last', right)) return last
  if (right.kind !== 'constant' || typeof right.value !== 'number') return undefined
  const { value } = right
  if (operator === '=') return one(value)
  if (operator === '<') return (known, node) => firsts(known.of(node), Math.ceil(value) - 1)
  if (operator === '<=') return (known, node) => firsts(known.of(node), Math.floor(value))
  return undefined
}

function one(position: number): Pick {
  return (known, node) => {
    const found = known.near(node, position) ?? known.of(node).at(position)
    return found ? [found] : []
  }
}

const last: Pick = (known, node) => {
  const neighbours = known.of(node)
  const found = neighbours.at(neighbours.size)
  return found ? [found] : []
}

function firsts(neighbours: Neighbours, most: number): XPathNode[] {
  const nodes: XPathNode[] = []
  for (let position = 1; position <= Math.min(most, neighbours.size); position++)
    nodes.push(neighbours.at(position)!)
  return nodes
}

function isCallOf(name: string, expression: Expression): boolean {
  return expression.kind === 'call' && expression.name === name
}
