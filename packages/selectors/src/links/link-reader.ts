import { decodeHTML } from 'entities'
import { MarkupReader } from '../markup/markup-reader.ts'
import { VOID_ELEMENTS } from '../tree/serialize.ts'
import { type FoundLink, LinkCollector, type LinkPlaces } from './link-collector.ts'

/** Returns the links of an HTML page, without a tree, in document order; reading ends when there are `max`. */
export function linksInMarkup(html: string, places: LinkPlaces, max = Number.POSITIVE_INFINITY): FoundLink[] {
  return new LinkReader(html, places, max).links()
}

/** What is in SVG is not an HTML element, and so no link. */
class LinkReader extends MarkupReader {
  readonly #isTag: LinkPlaces['isTag']
  readonly #collector: LinkCollector
  readonly #max: number
  /** Of the start tag that is read. */
  #name = ''
  #isTagWanted = false

  constructor(html: string, places: LinkPlaces, max: number) {
    super(html)
    this.#isTag = places.isTag
    this.#collector = new LinkCollector(places)
    this.#max = max
  }

  links(): FoundLink[] {
    this.read()
    return this.#collector.links()
  }

  protected override wantsAttributes(nameStart: number, nameEnd: number): boolean {
    this.#name = this.word(nameStart, nameEnd)
    this.#isTagWanted = this.#isTag(this.#name)
    return this.#isTagWanted
  }

  protected override startTag(_nameStart: number, _nameEnd: number, foreign: boolean): void {
    const attributes = this.#isTagWanted && !foreign ? this.attributes() : undefined
    const isEmpty = foreign ? this.selfClosing : VOID_ELEMENTS.has(this.#name)
    this.#collector.start(this.#name, attributes, isEmpty)
    if (this.#collector.count >= this.#max) this.stop()
  }

  protected override endTag(nameStart: number, nameEnd: number): void {
    this.#collector.end(this.word(nameStart, nameEnd))
  }

  protected override text(start: number, end: number, raw: boolean): void {
    if (!this.#collector.wantsText) return
    const text = this.html.slice(start, end)
    this.#collector.text(raw || !text.includes('&') ? text : decodeHTML(text))
  }
}
