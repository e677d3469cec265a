/**
 * robots.txt by RFC 9309, with what protego (Scrapy's parser) and Google's parser understand beside it: Crawl-delay,
 * Sitemap, common misspellings. Where those differ from the RFC, this parser follows the RFC; docs/from-scrapy.md lists the
 * differences.
 *
 * A file consists of groups: one or more User-agent lines and the rules below them. By the RFC only a rule ends a row of
 * User-agent lines; other records must not end it. So in
 *
 *     User-agent: a
 *     Crawl-delay: 5
 *     User-agent: b
 *     Disallow: /x
 *
 * the Disallow is for a and b. The delay is for a alone: Crawl-delay is no record of the RFC, and whoever writes this means
 * a only. That is why each name has two lists, one of rules and one of delays.
 */

import { ROBOTS_BYTES_MAX, type RobotsRecord, robotsLines, robotsRecord } from './robots-records.ts'
import { bytesOf, pathSpellings, RobotsRule } from './robots-rule.ts'

interface Delay {
  seconds: number | null
}

/** The contents below rows of User-agent lines, by the names in them in lower case. `*` is for all other crawlers. */
type Groups<Content> = Map<string, Set<Content>>

/** The part of a file that is for one crawler. */
interface Share {
  /** The longest pattern first, and of equal ones the one that allows: the first rule that matches counts. */
  readonly rules: readonly RobotsRule[]
  readonly crawlDelay: number | null
}

/** A site's robots.txt: `RobotsTxt.parse(text).canFetch(url, userAgent)`. */
export class RobotsTxt {
  /** The URLs of Sitemap lines, in order, as written. They are for every crawler. */
  readonly sitemaps: readonly string[]
  readonly #rules: Groups<RobotsRule[]>
  readonly #delays: Groups<Delay>
  readonly #names: readonly AgentName[]
  // The last answer is kept, as a crawl asks for one user agent, seldom for two.
  #last: { readonly userAgent: string; readonly share: Share } | undefined

  private constructor({ rules, delays, names, sitemaps }: Reading) {
    this.#rules = rules
    this.#delays = delays
    this.#names = [...names.values()]
    this.sitemaps = sitemaps
  }

  /** Parses any text; lines without meaning are ignored. Only the first 500 KiB are read. */
  static parse(file: string | Uint8Array): RobotsTxt {
    const reading = new Reading()
    for (const line of robotsLines(fileBytes(file))) reading.read(robotsRecord(line))
    return new RobotsTxt(reading)
  }

  /**
   * Returns false when the site asks this crawler not to fetch the URL or path. `userAgent` may be a product token
   * (`Googlebot`) or a whole User-Agent header, whose products are compared with the groups' names.
   */
  canFetch(url: string, userAgent: string): boolean {
    const paths = pathSpellings(url)
    if (paths[0] === '/robots.txt') return true
    const { rules } = this.#shareOf(userAgent)
    const decisive = rules.find((rule) => paths.some((path) => rule.matches(path)))
    return decisive?.isAllowed ?? true
  }

  /**
   * Returns the seconds between two requests that the site asks this crawler for; null when it asks for none. The number is
   * as written: it may be negative or Infinity.
   */
  crawlDelay(userAgent: string): number | null {
    return this.#shareOf(userAgent).crawlDelay
  }

  #shareOf(userAgent: string): Share {
    if (this.#last?.userAgent === userAgent) return this.#last.share
    const name = this.#nameOf(bytesOf(userAgent).toLowerCase())
    const rules = [...(this.#rules.get(name) ?? [])].flat()
    const delays = [...(this.#delays.get(name) ?? [])].map(({ seconds }) => seconds)
    const share: Share = {
      rules: rules.sort((a, b) => b.length - a.length || Number(b.isAllowed) - Number(a.isAllowed)),
      crawlDelay: delays.findLast((seconds) => seconds !== null) ?? null,
    }
    this.#last = { userAgent, share }
    return share
  }

  /** Returns the longest name in the file that is this crawler's, or `*`. */
  #nameOf(userAgent: string): string {
    const products = new Set(productsOf(userAgent))
    let longest = ''
    for (const { name, isPart } of this.#names) {
      const isOurs = isPart ? userAgent.includes(name) : products.has(name)
      if (isOurs && name.length > longest.length) longest = name
    }
    return longest || '*'
  }
}

/**
 * Returns the bytes that matter: up to the limit, a byte order mark, and one byte that tells whether the last line is
 * complete.
 */
function fileBytes(file: string | Uint8Array): string {
  if (typeof file === 'string') return bytesOf(file.slice(0, ROBOTS_BYTES_MAX + 2))
  return Buffer.from(file.subarray(0, ROBOTS_BYTES_MAX + 4)).toString('latin1')
}

/** Reads a file line by line. */
class Reading {
  readonly rules: Groups<RobotsRule[]> = new Map()
  readonly delays: Groups<Delay> = new Map()
  readonly names = new Map<string, AgentName>()
  readonly sitemaps: string[] = []
  // The rules of the current row of User-agent lines; undefined before the first row.
  #group: RobotsRule[] | undefined
  #delay: Delay | undefined
  // True when the next User-agent line begins another row.
  #isRowOver = true
  #isDelayRowOver = true

  read(record: RobotsRecord | undefined): void {
    if (!record) return
    const { kind, value } = record
    if (kind === 'user-agent') this.#userAgent(value)
    else if (kind === 'crawl-delay') this.#crawlDelay(value)
    else if (kind !== 'sitemap') this.#rule(value, kind === 'allow')
    else if (value !== '') this.sitemaps.push(textOf(value))
  }

  #userAgent(value: string): void {
    if (!this.#group || this.#isRowOver) this.#group = []
    if (!this.#delay || this.#isDelayRowOver) this.#delay = { seconds: null }
    this.#isRowOver = false
    this.#isDelayRowOver = false
    const agent = agentName(value)
    if (!agent) return
    this.names.set(agent.name, agent)
    addTo(this.rules, agent.name, this.#group)
    addTo(this.delays, agent.name, this.#delay)
  }

  /** Adds a rule. An empty path allows or forbids nothing, but it is a rule and ends a row of User-agent lines. */
  #rule(path: string, isAllowed: boolean): void {
    this.#isRowOver = true
    this.#isDelayRowOver = true
    if (path === '') return
    this.#group?.push(new RobotsRule(isAllowed, path))
    // Not in the RFC, but in Google's parser and protego: a site that allows an index page allows the folder that shows it.
    if (isAllowed && path.endsWith('/index.html'))
      this.#group?.push(new RobotsRule(isAllowed, `${path.slice(0, -'index.html'.length)}$`))
  }

  #crawlDelay(value: string): void {
    this.#isDelayRowOver = true
    if (this.#delay) this.#delay.seconds = numberIn(textOf(value)) ?? this.#delay.seconds
  }
}

function addTo<Content>(groups: Groups<Content>, name: string, content: Content): void {
  const known = groups.get(name)
  if (known) known.add(content)
  else groups.set(name, new Set([content]))
}

interface AgentName {
  readonly name: string
  /** True: the name is searched anywhere in a User-Agent header, as in `Media*`. */
  readonly isPart: boolean
}

// The RFC's letters, `-` and `_`, and other characters of real names: `360Spider`, `archive.org_bot`.
const AGENT_NAME = /^[\w.*\x80-\xff-]+/
const PRODUCT = /^([\w.\x80-\xff-]+)(?:\/.*)?$/

/** Returns the name in a User-agent line, without a version or other text after it; undefined for a line without a name. */
function agentName(value: string): AgentName | undefined {
  const written = AGENT_NAME.exec(value)?.[0].toLowerCase() ?? ''
  if (written === '*') return { name: '*', isPart: false }
  const name = written.replaceAll('*', '')
  return name === '' ? undefined : { name, isPart: name !== written }
}

/** Returns `mozilla`, `compatible` and `examplebot` for `Mozilla/5.0 (compatible; ExampleBot/0.1; +https://example.com)`. */
function productsOf(userAgent: string): string[] {
  return userAgent.split(/[\s;(),]+/).flatMap((word) => PRODUCT.exec(word)?.[1] ?? [])
}

function textOf(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

const NUMBER = /^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+(?:_\d+)*)?$/i
const INFINITE = /^([+-]?)inf(?:inity)?$/i
// Longer than any delay that is meant seriously.
const NUMBER_LENGTH_MAX = 64

/** Returns the number that Python's `float` would read, with digits of any script; undefined when it would read none. */
function numberIn(text: string): number | undefined {
  if (text.length > NUMBER_LENGTH_MAX) return undefined
  const infinite = INFINITE.exec(text)
  if (infinite) return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  const plain = text.replace(/\p{Nd}/gu, (digit) => String(digitValue(digit)))
  return NUMBER.test(plain) ? Number(plain.replaceAll('_', '')) : undefined
}

/** Returns a digit's value. Unicode has decimal digits in runs of ten; one run may follow another without a gap. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0)!
  let first = code
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--
  return (code - first) % 10
}
