import { DownloadError, type DownloadFailureKind } from '@webloom/core'
import { HttpError } from '../spider-middlewares/http-error.ts'
import type { Failure } from './callback-output.ts'

/** Failures that are the same each time. */
const FOR_GOOD: readonly DownloadFailureKind[] = ['DownloadTooLargeError', 'UnsupportedURLSchemeError']

/**
 * Returns whether a failure means that the page could not be fetched though it may exist: its download failed, or the
 * answer had one of `passingStatuses` and no callback wanted it. All retries are over by then. No such failures are a
 * callback that threw, a request that a middleware refused, and a page that does not exist (404).
 */
export function isLostPage({ error }: Failure, passingStatuses: ReadonlySet<number>): boolean {
  if (error instanceof HttpError) return passingStatuses.has(error.response.status)
  return error instanceof DownloadError && !FOR_GOOD.includes(error.kind)
}
