import { InvalidUrl, type Request } from '@webloom/core'

/** A proxy as a connection needs it: its URL without user and password, and what it is told of them. */
export interface ProxyAddress {
  readonly url: string
  /** Value of the Proxy-Authorization header. */
  readonly authorization?: string
}

/**
 * Reads `http://user:password@host:port`; without a scheme `http` is meant.
 * Throws `InvalidUrl`, with nothing of user and password in its message.
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

/** The proxy that a request goes by, as `HttpProxyMiddleware` has written it; undefined: none. */
export function proxyOf(request: Request): ProxyAddress | undefined {
  const url = request.hasMeta ? request.meta.proxy : undefined
  if (typeof url !== 'string' || url === '') return undefined
  const authorization = request.headers.get('proxy-authorization')
  return { url, ...(authorization !== null && { authorization }) }
}

/** The proxy as messages name it. A `meta.proxy` that no middleware has read may hold a password. */
export function proxyShown({ url }: ProxyAddress): string {
  return url.replace(/\/\/[^/]*@/, '//')
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A lone % in a password.
    return text
  }
}
