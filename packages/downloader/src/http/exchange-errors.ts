/** Makes the crawl's errors of what ends an exchange. */

import {
  DownloadError,
  type DownloadFailureKind,
  type ProtectionReason,
  type Request,
  WebloomError,
} from '@webloom/core'
import { TLS_CLOSED } from '../connecting/site-connector.ts'
import { proxyOf, proxyShown } from '../proxies/proxy-address.ts'

/** The codes of requests that undici refuses to send: a header with a control character, `Expect`, a wrong Content-Length. */
const REQUESTS_OWN_FAULT: ReadonlySet<string> = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
])

/**
 * Returns the error for a failure that undici or Node reports before there was an answer.
 *
 * @param unread as in `DownloadError`
 */
export function failureBeforeAnswer(request: Request, error: Error, unread: boolean): WebloomError {
  const cause = error instanceof AggregateError ? ((error.errors[0] as Error | undefined) ?? error) : error
  // The connector's own errors: no address, or none that may be connected to.
  if (cause instanceof WebloomError) return cause
  const { message } = cause
  const code = codeOf(cause)
  // undici uses one of these codes for a proxy that answers 407, too. A proxy that refuses a tunnel has a code of its own.
  if (REQUESTS_OWN_FAULT.has(code) && !message.startsWith('Proxy Authentication Required')) {
    // Another try would fail in the same way.
    return new WebloomError('WL_REQUEST_INVALID', `${request} cannot be sent: ${message}`, { cause })
  }
  const { kind, reason, hint = '' } = meaningOf(cause.name, code, message)
  const detail = `${wayOf(request)}: ${inWords(message) || code || cause.name}${hint}`
  return failed(kind, request, detail, { cause, unread, ...(reason && { reason }) })
}

/** A DOMException, such as that of AbortSignal.timeout(), has a number as its code, which means nothing here. */
function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** Returns the readable part of OpenSSL's `407D…:error:0A00010B:SSL routines:<function>:<what is wrong>:<file>:<line>:`. */
function inWords(message: string): string {
  const wrong = /:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):/.exec(message)?.[1]
  return wrong === undefined ? message : `TLS failed: ${wrong}`
}

export function tooLate(request: Request, timeoutMs: number): DownloadError {
  const detail = `${wayOf(request)} took longer than ${timeoutMs / 1000} s (DOWNLOAD_TIMEOUT)`
  return failed('DownloadTimeoutError', request, detail, { reason: 'deadline' })
}

/** Makes an error whose message is the request and a detail, which another message can be made from. */
function failed(
  kind: DownloadFailureKind,
  request: Request,
  detail: string,
  options: { readonly cause?: unknown; readonly reason?: ProtectionReason; readonly unread?: boolean },
): DownloadError {
  const via = proxyOf(request) ? 'proxy' : undefined
  return new DownloadError(kind, `${request}${detail}`, { ...options, detail, via })
}

/** Returns the proxy's name for the message. Its password must not get into the log. */
function wayOf(request: Request): string {
  const proxy = proxyOf(request)
  return proxy ? ` by the proxy ${proxyShown(proxy)}` : ''
}

export function tooSlow(
  request: Request,
  reason: 'slow_headers' | 'slow_body',
  { rateMin, rateWindowMs }: { rateMin: number; rateWindowMs: number },
): DownloadError {
  const seconds = rateWindowMs / 1000
  const detail =
    reason === 'slow_headers'
      ? `: the headers began to come and were not complete within ${seconds} s (DOWNLOAD_RATE_WINDOW)`
      : `: less than ${rateMin} bytes/s (DOWNLOAD_MIN_RATE) in ${seconds} s (DOWNLOAD_RATE_WINDOW)`
  return failed('DownloadTimeoutError', request, detail, { reason })
}

export function tooMuch(request: Request, reason: ProtectionReason, what: string): DownloadError {
  return failed('DownloadTooLargeError', request, `: ${what}`, { reason })
}

export function endedTooEarly(request: Request, bytes: number, cause: Error): DownloadError {
  const detail = ` ended after ${bytes} bytes: ${cause.message} (DOWNLOAD_FAIL_ON_DATALOSS=false hands on what came)`
  return failed('ResponseDataLossError', request, detail, { cause, reason: 'data_loss' })
}

interface Meaning {
  readonly kind: DownloadFailureKind
  readonly reason?: ProtectionReason
  readonly hint?: string
}

const MEANING_OF_CODE: Readonly<Record<string, Meaning>> = {
  ENOTFOUND: { kind: 'CannotResolveHostError' },
  EAI_AGAIN: { kind: 'CannotResolveHostError' },
  ECONNREFUSED: { kind: 'DownloadConnectionRefusedError' },
  ETIMEDOUT: { kind: 'DownloadTimeoutError' },
  UND_ERR_CONNECT_TIMEOUT: { kind: 'DownloadTimeoutError', reason: 'deadline' },
  UND_ERR_HEADERS_OVERFLOW: {
    kind: 'DownloadTooLargeError',
    reason: 'header_size',
    hint: ': more bytes of headers than DOWNLOAD_MAX_HEADER_SIZE',
  },
  [TLS_CLOSED]: { kind: 'DownloadFailedError', reason: 'bad_tls' },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: { kind: 'DownloadFailedError', reason: 'bad_http' },
  // undici asserts that a status has three digits in the valid range.
  ERR_ASSERTION: { kind: 'DownloadFailedError', reason: 'bad_http' },
}

// Node's codes for a bad certificate: OpenSSL's, and Node's own for a certificate of another host.
const CERTIFICATE =
  /^(?:CERT_|CRL_|UNABLE_TO_|ERR_TLS_CERT_|INVALID_|HOSTNAME_MISMATCH|PATH_LENGTH_EXCEEDED)|SELF_SIGNED_CERT/

// OpenSSL's messages for bytes that begin no TLS record, such as those of HTTP.
const NO_TLS = /wrong[ _]version[ _]number|packet[ _]length[ _]too[ _]long/i

function meaningOf(name: string, code: string, message: string): Meaning {
  if (CERTIFICATE.test(code)) {
    const hint = ' (DOWNLOAD_VERIFY_CERTIFICATES=false takes it all the same)'
    return { kind: 'DownloadCertificateError', reason: 'bad_certificate', hint }
  }
  const known = MEANING_OF_CODE[code]
  if (known) return known
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
    const hint = NO_TLS.test(code) || NO_TLS.test(message) ? ' (no TLS is spoken there; is it http://?)' : ''
    return { kind: 'DownloadFailedError', reason: 'bad_tls', hint }
  }
  // `bad response` and `bad upgrade`: an answer to no request, or one in another protocol.
  if (name === 'HTTPParserError' || (code === 'UND_ERR_SOCKET' && message.startsWith('bad ')))
    return { kind: 'DownloadFailedError', reason: 'bad_http' }
  return { kind: 'DownloadFailedError' }
}
