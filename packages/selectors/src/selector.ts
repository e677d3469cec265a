/** A text that can be searched, and what a search finds in it. Both stand here, as each makes the other. */

import {
  checkOptions,
  checkText,
  type JsonValue,
  type OptionNames,
  valueShown,
  WebloomError,
} from '@webloom/url'
import { type AnyNode, type Document, isTag } from 'domhandler'
import { DomUtils } from 'htmlparser2'
import { cssFind } from './css/css-query.ts'
import { extractRegex } from './extract-regex.ts'
import { jmespathFind, parsedJson } from './jmespath/json-query.ts'
import type { RegexOptions, SelectorOptions, SelectorType, XPathOptions } from './selector-options.ts'
import { type Attribute, attributeValue } from './tree/attribute.ts'
import { type MarkupType, parseDocument } from './tree/parse-document.ts'
import { outerMarkup, scalarText, textContent } from './tree/serialize.ts'
import { removeNamespaces } from './tree/xml-names.ts'
import { type XPathVariable, xpathFind } from './xpath/xpath-query.ts'

/** A part of a text: a node of its tree, or a value that XPath or JMESPath made of it. */
export interface SelectedPart {
  /** The node, the attribute, or the value that a query gave. */
  readonly root: AnyNode | Attribute | JsonValue
  /** How the text was read that it is a part of. */
  readonly type: SelectorType
  /** Registered ones by prefix. All parts of a text share them. */
  readonly namespaces: Map<string, string>
  /** The same part in the page's tree, where it was found without one. */
  readonly inTree?: () => Selector
}

const SHOWN_CHARS_MAX = 80

const REGEX_OPTIONS = { replaceEntities: true } as const satisfies OptionNames<RegexOptions>
const SELECTOR_OPTIONS = { type: true, htmlParser: true } as const satisfies OptionNames<SelectorOptions>

/**
 * A part of a page (the whole document, an element, a text, an attribute or a value) that can be searched and read.
 *
 * `Got` is what `get()` gives: a string, and for JSON whatever the query finds.
 */
export class Selector<Got = string> {
  /** How the text was read. */
  readonly type: SelectorType
  readonly #root: SelectedPart['root']
  readonly #namespaces: Map<string, string>
  readonly #inTree: (() => Selector) | undefined
  #page: Document | undefined

  /** A text to be searched. (The framework also makes selectors of parts.) */
  constructor(source: ({ readonly text: string } & SelectorOptions) | SelectedPart) {
    checkSource(source)
    const { root, type, namespaces, inTree } = 'text' in source ? wholeOf(source.text, source) : source
    this.type = type
    this.#root = root
    this.#namespaces = namespaces
    this.#inTree = inTree
  }

  /** A selector of a text: `Selector.from(html).css('title')`. Throws when an option is misspelt. */
  static from(text: string, options: SelectorOptions = {}): Selector {
    checkOptions(options, SELECTOR_OPTIONS, { of: 'Selector.from' })
    return new Selector({ text, ...options })
  }

  /**
   * Returns what a CSS query finds within this, itself included. `::text` takes the text directly in an element and
   * `::attr(name)` an attribute; both stand at the end. Throws WL_SELECTOR_INVALID when the query is not valid.
   */
  css(query: string): SelectorList {
    checkText(query, 'css()')
    const node = this.#markup('css')
    if (node === undefined || !('children' in node)) return new SelectorList()
    return this.#listOf(cssFind(query, node as Document, this.#markupType, this.#namespaces))
  }

  /**
   * Returns what an XPath 1.0 expression gives here; relative ones begin at this element, at `<html>` for a whole page.
   * `has-class()`, `re:` and `set:` are known, as in parsel. Throws WL_SELECTOR_INVALID when it is not valid.
   *
   *     response.xpath('//a[@title = $title]/@href', { title: "it's" })
   */
  xpath(query: string, { namespaces, ...variables }: XPathOptions = {}): SelectorList {
    checkText(query, 'xpath()')
    const node = this.#markup('xpath')
    if (node === undefined || !('children' in node)) {
      return query.trim() === '.' ? this.#listOf([this.#root]) : new SelectorList()
    }
    const question = {
      query,
      type: this.#markupType,
      namespaces: new Map([...this.#namespaces, ...Object.entries(namespaces ?? {})]),
      variables: variables as Record<string, XPathVariable>,
    }
    const found = xpathFind(question, node)
    return this.#listOf(typeof found === 'object' ? found.filter(({ type }) => type !== 'root') : [found])
  }

  /**
   * Returns what a JMESPath query finds: in JSON, or in a text or element that holds JSON; the elements of a list one by one.
   * Throws WL_SELECTOR_INVALID when the query is not valid.
   */
  jmespath<Found = JsonValue>(query: string): SelectorList<Found> {
    checkText(query, 'jmespath()')
    const list = new SelectorList<Found>()
    for (const root of jmespathFind(query, this.#json())) {
      const type = typeof root === 'string' ? 'text' : 'json'
      list.push(new Selector<Found>({ root, type, namespaces: this.#namespaces }))
    }
    return list
  }

  /** What a console shows: its beginning, as a page may be long. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    const got: unknown = this.#got()
    const text = typeof got === 'string' ? got : JSON.stringify(got)
    const cut = text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text
    return `Selector ${typeof got === 'string' ? JSON.stringify(cut) : cut}`
  }

  /** This as a string: the markup of an element, the text, the attribute's value. Of JSON the value as it is. */
  get(): Got {
    return this.#got() as Got
  }

  /** `get()` in a list, so that a selector can stand where a list may. */
  getall(): Got[] {
    return [this.get()]
  }

  /**
   * Returns what the pattern finds in `get()`: the group named `extract` of the first match, else all groups of all matches,
   * else all matches.
   */
  re(pattern: string | RegExp, options: RegexOptions = {}): string[] {
    checkOptions(options, REGEX_OPTIONS, { of: 're()' })
    const { replaceEntities = true } = options
    const got = this.#got()
    return extractRegex(pattern, typeof got === 'string' ? got : JSON.stringify(got), replaceEntities)
  }

  /** The first thing `re` finds. */
  reFirst(pattern: string | RegExp): string | null
  reFirst(pattern: string | RegExp, fallback: string, options?: RegexOptions): string
  reFirst(pattern: string | RegExp, fallback?: string, options?: RegexOptions): string | null {
    return this.re(pattern, options)[0] ?? fallback ?? null
  }

  /** `reFirst` under parsel's name. */
  re_first(pattern: string | RegExp): string | null
  re_first(pattern: string | RegExp, fallback: string, options?: RegexOptions): string
  re_first(pattern: string | RegExp, fallback?: string, options?: RegexOptions): string | null {
    return this.re(pattern, options)[0] ?? fallback ?? null
  }

  /** The attributes of an element; empty for anything else. A copy. */
  get attrib(): Record<string, string | undefined> {
    const node = this.#node()
    return node && isElement(node) ? { ...node.attribs } : {}
  }

  /** The element's name, in lower case in HTML; undefined for anything else. */
  get tag(): string | undefined {
    const node = this.#node()
    return node && isElement(node) ? node.name : undefined
  }

  /** What this holds: a node of domhandler's tree, an attribute, or a value. */
  get root(): SelectedPart['root'] {
    return this.#inTree?.().root ?? this.#node() ?? this.#root
  }

  /** Takes an element or text out of the document; text around it stays. */
  drop(): void {
    if (this.#inTree) this.#inTree().drop()
    else DomUtils.removeElement(this.#removable())
  }

  #removable(): Exclude<AnyNode, Document> {
    const node = this.#node()
    const isPart = node && node.type !== 'attribute' && node.type !== 'root' && node.parent?.type !== 'root'
    if (isPart && node.parent) return node
    const held =
      node?.type === 'attribute' ? `the attribute ${node.name}` : node ? 'the page itself' : 'a value'
    throw new WebloomError(
      'WL_SELECTOR_INVALID',
      `drop() takes an element or a text out of a page, not ${held}`,
    )
  }

  /** Makes a prefix known to queries on this page. */
  registerNamespace(prefix: string, uri: string): void {
    this.#namespaces.set(prefix, uri)
  }

  /** `registerNamespace` under parsel's name. */
  register_namespace(prefix: string, uri: string): void {
    this.registerNamespace(prefix, uri)
  }

  /** Takes the namespaces off all names in this, so that `//entry` finds what is in one. */
  removeNamespaces(): void {
    const node = this.#node()
    if (this.type === 'xml' && node && isElement(node)) removeNamespaces(node)
  }

  /** `removeNamespaces` under parsel's name. */
  remove_namespaces(): void {
    this.removeNamespaces()
  }

  toString(): string {
    return `<Selector ${String(this.#got()).slice(0, 40)}>`
  }

  /** A page stands for its outermost element, as in parsel. */
  #node(): AnyNode | Attribute | undefined {
    if (this.type === 'json' || typeof this.#root !== 'object') return undefined
    const node = this.#root as AnyNode | Attribute
    return node.type === 'root' ? (node.children.find(isTag) ?? node) : node
  }

  /** The node that CSS and XPath begin at; a text that JMESPath found is read as HTML. */
  #markup(asked: string): AnyNode | Attribute | undefined {
    if (this.type === 'json') {
      throw new WebloomError(
        'WL_SELECTOR_INVALID',
        `${asked}() searches markup, and this is JSON: use jmespath()`,
      )
    }
    if (this.type !== 'text') return this.#node()
    this.#page ??= parseDocument(this.#root as string, 'html', 'htmlparser2')
    return this.#page.children.find(isTag)
  }

  get #markupType(): MarkupType {
    return this.type === 'xml' ? 'xml' : 'html'
  }

  #json(): JsonValue {
    if (this.type === 'json') return this.#root as JsonValue
    const node = this.#node()
    const text = node && node.type !== 'attribute' ? textContent(node) : this.#got()
    return parsedJson(String(text)) ?? null
  }

  #got(): JsonValue {
    if (this.type === 'json' || this.type === 'text') return this.#root as JsonValue
    const node = this.#node()
    if (!node) return scalarText(this.#root as XPathVariable)
    if (node.type === 'text') return node.data
    return node.type === 'attribute' ? attributeValue(node) : outerMarkup(node, this.type)
  }

  #listOf(roots: Iterable<SelectedPart['root']>): SelectorList {
    const list = new SelectorList()
    const namespaces = this.#namespaces
    for (const root of roots) list.push(new Selector({ root, type: this.#markupType, namespaces }))
    return list
  }
}

/** What a query found, in document order: an array of `Selector`, with their methods on top. */
export class SelectorList<Got = string> extends Array<Selector<Got>> {
  // What `map` returns need not be selectors, so derived arrays are plain ones; `filter` and `slice` stay lists.
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }

  /** All that `query` finds below each of these, in one list. */
  css(query: string): SelectorList {
    return listOf(this.flatMap((selector) => selector.css(query)))
  }

  /** All that an XPath expression gives at each of these, in one list; see `Selector.xpath`. */
  xpath(query: string, options?: XPathOptions): SelectorList {
    return listOf(this.flatMap((selector) => selector.xpath(query, options)))
  }

  /** All that a JMESPath query finds in each of these, in one list; see `Selector.jmespath`. */
  jmespath<Found = JsonValue>(query: string): SelectorList<Found> {
    return listOf(this.flatMap((selector) => selector.jmespath<Found>(query)))
  }

  /** The first result as a string: markup of an element, text, or an attribute's value. Null when there is none. */
  get(): Got | null
  /** The first result, or `fallback` when there is none. */
  get<Fallback>(fallback: Fallback): Got | Fallback
  get(fallback: unknown = null): unknown {
    return this.length > 0 ? this[0]!.get() : fallback
  }

  /** Every result as a string. */
  getall(): Got[] {
    return this.map((selector) => selector.get())
  }

  /** Returns what the pattern finds in each of these, in one list; see `Selector.re`. */
  re(pattern: string | RegExp, options?: RegexOptions): string[] {
    return this.flatMap((selector) => selector.re(pattern, options))
  }

  /** The first thing the pattern finds in any of these. */
  reFirst(pattern: string | RegExp): string | null
  reFirst(pattern: string | RegExp, fallback: string, options?: RegexOptions): string
  reFirst(pattern: string | RegExp, fallback?: string, options?: RegexOptions): string | null
  reFirst(pattern: string | RegExp, fallback?: string, options?: RegexOptions): string | null {
    for (const selector of this) {
      const found = selector.re(pattern, options)[0]
      if (found !== undefined) return found
    }
    return fallback ?? null
  }

  /** `reFirst` under parsel's name. */
  re_first(pattern: string | RegExp): string | null
  re_first(pattern: string | RegExp, fallback: string, options?: RegexOptions): string
  re_first(pattern: string | RegExp, fallback?: string, options?: RegexOptions): string | null {
    return this.reFirst(pattern, fallback, options)
  }

  /** The attributes of the first element; empty when there is none. */
  get attrib(): Record<string, string | undefined> {
    return this[0]?.attrib ?? {}
  }

  /** Takes all of these out of the document. */
  drop(): void {
    for (const selector of this) selector.drop()
  }

  /** Filters as an array does; what is kept is a list again. */
  override filter<S extends Selector<Got>>(
    keep: (selector: Selector<Got>, index: number, list: Selector<Got>[]) => selector is S,
  ): S[]
  override filter(
    keep: (selector: Selector<Got>, index: number, list: Selector<Got>[]) => unknown,
  ): SelectorList<Got>
  override filter(
    keep: (selector: Selector<Got>, index: number, list: Selector<Got>[]) => unknown,
  ): SelectorList<Got> {
    return listOf(super.filter(keep))
  }

  /** Slices as an array does; the part is a list again. */
  override slice(start?: number, end?: number): SelectorList<Got> {
    return listOf(super.slice(start, end))
  }
}

/** parsel's `Selector` takes the text itself, or `text=`. */
function checkSource(source: unknown): void {
  if (typeof source === 'object' && source !== null && ('text' in source || 'root' in source)) return
  throw new WebloomError(
    'WL_USAGE',
    `new Selector takes { text }, and got ${valueShown(source)}. Write Selector.from(text).`,
  )
}

function wholeOf(text: string, { type, htmlParser = 'htmlparser2' }: SelectorOptions): SelectedPart {
  checkText(text, 'Selector.from')
  const namespaces = new Map<string, string>()
  if (type === 'text') return { root: text, type, namespaces }
  const json = type === 'json' || (!type && /^\s*[{[]/.test(text)) ? parsedJson(text) : undefined
  if (json !== undefined || type === 'json') return { root: json ?? null, type: 'json', namespaces }
  const markupType = type ?? (/^\s*<\?xml\s/.test(text) ? 'xml' : 'html')
  return { root: parseDocument(text, markupType, htmlParser), type: markupType, namespaces }
}

function isElement(node: AnyNode | Attribute): node is Extract<AnyNode, { attribs: unknown }> {
  return node.type !== 'attribute' && isTag(node)
}

/** `new SelectorList(...selectors)` would overflow the stack at some 100 000 results. */
function listOf<Got>(selectors: Iterable<Selector<Got>>): SelectorList<Got> {
  const list = new SelectorList<Got>()
  for (const selector of selectors) list.push(selector)
  return list
}
