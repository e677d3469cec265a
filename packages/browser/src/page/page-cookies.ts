/** The cookies of the crawl's jar, into a page's context and out of it. */

import type { Request } from '@webloom/core'
import type { BrowserContext, Cookie } from 'playwright-core'

type NewCookie = Parameters<BrowserContext['addCookies']>[0][number]

/** Returns what the request's Cookie header holds, for the request's host. */
export function cookiesOf(request: Request): NewCookie[] {
  const header = request.hasHeaders ? request.headers.get('cookie') : null
  if (header === null) return []
  const { hostname, protocol } = new URL(request.url)
  return header.split(';').flatMap((pair) => {
    const equals = pair.indexOf('=')
    const name = pair.slice(0, Math.max(0, equals)).trim()
    if (name === '') return []
    return [
      {
        name,
        value: pair.slice(equals + 1).trim(),
        domain: hostname,
        path: '/',
        secure: protocol === 'https:',
      },
    ]
  })
}

/** Resolves to the names of those that Chromium refuses (a wrong `__Host-` cookie): they leave the others alone. */
export async function giveCookies(
  context: BrowserContext,
  cookies: readonly NewCookie[],
): Promise<readonly string[]> {
  if (cookies.length === 0) return []
  try {
    await context.addCookies(cookies)
    return []
  } catch {
    const refused: string[] = []
    for (const cookie of cookies)
      await context.addCookies([cookie]).catch(() => void refused.push(cookie.name))
    return refused
  }
}

/**
 * Returns lines of Set-Cookie for what has changed since: of the page's own host, as others may set none. What a script has set is
 * among them.
 */
export function changedCookies(
  given: readonly NewCookie[],
  now: readonly Cookie[],
  hostname: string,
): string[] {
  const before = new Map(given.map(({ name, value }) => [name, value]))
  const own = now.filter(({ domain }) => isOf(hostname, domain))
  const set = own
    .filter(({ name, value, domain }) => domain.startsWith('.') || before.get(name) !== value)
    .map(setCookie)
  const left = new Set(own.map(({ name }) => name))
  const gone = [...before.keys()]
    .filter((name) => !left.has(name))
    .map((name) => `${name}=; Path=/; Max-Age=0`)
  return [...set, ...gone]
}

function isOf(hostname: string, domain: string): boolean {
  const bare = domain.replace(/^\./, '')
  return hostname === bare || (domain.startsWith('.') && hostname.endsWith(domain))
}

function setCookie({ name, value, domain, path, expires, httpOnly, secure, sameSite }: Cookie): string {
  return [
    `${name}=${value}`,
    `Path=${path}`,
    ...(domain.startsWith('.') ? [`Domain=${domain.slice(1)}`] : []),
    ...(expires > 0 ? [`Expires=${new Date(expires * 1000).toUTCString()}`] : []),
    ...(secure ? ['Secure'] : []),
    ...(httpOnly ? ['HttpOnly'] : []),
    ...(sameSite ? [`SameSite=${sameSite}`] : []),
  ].join('; ')
}
