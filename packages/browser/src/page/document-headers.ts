import type { Request } from '@webloom/core'

/** A header as CDP has it. */
export interface HeaderEntry {
  readonly name: string
  readonly value: string
}

/**
 * Headers of a request that the browser writes itself, as its pages are otherwise not those of that browser; or that are no
 * business of the site's.
 */
const BROWSERS_OWN: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'cookie',
  'host',
  'proxy-authorization',
  'user-agent',
])

/**
 * Returns the headers of the document: those of the browser, and those of the request that are neither the browser's own nor those
 * that every request of the crawl has (DEFAULT_REQUEST_HEADERS). Undefined: the browser's alone.
 */
export function documentHeaders(
  request: Request,
  browsers: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, unknown>>,
): HeaderEntry[] | undefined {
  if (!request.hasHeaders) return undefined
  const usual = new Map(Object.entries(defaults).map(([name, value]) => [name.toLowerCase(), String(value)]))
  const own = [...request.headers].filter(
    ([name, value]) => !BROWSERS_OWN.has(name) && usual.get(name) !== value,
  )
  if (own.length === 0) return undefined
  const names = new Set(own.map(([name]) => name))
  return [
    ...Object.entries(browsers)
      .filter(([name]) => !names.has(name.toLowerCase()))
      .map(([name, value]) => ({ name, value })),
    ...own.map(([name, value]) => ({ name, value })),
  ]
}
