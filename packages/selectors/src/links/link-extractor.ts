/**
 * Links of a page, by all rules of Scrapy's link extractor:
 *
 *     region of the page → elements → attributes → absolute URL → processValue → safe URL → once each → wanted? →
 *     canonical → once each
 *
 * Without `restrictCss` and `restrictXpaths` the page is read in one pass and no tree is built.
 */

import {
  baseUrlOf,
  canonicalizeUrl,
  checkOptions,
  InvalidUrl,
  NEWEST_URL_RULES,
  type OptionNames,
  ownCopy,
  safeUrlString,
  stripHtmlSpace,
  type UrlRules,
  urlEncodingOf,
  urlJoin,
  valueShown,
  WebloomError,
} from '@webloom/url'
import { type AnyNode, isTag } from 'domhandler'
import { Selector } from '../selector.ts'
import type { FoundLink, LinkPlaces } from './link-collector.ts'
import { LinkFilter, type LinkFilterOptions, listOf, type OneOrMore } from './link-filter.ts'
import type { LinkPage } from './link-page.ts'
import { linksInMarkup } from './link-reader.ts'
import { linksInTree } from './link-walk.ts'

/** A link of a page. */
export interface Link {
  /** Absolute, safe to request. */
  readonly url: string
  /** All text within the element. */
  readonly text: string
  /** Always empty: the fragment is part of `url`. */
  readonly fragment: string
  /** Whether the element's `rel` says so. */
  readonly nofollow: boolean
}

/** Where links are sought, and which are wanted. Each may be left out. */
export interface LinkExtractorOptions extends LinkFilterOptions {
  /** Only within what these XPath queries find. */
  restrictXpaths?: OneOrMore<string>
  /** Only within what these CSS queries find. */
  restrictCss?: OneOrMore<string>
  /** Elements that are links. Default `['a', 'area']`; `'*'`: all. */
  tags?: OneOrMore<string>
  /** Attributes that hold a URL. Default `['href']`; `'*'`: all. */
  attrs?: OneOrMore<string>
  /** Elements that are none, whatever `tags` says. */
  denyTags?: OneOrMore<string>
  /** Attributes that hold none, whatever `attrs` says. */
  denyAttrs?: OneOrMore<string>
  /** True: URLs are made canonical, which may lead to other pages. Default false; the dupefilter needs no such thing. */
  canonicalize?: boolean
  /** False: a URL that is linked several times is given as often. Default true. */
  unique?: boolean
  /** Gets each absolute URL and gives another one, or null for none. */
  processValue?: (url: string) => string | null | undefined
  /** False: white space around a URL belongs to it. Default true. */
  strip?: boolean
}

const OPTIONS = {
  allow: true,
  deny: true,
  allowDomains: true,
  denyDomains: true,
  denyExtensions: true,
  restrictText: true,
  restrictXpaths: true,
  restrictCss: true,
  tags: true,
  attrs: true,
  denyTags: true,
  denyAttrs: true,
  canonicalize: true,
  unique: true,
  processValue: true,
  strip: true,
} as const satisfies OptionNames<LinkExtractorOptions>

/** Finds links in pages. One extractor serves any number of pages; it keeps nothing of them. */
export class LinkExtractor {
  readonly #places: LinkPlaces
  readonly #filter: LinkFilter
  readonly #restrictXpaths: readonly string[]
  readonly #restrictCss: readonly string[]
  readonly #canonicalize: boolean
  readonly #unique: boolean
  readonly #strip: boolean
  /** With `restrictText` another link to the same URL may be the first in a region within a region. */
  readonly #skipsNested: boolean
  readonly #processValue: NonNullable<LinkExtractorOptions['processValue']>

  /** Throws WL_SELECTOR_INVALID for a pattern that is not a regular expression, and WL_USAGE for an option that is not known. */
  constructor(options: LinkExtractorOptions = {}) {
    checkOptions(options, OPTIONS, { of: 'LinkExtractor' })
    this.#places = {
      isTag: nameTest(options.tags ?? ['a', 'area'], options.denyTags),
      isAttribute: nameTest(options.attrs ?? ['href'], options.denyAttrs),
    }
    this.#filter = new LinkFilter(options)
    this.#restrictXpaths = listOf(options.restrictXpaths)
    this.#restrictCss = listOf(options.restrictCss)
    this.#canonicalize = options.canonicalize ?? false
    this.#unique = options.unique ?? true
    this.#strip = options.strip ?? true
    this.#skipsNested = this.#unique && listOf(options.restrictText).length === 0
    this.#processValue = options.processValue ?? ((url) => url)
  }

  /** The wanted links in document order; with several regions, one region after the other. */
  extractLinks(page: LinkPage): Link[] {
    checkPage(page)
    return this.#once(
      this.#regions(page).flatMap((found) => this.#wanted(this.#linksOf(found, page), rulesOf(page))),
    )
  }

  /** Returns whether `allow`, `deny` and the domains let a URL through. */
  matches(url: string): boolean {
    return this.#filter.matches(url)
  }

  /** What is found in each region of the page. */
  #regions(page: LinkPage): FoundLink[][] {
    if (this.#restrictXpaths.length + this.#restrictCss.length > 0) {
      const regions = this.#restricted(treeOf(page))
      return (this.#skipsNested ? withoutNested(regions) : regions).map((region) => this.#within(region))
    }
    if (page.linksInTree) return [this.#within(treeOf(page))]
    const read = (markup: string, max?: number) => linksInMarkup(markup, this.#places, max)
    return [page.firstLinks ? page.firstLinks(read) : read(page.text)]
  }

  #within({ root, type }: Selector): FoundLink[] {
    if (type !== 'html' && type !== 'xml') return []
    return linksInTree(root as AnyNode, type, this.#places)
  }

  #restricted(tree: Selector): Selector[] {
    const regions = [
      ...this.#restrictXpaths.flatMap((query) => [...tree.xpath(query)]),
      ...this.#restrictCss.flatMap((query) => [...tree.css(query)]),
    ]
    const noElement = regions.find(({ tag }) => tag === undefined)
    if (noElement === undefined) return regions
    throw new WebloomError(
      'WL_SELECTOR_INVALID',
      `restrictXpaths and restrictCss must find elements, and one found ${JSON.stringify(noElement.get().slice(0, 100))}`,
    )
  }

  #linksOf(found: readonly FoundLink[], page: LinkPage): Link[] {
    const { url, encoding = 'utf-8' } = page
    const rules = rulesOf(page)
    const baseUrl = page.baseUrl ?? baseUrlOf(page.text, url, encoding, rules)
    const links = found.flatMap(({ value, text, rel }) => {
      const absolute = unlessInvalid(() => urlJoin(baseUrl, this.#strip ? stripHtmlSpace(value) : value))
      const processed = absolute === undefined ? absolute : this.#processValue(absolute)
      if (processed === undefined || processed === null) return []
      const safe = unlessInvalid(() => urlJoin(url, safeInEncoding(processed, encoding, rules)))
      return safe === undefined ? [] : [{ url: safe, text, fragment: '', nofollow: isNofollow(rel) }]
    })
    return this.#once(links)
  }

  #wanted(links: readonly Link[], rules: UrlRules): Link[] {
    const wanted = links.filter(({ url, text }) => this.#filter.wants(url, text)).map(withOwnTexts)
    if (!this.#canonicalize) return wanted
    return this.#once(wanted.map((link) => ({ ...link, url: canonicalizeUrl(link.url, { rules }) })))
  }

  /** The first link to each URL, unless all are asked for. */
  #once(links: readonly Link[]): Link[] {
    if (!this.#unique) return [...links]
    const met = new Set<string>()
    return links.filter(({ url }) => !met.has(url) && met.add(url))
  }
}

/** A program without types may give the text alone, or an answer of `fetch` whose text has not been read. */
function checkPage(page: LinkPage): void {
  const { url } = Object(page) as Partial<LinkPage>
  // A response makes its text when it is asked for it, and then knows its links by itself.
  if (typeof url === 'string' && (page.firstLinks || typeof page.text === 'string')) return
  const got =
    url === undefined ? valueShown(page) : `${valueShown(url)} and ${valueShown(page.text)} as these`
  throw new WebloomError('WL_USAGE', `extractLinks takes a page, { url, text }, both texts, and got ${got}.`)
}

/**
 * Without the regions that lie in an earlier one, whose links are found with it: of 300 KB of nested <div>s each would be read
 * once for each level. (Within <svg> and <math> it matters where the reading begins.)
 */
function withoutNested(regions: readonly Selector[]): Selector[] {
  const read = new Set<AnyNode>()
  const isRead = (node: AnyNode): boolean => {
    for (let up: AnyNode | null = node; up; up = up.parent) {
      if (isTag(up) && /^(?:svg|math)$/i.test(up.name)) return false
      if (read.has(up)) return true
    }
    return false
  }
  return regions.filter(({ root }) => {
    const isNested = isRead(root as AnyNode)
    read.add(root as AnyNode)
    return !isNested
  })
}

function nameTest(
  names: OneOrMore<string>,
  denied: OneOrMore<string> | undefined,
): (name: string) => boolean {
  const allowed = new Set(listOf(names))
  const refused = new Set(listOf(denied))
  return (name) => (allowed.has(name) || allowed.has('*')) && !refused.has(name)
}

function isNofollow(rel: string | undefined): boolean {
  return rel !== undefined && /(?:^|[\s,])nofollow(?:$|[\s,])/i.test(rel)
}

function treeOf({ selector, text }: LinkPage): Selector {
  return selector ?? Selector.from(text)
}

function rulesOf({ urlRules = NEWEST_URL_RULES }: LinkPage): UrlRules {
  return urlRules
}

/** A query with a character that the page's own encoding lacks is better asked for in UTF-8 than lost. */
function safeInEncoding(url: string, encoding: string, rules: UrlRules): string {
  return (
    unlessInvalid(() => safeUrlString(url, { encoding: urlEncodingOf(encoding), rules })) ??
    safeUrlString(url, { rules })
  )
}

function unlessInvalid<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch (error) {
    if (error instanceof InvalidUrl) return undefined
    throw error
  }
}

/** As long as it is kept, the page it was found on need not be. */
function withOwnTexts({ url, text, ...rest }: Link): Link {
  return { url: ownCopy(url), text: ownCopy(text), ...rest }
}
