import { InvalidUrl } from './errors.ts'
import { stripHtmlSpace } from './html-space.ts'
import { urlJoin } from './join.ts'
import { safeUrlString } from './safe-url.ts'
import { NEWEST_URL_RULES, type UrlRules } from './url-rules.ts'

// As far as Scrapy looks; a <base> further down is ignored. It also bounds what the patterns below may cost.
const BASE_SEARCH_CHARS = 4_096

/**
 * Returns what relative links of a page are relative to: the first `<base href>` that is neither in a comment nor in a
 * script, else the page's own URL, both made safe. An empty href is the page's own URL, as for w3lib and browsers.
 */
export function baseUrlOf(
  text: string,
  url: string,
  encoding: string,
  rules: UrlRules = NEWEST_URL_RULES,
): string {
  const head = text.slice(0, BASE_SEARCH_CHARS)
  const own = orAsItIs(url, () => safeUrlString(url, { rules }))
  const href = /<base\s/i.test(head) ? stripHtmlSpace(firstHrefOf(head) ?? '') : ''
  return href === '' ? own : orAsItIs(own, () => urlJoin(own, safeUrlString(href, { encoding, rules })))
}

// What holds no tags is passed over whole, to the end of the text where it does not end.
const PASSED_OR_BASE =
  /<!--[\s\S]*?(?:-->|$)|<(script|noscript)\b[^>]*>[\s\S]*?(?:<\/\1>|$)|<base\s((?:=\s*"[^"]*"|=\s*'[^']*'|[^<>])*)/gi

const ATTRIBUTE = /([^\s<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]*)))?/g

/** Returns the first href of the first `<base>` that has one; empty when it has no value. */
function firstHrefOf(head: string): string | undefined {
  for (const [, , attributes] of head.matchAll(PASSED_OR_BASE))
    for (const [, name, double, single, bare] of (attributes ?? '').matchAll(ATTRIBUTE))
      if (name!.toLowerCase() === 'href') return double ?? single ?? bare ?? ''
  return undefined
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
