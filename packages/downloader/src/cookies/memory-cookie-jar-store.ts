import type { Crawler, StatsCollector } from '@webloom/core'
import type { CookieJarStore } from './cookie-jar-store.ts'
import { cookieIdentity, hasExpired, type KeptCookie } from './kept-cookie.ts'

export interface MemoryCookieJarStoreOptions {
  /** The most cookies of one domain in one jar. */
  readonly perDomainMax: number
  /** The most cookies of all jars together, in COOKIE_BYTES each; a longer one counts for several. */
  readonly cookiesMax: number
  readonly jarsMax: number
  readonly stats: StatsCollector
}

// A domain with one cookie, and its jar's part of it, take 512 bytes beside the cookie's text (measured).
const COOKIE_BYTES = 640
const COOKIE_OVERHEAD_BYTES = 512

// Of a large store some go at once, as of each large map (core's RecentBytes): to find the first entry of 50 000 takes V8 30 µs.
const DROPPED_TOGETHER = 1 / 64

/** A cookie and when it was first set, counted in cookies of the store. */
interface Placed {
  readonly cookie: KeptCookie
  readonly order: number
}

type Jar = Map<string, Map<string, Placed>>

/**
 * Jars in this process's memory. Past a bound the least recently used goes: of a domain the cookie that was first set
 * longest ago, of a jar a whole domain, of all jars a whole jar.
 */
export class MemoryCookieJarStore implements CookieJarStore {
  readonly #options: MemoryCookieJarStoreOptions
  // The first entry of either map is the one used longest ago.
  readonly #jars = new Map<string, Jar>()
  /** What is kept, in cookies of COOKIE_BYTES. */
  #weight = 0
  #placedCount = 0

  constructor(options: MemoryCookieJarStoreOptions) {
    this.#options = options
  }

  static fromCrawler({ settings, stats }: Crawler): MemoryCookieJarStore {
    return new this({
      perDomainMax: settings.getInt('COOKIES_PER_DOMAIN_MAX'),
      cookiesMax: settings.getInt('COOKIES_MAX'),
      jarsMax: settings.getInt('COOKIE_JARS_MAX'),
      stats,
    })
  }

  get isEmpty(): boolean {
    return this.#weight === 0
  }

  cookies(name: string, domains: readonly string[]): readonly KeptCookie[] {
    const jar = this.#jars.get(name)
    if (!jar) return []
    toEnd(this.#jars, name, jar)
    const found: Placed[] = []
    for (const domain of domains) {
      const cookies = jar.get(domain)
      if (!cookies) continue
      toEnd(jar, domain, cookies)
      found.push(...cookies.values())
    }
    return found.sort((a, b) => a.order - b.order).map(({ cookie }) => cookie)
  }

  keep(name: string, cookies: readonly KeptCookie[]): void {
    if (cookies.length === 0) return
    const jar = this.#jars.get(name) ?? new Map()
    toEnd(this.#jars, name, jar)
    for (const cookie of cookies) this.#keepOne(jar, cookie)
    if (jar.size === 0) this.#jars.delete(name)
    this.#dropJars()
    this.#dropDomains()
  }

  #keepOne(jar: Jar, cookie: KeptCookie): void {
    const ofDomain = jar.get(cookie.domain) ?? new Map<string, Placed>()
    const identity = cookieIdentity(cookie)
    const before = ofDomain.get(identity)
    if (before) this.#weight -= weightOf(before)
    if (hasExpired(cookie, Date.now())) ofDomain.delete(identity)
    else {
      // Set anew it keeps its place: RFC 6265bis sends the one first that was made first.
      const placed = { cookie, order: before?.order ?? this.#placedCount++ }
      ofDomain.set(identity, placed)
      this.#weight += weightOf(placed)
    }
    if (ofDomain.size > this.#options.perDomainMax) this.#dropCookie(ofDomain)
    if (ofDomain.size === 0) jar.delete(cookie.domain)
    else toEnd(jar, cookie.domain, ofDomain)
  }

  #dropCookie(ofDomain: Map<string, Placed>): void {
    const now = Date.now()
    const expired = [...ofDomain]
      .filter(([, { cookie }]) => hasExpired(cookie, now))
      .map(([identity]) => identity)
    if (expired.length === 0) this.#options.stats.inc('cookies/evicted')
    for (const identity of expired.length > 0 ? expired : [...ofDomain.keys()].slice(0, 1)) {
      this.#weight -= weightOf(ofDomain.get(identity)!)
      ofDomain.delete(identity)
    }
  }

  #dropJars(): void {
    while (this.#jars.size > this.#options.jarsMax) {
      const [name, jar] = first(this.#jars)
      this.#jars.delete(name)
      for (const ofDomain of jar.values()) this.#weight -= weightOfAll(ofDomain)
      this.#options.stats.inc('cookies/jars_evicted')
    }
  }

  #dropDomains(): void {
    const { cookiesMax, stats } = this.#options
    if (this.#weight <= cookiesMax) return
    const keptMax = cookiesMax - Math.floor(cookiesMax * DROPPED_TOGETHER)
    for (const [name, jar] of this.#jars) {
      for (const [domain, ofDomain] of jar) {
        if (this.#weight <= keptMax) return
        jar.delete(domain)
        this.#weight -= weightOfAll(ofDomain)
        stats.inc('cookies/evicted', ofDomain.size)
      }
      this.#jars.delete(name)
    }
  }
}

function weightOf({ cookie: { name, value, domain, path } }: Placed): number {
  const bytes = COOKIE_OVERHEAD_BYTES + name.length + value.length + domain.length + path.length
  return Math.ceil(bytes / COOKIE_BYTES)
}

function weightOfAll(ofDomain: ReadonlyMap<string, Placed>): number {
  return [...ofDomain.values()].reduce((sum, placed) => sum + weightOf(placed), 0)
}

function toEnd<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.delete(key)
  map.set(key, value)
}

/** Returns the first entry of a map that is not empty. */
function first<Key, Value>(map: Map<Key, Value>): [Key, Value] {
  return map.entries().next().value!
}
