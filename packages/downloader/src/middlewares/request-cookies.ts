import type { DownloaderMiddleware, Request } from '@webloom/core'

/**
 * Sends the cookies that a request names. Those that servers set are not kept: there is no jar yet.
 * A Cookie header of the request's own wins.
 */
export class RequestCookiesMiddleware implements DownloaderMiddleware {
  processRequest(request: Request): void {
    const { cookies, headers } = request
    if (cookies === null || headers.has('cookie')) return
    const pairs = Array.isArray(cookies)
      ? cookies.map(({ name, value }) => [name, value])
      : Object.entries(cookies as Record<string, string>)
    if (pairs.length > 0) headers.set('cookie', pairs.map(([name, value]) => `${name}=${value}`).join('; '))
  }
}
