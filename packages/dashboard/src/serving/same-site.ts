import type { MiddlewareHandler } from 'hono'
import { Refusal } from '../verbs/refusal.ts'

/**
 * Refuses what a page of another site sends by its reader's browser. Such a page may send a form or plain text without asking; it cannot
 * send JSON without asking, says where it comes from (`Origin`), and newer browsers say that it is another site (`Sec-Fetch-Site`).
 * Each of the three is enough alone. Programs that are no browsers send neither header.
 */
export function sameSiteOnly(): MiddlewareHandler {
  return async (c, next) => {
    const { method } = c.req
    if (method === 'GET' || method === 'HEAD') return next()
    const site = c.req.header('sec-fetch-site')
    if (site !== undefined && site !== 'same-origin' && site !== 'none')
      throw new Refusal(403, 'pages of other sites may not change anything here', 'header Sec-Fetch-Site')
    const origin = c.req.header('origin')
    if (origin !== undefined && !isOriginOf(origin, c.req.header('host') ?? ''))
      throw new Refusal(
        403,
        'pages of other sites may not change anything here; a proxy in front must pass on the header Host',
        'header Origin',
      )
    const type = (c.req.header('content-type') ?? '').split(';')[0]!.trim().toLowerCase()
    if (type !== 'application/json')
      throw new Refusal(415, 'expected the header  Content-Type: application/json', 'header Content-Type')
    return next()
  }
}

/** The scheme is not compared: behind a proxy this server does not know it. */
function isOriginOf(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false
  const { protocol, host: from } = new URL(origin)
  const here = `${protocol}//${host}`
  return /^https?:$/.test(protocol) && URL.canParse(here) && new URL(here).host === from
}
