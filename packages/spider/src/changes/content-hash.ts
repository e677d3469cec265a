import { hash } from 'node:crypto'
import { contentText } from './content-text.ts'
import { masked } from './masked-text.ts'

/** What a page is made of, as far as it matters here. */
export interface HashedPage {
  /** Media type of the Content-Type header, in lower case: `text/html`. */
  readonly type: string
  readonly body: Uint8Array
  /** The body as text; called for texts only. */
  readonly text: () => string
}

// Of changes one in 2 ** 32 is overlooked, until the next one; each byte more is one for each page of a crawl.
const HEX_DIGITS = 8
/** A sitemap's dates are what it says. */
const SITEMAP = /<(?:\w+:)?(?:urlset|sitemapindex)[\s>]/
const SITEMAP_BEGIN_MAX = 2048

/** Returns 32 bits of what a page says, as hex: the same for a page that has not changed. */
export function contentHash({ type, body, text }: HashedPage): string {
  if (type === 'text/html' || type === 'application/xhtml+xml') return digest(contentText(text()))
  if (SITEMAP.test(new TextDecoder('latin1').decode(body.subarray(0, SITEMAP_BEGIN_MAX)))) return digest(body)
  if (type.startsWith('text/') || /^application\/(?:.*\+)?(?:json|xml)$/.test(type))
    return digest(masked(text()))
  return digest(body)
}

/** Returns 32 bits of what a spider takes for the content of a page. */
export function valueHash(value: unknown): string {
  return digest(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
}

function digest(content: string | Uint8Array): string {
  return hash('sha256', content).slice(0, HEX_DIGITS)
}
