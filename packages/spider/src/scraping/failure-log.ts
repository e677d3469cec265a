import { IgnoreRequest, isLockedOut, type Logger, throwerOf, WebloomError } from '@webloom/core'
import { HttpError } from '../spider-middlewares/http-error.ts'
import type { Failure } from './callback-output.ts'

/**
 * Logs why a request has come to nothing.
 *
 * @param onException called for an error that a spider middleware threw
 */
export function logFailure(
  { request, error, response }: Failure,
  logger: Logger,
  onException: (error: unknown) => void,
): void {
  const { url } = request
  if (error instanceof HttpError) {
    logger.info(
      { url, status: error.response.status },
      'the callback does not get this response: its HTTP status is not a success (handle_httpstatus_list)',
    )
  } else if (error instanceof Error && isLockedOut(error)) {
    // The crawl ends for that and has said so; the request goes to another worker.
    logger.debug({ url, reason: error.message }, 'the crawl ends before it could be downloaded')
  } else if (error instanceof IgnoreRequest) {
    logger.debug({ url, reason: error.message }, 'request dropped')
  } else if (response !== null) {
    onException(error)
    const who = throwerOf(error) ?? 'a spider middleware'
    logger.error({ url, err: error }, `${who} threw; the callback did not get the response`)
  } else if (error instanceof WebloomError) {
    logger.error({ url, code: error.code, reason: error.message }, 'could not be downloaded')
  } else {
    logger.error(
      { url, err: error },
      `${throwerOf(error) ?? 'a downloader middleware'} threw; the request is given up`,
    )
  }
}
