import { createHash, timingSafeEqual } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'

/** Long enough that nobody guesses it, however often they try. */
export const TOKEN_CHARS_MIN = 16

/**
 * Answers only those who send the token: as `Authorization: Bearer <token>`, or as the password that a browser asks for, with any name.
 */
export function tokenOnly(token: string): MiddlewareHandler {
  const wanted = digestOf(token)
  return async (c, next) => {
    const given = tokenIn(c.req.header('authorization') ?? '')
    // Digests are of one length, and comparing them takes one time.
    if (given !== undefined && timingSafeEqual(digestOf(given), wanted)) return next()
    c.header('WWW-Authenticate', 'Basic realm="webloom", charset="UTF-8"')
    const message =
      'expected the token of this dashboard: Authorization: Bearer <token>, or in a browser as the password'
    return c.json({ error: { status: 401, message, where: 'header Authorization' } }, 401)
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function tokenIn(header: string): string | undefined {
  const [, scheme = '', value = ''] = /^(\w+) +(\S+) *$/.exec(header) ?? []
  if (scheme.toLowerCase() === 'bearer') return value
  if (scheme.toLowerCase() !== 'basic') return undefined
  const pair = Buffer.from(value, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  return colon < 0 ? undefined : pair.slice(colon + 1)
}
