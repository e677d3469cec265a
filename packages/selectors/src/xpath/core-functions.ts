/** The function library of XPath 1.0 (section 4), in its order. */

import { followingIn } from '../tree/tree-walk.ts'
import type { Context, XPathFunction } from './functions.ts'
import { attributesOf, isElement, nameOf, parentOf, rootOf, stringValue, type XPathNode } from './nodes.ts'
import { toNodes, toNumber, toText, toTruth, type Value } from './values.ts'

export const CORE_FUNCTIONS: Readonly<Record<string, XPathFunction>> = {
  // ---- nodes ----
  last: { takes: [0, 0], isNumber: true, call: ({ size }) => size },
  position: { takes: [0, 0], isNumber: true, call: ({ position }) => position },
  count: { takes: [1, 1], isNumber: true, call: (_context, [nodes]) => toNodes(nodes!).length },
  id: { takes: [1, 1], call: (context, [ids]) => elementsWithId(context, idsOf(ids!)) },
  'local-name': { takes: [0, 1], call: (context, values) => nameOfFirst(context, values)?.local ?? '' },
  'namespace-uri': { takes: [0, 1], call: (context, values) => nameOfFirst(context, values)?.uri ?? '' },
  name: { takes: [0, 1], call: (context, values) => writtenName(firstOf(context, values)) },

  // ---- strings ----
  string: { takes: [0, 1], call: (context, values) => textOf(context, values) },
  concat: { takes: [2, Number.POSITIVE_INFINITY], call: (_context, values) => values.map(toText).join('') },
  'starts-with': {
    takes: [2, 2],
    call: (_context, [text, start]) => toText(text!).startsWith(toText(start!)),
  },
  contains: { takes: [2, 2], call: (_context, [text, part]) => toText(text!).includes(toText(part!)) },
  'substring-before': {
    takes: [2, 2],
    call: (_context, [text, mark]) => before(toText(text!), toText(mark!)),
  },
  'substring-after': { takes: [2, 2], call: (_context, [text, mark]) => after(toText(text!), toText(mark!)) },
  substring: {
    takes: [2, 3],
    call: (_context, [text, start, length]) =>
      substring(
        toText(text!),
        toNumber(start!),
        length === undefined ? Number.POSITIVE_INFINITY : toNumber(length),
      ),
  },
  'string-length': {
    takes: [0, 1],
    isNumber: true,
    call: (context, values) => [...textOf(context, values)].length,
  },
  'normalize-space': { takes: [0, 1], call: (context, values) => normalized(textOf(context, values)) },
  translate: {
    takes: [3, 3],
    call: (_context, [text, from, to]) => translated(toText(text!), [...toText(from!)], [...toText(to!)]),
  },

  // ---- truth ----
  boolean: { takes: [1, 1], call: (_context, [value]) => toTruth(value!) },
  not: { takes: [1, 1], call: (_context, [value]) => !toTruth(value!) },
  true: { takes: [0, 0], call: () => true },
  false: { takes: [0, 0], call: () => false },
  lang: {
    takes: [1, 1],
    call: (context, [language]) => isInLanguage(context, toText(language!).toLowerCase()),
  },

  // ---- numbers ----
  number: { takes: [0, 1], isNumber: true, call: (context, [value]) => toNumber(value ?? [context.node]) },
  sum: {
    takes: [1, 1],
    isNumber: true,
    call: (_context, [nodes]) => toNodes(nodes!).reduce((sum, node) => sum + toNumber(stringValue(node)), 0),
  },
  floor: { takes: [1, 1], isNumber: true, call: (_context, [value]) => Math.floor(toNumber(value!)) },
  ceiling: { takes: [1, 1], isNumber: true, call: (_context, [value]) => Math.ceil(toNumber(value!)) },
  round: { takes: [1, 1], isNumber: true, call: (_context, [value]) => Math.round(toNumber(value!)) },
}

/** The first of the nodes that were given, else the context node. */
function firstOf({ node }: Context, [nodes]: readonly Value[]): XPathNode | undefined {
  return nodes === undefined ? node : toNodes(nodes)[0]
}

function nameOfFirst(context: Context, values: readonly Value[]): ReturnType<typeof nameOf> | undefined {
  const node = firstOf(context, values)
  return node && nameOf(node, context.evaluation.type)
}

function writtenName(node: XPathNode | undefined): string {
  if (!node || !('name' in node)) return ''
  return node.type === 'directive' ? node.name.slice(1) : node.name
}

function textOf({ node }: Context, [value]: readonly Value[]): string {
  return value === undefined ? stringValue(node) : toText(value)
}

function idsOf(value: Value): Set<string> {
  const texts = typeof value === 'object' ? value.map(stringValue) : [toText(value)]
  return new Set(texts.flatMap((text) => text.split(/[ \t\r\n]+/)).filter((id) => id !== ''))
}

function elementsWithId({ node, evaluation }: Context, ids: Set<string>): XPathNode[] {
  const attribute = evaluation.type === 'html' ? 'id' : 'xml:id'
  const found: XPathNode[] = []
  const root = rootOf(node)
  for (let next: typeof root | null = root; next; next = followingIn(root, next)) {
    const id = isElement(next) ? next.attribs[attribute] : undefined
    if (id !== undefined && ids.delete(id)) found.push(next)
  }
  return found
}

function isInLanguage({ node, evaluation: { type } }: Context, wanted: string): boolean {
  for (let up: XPathNode | null = node; up; up = parentOf(up)) {
    const written = attributesOf(up, type).find(
      ({ name }) => name === 'xml:lang' || (type === 'html' && name === 'lang'),
    )
    if (!written) continue
    const language = stringValue(written).toLowerCase()
    return language === wanted || language.startsWith(`${wanted}-`)
  }
  return false
}

function before(text: string, mark: string): string {
  return text.slice(0, Math.max(0, text.indexOf(mark)))
}

function after(text: string, mark: string): string {
  const at = text.indexOf(mark)
  return at < 0 ? '' : text.slice(at + mark.length)
}

/** The characters at the positions (from 1) that are ≥ start and < start + length, both rounded. */
function substring(text: string, start: number, length: number): string {
  const from = Math.round(start)
  const end = from + Math.round(length)
  return [...text].filter((_character, i) => i + 1 >= from && i + 1 < end).join('')
}

/** No-break spaces stay: white space is XML's. */
function normalized(text: string): string {
  return text
    .split(/[ \t\r\n]+/)
    .filter((word) => word !== '')
    .join(' ')
}

function translated(text: string, from: readonly string[], to: readonly string[]): string {
  const map = new Map<string, string>()
  for (const [i, character] of from.entries()) if (!map.has(character)) map.set(character, to[i] ?? '')
  return [...text].map((character) => map.get(character) ?? character).join('')
}
