/** The four types of XPath 1.0 and how one becomes another (sections 3.4, 3.5 and 4). */

import { stringValue, type XPathNode } from './nodes.ts'
import { XPathProblem } from './tokens.ts'

/** Nodes are in document order and each is there once. */
export type Value = readonly XPathNode[] | string | number | boolean

export function isNodes(value: Value): value is readonly XPathNode[] {
  return typeof value === 'object'
}

export function toText(value: Value): string {
  if (isNodes(value)) return value[0] ? stringValue(value[0]) : ''
  return typeof value === 'number' ? numberText(value) : String(value)
}

export function toNumber(value: Value): number {
  if (typeof value === 'number' || typeof value === 'boolean') return Number(value)
  const written = toText(value)
  // libxml2 takes an exponent, too. Number() alone would also take 0x10, '' and +1.
  return /^[ \t\r\n]*-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?[ \t\r\n]*$/i.test(written)
    ? Number(written)
    : Number.NaN
}

export function toTruth(value: Value): boolean {
  return isNodes(value) ? value.length > 0 : Boolean(value)
}

export function toNodes(value: Value): readonly XPathNode[] {
  if (isNodes(value)) return value
  throw new XPathProblem(`expected nodes, found the ${typeof value} ${JSON.stringify(value)}`)
}

/** Without an exponent: 1e21 is a one and 21 zeros. */
function numberText(value: number): string {
  const short = String(value)
  if (!short.includes('e')) return short
  return Math.abs(value) >= 1 ? BigInt(value).toString() : value.toFixed(20).replace(/0+$/, '')
}

export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>='

/** Returns whether a comparison holds. With nodes it does when it holds for any one of them, so that `a != b` is not the opposite of `a = b`. */
export function compare(operator: Comparison, left: Value, right: Value): boolean {
  if (typeof left === 'boolean') return compareSingle(operator, left, toTruth(right))
  if (typeof right === 'boolean') return compareSingle(operator, toTruth(left), right)
  const lefts = singlesOf(left)
  const rights = singlesOf(right)
  if (operator === '=' && isNodes(left) && isNodes(right)) {
    const texts = new Set(rights)
    return lefts.some((text) => texts.has(text))
  }
  return lefts.some((one) => rights.some((other) => compareSingle(operator, one, other)))
}

type Single = string | number | boolean

function singlesOf(value: Value): readonly Single[] {
  return isNodes(value) ? value.map(stringValue) : [value]
}

function compareSingle(operator: Comparison, left: Single, right: Single): boolean {
  if (operator === '=') return equal(left, right)
  if (operator === '!=') return !equal(left, right)
  const a = toNumber(left)
  const b = toNumber(right)
  if (operator === '<') return a < b
  if (operator === '<=') return a <= b
  return operator === '>' ? a > b : a >= b
}

function equal(left: Single, right: Single): boolean {
  if (typeof left === 'boolean' || typeof right === 'boolean') return toTruth(left) === toTruth(right)
  if (typeof left === 'number' || typeof right === 'number') return toNumber(left) === toNumber(right)
  return left === right
}
