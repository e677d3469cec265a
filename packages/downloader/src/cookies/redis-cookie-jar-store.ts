import { type Crawler, crawlKey, type Logger, MemoryStatsCollector, type StatsCollector } from '@webloom/core'
import type { CookieJarStore } from './cookie-jar-store.ts'
import { cookieIdentity, hasExpired, type KeptCookie } from './kept-cookie.ts'
import { MemoryCookieJarStore } from './memory-cookie-jar-store.ts'

/** What is needed of an ioredis connection. */
export interface CookiesRedis {
  hget(key: string, field: string): Promise<string | null>
  hgetall(key: string): Promise<Record<string, string>>
  hset(key: string, fields: Record<string, string>): Promise<unknown>
  hdel(key: string, ...fields: string[]): Promise<unknown>
  pexpire(key: string, ms: number): Promise<unknown>
}

export interface RedisCookieJarStoreOptions {
  readonly redis: CookiesRedis
  /** With `%(jar)s` and `%(domain)s` in it. */
  readonly key: string
  readonly perDomainMax: number
  /** What this worker knows itself, for as long as Redis does not answer. */
  readonly local: MemoryCookieJarStore
  readonly stats: StatsCollector
  readonly logger: Logger
}

export const COOKIES_KEY = '%(spider)s:cookies:%(jar)s:%(domain)s'

// A session that nobody has touched for a week has ended on nearly every site.
const IDLE_MS_MAX = 7 * 24 * 3_600_000

interface SharedCookie extends KeptCookie {
  /** When it was first set. Cookies of one millisecond are told apart behind the point. */
  readonly setAtMs: number
}

// Less than the cookies of one answer, and far more than a double loses at this size.
const SET_AT_STEP_MS = 1 / 1024

/**
 * Jars that the workers of a crawl share: a hash for each jar and domain, a field for each cookie, so that two workers
 * who set different cookies at once both keep theirs. It costs each request one round trip,
 * and each page that sets cookies two.
 *
 * While Redis does not answer, a worker sends what it knows itself; that is counted as `cookies/store_error`.
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
      key: crawlKey(COOKIES_KEY, { spider: spider.name, crawlId: settings.get('CRAWL_ID') }),
      perDomainMax: settings.getInt('COOKIES_PER_DOMAIN_MAX'),
      // What it drops is not lost, so it is not counted.
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
      // Set anew a cookie keeps its place, so it is asked for first.
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

  /** Sent together, in the order of the cookies. @param known when each was first set, as Redis knows it */
  #writes(
    jar: string,
    cookies: readonly KeptCookie[],
    known: readonly (number | undefined)[],
  ): Promise<unknown>[] {
    const { redis } = this.#options
    // An answer may set a cookie twice, or end it and set it again.
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

  /** Past the bound those go that were set longest ago. */
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

/** None for what this release does not understand. */
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
