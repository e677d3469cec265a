/**
 * What a page says to its readers, without what changes on every visit: the text from which a crawl tells whether a page has changed.
 *
 *     whole page        <main>, <article>, role=main          when it has one: only what is inside
 *       minus           nav, header, footer, aside, form controls, script, style, …, and blocks whose class or id says the same
 *       plus            what has no text: prices in itemprop and data-price, descriptions of images, JSON-LD
 *       masked          moments, long tokens, "5 minutes ago", counts of views
 *
 * It reads the page once and builds no tree, as a crawl that recrawls does this with every page. A header inside the content stays: shops
 * put the name and the price there. A date without a time stays, too, as it may be what the page is about; one behind "updated" does not.
 *
 * Not chosen: a readability score. It takes another block for the content when the page changes a little, and then all is new.
 */

import { MarkupReader } from '@webloom/selectors'
import { LeftOutElement } from './left-out-element.ts'
import { masked } from './masked-text.ts'

/** Returns what counts of an HTML page, in document order. */
export function contentText(html: string): string {
  const reader = new ContentReader(html)
  const { content, page } = reader.texts()
  // A page whose content is made by scripts has an empty <main>.
  return masked(content.length >= CONTENT_MIN ? content : page)
}

// Less is a heading, or a place that a script fills.
const CONTENT_MIN = 40

const CONTENT_TAGS = new Set(['main', 'article'])
const SKIPPED_TAGS = new Set([
  'nav',
  'footer',
  'aside',
  'script',
  'style',
  'noscript',
  'template',
  'iframe',
  'svg',
  'select',
  'button',
  'textarea',
  'dialog',
])
const SKIPPED_ROLES = new Set(['navigation', 'banner', 'contentinfo', 'complementary', 'search'])
// Whole words of a class or an id. "menu" is not among them: restaurants have theirs in it.
const SKIPPED_NAMES =
  /(?:^|[\s_-])(?:nav|navbar|navigation|breadcrumbs?|footer|sidebar|cookie|cookies|consent|advert|ads|skip-link)(?:$|[\s_-])/i
const NAMED_BLOCKS = new Set(['div', 'ul', 'ol', 'section', 'table', 'td', 'p'])
/** Elements without an end tag: they open nothing. */
const VOID_TAGS = new Set([
  'img',
  'meta',
  'input',
  'br',
  'hr',
  'link',
  'source',
  'wbr',
  'area',
  'base',
  'col',
  'embed',
  'param',
  'track',
])

class ContentReader extends MarkupReader {
  readonly #page: string[] = []
  readonly #content: string[] = []
  #leftOut: LeftOutElement | undefined
  #contentTag = ''
  #contentDepth = 0
  #isJsonLd = false

  texts(): { readonly content: string; readonly page: string } {
    this.read()
    return { content: joined(this.#content), page: joined(this.#page) }
  }

  protected override wantsAttributes(): boolean {
    return true
  }

  protected override startTag(nameStart: number, nameEnd: number, isForeign: boolean): void {
    const tag = this.word(nameStart, nameEnd)
    this.#isJsonLd = tag === 'script' && this.attribute('type') === 'application/ld+json'
    // Only in SVG and MathML a slash ends an element.
    const opens = !VOID_TAGS.has(tag) && !(isForeign && this.selfClosing)
    if (this.#leftOut && !this.#leftOut.startTag(tag, opens)) return
    this.#leftOut = undefined
    this.#addValues(tag)
    if (!opens) return
    if (this.#isLeftOut(tag)) this.#leftOut = new LeftOutElement(tag)
    else if (this.#contentTag === '') {
      if (CONTENT_TAGS.has(tag) || this.attribute('role') === 'main') {
        this.#contentTag = tag
        this.#contentDepth = 1
      }
    } else if (tag === this.#contentTag) this.#contentDepth++
  }

  protected override endTag(nameStart: number, nameEnd: number): void {
    const tag = this.word(nameStart, nameEnd)
    if (this.#leftOut) {
      const ended = this.#leftOut.endTag(tag)
      if (ended !== 'no') this.#leftOut = undefined
      if (ended !== 'around') return
    }
    if (tag === this.#contentTag && --this.#contentDepth === 0) this.#contentTag = ''
  }

  protected override text(start: number, end: number): void {
    const isJson = this.#isJsonLd
    this.#isJsonLd = false
    if (this.#leftOut && !isJson) return
    this.#add(this.html.slice(start, end))
  }

  #isLeftOut(tag: string): boolean {
    if (SKIPPED_TAGS.has(tag)) return true
    if (tag === 'header') return this.#contentTag === ''
    const role = this.attribute('role')
    if (role !== undefined && SKIPPED_ROLES.has(role)) return true
    if (!NAMED_BLOCKS.has(tag)) return false
    return SKIPPED_NAMES.test(this.attribute('class') ?? '') || SKIPPED_NAMES.test(this.attribute('id') ?? '')
  }

  /** What is said by attributes. */
  #addValues(tag: string): void {
    if (tag === 'img') this.#add(this.attribute('alt') ?? '')
    const price = this.attribute('data-price')
    if (price !== undefined) this.#add(price)
    if (tag === 'meta') {
      const property = this.attribute('itemprop') ?? this.attribute('property') ?? ''
      if (/price|availab/i.test(property)) this.#add(this.attribute('content') ?? '')
    } else if (this.attribute('itemprop') !== undefined) this.#add(this.attribute('content') ?? '')
  }

  #add(text: string): void {
    if (text === '') return
    this.#page.push(text)
    if (this.#contentTag !== '') this.#content.push(text)
  }
}

function joined(texts: readonly string[]): string {
  return texts.join(' ').replaceAll(/\s+/g, ' ').trim()
}
