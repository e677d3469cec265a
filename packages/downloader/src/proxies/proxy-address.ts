import { InvalidUrl, type Request } from '@webloom/core'

/** A proxy as a connection needs it: its URL without user and password, and the header that holds them. */
export interface ProxyAddress {
  readonly url: string
  /** The value of the Proxy-Authorization header. */
  readonly authorization?: string
}

/**
 * Reads `http://user:password@host:port`; the scheme may be left out. Throws `InvalidUrl`, without user and password in its
 * message.
 */
export function proxyAddress(text: string, authEncoding: 'latin-1' | 'utf-8'): ProxyAddress {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  if (!url || url.hostname === '' || !['http:', 'https:'].includes(url.protocol)) {
    const shown = text.slice(text.lastIndexOf('@') + 1)
    throw new InvalidUrl(shown, 'expected a proxy as http://host:port or https://host:port')
  }
  const address = { url: url.origin }
  if (url.username === '') return address
  const userAndPassword = `${unescaped(url.username)}:${unescaped(url.password)}`
  const bytes = Buffer.from(userAndPassword, authEncoding === 'utf-8' ? 'utf8' : 'latin1')
  return { ...address, authorization: `Basic ${bytes.toString('base64')}` }
}

/** Returns the proxy that `HttpProxyMiddleware` has written into the request; undefined when it goes out directly. */
export function proxyOf(request: Request): ProxyAddress | undefined {
  const url = request.hasMeta ? request.meta.proxy : undefined
  if (typeof url !== 'string' || url === '') return undefined
  const authorization = request.headers.get('proxy-authorization')
  return { url, ...(authorization !== null && { authorization }) }
}

/** Returns the proxy as messages name it. A `meta.proxy` that no middleware has read may hold a password. */
export function proxyShown({ url }: ProxyAddress): string {
  return url.replace(/\/\/[^/]*@/, '//')
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // The password holds a % that begins no escape.
    return text
  }
}
