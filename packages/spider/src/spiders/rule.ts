import {
  type Callback,
  checkOptions,
  type JsonObject,
  type OptionNames,
  type Request,
  WebloomError,
} from '@webloom/core'
import { type Link, LinkExtractor } from '@webloom/selectors'
import type { Response } from '../responses/response.ts'
import { methodNamed } from '../scraping/callbacks.ts'
import type { Spider } from '../spider.ts'

/** Whatever finds links in a page; `LinkExtractor` is one. */
export interface LinkSource {
  /** The links of a page, in its order; a request is made of each. */
  extractLinks(response: Response): Iterable<Link>
}

/** What is done with the links of a rule. Methods are given themselves (`this.parseItem`) or by their names. */
export interface RuleInit {
  /** Who gets the pages that the links lead to. Without one they are followed and nothing else. */
  callback?: Callback | null
  /** Given to the callback as its second argument. */
  cbKwargs?: JsonObject
  /** Whether the rules are applied to those pages, too. Default: only when there is no callback. */
  follow?: boolean
  /** Gets the links of a page and gives those that are wanted. */
  processLinks?: string | ((links: Link[]) => Iterable<Link>)
  /** Gets each request with the page it was found on, and gives it, another one, or null for none. */
  processRequest?: string | ((request: Request, response: Response) => Request | null | undefined)
  /** Who is told when there is no response. */
  errback?: Callback | null
}

const OPTIONS = {
  linkExtractor: true,
  callback: true,
  cbKwargs: true,
  follow: true,
  processLinks: true,
  processRequest: true,
  errback: true,
} as const satisfies OptionNames<RuleInit & { linkExtractor?: LinkSource }>

/** Which links of a page a `CrawlSpider` follows, and who gets what they lead to. */
export class Rule {
  /** Finds the links that this rule is about. */
  readonly linkExtractor: LinkSource
  /** Who gets the pages that the links lead to; null: they are followed and nothing else. */
  readonly callback: Callback | null
  /** Given to the callback as its second argument. */
  readonly cbKwargs: JsonObject
  /** Whether the rules are applied to those pages, too. */
  readonly follow: boolean
  /** Who is told when there is no response; null: nobody. */
  readonly errback: Callback | null
  readonly #init: RuleInit

  /** `new Rule(linkExtractor, { callback })`; without a link extractor it takes all links. */
  constructor(linkExtractor?: LinkSource, init?: RuleInit)
  /** `new Rule({ linkExtractor, callback })`. */
  constructor(init: RuleInit & { linkExtractor?: LinkSource })
  constructor(first: LinkSource | (RuleInit & { linkExtractor?: LinkSource }) = {}, second: RuleInit = {}) {
    checkOptions(second, OPTIONS, { of: 'Rule' })
    if (!('extractLinks' in first)) checkOptions(first, OPTIONS, { of: 'Rule' })
    const { linkExtractor, ...init } =
      'extractLinks' in first ? { linkExtractor: first, ...second } : { ...first, ...second }
    for (const method of METHODS)
      if (method in init && init[method] === undefined) throw undefinedMethod(method)
    this.linkExtractor = linkExtractor ?? new LinkExtractor()
    this.callback = init.callback ?? null
    this.cbKwargs = init.cbKwargs ?? {}
    this.follow = init.follow ?? this.callback === null
    this.errback = init.errback ?? null
    this.#init = init
  }

  /** What `processLinks` leaves of the links, in its order. */
  wantedLinks(links: Link[], spider: Spider): Iterable<Link> {
    const process = methodOf(spider, this.#init.processLinks)
    return process ? (process.call(spider, links) as Iterable<Link>) : links
  }

  /** What `processRequest` makes of a request. */
  wantedRequest(request: Request, response: Response, spider: Spider): Request | null | undefined {
    const process = methodOf(spider, this.#init.processRequest)
    return process ? (process.call(spider, request, response) as Request | null | undefined) : request
  }

  /** Throws WL_CALLBACK_UNKNOWN when the spider lacks a method that the rule names. */
  check(spider: Spider): void {
    const { processLinks, processRequest } = this.#init
    for (const named of [this.callback, this.errback, processLinks, processRequest]) methodOf(spider, named)
  }
}

const METHODS = ['callback', 'errback', 'processLinks', 'processRequest'] as const

function undefinedMethod(name: (typeof METHODS)[number]): WebloomError {
  return new WebloomError(
    'WL_USAGE',
    `${name} of Rule is undefined: is the method's name misspelt? Write ${name}: this.parseItem, or leave it out`,
  )
}

/** A method given by its name, or itself. */
export function methodOf(
  spider: Spider,
  method: Callback | null | undefined,
): ((...args: unknown[]) => unknown) | undefined {
  if (typeof method === 'string') return methodNamed(spider, method, 'callback')
  return (method ?? undefined) as ((...args: unknown[]) => unknown) | undefined
}
