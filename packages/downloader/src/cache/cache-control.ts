import type { Headers } from '@webloom/core'

/** Directives of Cache-Control by name in lower case, each with its value or null. Of one given twice the first counts. */
export type CacheControl = ReadonlyMap<string, string | null>

const DIRECTIVE = /([!#$%&'*+\-.^_`|~\w]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*)))?/g

/** What `Cache-Control` says, or for a request without one the older `Pragma: no-cache`. */
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

/** A number of seconds, as of `max-age`; undefined when it is absent or none. */
export function deltaSeconds(directives: CacheControl, name: string): number | undefined {
  const value = directives.get(name)
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : undefined
}
