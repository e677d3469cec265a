import {
  type Crawler,
  crawlKey,
  crawlNameOf,
  type Logger,
  MemoryStatsCollector,
  type StatsCollector,
} from '@webloom/core'
import type { CookieJarStore } from './cookie-jar-store.ts'
import { cookieIdentity, hasExpired, type KeptCookie } from './kept-cookie.ts'
import { MemoryCookieJarStore } from './memory-cookie-jar-store.ts'

/** The part of an ioredis connection that this store needs. */
export interface CookiesRedis {
  hget(key: string, field: string): Promise<string | null>
  hgetall(key: string): Promise<Record<string, string>>
  hset(key: string, fields: Record<string, string>): Promise<unknown>
  hdel(key: string, ...fields: string[]): Promise<unknown>
  pexpire(key: string, ms: number): Promise<unknown>
}

export interface RedisCookieJarStoreOptions {
  readonly redis: CookiesRedis
  /** A pattern that holds `%(jar)s` and `%(domain)s`. */
  readonly key: string
  readonly perDomainMax: number
  /** The cookies that this worker has met itself, which it sends while Redis does not answer. */
  readonly local: MemoryCookieJarStore
  readonly stats: StatsCollector
  readonly logger: Logger
}

export const COOKIES_KEY = '%(spider)s:cookies:%(jar)s:%(domain)s'

// On nearly every site a session that was not touched for a week has ended.
const IDLE_MS_MAX = 7 * 24 * 3_600_000

interface SharedCookie extends KeptCookie {
  /** When the cookie was first set. Cookies of one millisecond differ by fractions of it. */
  readonly setAtMs: number
}

// Small enough for the cookies of one answer, and far larger than the precision of a double at this size.
const SET_AT_STEP_MS = 1 / 1024

/**
 * Jars that the workers of a crawl share. Each jar and domain is a hash with a field for each cookie, so that two workers
 * who set different cookies at once both keep theirs. Each request costs one round trip, and each page that sets cookies
 * two.
 *
 * While Redis does not answer, a worker sends the cookies that it has met itself, and counts `cookies/store_error`.
 */
export class RedisCookieJarStore implements CookieJarStore {
  readonly #options: RedisCookieJarStoreOptions
  #hasFailed = false
  #lastSetAtMs = 0

  constructor(options: RedisCookieJarStoreOptions) {
    this.#options = options
  }

  static fromCrawler(crawler: Crawler): RedisCookieJarStore {
    const { redis, settings, spider, stats, logger } = crawler
    return new this({
      redis: redis('queue', 'COOKIES_SHARED is true'),
      key: crawlKey(COOKIES_KEY, crawlNameOf(settings, spider.name)),
      perDomainMax: settings.getInt('COOKIES_PER_DOMAIN_MAX'),
      // What the local jars drop is not lost, so it is not counted.
      local: MemoryCookieJarStore.fromCrawler({ ...crawler, stats: new MemoryStatsCollector() }),
      stats,
      logger,
    })
  }

  async cookies(jar: string, domains: readonly string[]): Promise<readonly KeptCookie[]> {
    const { redis, local } = this.#options
    try {
      // Sent together: one round trip.
      const found = await Promise.all(domains.map((domain) => redis.hgetall(this.#key(jar, domain))))
      const bounded = found.map((fields, index) => this.#bounded(this.#key(jar, domains[index]!), fields))
      return bounded.flat().sort((a, b) => a.setAtMs - b.setAtMs)
    } catch (error) {
      this.#failed(error)
      return local.cookies(jar, domains)
    }
  }

  async keep(jar: string, cookies: readonly KeptCookie[]): Promise<void> {
    this.#options.local.keep(jar, cookies)
    try {
      // A cookie that is set again keeps its place, so Redis is asked first when it was set.
      const known = await Promise.all(cookies.map((cookie) => this.#setAt(jar, cookie)))
      await Promise.all(this.#writes(jar, cookies, known))
    } catch (error) {
      this.#failed(error)
    }
  }

  async #setAt(jar: string, cookie: KeptCookie): Promise<number | undefined> {
    const text = await this.#options.redis.hget(this.#key(jar, cookie.domain), fieldOf(cookie))
    return text === null ? undefined : sharedCookie(text)[0]?.setAtMs
  }

  /** Sends all writes together, in the order of the cookies. @param known when each cookie was first set, as Redis has it */
  #writes(
    jar: string,
    cookies: readonly KeptCookie[],
    known: readonly (number | undefined)[],
  ): Promise<unknown>[] {
    const { redis } = this.#options
    // An answer may set a cookie twice, or expire it and set it again.
    const setAt = new Map<string, number | undefined>()
    return cookies.flatMap((cookie, index) => {
      const key = this.#key(jar, cookie.domain)
      const identity = cookieIdentity(cookie)
      if (hasExpired(cookie, Date.now())) {
        setAt.set(identity, undefined)
        return [redis.hdel(key, fieldOf(cookie))]
      }
      const setAtMs = (setAt.has(identity) ? setAt.get(identity) : known[index]) ?? this.#nextSetAtMs()
      setAt.set(identity, setAtMs)
      const shared: SharedCookie = { ...cookie, setAtMs }
      return [redis.hset(key, { [fieldOf(cookie)]: JSON.stringify(shared) }), redis.pexpire(key, IDLE_MS_MAX)]
    })
  }

  #nextSetAtMs(): number {
    this.#lastSetAtMs = Math.max(Date.now(), this.#lastSetAtMs + SET_AT_STEP_MS)
    return this.#lastSetAtMs
  }

  /** Returns the cookies of a domain. Past the bound those that were first set longest ago are deleted. */
  #bounded(key: string, fields: Record<string, string>): SharedCookie[] {
    const { redis, perDomainMax, stats } = this.#options
    const cookies = Object.values(fields)
      .flatMap(sharedCookie)
      .sort((a, b) => a.setAtMs - b.setAtMs)
    const tooMany = cookies.slice(0, Math.max(0, cookies.length - perDomainMax))
    if (tooMany.length > 0) {
      stats.inc('cookies/evicted', tooMany.length)
      redis.hdel(key, ...tooMany.map(fieldOf)).catch((error: unknown) => this.#failed(error))
    }
    return cookies.slice(tooMany.length)
  }

  #key(jar: string, domain: string): string {
    return this.#options.key.replace('%(jar)s', () => jar).replace('%(domain)s', () => domain)
  }

  #failed(error: unknown): void {
    const { stats, logger } = this.#options
    stats.inc('cookies/store_error')
    if (this.#hasFailed) return
    this.#hasFailed = true
    logger.warn(
      { reason: (error as Error).message },
      'cookies cannot be shared through Redis; each worker sends those it knows',
    )
  }
}

function fieldOf({ path, name }: KeptCookie): string {
  return `${path}\n${name}`
}

/** Returns the cookie as a list; empty when this release does not understand it. */
function sharedCookie(text: string): SharedCookie[] {
  try {
    const cookie = JSON.parse(text) as Partial<SharedCookie>
    const { name, value, domain, path, setAtMs } = cookie
    const isCookie = [name, value, domain, path].every((part) => typeof part === 'string')
    return isCookie && typeof setAtMs === 'number' ? [cookie as SharedCookie] : []
  } catch {
    return []
  }
}
