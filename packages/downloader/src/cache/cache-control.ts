import type { Headers } from '@webloom/core'

/**
 * The directives of Cache-Control by name in lower case, each with its value or null. Of a directive given twice the first
 * one counts.
 */
export type CacheControl = ReadonlyMap<string, string | null>

const DIRECTIVE = /([!#$%&'*+\-.^_`|~\w]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*)))?/g

/** Returns what `Cache-Control` says; of a request without that header, what the older `Pragma: no-cache` says. */
export function cacheControl(headers: Headers): CacheControl {
  const directives = new Map<string, string | null>()
  const text = headers.getAll('cache-control').join(',')
  for (const [, name, quoted, token] of text.matchAll(DIRECTIVE)) {
    const known = name!.toLowerCase()
    if (!directives.has(known)) directives.set(known, quoted?.replace(/\\(.)/g, '$1') ?? token ?? null)
  }
  if (directives.size === 0 && /\bno-cache\b/i.test(headers.get('pragma') ?? ''))
    directives.set('no-cache', null)
  return directives
}

/** Returns the seconds of a directive such as `max-age`; undefined when the directive is absent or its value is not a number. */
export function deltaSeconds(directives: CacheControl, name: string): number | undefined {
  const value = directives.get(name)
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : undefined
}
