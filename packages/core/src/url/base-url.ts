import { InvalidUrl } from '../errors.ts'
import { urlJoin } from './join.ts'
import { safeUrlString } from './safe-url.ts'

// As far as Scrapy looks; a <base> further down is ignored.
const BASE_SEARCH_CHARS = 4_096
const BASE = /<base\s(?:[^>]*\s)?href\s*=\s*(?:"\s*([^"\s]+)\s*"|'\s*([^'\s]+)\s*'|([^"'\s>]+))/i

/** What relative links of a page are relative to: its `<base href>`, else its own URL. */
export function baseUrlOf(text: string, url: string, encoding: string): string {
  const head = text.slice(0, BASE_SEARCH_CHARS)
  if (!/<base\s/i.test(head)) return url
  const match = BASE.exec(head.replace(/<!--[\s\S]*?(?:-->|$)/g, ''))
  const href = match?.[1] ?? match?.[2] ?? match?.[3]
  if (href === undefined) return url
  try {
    return urlJoin(url, safeUrlString(href, encoding))
  } catch (error) {
    if (error instanceof InvalidUrl) return url // as browsers do; the page's own links may well be right
    throw error
  }
}
