/** Makes the crawl's errors of what a visit ends with. */

import { DownloadError, type DownloadFailureKind, type Request, WebloomError } from '@webloom/core'
import { unavailable } from '../chromium/find-chromium.ts'
import { PageCrashed } from './page-visit.ts'

const KINDS: readonly (readonly [RegExp, DownloadFailureKind])[] = [
  [/ERR_CERT_|ERR_SSL_|ERR_BAD_SSL/, 'DownloadCertificateError'],
  [/ERR_NAME_NOT_RESOLVED/, 'CannotResolveHostError'],
  [/ERR_CONNECTION_REFUSED/, 'DownloadConnectionRefusedError'],
  [/ERR_TIMED_OUT|ERR_CONNECTION_TIMED_OUT|Timeout \d+ms exceeded/, 'DownloadTimeoutError'],
]

const NO_SELECTOR =
  /while parsing (?:css )?selector|Unknown engine|is not a valid (?:XPath expression|selector)/

/**
 * Returns the error that the download rejects with. Its kind decides whether the crawl tries again; what is an error of ours stays as it is.
 *
 * @param isDead the browser has ended, and its pages with it
 */
export function visitError(request: Request, error: unknown, isDead: boolean): unknown {
  if (error instanceof WebloomError) return error
  if (!(error instanceof Error)) return error
  if (isDead)
    return new DownloadError(
      'DownloadFailedError',
      `${request}: the browser ended while it rendered the page`,
      { cause: error },
    )
  if (error instanceof PageCrashed)
    return new DownloadError(
      'DownloadFailedError',
      `${request}: the page crashed, or took more memory than one may`,
      {
        cause: error,
      },
    )
  const message = error.message.split('\n')[0]!
  // So says Lightpanda.
  if (/more than one browser context/.test(message))
    return unavailable(
      'the browser of BROWSER_CDP_URL has one page at a time. Ask for no more:  -s BROWSER_PAGES=1',
      error,
    )
  // It would be the same the next time.
  if (NO_SELECTOR.test(message))
    return new WebloomError('WL_REQUEST_INVALID', `meta.browser of ${request}: ${message}`, { cause: error })
  const kind = KINDS.find(([pattern]) => pattern.test(message))?.[1] ?? 'DownloadFailedError'
  return new DownloadError(kind, `${request}: ${message}`, { cause: error })
}
