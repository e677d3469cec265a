/**
 * What becomes of a failure: an entry in the ledger of failures, or nothing. `docs/decisions/failures.md` says which and why.
 *
 *     download failed, all retries over      download     an errback that yields something in its place has dealt with it
 *     a status that no callback takes        status       the same
 *     host or robots.txt given up            host, robots the same
 *     a middleware threw                     middleware   the same
 *     a callback threw                       callback     unless processSpiderException yielded something in its place
 *     a request was refused (IgnoreRequest)  none         nobody wants the page
 */

import { gzipSync } from 'node:zlib'
import {
  DownloadError,
  type FailureReason,
  type FailureSnapshot,
  failureSignature,
  type GivenUp,
  IgnoreRequest,
  WebloomError,
} from '@webloom/core'
import type { Response } from '../responses/response.ts'
import { HttpError } from '../spider-middlewares/http-error.ts'
import type { Failure } from './callback-output.ts'
import { thrownMessage, thrownName } from './error-kinds.ts'

/** A longer message is cut. */
const MESSAGE_CHARS_MAX = 500
/** The most of a snapshot, as gzip. */
const SNAPSHOT_BYTES_MAX = 64 * 1024
/** So much of a body is packed at first: most pages are a quarter of it then. */
const BODY_BYTES_MAX = 256 * 1024
/** How many signatures a worker remembers; one that it has forgotten costs a snapshot more that nobody keeps. */
const REMEMBERED_MAX = 500

/** Returns why a request was given up; undefined for one that was refused, as nobody wants that page. */
export function givenUpOf({ error, response }: Failure): GivenUp | undefined {
  if (error instanceof HttpError) {
    const { status } = error.response
    return {
      reason: 'status',
      kind: 'HttpError',
      message: `status ${status}`,
      signature: `status-${status}`,
      status,
    }
  }
  const reason = reasonOf(error)
  return reason && givenUp(reason, error, response)
}

/** Returns the failure of a page whose callback threw. */
export function threwFor(error: unknown, response: Response): GivenUp {
  const { callback } = response.request
  return givenUp('callback', error, response, typeof callback === 'string' ? callback : 'parse')
}

function reasonOf(error: unknown): GivenUp['reason'] | undefined {
  if (error instanceof DownloadError) return 'download'
  if (error instanceof IgnoreRequest) return REASON_OF_CODE[error.code]
  return 'middleware'
}

const REASON_OF_CODE: Readonly<Record<string, 'host' | 'robots'>> = {
  WL_HOST_GIVEN_UP: 'host',
  WL_ROBOTS_GIVEN_UP: 'robots',
}

function givenUp(
  reason: Exclude<FailureReason, 'quarantined'>,
  error: unknown,
  response: Response | null,
  callback?: string,
): GivenUp {
  const kind = kindOf(error)
  const message = thrownMessage(error).slice(0, MESSAGE_CHARS_MAX)
  const signature = failureSignature(kind, message, callback)
  return { reason, kind, message, signature, ...(response && { status: response.status }) }
}

function kindOf(error: unknown): string {
  if (error instanceof DownloadError) return error.reason ?? error.kind
  if (error instanceof WebloomError) return error.code
  return thrownName(error)
}

/** Adds the response to the first failure of each signature that this process meets. */
export class FailureSnapshots {
  readonly #met = new Set<string>()

  with(failure: GivenUp, response: Response | null): GivenUp {
    if (!response || this.#met.has(failure.signature)) return failure
    if (this.#met.size >= REMEMBERED_MAX) this.#met.clear()
    this.#met.add(failure.signature)
    return { ...failure, snapshot: snapshotOf(response) }
  }
}

function snapshotOf({ url, status, headers, body }: Response): FailureSnapshot {
  let packed = gzipSync(body.subarray(0, BODY_BYTES_MAX))
  for (let bytes = BODY_BYTES_MAX; packed.length > SNAPSHOT_BYTES_MAX; ) {
    bytes = Math.floor(bytes / 2)
    packed = gzipSync(body.subarray(0, bytes))
  }
  const contentType = headers.get('content-type') ?? ''
  return {
    url: url.slice(0, 2000),
    status,
    contentType: contentType.slice(0, 200),
    bytes: body.length,
    body: packed.toString('base64'),
  }
}
