/** What holds for every answer: nothing of another site runs here, and no other site shows or reads this one. */

import type { MiddlewareHandler } from 'hono'

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // Other sites learn nothing; with `no-referrer` a form of ours would not say either where it comes from.
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
}

export function securityHeaders(): MiddlewareHandler {
  return async (c, next) => {
    await next()
    for (const [name, value] of Object.entries(HEADERS)) c.res.headers.set(name, value)
  }
}

const LOOPBACK_NAMES = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * A page of another site may have a name of its own lead to 127.0.0.1, and would then be of this origin for the browser. So a server on
 * loopback answers only those who call it by a name of loopback.
 */
export function loopbackNamesOnly(): MiddlewareHandler {
  return async (c, next) => {
    const name = (c.req.header('host') ?? '').replace(/:\d+$/, '').toLowerCase()
    if (!LOOPBACK_NAMES.test(name))
      return c.text(`this dashboard is asked for as localhost or 127.0.0.1\n`, 421)
    return next()
  }
}

export function isLoopback(host: string): boolean {
  return LOOPBACK_NAMES.test(host) || host === '::1'
}
