import {
  type Callback,
  checkOptions,
  type JsonObject,
  methodNamed,
  type OptionNames,
  type Request,
  WebloomError,
} from '@webloom/core'
import { type Link, LinkExtractor } from '@webloom/selectors'
import type { Response } from '../responses/response.ts'
import type { Spider } from '../spider.ts'

/** Finds the links of a page; `LinkExtractor` is one. */
export interface LinkSource {
  /** Returns the links of a page, in its order. A request is made of each. */
  extractLinks(response: Response): Iterable<Link>
}

/** What a rule does with its links. A method is given itself (`this.parseItem`) or by its name. */
export interface RuleInit {
  /** The method that gets the pages behind the links. Without one their links are followed, and nothing else. */
  callback?: Callback | null
  /** The callback's second argument. */
  cbKwargs?: JsonObject
  /** True: the rules are applied to those pages, too. Default: only when there is no callback. */
  follow?: boolean
  /** Gets the links of a page and returns those that are wanted. */
  processLinks?: string | ((links: Link[]) => Iterable<Link>)
  /** Gets each request with the page of its link, and returns it, another one, or null for none. */
  processRequest?: string | ((request: Request, response: Response) => Request | null | undefined)
  /** The method that is called when there is no response. */
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

/** Which links of a page a `CrawlSpider` follows, and which callback gets the pages behind them. */
export class Rule {
  /** Finds the links of this rule. */
  readonly linkExtractor: LinkSource
  /** The method that gets the pages behind the links; null: their links are followed, and nothing else. */
  readonly callback: Callback | null
  /** The callback's second argument. */
  readonly cbKwargs: JsonObject
  /** True when the rules are applied to those pages, too. */
  readonly follow: boolean
  /** The method that is called when there is no response; null: none. */
  readonly errback: Callback | null
  readonly #init: RuleInit

  /** `new Rule(linkExtractor, { callback })`; without a link extractor the rule takes all links. */
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

  /** Returns the links that `processLinks` keeps, in its order. */
  wantedLinks(links: Link[], spider: Spider): Iterable<Link> {
    const process = methodOf(spider, this.#init.processLinks)
    return process ? (process.call(spider, links) as Iterable<Link>) : links
  }

  /** Returns what `processRequest` makes of a request. */
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

/** Returns a method that is given by its name, or itself. */
export function methodOf(
  spider: Spider,
  method: Callback | null | undefined,
): ((...args: unknown[]) => unknown) | undefined {
  if (typeof method === 'string') return methodNamed(spider, method, 'callback')
  return (method ?? undefined) as ((...args: unknown[]) => unknown) | undefined
}
