import type { Awaitable } from '@webloom/core'
import type { KeptCookie } from './kept-cookie.ts'

/**
 * Keeps the cookies of a crawl in jars, one for each session; a jar knows nothing of the others.
 *
 * Cookies are stored and replaced one by one and never as a whole jar, so that workers who share a jar do not undo each
 * other's changes.
 */
export interface CookieJarStore {
  /** True while no jar has a cookie, so that no call is needed. Absent where other workers add cookies as well. */
  readonly isEmpty?: boolean
  /** Returns the jar's cookies of exactly these domains, in the order in which they were first set. Some may have expired. */
  cookies(jar: string, domains: readonly string[]): Awaitable<readonly KeptCookie[]>
  /** Stores cookies. Each replaces the one with its domain, path and name; an expired one only removes it. */
  keep(jar: string, cookies: readonly KeptCookie[]): Awaitable<void>
}
