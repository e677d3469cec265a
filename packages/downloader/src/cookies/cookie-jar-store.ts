import type { Awaitable } from '@webloom/core'
import type { KeptCookie } from './kept-cookie.ts'

/**
 * Keeps the cookies of a crawl, in jars that know nothing of one another: each is a session.
 *
 * Cookies are kept and replaced one by one and never as a whole jar, so that workers who share a jar do not undo each
 * other's changes.
 */
export interface CookieJarStore {
  /** True while no jar has a cookie: then nobody need ask. Absent where others put cookies in as well. */
  readonly isEmpty?: boolean
  /** What the jar has for exactly these domains, in the order in which it was first set. It may hold expired ones. */
  cookies(jar: string, domains: readonly string[]): Awaitable<readonly KeptCookie[]>
  /** Each takes the place of the one with its domain, path and name; one that has expired only removes that. */
  keep(jar: string, cookies: readonly KeptCookie[]): Awaitable<void>
}
