import { InvalidUrl } from './errors.ts'
import { urlJoin } from './join.ts'
import { safeUrlString } from './safe-url.ts'
import { NEWEST_URL_RULES, type UrlRules } from './url-rules.ts'

// As far as Scrapy looks; a <base> further down is ignored.
const BASE_SEARCH_CHARS = 4_096
const BASE = /<base\s(?:[^>]*\s)?href\s*=\s*(?:"\s*([^"\s]+)\s*"|'\s*([^'\s]+)\s*'|([^"'\s>]+))/i

/** What relative links of a page are relative to: its `<base href>`, else its own URL, both made safe. */
export function baseUrlOf(
  text: string,
  url: string,
  encoding: string,
  rules: UrlRules = NEWEST_URL_RULES,
): string {
  const head = text.slice(0, BASE_SEARCH_CHARS)
  const own = orAsItIs(url, () => safeUrlString(url, { rules }))
  if (!/<base\s/i.test(head)) return own
  const match = BASE.exec(head.replace(/<!--[\s\S]*?(?:-->|$)/g, ''))
  const href = match?.[1] ?? match?.[2] ?? match?.[3]
  if (href === undefined) return own
  return orAsItIs(own, () => urlJoin(own, safeUrlString(href, { encoding, rules })))
}

/** A broken one counts for nothing, as with browsers: the page's own links may well be right. */
function orAsItIs(url: string, make: () => string): string {
  try {
    return make()
  } catch (error) {
    if (error instanceof InvalidUrl) return url
    throw error
  }
}
