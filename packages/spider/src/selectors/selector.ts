import { WebloomError } from '@webloom/core'
import { type Document, isTag } from 'domhandler'
import { DomUtils } from 'htmlparser2'
import { cssFind, type Found } from './css-query.ts'
import { extractRegex } from './extract-regex.ts'
import { type HtmlParser, parseDocument, type SelectorType } from './parse-document.ts'
import { SelectorList } from './selector-list.ts'
import { outerMarkup } from './serialize.ts'

export interface SelectorOptions {
  /** How the text is read. Default `html`. */
  type?: SelectorType
  /** Default `htmlparser2`. */
  htmlParser?: HtmlParser
}

export interface RegexOptions {
  /** Default true: entities in what was found are decoded, except `&lt;` and `&amp;`. */
  replaceEntities?: boolean
}

/** A part of a page (the whole document, an element, a text or an attribute) that can be searched and read. */
export class Selector {
  readonly type: SelectorType
  readonly #node: Document | Found

  /** For the framework; authors use `Selector.from(text)` or `response.selector`. */
  constructor(node: Document | Found, type: SelectorType) {
    this.#node = node
    this.type = type
  }

  static from(text: string, { type = 'html', htmlParser = 'htmlparser2' }: SelectorOptions = {}): Selector {
    return new Selector(parseDocument(text, type, htmlParser), type)
  }

  /**
   * What a CSS query finds within this, itself included. `::text` takes the text directly in an element and
   * `::attr(name)` an attribute; both stand at the end. Throws WL_SELECTOR_INVALID when the query is none.
   */
  css(query: string): SelectorList {
    const node = this.#node
    if (node.type === 'text' || node.type === 'attribute') return new SelectorList()
    const list = new SelectorList()
    for (const found of cssFind(query, node, this.type)) list.push(new Selector(found, this.type))
    return list
  }

  /** This as a string: the markup of an element, the text, or the attribute's value. */
  get(): string {
    const node = this.#node
    if (node.type === 'text') return node.data
    if (node.type === 'attribute') return node.element.attribs[node.name] ?? ''
    return outerMarkup(node, this.type)
  }

  /** `get()` in a list, so that a selector can stand where a list may. */
  getall(): string[] {
    return [this.get()]
  }

  /**
   * What the pattern finds in `get()`: the group named `extract` of the first match, else all groups of all matches,
   * else all matches.
   */
  re(pattern: string | RegExp, { replaceEntities = true }: RegexOptions = {}): string[] {
    return extractRegex(pattern, this.get(), replaceEntities)
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
    return isElement(this.#node) ? { ...this.#node.attribs } : {}
  }

  /** The element's name, in lower case in HTML; undefined for anything else. */
  get tag(): string | undefined {
    return isElement(this.#node) ? this.#node.name : undefined
  }

  /** Takes an element or text out of the document; text around it stays. */
  drop(): void {
    const node = this.#node
    if (node.type === 'attribute' || node.type === 'root') {
      throw new WebloomError(
        'WL_SELECTOR_INVALID',
        `drop() takes an element or a text out of a page, not ${
          node.type === 'root' ? 'the page itself' : `the attribute ${node.name}`
        }`,
      )
    }
    DomUtils.removeElement(node)
  }

  toString(): string {
    return `<Selector ${this.get().slice(0, 40)}>`
  }
}

function isElement(node: Document | Found): node is Extract<Found, { attribs: unknown }> {
  return node.type !== 'attribute' && isTag(node)
}
