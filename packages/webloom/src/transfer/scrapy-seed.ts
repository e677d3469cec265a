import type { Request } from '@webloom/core'

/** Fields of a scrapy-redis seed that are not form data. */
const SEED_FIELDS = ['url', 'method', 'meta']
const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i

/**
 * The request as a start message that scrapy-redis takes: JSON with `url`, `method` and `meta`, and a posted form field by
 * field. Undefined for one that such a message cannot say: a callback, cookies, a body of another kind. Referers are left out.
 */
export function scrapySeed(request: Request): string | undefined {
  const { callback, errback, cookies, method } = request
  const isPlain = (callback === null || callback === 'parse') && errback === null && cookies === null
  if (!isPlain || (request.hasCbKwargs && Object.keys(request.cbKwargs).length > 0)) return undefined
  const form = formOf(request)
  if (!form || !hasUsualHeaders(request)) return undefined
  const meta = request.hasMeta && Object.keys(request.meta).length > 0 ? { meta: request.meta } : {}
  return JSON.stringify({ url: request.url, ...(method !== 'GET' && { method }), ...meta, ...form })
}

function formOf({ body, headers, method }: Request): Record<string, string[]> | undefined {
  if (body.length === 0) return {}
  if (method !== 'POST' || !FORM_TYPE.test(headers.get('content-type') ?? '')) return undefined
  // A field of a form may be called `constructor`.
  const form: Record<string, string[]> = Object.create(null)
  for (const [name, value] of new URLSearchParams(Buffer.from(body).toString('utf8'))) {
    if (SEED_FIELDS.includes(name) || name === '__proto__') return undefined
    form[name] ??= []
    form[name].push(value)
  }
  return form
}

function hasUsualHeaders({ headers, body }: Request): boolean {
  for (const [name] of headers) {
    if (name === 'referer' || (name === 'content-type' && body.length > 0)) continue
    return false
  }
  return true
}
