import { createRequire } from 'node:module'
import {
  baseUrlOf,
  Response as CoreResponse,
  type ResponseInit as CoreResponseInit,
  InvalidUrl,
  type JsonValue,
  ownCopy,
  putUnderRules,
  Request,
  type RequestInit,
  type RequestParts,
  type UrlMemory,
  type UrlRules,
  urlEncodingOf,
  urlJoin,
  urlRulesOf,
  WebloomError,
} from '@webloom/core'
import {
  type HtmlParser,
  isSimpleQuery,
  type LinkElements,
  type LinkPage,
  type MarkupType,
  parseDocument,
  Selector,
  SelectorList,
  simpleAnswer,
  streamHrefs,
  type XPathOptions,
} from '@webloom/selectors'
import { stripHtmlSpace } from '@webloom/url'
import type { CheerioAPI } from 'cheerio'
import type { Document } from 'domhandler'
import { checkedTargets, type FollowTarget, followInit, hrefsOfTargets, urlOf } from './follow-targets.ts'
import { isJson, isXml } from './markup-type.ts'
import { NO_BOUNDS, type PageBounds } from './page-bounds.ts'
import { responseKind } from './response-kind.ts'
import { type PreviousVisit, visitOf } from './response-visit.ts'

/** A response's parts without its URL. Each may be left out. */
export interface ResponseInit extends CoreResponseInit {
  /** The parser of HTML pages. Default `htmlparser2`; HTML_PARSER sets it for a whole crawl. */
  htmlParser?: HtmlParser
  /** How much of the page is read. Default: all of it. */
  bounds?: PageBounds
  /** What the crawl knows of URLs met before. Default: nothing. */
  urls?: UrlMemory
  /** What DOWNLOAD_HANDLERS fetches beside http, https, file and ftp. Default: nothing. */
  schemes?: ReadonlySet<string>
}

/** What a crawl gives to each response. */
export type CrawlsResponse = Required<Pick<ResponseInit, 'htmlParser' | 'bounds' | 'urls' | 'schemes'>>

const SCRAPY_NAMES = { follow_all: 'followAll', cb_kwargs: 'cbKwargs', ip_address: 'ipAddress' }

/**
 * The page that a callback gets, with methods to search it and to make requests for its links.
 *
 * The tree is built when it is first needed, and only once. Links alone (`linkUrls`, `followAll()`, `followAll('a')`) never
 * build it. Simple queries (`title::text`) build it only on pages that cannot be understood without a tree.
 */
export class Response extends CoreResponse implements LinkPage {
  #htmlParser: HtmlParser | undefined
  #bounds: PageBounds | undefined
  #urls: UrlMemory | undefined
  #schemes: ReadonlySet<string> | undefined
  #document: Document | undefined
  #selector: Selector | undefined
  #cheerio: CheerioAPI | undefined
  #baseUrl: string | undefined
  #markupType: MarkupType | undefined
  /** How many queries were answered without a tree. */
  #readings = 0

  // Without these `response.cb_kwargs` is undefined without a word, and `follow_all()` a TypeError that names nothing.
  static {
    for (const [written, meant] of Object.entries(SCRAPY_NAMES))
      Object.defineProperty(Response.prototype, written, {
        get() {
          throw new WebloomError('WL_USAGE', `a response has no ${written}; here it is called ${meant}`)
        },
      })
  }

  constructor(url: string, init: ResponseInit = {}) {
    super(url, init)
    this.#htmlParser = init.htmlParser
    this.#bounds = init.bounds
    this.#urls = init.urls
    this.#schemes = init.schemes
  }

  /**
   * @internal Gives a response what the crawl gives to those that it makes, as far as it has none of its own. Called before a
   * callback gets it, as somebody's handler or middleware may have made it by hand.
   */
  static attach(response: Response, crawls: CrawlsResponse): void {
    // One of core's own class has no selectors.
    if (!(#bounds in response)) return
    response.#htmlParser ??= crawls.htmlParser
    response.#bounds ??= crawls.bounds
    response.#urls ??= crawls.urls
    response.#schemes ??= crawls.schemes
  }

  /**
   * With RECRAWL: false when the page says the same as at the visit before. True for a page that is visited for the first time, that was seen
   * by another version of the callback, and in a crawl without RECRAWL.
   */
  get changed(): boolean {
    return visitOf(this)?.changed ?? true
  }

  /** With RECRAWL: the visit before; undefined for a page that is visited for the first time. */
  get previousVisit(): PreviousVisit | undefined {
    return visitOf(this)?.previous
  }

  /** Returns what a CSS query finds; see `Selector.css`. */
  css(query: string): SelectorList {
    return this.#cssWithoutTree(query) ?? this.selector.css(query)
  }

  /** Returns what an XPath expression gives; see `Selector.xpath`. */
  xpath(query: string, options?: XPathOptions): SelectorList {
    return this.selector.xpath(query, options)
  }

  /** Returns what a JMESPath query finds in a JSON body; see `Selector.jmespath`. */
  jmespath<Found = JsonValue>(query: string): SelectorList<Found> {
    return this.selector.jmespath<Found>(query)
  }

  /** The whole page as a selector. */
  get selector(): Selector {
    this.#selector ??= isJson(this) ? Selector.from(this.text, { type: 'json' }) : this.#treeSelector()
    return this.#selector
  }

  /** Cheerio over the same tree: each sees the changes of the other. */
  get $(): CheerioAPI {
    this.#cheerio ??= loadCheerio(this.#tree(), this.#type())
    return this.#cheerio
  }

  /** True when the tree was built. For tests and profiles. */
  get domBuilt(): boolean {
    return this.#document !== undefined
  }

  /** The URL from which relative links start: `<base href>` in the first 4 096 characters, else the page's URL. */
  get baseUrl(): string {
    this.#baseUrl ??= baseUrlOf(this.text, this.url, this.encoding, this.urlRules)
    return this.#baseUrl
  }

  /** Returns `url` made absolute against `baseUrl`. */
  override urljoin(url: string): string {
    return urlJoin(this.baseUrl, url)
  }

  /**
   * The absolute URLs of `<a href>` and `<area href>` in document order, each as often as it is linked. Only http,
   * https, file, ftp, the page's own scheme and those of DOWNLOAD_HANDLERS: `mailto:` and `javascript:` lead to no page.
   */
  linkUrls(): string[] {
    return this.#requestable(this.#hrefs('a, area')).map(ownCopy)
  }

  /** For link extractors: true where links are searched in the tree, which may have been changed, and not in the markup. */
  get linksInTree(): boolean {
    return this.domBuilt || responseKind(this) === 'xml'
  }

  /** For link extractors: the crawl's rules for safe URLs. */
  get urlRules(): UrlRules {
    return urlRulesOf(this.hasRequest ? this.request : undefined)
  }

  /** For link extractors: returns what `read` finds in the page's markup, within the page's bound. */
  firstLinks<Found>(read: (markup: string, max: number) => Found[]): Found[] {
    const { linksMax, onExceeded } = this.#bounds ?? NO_BOUNDS
    const links = read(this.#markup, linksMax + 1)
    if (links.length <= linksMax) return links
    onExceeded('page_links', this.url)
    return links.slice(0, linksMax)
  }

  /**
   * Returns a request for what `target` leads to. `parts` is as for `new Request`, or the callback alone. Throws
   * WL_SELECTOR_INVALID for an element without href, and WL_URL_INVALID for a URL that cannot be requested.
   */
  follow(target: FollowTarget, ...parts: [parts?: RequestParts]): Request {
    const init = followInit(parts, 'follow()')
    // As in Scrapy, an author's URL is joined as it is, a page's URL without the space around it.
    const url = typeof target === 'string' ? target : stripHtmlSpace(urlOf(target))
    return this.#requestFor(this.urljoin(url), init)
  }

  /**
   * Returns requests for all that `target` leads to: a CSS query, a list, or every `<a>` and `<area>` of the page. `parts`
   * is as for `new Request`, or the callback alone.
   *
   * What leads nowhere is left out silently, as in Scrapy: elements without href, `mailto:` and other schemes than
   * http, https, file, ftp, the page's own and those of DOWNLOAD_HANDLERS, URLs that are broken. `parts` as for `new Request`, or the callback alone.
   */
  followAll(target?: string | Iterable<FollowTarget>, ...parts: [parts?: RequestParts]): Request[] {
    const init = followInit(parts, 'followAll()')
    const memory = this.#memoryFor(init)
    const requestFor = memory?.requestsFrom(this.baseUrl, this.urlRules)
    const isList = typeof target === 'object'
    const requests: Request[] = []
    for (const href of this.#hrefsOf(target)) {
      // As in follow(), a URL in an author's list is joined as it is.
      const link = isList ? href : stripHtmlSpace(href)
      try {
        const known = requestFor?.(link, init)
        const url = known ? undefined : this.urljoin(link)
        if (known) requests.push(known)
        else if (url !== undefined && this.#isRequestable(url))
          requests.push(this.#requestFor(url, init, memory))
      } catch (error) {
        if (!isUrlInvalid(error)) throw error
      }
    }
    return requests
  }

  protected override parts(): ResponseInit {
    return {
      ...super.parts(),
      ...(this.#htmlParser && { htmlParser: this.#htmlParser }),
      ...(this.#bounds && { bounds: this.#bounds }),
      ...(this.#urls && { urls: this.#urls }),
      ...(this.#schemes && { schemes: this.#schemes }),
    }
  }

  #hrefsOf(target: string | Iterable<FollowTarget> | undefined): Iterable<string> {
    if (target === undefined) return this.#hrefs('a, area')
    if (typeof target !== 'string') return hrefsOfTargets(checkedTargets(target))
    return ALL_LINKS.test(target) ? this.#hrefs('a') : hrefsOfTargets(this.css(target))
  }

  #hrefs(elements: LinkElements): Iterable<string> {
    // A tree that exists is quicker to read, and `$` may have changed it.
    if (this.domBuilt || this.#type() === 'xml') return hrefsOfTargets(this.css(elements))
    return this.#firstLinks(elements)
  }

  /** Returns the crawl's memory of URLs, where such requests may be known. In another encoding the same link is another URL. */
  #memoryFor(init: RequestInit): UrlMemory | undefined {
    return mayBeKnown(init) && urlEncodingOf(this.encoding) === 'utf-8' ? this.#urls : undefined
  }

  #requestFor(url: string, init: RequestInit, memory = this.#memoryFor(init)): Request {
    if (memory) return memory.requestFor(url, init, this.urlRules)
    const request = requestIn(urlEncodingOf(this.encoding), url, init)
    putUnderRules(request, this.urlRules)
    return request
  }

  #firstLinks(elements: LinkElements): string[] {
    return this.firstLinks((markup, max) => streamHrefs(markup, elements, max))
  }

  /** Whether a link leads to a page: by its own scheme, too, a page of a handler of somebody's own may go on. */
  #isRequestable(url: string): boolean {
    if (REQUESTABLE.test(url)) return true
    const scheme = SCHEME_OF_A_PLACE.exec(url)?.[0].toLowerCase()
    if (scheme === undefined) return false
    return this.#schemes?.has(scheme.slice(0, -3)) === true || this.url.startsWith(scheme)
  }

  #requestable(hrefs: Iterable<string>): string[] {
    const urls: string[] = []
    for (const href of hrefs) {
      try {
        const url = this.urljoin(stripHtmlSpace(href))
        if (this.#isRequestable(url)) urls.push(url)
      } catch (error) {
        if (!isUrlInvalid(error)) throw error
      }
    }
    return urls
  }

  /** Returns texts and attributes that can be read from the markup, as long as that is quicker than building the tree. */
  #cssWithoutTree(query: string): SelectorList | undefined {
    if (this.domBuilt || this.#readings >= READINGS_MAX || !isSimpleQuery(query)) return undefined
    const isPlainHtml = this.#parser === 'htmlparser2' && this.#type() === 'html' && !isJson(this)
    // A text has more characters than its tree has nodes. Beyond the bound only the tree tells where it ends.
    const isWithinBounds = this.#markup.length <= (this.#bounds ?? NO_BOUNDS).nodesMax
    const values = isPlainHtml && isWithinBounds ? simpleAnswer(this.#markup, query) : undefined
    this.#readings = values ? this.#readings + 1 : READINGS_MAX
    return values && this.#listOfValues(values, query)
  }

  #listOfValues(values: readonly string[], query: string): SelectorList {
    const list = new SelectorList()
    const namespaces = new Map<string, string>()
    for (const [i, root] of values.entries()) {
      const inTree = () => this.selector.css(query)[i]!
      list.push(new Selector({ root, type: 'html', namespaces, inTree }))
    }
    return list
  }

  #treeSelector(): Selector {
    return new Selector({ root: this.#tree(), type: this.#type(), namespaces: new Map() })
  }

  #tree(): Document {
    const { nodesMax, onExceeded } = this.#bounds ?? NO_BOUNDS
    this.#document ??= parseDocument(this.#markup, this.#type(), this.#parser, {
      nodesMax,
      onExceeded: () => onExceeded('page_nodes', this.url),
    })
    return this.#document
  }

  get #parser(): HtmlParser {
    return this.#htmlParser ?? 'htmlparser2'
  }

  /** Absent for a picture or program that came as a page. */
  get #markup(): string {
    return this.flags.includes('binary') ? '' : this.text
  }

  #type(): MarkupType {
    this.#markupType ??= isXml(this) ? 'xml' : 'html'
    return this.#markupType
  }
}

// So many readings cost about half of what a tree does; with more queries a tree is cheaper.
const READINGS_MAX = 4

const REQUESTABLE = /^(?:https?|file|ftp):/i
const SCHEME_OF_A_PLACE = /^[a-z][a-z0-9+.-]*:\/\//i
// Queries for every <a> that has a href; they are answered without a tree.
const ALL_LINKS = /^\s*a(?:\[href\])?(?:::attr\(\s*["']?href["']?\s*\))?\s*$/i

function isUrlInvalid(error: unknown): boolean {
  return error instanceof WebloomError && error.code === 'WL_URL_INVALID'
}

/** Returns whether a request's URL is its link as written, made safe. */
function mayBeKnown({ encoding = 'utf-8', meta }: RequestInit): boolean {
  return encoding === 'utf-8' && meta?.verbatim_url !== true
}

/** Makes a request for a link of a page in this encoding. */
function requestIn(encoding: string, url: string, init: RequestInit): Request {
  if (encoding === 'utf-8') return new Request(url, init)
  try {
    return new Request(url, { encoding, ...init })
  } catch (error) {
    // The query has a character that the page's encoding lacks: better requested in UTF-8 than lost.
    if (!(error instanceof InvalidUrl)) throw error
    return new Request(url, init)
  }
}

// Cheerio is loaded when first used (70 ms), without its parse5 (200 ms more): the tree is built here.
function loadCheerio(document: Document, type: MarkupType): CheerioAPI {
  const { load } = createRequire(import.meta.url)('cheerio/slim') as typeof import('cheerio/slim')
  // Cheerio's types are those of domhandler 5, whose nodes differ only in a declared enum.
  const root = document as unknown as Exclude<Parameters<typeof load>[0], string | Buffer>
  // `$.html()` must write é, not &#xe9;.
  return load(root, { xml: { xmlMode: type === 'xml', encodeEntities: 'utf8' } })
}
