/**
 * CSS queries with `::text` and `::attr(name)`, answered as parsel answers them.
 *
 * A query is cut at its commas; each part is a selector (compiled by css-select) and what to take of the elements it
 * matches. The parts are answered in one walk over the tree, so the result is in document order and holds nothing
 * twice, like the union of XPath sets that parsel makes of it.
 *
 * Below an element the whole selector must match within that element, itself included: `div.css('body p')` finds
 * nothing and `div.css('div')` finds the div too. (querySelectorAll decides both the other way.)
 */

import { WebloomError } from '@webloom/url'
import { _compileUnsafe as compile, type Options } from 'css-select'
import { parse } from 'css-what'
import { type AnyNode, type Document, Element, isTag, isText, type Text } from 'domhandler'
import { DomUtils } from 'htmlparser2'
import type { Attribute } from '../tree/attribute.ts'
import type { MarkupType } from '../tree/parse-document.ts'
import { textContent } from '../tree/serialize.ts'
import { followingIn } from '../tree/tree-walk.ts'
import { type ExpandedName, elementName } from '../tree/xml-names.ts'
import type { Names } from '../xpath/compile.ts'
import { uriOf } from '../xpath/nodes.ts'
import { type Below, type ParsedSelector, SiblingQuestions } from './css-siblings.ts'
import { refuseSlips, splitAtCommas } from './css-slips.ts'

export type Found = Element | Text | Attribute

/** Returns all that `query` finds in `root`, itself included. Throws WL_SELECTOR_INVALID. */
export function cssFind(
  query: string,
  root: Document | Element,
  type: MarkupType,
  namespaces: ReadonlyMap<string, string>,
): Found[] {
  const scoped = isTag(root) && root.parent !== null && isTag(root.parent)
  const { parts, scope, siblings } = compiledQuery(query, { type, namespaces }, scoped)
  if (scoped) scope[0] = root
  try {
    return parts.length === 1 && parts[0]!.take === 'element'
      ? elementsMatching(root, parts[0]!.matches)
      : everythingTaken(root, parts)
  } finally {
    // A cached query must not keep a page in memory.
    scope[0] = NESTED
    siblings.forget()
  }
}

interface QueryPart {
  readonly matches: (element: Element) => boolean
  readonly take: Take
}

type Take = 'element' | 'text' | { readonly attribute: string }

interface CompiledQuery {
  readonly parts: readonly QueryPart[]
  /** One element, set before the query runs: what `:scope` is, and what every match must lie in. */
  readonly scope: Element[]
  /** What a run remembers of siblings. */
  readonly siblings: SiblingQuestions
}

function elementsMatching(root: AnyNode, matches: QueryPart['matches']): Element[] {
  const found: Element[] = []
  for (let node: AnyNode | null = root; node; node = followingIn(root, node)) {
    if (isTag(node) && matches(node)) found.push(node)
  }
  return found
}

function everythingTaken(root: AnyNode, parts: readonly QueryPart[]): Found[] {
  const found: Found[] = []
  const textTakenFrom = new Set<AnyNode>()
  for (let node: AnyNode | null = root; node; node = followingIn(root, node)) {
    if (isText(node)) {
      if (node.parent && textTakenFrom.has(node.parent)) found.push(node)
    } else if (isTag(node)) {
      takeFrom(node, parts, found, textTakenFrom)
    }
  }
  return found
}

function takeFrom(
  element: Element,
  parts: readonly QueryPart[],
  found: Found[],
  textTakenFrom: Set<AnyNode>,
): void {
  let whole = false
  let attributes: Set<string> | undefined
  for (const { matches, take } of parts) {
    if (!matches(element)) continue
    if (take === 'element') whole = true
    else if (take === 'text') textTakenFrom.add(element)
    else {
      attributes ??= new Set()
      attributes.add(attributeName(element, take.attribute))
    }
  }
  if (whole) found.push(element)
  if (!attributes) return
  for (const name in element.attribs)
    if (attributes.has(name)) found.push({ type: 'attribute', element, name })
}

// HTML attribute names are written in any case and kept in lower case, except some of SVG's (viewBox) by parse5.
function attributeName(element: Element, name: string): string {
  return Object.hasOwn(element.attribs, name) ? name : name.toLowerCase()
}

// ---- compiling ----

// Spiders have some dozens of queries; a query built from page content must not fill the memory.
const COMPILED_MAX = 1_000
const compiledQueries = new Map<string, CompiledQuery>()

// :has() and :contains() are slow unless css-select may remember results, and what it remembers is true for one run
// only. Such queries are compiled (some 10 µs) each time.
const REMEMBERS = /:(?:has|i?contains)\(/i

// Stands for the element a compiled query will be run on. css-select wants it to have a parent.
const NESTED = new Element('scope', {})
NESTED.parent = new Element('scope', {})

function compiledQuery(query: string, names: Names, scoped: boolean): CompiledQuery {
  if (REMEMBERS.test(query)) return compileQuery(query, names, scoped, true)
  const prefixes = query.includes('|') ? JSON.stringify([...names.namespaces]) : ''
  const key = `${names.type}${prefixes}${scoped ? ' below ' : ' '}${query}`
  const known = compiledQueries.get(key)
  if (known) return known
  const compiled = compileQuery(query, names, scoped, false)
  if (compiledQueries.size >= COMPILED_MAX) compiledQueries.delete(compiledQueries.keys().next().value!)
  compiledQueries.set(key, compiled)
  return compiled
}

function compileQuery(query: string, names: Names, scoped: boolean, cacheResults: boolean): CompiledQuery {
  const scope = [NESTED]
  const adapter = names.type === 'xml' ? XML_ADAPTER : ADAPTER
  const pseudos = { ...PSEUDOS }
  const options: Options<AnyNode, Element> = { xmlMode: names.type === 'xml', adapter, pseudos, cacheResults }
  const matcher = (selector: ParsedSelector, below: Below) =>
    compile<AnyNode, Element>(selector, options, scoped && below === 'scope' ? scope : undefined)
  const siblings = new SiblingQuestions({ pseudos, compile: matcher, nameOf: adapter.getName })
  try {
    const parts = splitAtCommas(query).map((part): QueryPart => {
      const { selector, take } = splitPseudoElement(part, names)
      return { matches: matcher(siblings.rewrite(parse(selector)), 'scope'), take }
    })
    return { parts, scope, siblings }
  } catch (cause) {
    throw new WebloomError('WL_SELECTOR_INVALID', `css(${JSON.stringify(query)}): ${reasonOf(cause)}`, {
      cause,
    })
  }
}

function reasonOf(error: unknown): string {
  const { message } = error as Error
  // css-what cites what it found, and at the end of the query there is nothing.
  return message.endsWith('found ') ? `${message}the end of the query` : message
}

const ADAPTER: NonNullable<Options<AnyNode, Element>['adapter']> = {
  ...DomUtils,
  isTag,
  getAttributeValue: (element, name) =>
    Object.hasOwn(element.attribs, name) ? element.attribs[name] : undefined,
  getText: textContent,
}

// css-select knows no namespaces, but takes any name: `{http://www.w3.org/2005/Atom}entry`.
const XML_ADAPTER: typeof ADAPTER = { ...ADAPTER, getName: (element) => qualifiedName(elementName(element)) }

function qualifiedName({ uri, local }: ExpandedName): string {
  return uri === '' ? local : `{${uri}}${local}`
}

// Where css-select and parsel differ: white space is content, and states that only a browser knows never hold.
const PSEUDOS: NonNullable<Options<AnyNode, Element>['pseudos']> = {
  empty: ({ children }) => children.every((child) => !isTag(child) && !(isText(child) && child.data !== '')),
  focus: () => false,
  target: () => false,
  // What `*|name` and `prefix|*` become.
  'local-name': (element, name) => elementName(element).local === name,
  'namespace-uri': (element, uri) => elementName(element).uri === decodeURIComponent(uri ?? ''),
}

const PSEUDO_ELEMENT =
  /::(?:text|attr\(\s*(?:"([^"]+)"|'([^']+)'|(-?[_a-z\u0080-\uffff][-\w\u0080-\uffff]*))\s*\))\s*$/i

function splitPseudoElement(part: string, names: Names): { selector: string; take: Take } {
  const match = PSEUDO_ELEMENT.exec(part)
  if (!match) {
    refuseSlips(part)
    return { selector: withoutPrefixes(part, names), take: 'element' }
  }
  const selector = selectorOfPseudoElement(part.slice(0, match.index))
  refuseSlips(selector)
  const name = match[1] ?? match[2] ?? match[3]
  return {
    selector: withoutPrefixes(selector, names),
    take: name === undefined ? 'text' : { attribute: name },
  }
}

/** `p ::text` is the text of p and of all below it, as parsel has it; `::text` alone that of everything. */
function selectorOfPseudoElement(written: string): string {
  const outer = /^(.*\S)\s+\*?$/s.exec(written)?.[1]
  if (outer !== undefined && !/[>+~]$/.test(outer)) return `${outer}, ${outer} *`
  return written.trim() === '' || /[>+~]\s*$/.test(written) ? `${written}*` : written
}

// A name with a prefix; strings and attributes come first, so that what is written in them is passed over.
const PREFIXED =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\[[^\]]*\]|(?<=^|[\s>+~,(])(\*|[\w-]*)\|(\*|(?:[\w-]|\\.)+)/g

/** Writes `prefix|name` so that css-select understands it. */
function withoutPrefixes(selector: string, { type, namespaces }: Names): string {
  return selector.replace(PREFIXED, (written, prefix?: string, name?: string) => {
    if (prefix === undefined || name === undefined) return written
    if (prefix === '') return name // in no namespace, as without the bar
    if (prefix === '*') return type === 'html' || name === '*' ? name : `:local-name(${name})`
    const uri = uriOf(prefix, namespaces)
    return name === '*'
      ? `:namespace-uri(${encodeURIComponent(uri)})`
      : `${escaped(qualifiedName({ uri, local: '' }))}${name}`
  })
}

function escaped(text: string): string {
  return text.replace(/[^\w-]/g, '\\$&')
}
