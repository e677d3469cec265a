/**
 * Answers to simple CSS queries without a tree: `title::text`, `meta[property="og:image"]::attr(content)`.
 *
 * A query is simple when one element alone decides it (a name, attributes, classes; no combinators, no position among
 * others) and when it takes a text or an attribute, which nobody searches further. Reading the page for it takes an eighth of the
 * time that its tree takes: 23 µs to 181 for a title on a page of 7.4 KB, 120 to 1 107 on one of 50 KB (docs/decisions/html-parser.md).
 *
 * The answer is the tree's own: each element that may match is made as the tree would make it, and asked by the same
 * compiled query. Where a page is written so that only a tree can tell (a text with elements in it, markup that browsers
 * repair), there is no answer, and the tree is built.
 */

import { Element, Text } from 'domhandler'
import { decodeHTML } from 'entities'
import { MarkupReader } from '../markup/markup-reader.ts'
import { type Attribute, attributeValue } from '../tree/attribute.ts'
import { withOneLineEnd } from '../tree/parse-document.ts'
import { VOID_ELEMENTS } from '../tree/serialize.ts'
import { cssFind } from './css-query.ts'

/** Returns whether reading the page may answer the query. */
export function isSimpleQuery(query: string): boolean {
  return simpleQuery(query) !== undefined
}

/** Returns what a simple query takes from the page, in order; undefined when only the tree knows. */
export function simpleAnswer(html: string, query: string): string[] | undefined {
  const simple = simpleQuery(query)
  if (!simple || OWN_TREE.test(html)) return undefined
  cssFind(query, new Element(simple.name, {}), 'html', NO_NAMESPACES) // throws for a query that is not valid, on every page
  return new SimpleQueryReader(html, simple).answer()
}

interface SimpleQuery {
  readonly query: string
  /** The element's, in lower case. */
  readonly name: string
  readonly takesText: boolean
}

function simpleQuery(query: string): SimpleQuery | undefined {
  const match = SIMPLE.exec(query)
  if (!match) return undefined
  const name = match[1]!.toLowerCase()
  const takesText = match[2]!.toLowerCase() === 'text'
  return NOT_SIMPLE.has(name) || (takesText && VOID_ELEMENTS.has(name))
    ? undefined
    : { query, name, takesText }
}

// What the tree of htmlparser2 has otherwise than browsers: CDATA in HTML, NUL, pages of frames, `<image>`.
const OWN_TREE = /<!\[CDATA\[|\0|<frameset|<image/i
const SIMPLE = /^\s*([a-z][a-z0-9]*)(?:\[[^[\]]*\]|[.#][a-z_][\w-]*)*::(text|attr\([^()]*\))\s*$/i

// Of these a page has one, however often they are written; the others hold raw text.
const NOT_SIMPLE = new Set(
  'html head body script style textarea xmp iframe noembed noframes plaintext'.split(' '),
)

class SimpleQueryReader extends MarkupReader {
  readonly #simple: SimpleQuery
  readonly #found: string[] = []
  /** The element whose text is read. */
  #open: Element | undefined
  #text = ''
  #isUnclear = false

  constructor(html: string, simple: SimpleQuery) {
    super(html)
    this.#simple = simple
  }

  answer(): string[] | undefined {
    this.read()
    return this.#isUnclear || this.#open || !this.isPlain ? undefined : this.#found
  }

  protected override wantsAttributes(nameStart: number, nameEnd: number): boolean {
    const { name } = this.#simple
    return nameEnd - nameStart === name.length && this.isWord(name, nameStart)
  }

  protected override startTag(nameStart: number, nameEnd: number, foreign: boolean): void {
    const isWanted = this.wantsAttributes(nameStart, nameEnd)
    if (this.#open || (isWanted && foreign)) this.#giveUp()
    else if (isWanted) this.#begin(new Element(this.#simple.name, Object.fromEntries(this.attributes())))
  }

  protected override endTag(nameStart: number, nameEnd: number): void {
    if (!this.#open) return
    if (this.wantsAttributes(nameStart, nameEnd) && !this.#text.includes('<')) this.#end(this.#open)
    else this.#giveUp()
  }

  protected override text(start: number, end: number, raw: boolean): void {
    // Browsers know a script in a comment in a script; that tree does not.
    if (raw && this.html.slice(start, end).includes('<!--')) this.#giveUp()
    else if (this.#open) this.#text += withOneLineEnd(this.html.slice(start, end))
  }

  protected override comment(): void {
    if (this.#open) this.#giveUp()
  }

  #begin(element: Element): void {
    if (this.#simple.takesText) this.#open = element
    else this.#take(element)
  }

  #end(element: Element): void {
    if (this.#text !== '') appendText(element, decodeHTML(this.#text))
    this.#take(element)
    this.#open = undefined
    this.#text = ''
  }

  #giveUp(): void {
    this.#isUnclear = true
    this.stop()
  }

  #take(element: Element): void {
    for (const found of cssFind(this.#simple.query, element, 'html', NO_NAMESPACES)) {
      this.#found.push(found.type === 'text' ? found.data : attributeValue(found as Attribute))
    }
  }
}

const NO_NAMESPACES: ReadonlyMap<string, string> = new Map()

function appendText(element: Element, text: string): void {
  const child = new Text(text)
  child.parent = element
  element.children.push(child)
}
