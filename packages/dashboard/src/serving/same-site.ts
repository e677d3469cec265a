import type { Context, MiddlewareHandler } from 'hono'
import { Refusal } from '../verbs/refusal.ts'

const ELSEWHERE = 'pages of other sites may not change anything here'

/**
 * Refuses what a page of another site sends by its reader's browser. Such a page may send a form or plain text without asking; it cannot
 * send JSON without asking, says where it comes from (`Origin`), and newer browsers say that it is another site (`Sec-Fetch-Site`).
 * Each of the three is enough alone. Programs that are not browsers send neither header.
 */
export function sameSiteOnly(): MiddlewareHandler {
  return async (c, next) => {
    const { method } = c.req
    if (method === 'GET' || method === 'HEAD') return next()
    refuseElsewhere(c)
    refuseType(c, 'application/json')
    return next()
  }
}

/**
 * The same for forms, which any site may send without asking: they must say that they come from here. Every browser of today sends
 * `Origin` with a form.
 */
export function ownFormsOnly(): MiddlewareHandler {
  return async (c, next) => {
    refuseElsewhere(c)
    const { 'sec-fetch-site': site, origin } = c.req.header()
    if (site !== 'same-origin' && origin === undefined)
      throw new Refusal(403, `${ELSEWHERE}, and nothing says that this comes from here; programs use /api`)
    refuseType(c, 'application/x-www-form-urlencoded')
    return next()
  }
}

function refuseElsewhere(c: Context): void {
  const site = c.req.header('sec-fetch-site')
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw new Refusal(403, ELSEWHERE, 'header Sec-Fetch-Site')
  const origin = c.req.header('origin')
  if (origin !== undefined && !isOriginOf(origin, c.req.header('host') ?? ''))
    throw new Refusal(403, `${ELSEWHERE}; a proxy in front must pass on the header Host`, 'header Origin')
}

function refuseType(c: Context, expected: string): void {
  const type = (c.req.header('content-type') ?? '').split(';')[0]!.trim().toLowerCase()
  if (type !== expected)
    throw new Refusal(415, `expected the header  Content-Type: ${expected}`, 'header Content-Type')
}

/** The scheme is not compared: behind a proxy this server does not know it. */
function isOriginOf(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, host: from } = new URL(origin)
  const here = `${protocol}//${host}`
  return /^https?:$/.test(protocol) && URL.canParse(here) && new URL(here).host === from
}
