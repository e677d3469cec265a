/**
 * Links of a page, by all rules of Scrapy's link extractor:
 *
 *     region of the page → elements → attributes → absolute URL → processValue → safe URL → once each → wanted? →
 *     canonical → once each
 *
 * Without `restrictCss` and `restrictXpaths` the page is read in one pass and no tree is built.
 */

import {
  canonicalizeUrl,
  checkOptions,
  InvalidUrl,
  type OptionNames,
  ownCopy,
  safeUrlString,
  type UrlRules,
  urlEncodingOf,
  urlJoin,
  urlRulesOf,
  WebloomError,
} from '@webloom/core'
import type { AnyNode } from 'domhandler'
import { stripHtmlSpace } from '../html-space.ts'
import type { Response } from '../response.ts'
import { responseKind } from '../response-kind.ts'
import type { Selector } from '../selectors/selector.ts'
import type { FoundLink, LinkPlaces } from './link-collector.ts'
import { LinkFilter, type LinkFilterOptions, listOf, type OneOrMore } from './link-filter.ts'
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
  readonly #processValue: NonNullable<LinkExtractorOptions['processValue']>

  /** Throws WL_SELECTOR_INVALID for a pattern that is no regular expression, and WL_USAGE for an option that is not known. */
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
    this.#processValue = options.processValue ?? ((url) => url)
  }

  /** The wanted links in document order; with several regions, one region after the other. */
  extractLinks(response: Response): Link[] {
    return this.#once(
      this.#regions(response).flatMap((found) =>
        this.#wanted(this.#linksOf(found, response), rulesOf(response)),
      ),
    )
  }

  /** Whether `allow`, `deny` and the domains let a URL through. */
  matches(url: string): boolean {
    return this.#filter.matches(url)
  }

  /** What is found in each region of the page. */
  #regions(response: Response): FoundLink[][] {
    if (this.#restrictXpaths.length + this.#restrictCss.length > 0) {
      return this.#restricted(response).map((region) => this.#within(region))
    }
    // A tree that is there already may have been changed.
    if (response.domBuilt || responseKind(response) === 'xml') return [this.#within(response.selector)]
    return [response.firstLinks((markup, max) => linksInMarkup(markup, this.#places, max))]
  }

  #within({ root, type }: Selector): FoundLink[] {
    if (type !== 'html' && type !== 'xml') return []
    return linksInTree(root as AnyNode, type, this.#places)
  }

  #restricted(response: Response): Selector[] {
    const regions = [
      ...this.#restrictXpaths.flatMap((query) => [...response.xpath(query)]),
      ...this.#restrictCss.flatMap((query) => [...response.css(query)]),
    ]
    const noElement = regions.find(({ tag }) => tag === undefined)
    if (noElement === undefined) return regions
    throw new WebloomError(
      'WL_SELECTOR_INVALID',
      `restrictXpaths and restrictCss must find elements, and one found ${JSON.stringify(noElement.get().slice(0, 100))}`,
    )
  }

  #linksOf(found: readonly FoundLink[], response: Response): Link[] {
    const { baseUrl, url, encoding } = response
    const rules = rulesOf(response)
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

/** Those of the crawl that the page is of. */
function rulesOf(response: Response): UrlRules {
  return urlRulesOf(response.hasRequest ? response.request : undefined)
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
