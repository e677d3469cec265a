/** A request in the form that undici takes. */

import { InvalidUrl, type Request } from '@webloom/core'

// Characters that no host name holds (URL standard, "forbidden host code point"), without the brackets of an IPv6 address.
const HOST_REFUSED = /[\x00-\x20\x7f#/<>?@\\^`{|}%"]/

/** Returns origin and path of a URL, cut out and not rewritten. */
export function wireTarget(url: string): { origin: string; path: string } {
  const authorityStart = url.indexOf('://') + 3
  let authorityEnd = authorityStart
  while (authorityEnd < url.length && !'/?#'.includes(url[authorityEnd]!)) authorityEnd++
  const at = url.lastIndexOf('@', authorityEnd - 1)
  const host = url.slice(at >= authorityStart ? at + 1 : authorityStart, authorityEnd)
  if (host === '' || host.startsWith(':')) throw new InvalidUrl(url, 'it names no host')
  if (HOST_REFUSED.test(host)) throw new InvalidUrl(url, `${JSON.stringify(host)} is not a host name`)
  const hash = url.indexOf('#', authorityEnd)
  const target = url.slice(authorityEnd, hash < 0 ? url.length : hash)
  return { origin: url.slice(0, authorityStart) + host, path: target.startsWith('/') ? target : `/${target}` }
}

const ASCII = /^[\x00-\x7f]*$/

export function wireHeaders(request: Request): string[] | null {
  if (!request.hasHeaders) return null
  const flat: string[] = []
  // As in Scrapy, characters outside ASCII go out as UTF-8. undici takes each character of a string for a byte.
  request.headers.forEach((name, value) => {
    // This header is for the proxy, and `ProxyAgents` sends it there. No site may see it.
    if (name === 'proxy-authorization') return
    flat.push(name, ASCII.test(value) ? value : Buffer.from(value, 'utf8').toString('latin1'))
  })
  return flat
}

/** Values by name, of a list in which names and values take turns. */
export function byName(flat: readonly string[] | null): Record<string, string[]> {
  // No prototype: `__proto__` and `constructor` can be names of headers, too.
  const headers: Record<string, string[]> = Object.create(null)
  for (let index = 0; flat && index < flat.length; index += 2) {
    const name = flat[index]!
    headers[name] ??= []
    headers[name].push(flat[index + 1]!)
  }
  return headers
}
