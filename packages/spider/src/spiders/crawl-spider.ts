import { type JsonObject, Request, WebloomError } from '@webloom/core'
import type { Link } from '@webloom/selectors'
import type { Response } from '../responses/response.ts'
import { responseKind } from '../responses/response-kind.ts'
import type { Failure } from '../scraping/callback-output.ts'
import { FRAMEWORK_CLASS, Spider } from '../spider.ts'
import { methodOf, type Rule } from './rule.ts'
import { outputList, outputStream, type SpiderOutput } from './spider-output.ts'

/**
 * Follows links by rules. Each link of an HTML page belongs to the first rule whose extractor finds it. The rule says which
 * callback gets the page behind it, and whether that page's links are followed.
 *
 * Start pages go to `parseStartUrl`, and the rules are applied to them. A request keeps its rule by number (`meta.rule`),
 * so that any worker with the same spider can go on with it.
 */
export class CrawlSpider extends Spider {
  static override readonly [FRAMEWORK_CLASS]: true = true
  /** The rules, asked in this order for the links of each page. */
  rules: readonly Rule[] = []
  #areRulesChecked = false

  constructor(args?: Readonly<Record<string, string>>) {
    super(args)
    if (this.parse === CrawlSpider.prototype.parse) return
    throw new WebloomError(
      'WL_SPIDER_LOAD',
      `${this.constructor.name} has a parse method of its own, which would keep its rules from start pages. Call it parseStartUrl, or another name for a rule's callback`,
    )
  }

  /** Gets start pages; its output is treated as a callback's. By default it returns nothing. */
  parseStartUrl(_response: Response, _cbKwargs: JsonObject): SpiderOutput {
    return undefined
  }

  /** Gets what a callback returned for a page, and returns what goes on. By default all of it. */
  processResults(_response: Response, results: unknown[]): SpiderOutput {
    return results
  }

  override parse(response: Response, cbKwargs: JsonObject): SpiderOutput {
    return this.parseWithRules(response, this.parseStartUrl, cbKwargs, true)
  }

  /** The callback of all requests that the rules make. */
  parseByRule(response: Response, cbKwargs: JsonObject): SpiderOutput {
    const { callback, cbKwargs: ofRule, follow } = this.#ruleOf(response.request)
    return this.parseWithRules(response, methodOf(this, callback), { ...ofRule, ...cbKwargs }, follow)
  }

  /** The errback of requests whose rule has one. */
  failByRule(failure: Failure): SpiderOutput {
    return methodOf(this, this.#ruleOf(failure.request).errback)?.call(this, failure)
  }

  /** Yields what a callback returns for the page and then, with `follow`, the requests that the rules make of its links. */
  async *parseWithRules(
    response: Response,
    callback: ((...args: never[]) => unknown) | undefined,
    cbKwargs: JsonObject,
    follow = true,
  ): AsyncGenerator<unknown> {
    this.#checkRules()
    if (callback) yield* this.#results(response, Reflect.apply(callback, this, [response, cbKwargs]))
    if (follow && this.settings.getBool('CRAWLSPIDER_FOLLOW_LINKS')) yield* this.#requestsOf(response)
  }

  #results(response: Response, output: SpiderOutput): AsyncIterable<unknown> {
    // No method wants all results at once, so they go on as they come, however many there are.
    if (this.processResults === CrawlSpider.prototype.processResults) return outputStream(output)
    return outputStream(outputList(output).then((results) => this.processResults(response, results)))
  }

  *#requestsOf(response: Response): Generator<Request> {
    if (responseKind(response) !== 'html') return
    const taken = new Set<string>()
    for (const [index, rule] of this.rules.entries()) {
      const links = [...rule.linkExtractor.extractLinks(response)].filter(
        (link) => !taken.has(identityOf(link)),
      )
      for (const link of rule.wantedLinks(links, this)) {
        taken.add(identityOf(link))
        const request = rule.wantedRequest(requestFor(link, index, rule), response, this)
        if (request) yield request
      }
    }
  }

  /** Checks the rules once, when the first page has come: fields are complete, and no broken rule has cost a page. */
  #checkRules(): void {
    if (this.#areRulesChecked) return
    for (const rule of this.rules) rule.check(this)
    this.#areRulesChecked = true
  }

  #ruleOf({ meta, url }: Request): Rule {
    const rule = this.rules[Number(meta.rule)]
    if (rule) return rule
    throw new WebloomError(
      'WL_CALLBACK_UNKNOWN',
      `${url} was found by rule ${JSON.stringify(meta.rule)}, and spider ${this.name} has ${this.rules.length} rules; were they changed during the crawl?`,
    )
  }
}

function requestFor(link: Link, index: number, rule: Rule): Request {
  return new Request(link.url, {
    callback: 'parseByRule',
    errback: rule.errback === null ? null : 'failByRule',
    meta: { rule: index, link_text: link.text },
  })
}

/** Returns the same text for links that are the same in every part. */
function identityOf({ url, text, fragment, nofollow }: Link): string {
  return JSON.stringify([url, text, fragment, nofollow])
}
