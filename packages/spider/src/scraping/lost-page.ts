import { DownloadError, type DownloadFailureKind } from '@webloom/core'
import { HttpError } from '../spider-middlewares/http-error.ts'
import type { Failure } from './callback-output.ts'

/** These come out the same each time. */
const FOR_GOOD: readonly DownloadFailureKind[] = ['DownloadTooLargeError', 'UnsupportedURLSchemeError']

/**
 * Whether a failure means that the page could not be had, though it may be there: its download failed, or the answer was
 * one of `passingStatuses` and no callback had asked for such. All retries are over by then. A callback that threw, a
 * request that a middleware refused and a page that is not there (404) are no such failures.
 */
export function couldNotBeHad({ error }: Failure, passingStatuses: ReadonlySet<number>): boolean {
  if (error instanceof HttpError) return passingStatuses.has(error.response.status)
  return error instanceof DownloadError && !FOR_GOOD.includes(error.kind)
}
