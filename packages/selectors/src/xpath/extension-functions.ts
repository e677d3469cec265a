/**
 * What parsel adds to XPath: `has-class()`, and EXSLT's regular expressions (`re:`) and sets (`set:`), as lxml has them.
 * Patterns are JavaScript's; of Python's syntax `(?P<name>…)` is understood, and `\1` and `\g<name>` in a replacement.
 */

import { Element, Text } from 'domhandler'
import { regexOf } from '../extract-regex.ts'
import type { Evaluation, XPathFunction } from './functions.ts'
import { isElement, stringValue, type XPathNode } from './nodes.ts'
import { XPathProblem } from './tokens.ts'
import { toNodes, toText, type Value } from './values.ts'

const RE = 'http://exslt.org/regular-expressions'
const SET = 'http://exslt.org/sets'

/** The prefixes that are known without being registered. */
export const EXTENSION_NAMESPACES: ReadonlyMap<string, string> = new Map([
  ['re', RE],
  ['set', SET],
])

/** By `{namespace}name`. */
export const EXTENSION_FUNCTIONS: Readonly<Record<string, XPathFunction>> = {
  '{}has-class': {
    takes: [1, Number.POSITIVE_INFINITY],
    call: ({ node }, values) => hasClasses(node, values.map(classOf)),
  },
  [`{${RE}}test`]: {
    takes: [2, 3],
    call: (_context, [text, pattern, flags]) => patternOf(pattern!, flags).test(toText(text!)),
  },
  [`{${RE}}match`]: {
    takes: [2, 3],
    call: (_context, [text, pattern, flags]) => matchElements(toText(text!), patternOf(pattern!, flags)),
  },
  [`{${RE}}replace`]: {
    takes: [4, 4],
    call: (_context, [text, pattern, flags, replacement]) =>
      replaced(toText(text!), patternOf(pattern!, flags), toText(replacement!)),
  },
  [`{${SET}}difference`]: ofTwoSets((nodes, others) => nodes.filter(({ place }) => !hasPlace(others, place))),
  [`{${SET}}intersection`]: ofTwoSets((nodes, others) =>
    nodes.filter(({ place }) => hasPlace(others, place)),
  ),
  [`{${SET}}leading`]: ofTwoSets((nodes, others) =>
    fromFirst(nodes, others, (place, first) => place < first),
  ),
  [`{${SET}}trailing`]: ofTwoSets((nodes, others) =>
    fromFirst(nodes, others, (place, first) => place > first),
  ),
  [`{${SET}}has-same-node`]: {
    takes: [2, 2],
    call: ({ evaluation }, [nodes, others]) => {
      const places = placedOf(others!, evaluation)
      return placedOf(nodes!, evaluation).some(({ place }) => hasPlace(places, place))
    },
  },
  [`{${SET}}distinct`]: { takes: [1, 1], call: (_context, [nodes]) => distinct(toNodes(nodes!)) },
}

// ---- has-class ----

function classOf(value: Value): string {
  if (typeof value === 'string') return value
  throw new XPathProblem('has-class() takes strings')
}

function hasClasses(node: XPathNode, classes: readonly string[]): boolean {
  const written = isElement(node) ? node.attribs.class : undefined
  if (written === undefined) return false
  const present = written.split(/[ \t\n\f\r]/)
  return classes.every((one) => present.includes(one))
}

// ---- regular expressions ----

function patternOf(pattern: Value, flags: Value | undefined): RegExp {
  const wanted = flags === undefined ? '' : toText(flags)
  return regexOf(toText(pattern), `${wanted.includes('g') ? 'g' : ''}${wanted.includes('i') ? 'i' : ''}`)
}

/** With the flag g all matches (of one with groups, its groups); else the first and its groups. Each in a `<match>`. */
function matchElements(text: string, pattern: RegExp): Element[] {
  if (!pattern.global) return (pattern.exec(text) ?? []).map((part) => matchElement(part ?? ''))
  return Array.from(text.matchAll(pattern), ([whole, ...groups]) =>
    matchElement(groups.length > 0 ? groups.join('') : whole),
  )
}

function matchElement(text: string): Element {
  const content = new Text(text)
  const element = new Element('match', {}, [content])
  content.parent = element
  return element
}

function replaced(text: string, pattern: RegExp, replacement: string): string {
  return text.replace(pattern, (whole: string, ...rest: unknown[]) => {
    const named = (typeof rest.at(-1) === 'object' ? rest.at(-1) : {}) as Record<string, string | undefined>
    const groups = [whole, ...rest] as (string | undefined)[]
    return replacement.replace(/\\(?:(\d+)|g<(\w+)>)/g, (_reference, number?: string, name?: string) => {
      const found = number === undefined ? (named[name!] ?? groups[Number(name)]) : groups[Number(number)]
      return found ?? ''
    })
  })
}

// ---- sets ----

interface Placed {
  readonly node: XPathNode
  readonly place: number
}

function ofTwoSets(choose: (nodes: Placed[], others: Placed[]) => Placed[]): XPathFunction {
  return {
    takes: [2, 2],
    call: ({ evaluation }, [nodes, others]) =>
      choose(placedOf(nodes!, evaluation), placedOf(others!, evaluation)).map(({ node }) => node),
  }
}

function placedOf(nodes: Value, { order }: Evaluation): Placed[] {
  return toNodes(nodes).map((node) => ({ node, place: order.placeOf(node) }))
}

/** In document order, so a half of them is ruled out at each look. */
function hasPlace(nodes: readonly Placed[], place: number): boolean {
  let low = 0
  let high = nodes.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (nodes[middle]!.place < place) low = middle + 1
    else high = middle
  }
  return nodes[low]?.place === place
}

/** What stands before or after the first of the others; nothing when that is none of the nodes. */
function fromFirst(
  nodes: Placed[],
  others: readonly Placed[],
  keep: (place: number, first: number) => boolean,
): Placed[] {
  const first = others[0]?.place
  if (first === undefined) return nodes
  return hasPlace(nodes, first) ? nodes.filter(({ place }) => keep(place, first)) : []
}

/** Of nodes with the same text the first. */
function distinct(nodes: readonly XPathNode[]): XPathNode[] {
  const seen = new Set<string>()
  return nodes.filter((node) => seen.size < seen.add(stringValue(node)).size)
}
