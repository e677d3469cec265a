/**
 * A failure as it is stored. What is known of it and its request are apart, so that a list of thousands reads no request:
 *
 *     {"url":…,"reason":…,"kind":…,"message":…,"status":…,"attempts":…,"worker":…}
 *     {"v":1,"url":…}     the request, or nothing when it is larger than REQUEST_BYTES_MAX
 *
 * A store adds `number` and `at` at the beginning of the first.
 */

import {
  type FailureReason,
  type FailureSummary,
  failureSignature,
  type GivenUp,
  type Lease,
  type LedgerEntry,
  type QueuedRequest,
  type Request,
  type RequestJson,
  requestFromJson,
} from '@webloom/core'

const URL_CHARS_MAX = 2000
/** A larger request is not kept: its failure is, and cannot be retried. */
const REQUEST_BYTES_MAX = 256 * 1024

/** What a failure is stored of. */
export interface NewFailure {
  readonly id: string
  readonly signature: string
  /** JSON. */
  readonly known: string
  /** JSON; '' for a request that is too large. */
  readonly request: string
}

/** What is known of a stored failure, as JSON has it. */
export interface KnownFailure extends FailureSummary {
  readonly number: number
  readonly attempts: number
  readonly worker: string
}

/** @param json the request's JSON form */
export function newFailure(
  { id, request, attempt }: Pick<Lease, 'id' | 'request' | 'attempt'>,
  { reason, kind, message, signature, status }: GivenUp,
  { worker, json }: { readonly worker: string; readonly json: string },
): NewFailure {
  const url = request.url.slice(0, URL_CHARS_MAX)
  const tries = request.hasMeta ? request.meta.retry_times : undefined
  const attempts = attempt + (typeof tries === 'number' ? tries : 0)
  const known = { url, reason, kind, message, ...(status !== undefined && { status }), attempts, worker }
  const isKept = Buffer.byteLength(json) <= REQUEST_BYTES_MAX
  return { id, signature, known: JSON.stringify(known), request: isKept ? json : '' }
}

/** Returns the text that `lua/failures/ledger.lua` keeps. */
export function failureText({ id, signature, known, request }: NewFailure, most: number): string {
  return [id, signature, most, known, request].join('\n')
}

/** Returns the text `known` with the number and the time that a store adds. */
export function stored(known: string, number: number, at: number): string {
  return `{"number":${number},"at":${at},${known.slice(1)}`
}

export function failedRequest(
  id: string,
  signature: string,
  known: KnownFailure,
  request: string,
): LedgerEntry {
  const { number, ...told } = known
  const json = request === '' ? undefined : (JSON.parse(request) as RequestJson)
  return { ...told, id, key: `f${number}`, signature, ...(json && { request: json }) }
}

export function summaryOf({ at, url, reason, kind, message, status }: FailureSummary): FailureSummary {
  return { at, url, reason, kind, message, ...(status !== undefined && { status }) }
}

/** Tells entries that were not there yet when a ledger had been told of so many failures. */
export function laterThan(total: number): (entry: LedgerEntry) => boolean {
  return ({ key }) => key.startsWith('f') && Number(key.slice(1)) > total
}

/** Returns the request as if it had never been tried; undefined when it is not there, or this release cannot read it. */
export function retriedOf({ id, request: json }: LedgerEntry): QueuedRequest | undefined {
  if (!json) return undefined
  try {
    return { id, request: untried(requestFromJson(json)) }
  } catch {
    return undefined
  }
}

/** How often it was tried. */
const TRIES = ['retry_times', 'host_retry_times', 'unread_times']

function untried(request: Request): Request {
  if (!request.hasMeta) return request
  const kept = Object.entries(request.meta).filter(([key]) => !TRIES.includes(key))
  return request.replace({ meta: Object.fromEntries(kept) })
}

const QUARANTINED: FailureReason = 'quarantined'

/** Returns the signature of a request in quarantine, made of the reason why it is there. */
export function quarantinedSignature(message: string): string {
  return failureSignature(QUARANTINED, message)
}

export function isQuarantined(signature: string): boolean {
  return signature.startsWith(`${QUARANTINED}:`)
}
