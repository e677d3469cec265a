import { DownloadError, type Request } from '@webloom/core'

/**
 * Throws when the request's URL has another scheme than its handler reads. `meta.download_handler` may lead any URL to any
 * handler.
 */
export function refuseOtherSchemes(request: Request, scheme: string): void {
  if (request.url.startsWith(`${scheme}:`)) return
  throw new DownloadError(
    'UnsupportedURLSchemeError',
    `${beginningOf(request.url)} is not a ${scheme}: URL; without meta.download_handler the handler of its scheme fetches it`,
  )
}

// A data: URL is as long as its page.
const SHOWN_CHARACTERS_MAX = 100

/** The URL as a message shows it. */
export function beginningOf(url: string): string {
  return url.length > SHOWN_CHARACTERS_MAX ? `${url.slice(0, SHOWN_CHARACTERS_MAX)}…` : url
}
