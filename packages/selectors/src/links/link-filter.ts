import { splitParams, urlSplit } from '@webloom/url'
import { IGNORED_EXTENSIONS } from './ignored-extensions.ts'
import { anyOf, type PatternTest, type UrlPattern } from './url-pattern.ts'

/** One, or several. */
export type OneOrMore<T> = T | Iterable<T>

/** Which links are wanted, by their URLs and texts. */
export interface LinkFilterOptions {
  /** Only URLs in which one of these is found. Default: any. */
  allow?: OneOrMore<UrlPattern>
  /** No URLs in which one of these is found, whatever `allow` says. */
  deny?: OneOrMore<UrlPattern>
  /** Only these domains and their subdomains. As Scrapy has it, a port belongs to the domain: `'localhost:8000'`. */
  allowDomains?: OneOrMore<string>
  /** Not these domains, nor their subdomains. */
  denyDomains?: OneOrMore<string>
  /** No paths with these endings. Default `IGNORED_EXTENSIONS`; `[]` for none. */
  denyExtensions?: OneOrMore<string>
  /** Only links in whose text one of these is found. */
  restrictText?: OneOrMore<UrlPattern>
}

/** What the options of a link extractor say about a link that was found. */
export class LinkFilter {
  readonly #allow: PatternTest | undefined
  readonly #deny: PatternTest | undefined
  readonly #text: PatternTest | undefined
  readonly #allowDomains: readonly string[]
  readonly #denyDomains: readonly string[]
  readonly #denyEndings: readonly string[]

  constructor(options: LinkFilterOptions) {
    this.#allow = testOf(options.allow)
    this.#deny = testOf(options.deny)
    this.#text = testOf(options.restrictText)
    this.#allowDomains = listOf(options.allowDomains).map((domain) => domain.toLowerCase())
    this.#denyDomains = listOf(options.denyDomains).map((domain) => domain.toLowerCase())
    this.#denyEndings = listOf(options.denyExtensions ?? IGNORED_EXTENSIONS).map((ending) => `.${ending}`)
  }

  /** Returns whether a link is wanted. */
  wants(url: string, text: string): boolean {
    if (!REQUESTABLE.test(url)) return false
    return this.matches(url) && !this.#isDeniedFile(url) && (this.#text?.(text) ?? true)
  }

  /** Returns whether patterns and domains let the URL through. */
  matches(url: string): boolean {
    if (this.#allowDomains.length > 0 && !isOf(url, this.#allowDomains)) return false
    if (this.#denyDomains.length > 0 && isOf(url, this.#denyDomains)) return false
    return (this.#allow?.(url) ?? true) && !this.#deny?.(url)
  }

  #isDeniedFile(url: string): boolean {
    if (this.#denyEndings.length === 0) return false
    const { scheme, path } = urlSplit(url)
    const [file] = splitParams(scheme, path.toLowerCase())
    return this.#denyEndings.some((ending) => file.endsWith(ending))
  }
}

const REQUESTABLE = /^(?:https?|file|ftp)(?::\/\/|$)/

/** Undefined when there are no patterns: then everything passes `allow`, and nothing `deny`. */
function testOf(patterns: OneOrMore<UrlPattern> | undefined): PatternTest | undefined {
  const list = listOf(patterns)
  return list.length > 0 ? anyOf(list) : undefined
}

/** As Scrapy compares: with the whole of `user:password@host:port`. */
function isOf(url: string, domains: readonly string[]): boolean {
  const netloc = urlSplit(url).netloc.toLowerCase()
  return netloc !== '' && domains.some((domain) => netloc === domain || netloc.endsWith(`.${domain}`))
}

/** Nothing, one or several as a list. */
export function listOf<T>(value: OneOrMore<T> | undefined | null): readonly T[] {
  if (value === undefined || value === null) return []
  const isSeveral = typeof value === 'object' && Symbol.iterator in value
  return isSeveral ? [...value] : [value as T]
}
