/**
 * What a page says to its readers, without what changes on every visit: the text from which a crawl tells whether a page has changed.
 *
 *     whole page        <main>, role=main, <article>          when it has one: only what is inside; articles only if no <h1> stands beside them
 *       minus           nav, header, footer, aside, form controls, script, style, …, and blocks whose class or id says the same
 *       plus            what has no text: prices in itemprop and data-…price, descriptions of images, JSON-LD
 *       plus            amounts of money in all of these but navigation and advertisements, and prices in <head> (`BlockAmounts`, `offeredPrices`)
 *       masked          moments, long tokens, "5 minutes ago", counts of views
 *
 * It reads the page once and builds no tree, as a crawl that recrawls does this with every page. A header inside the content stays: shops
 * put the name and the price there. A date without a time stays, too, as it may be what the page is about; one behind "updated" does not.
 *
 * Not chosen: a readability score. It takes another block for the content when the page changes a little, and then all is new.
 */

import { MarkupReader } from '@webloom/selectors'
import { BlockAmounts } from './block-amounts.ts'
import { LeftOutElement } from './left-out-element.ts'
import { masked } from './masked-text.ts'
import { offeredPrices } from './offered-prices.ts'

/** Returns what counts of an HTML page, in document order. */
export function contentText(html: string): string {
  const reader = new ContentReader(html)
  const { content, beside, page } = reader.texts()
  // A page whose content is made by scripts has an empty <main>.
  return masked(content.length >= CONTENT_MIN ? `${content} ${beside}` : page)
}

// Less is a heading, or a place that a script fills.
const CONTENT_MIN = 40

const JSON_LD = /^\s*application\/ld\+json\s*(?:;|$)/i
/** Attributes such as `data-product-price`. */
const PRICE_ATTRIBUTE = /\sdata-[a-z\d-]{0,32}price[a-z\d-]{0,32}(?=\s?=)/gi
const PRICE_ATTRIBUTES_MAX = 8
/** Left out with the money in them. */
const WITHOUT_MONEY_TAGS = new Set([
  'nav',
  'script',
  'style',
  'noscript',
  'template',
  'iframe',
  'svg',
  'textarea',
])
const WITHOUT_MONEY_ROLES = new Set(['navigation', 'search'])
/** Left out but for the money in them. */
const SKIPPED_TAGS = new Set([...WITHOUT_MONEY_TAGS, 'footer', 'aside', 'select', 'button', 'dialog'])
const SKIPPED_ROLES = new Set([...WITHOUT_MONEY_ROLES, 'banner', 'contentinfo', 'complementary'])
// Whole words of a class or an id. "menu" is not among them: restaurants have theirs in it.
const SKIPPED_NAMES =
  /(?:^|[\s_-])(?:nav|navbar|navigation|breadcrumbs?|footer|sidebar|cookie|cookies|consent|advert|ads|skip-link)(?:$|[\s_-])/i
const WITHOUT_MONEY_NAMES =
  /(?:^|[\s_-])(?:nav|navbar|navigation|breadcrumbs?|cookie|cookies|consent|advert|ads|skip-link|related|similar|recommended|recommendations?|upsells?|cross-sells?|recently-viewed)(?:$|[\s_-])/i
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
  #mainLength = 0
  /** Prices that stand outside of the content. */
  readonly #beside: string[] = []
  /** Of the block that is left out, or stands outside of the content. */
  readonly #amounts = new BlockAmounts()
  readonly #priceAttributes: readonly string[]
  #leftOut: LeftOutElement | undefined
  /** The same element, or one inside, of which no price counts either. */
  #withoutMoney: LeftOutElement | undefined
  #contentTag = ''
  #isMain = false
  #contentDepth = 0
  #isJsonLd = false
  /** Where headings of the first level stand. */
  readonly #headings = { inContent: false, beside: false }

  constructor(html: string) {
    super(html)
    const names = new Set(Array.from(html.matchAll(PRICE_ATTRIBUTE), ([name]) => name.trim().toLowerCase()))
    this.#priceAttributes = [...names].slice(0, PRICE_ATTRIBUTES_MAX)
  }

  texts(): { readonly content: string; readonly beside: string; readonly page: string } {
    this.read()
    this.#endBlock()
    const { inContent, beside } = this.#headings
    // A page whose heading stands beside its articles is about something else, and these are teasers.
    const hasTeasers = beside && !inContent && this.#mainLength < CONTENT_MIN
    return {
      content: hasTeasers ? '' : joined(this.#content),
      beside: joined(this.#beside),
      page: joined(this.#page),
    }
  }

  protected override wantsAttributes(): boolean {
    return true
  }

  protected override startTag(nameStart: number, nameEnd: number, isForeign: boolean): void {
    const tag = this.word(nameStart, nameEnd)
    this.#isJsonLd = tag === 'script' && JSON_LD.test(this.attribute('type') ?? '')
    // Only in SVG and MathML a slash ends an element.
    const opens = !VOID_TAGS.has(tag) && !(isForeign && this.selfClosing)
    if (this.#leftOut && !this.#leftOut.startTag(tag, opens)) {
      this.#startInside(tag, opens)
      return
    }
    this.#endLeftOut()
    this.#addValues(tag)
    if (!opens) return
    if (tag === 'h1') this.#headings[this.#contentTag === '' ? 'beside' : 'inContent'] = true
    if (this.#isLeftOut(tag)) this.#leaveOut(tag)
    else if (this.#contentTag === '') {
      const isMain = tag === 'main' || this.attribute('role') === 'main'
      if (isMain || tag === 'article') {
        this.#endBlock()
        this.#isMain = isMain
        this.#contentTag = tag
        this.#contentDepth = 1
      }
    } else if (tag === this.#contentTag) this.#contentDepth++
  }

  #startInside(tag: string, opens: boolean): void {
    if (this.#withoutMoney && !this.#withoutMoney.startTag(tag, opens)) return
    this.#withoutMoney = opens && this.#isWithoutMoney(tag) ? new LeftOutElement(tag) : undefined
    this.#addAmountsOf(tag)
  }

  protected override endTag(nameStart: number, nameEnd: number): void {
    const tag = this.word(nameStart, nameEnd)
    if (this.#leftOut) {
      if (this.#withoutMoney && this.#withoutMoney.endTag(tag) !== 'no') this.#withoutMoney = undefined
      const ended = this.#leftOut.endTag(tag)
      if (ended !== 'no') this.#endLeftOut()
      if (ended !== 'around') return
    }
    if (tag === this.#contentTag && --this.#contentDepth === 0) this.#contentTag = ''
  }

  protected override text(start: number, end: number, isRaw: boolean): void {
    const text = this.html.slice(start, end)
    if (this.#isJsonLd) {
      this.#isJsonLd = false
      this.#add(text)
      if (this.#contentTag === '') for (const price of offeredPrices(text)) this.#beside.push(price)
    } else if (!this.#leftOut) {
      this.#add(text)
      if (this.#contentTag === '') this.#amounts.text(text)
    } else if (!isRaw && !this.#withoutMoney) this.#amounts.text(text)
  }

  #isLeftOut(tag: string): boolean {
    if (SKIPPED_TAGS.has(tag)) return true
    if (tag === 'header') return this.#contentTag === ''
    const role = this.attribute('role')
    if (role !== undefined && SKIPPED_ROLES.has(role)) return true
    return NAMED_BLOCKS.has(tag) && this.#isNamed(SKIPPED_NAMES)
  }

  #isNamed(names: RegExp): boolean {
    return names.test(this.attribute('class') ?? '') || names.test(this.attribute('id') ?? '')
  }

  #leaveOut(tag: string): void {
    this.#endBlock()
    this.#leftOut = new LeftOutElement(tag)
    if (this.#isWithoutMoney(tag)) this.#withoutMoney = new LeftOutElement(tag)
  }

  #isWithoutMoney(tag: string): boolean {
    return (
      WITHOUT_MONEY_TAGS.has(tag) ||
      WITHOUT_MONEY_ROLES.has(this.attribute('role') ?? '') ||
      this.#isNamed(WITHOUT_MONEY_NAMES)
    )
  }

  #endLeftOut(): void {
    if (!this.#leftOut) return
    for (const amount of this.#amounts.taken()) {
      this.#add(amount)
      if (this.#contentTag === '') this.#beside.push(amount)
    }
    this.#leftOut = undefined
    this.#withoutMoney = undefined
  }

  /** Ends what stands outside of the content up to here: as a part of the page it has been added word by word. */
  #endBlock(): void {
    if (this.#leftOut) this.#endLeftOut()
    else for (const amount of this.#amounts.taken()) this.#beside.push(amount)
  }

  /** What is said by attributes. */
  #addValues(tag: string): void {
    if (tag === 'img') this.#add(this.attribute('alt') ?? '')
    const isBeside = this.#contentTag === ''
    for (const value of this.#prices()) this.#add(value)
    if (tag === 'meta') {
      const said = this.#saidOfPrice()
      this.#add(said)
      if (isBeside) this.#beside.push(said)
      return
    }
    if (isBeside) this.#addAmountsOf(tag)
    if (this.attribute('itemprop') !== undefined) this.#add(this.attribute('content') ?? '')
  }

  /** What says something of money, of a block whose words do not count. */
  #addAmountsOf(tag: string): void {
    if (this.#withoutMoney) return
    if (tag === 'a') this.#amounts.link()
    for (const value of this.#prices()) this.#amounts.value(value)
    const said = this.#saidOfPrice()
    if (said !== '') this.#amounts.value(said)
  }

  /** Of an element with `itemprop`, or `<meta property=…>`. */
  #saidOfPrice(): string {
    const property = this.attribute('itemprop') ?? this.attribute('property') ?? ''
    return /price|availab/i.test(property) ? (this.attribute('content') ?? '') : ''
  }

  #prices(): string[] {
    return this.#priceAttributes.flatMap((name) => this.attribute(name) ?? [])
  }

  #add(text: string): void {
    if (text === '') return
    this.#page.push(text)
    if (this.#contentTag === '') return
    this.#content.push(text)
    if (this.#isMain) this.#mainLength += text.trim().length
  }
}

function joined(texts: readonly string[]): string {
  return texts.join(' ').replaceAll(/\s+/g, ' ').trim()
}
