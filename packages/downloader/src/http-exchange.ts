/** One request and its answer over HTTP, within its bounds. */

import { DownloadError, type DownloadFailureKind, type Request, WebloomError } from '@webloom/core'
import type { Dispatcher } from 'undici'

export interface BodyLimits {
  readonly bytesMax: number
  readonly bytesWarn: number
  readonly failOnDataLoss: boolean
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly chunks: Buffer[]
  readonly bytes: number
  /** From the moment the request left to its headers. */
  readonly latencyMs: number
  readonly lossy: boolean
}

/** One request and its answer. Settles exactly once, however undici, the deadline and the caller's signal race. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly #request: Request
  readonly #limits: BodyLimits
  readonly #onStart: () => void
  readonly #resolve: (answer: Answer) => void
  readonly #reject: (error: unknown) => void
  readonly #signal: AbortSignal
  readonly #deadline: NodeJS.Timeout
  readonly #chunks: Buffer[] = []
  #controller: Dispatcher.DispatchController | undefined
  #settled = false
  #startedAtMs = 0
  #latencyMs = 0
  #status = 0
  #headers: Answer['headers'] = {}
  #bytes = 0

  constructor(
    request: Request,
    limits: BodyLimits,
    timeoutMs: number,
    signal: AbortSignal,
    onStart: () => void,
    resolve: (answer: Answer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request
    this.#limits = limits
    this.#onStart = onStart
    this.#resolve = resolve
    this.#reject = reject
    this.#signal = signal
    this.#deadline = setTimeout(() => {
      this.#fail(
        new DownloadError(
          'DownloadTimeoutError',
          `${request} took longer than ${timeoutMs / 1000} s (DOWNLOAD_TIMEOUT)`,
        ),
      )
    }, timeoutMs)
    signal.addEventListener('abort', this.#onAbort)
    if (signal.aborted) this.#onAbort()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#settled) {
      controller.abort(new Error('no longer wanted'))
      return
    }
    this.#controller = controller
    this.#startedAtMs = performance.now()
    this.#onStart()
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Answer['headers']): void {
    // 1xx answers only announce the real one.
    if (status < 200) return
    this.#latencyMs = performance.now() - this.#startedAtMs
    this.#status = status
    this.#headers = headers
    // These announce the length of a body that does not come.
    if (this.#request.method === 'HEAD' || status === 204 || status === 304) return
    this.#checkSize(Number(headers['content-length'] ?? 0))
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length
    this.#chunks.push(chunk)
    this.#checkSize(this.#bytes)
  }

  onResponseEnd(): void {
    this.#succeed(false)
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#status === 0) this.#fail(downloadError(this.#request, error))
    else if (this.#limits.failOnDataLoss) {
      const message = `${this.#request} ended after ${this.#bytes} bytes: ${error.message} (DOWNLOAD_FAIL_ON_DATALOSS=false hands on what came)`
      this.#fail(new DownloadError('ResponseDataLossError', message, { cause: error }))
    } else this.#succeed(true)
  }

  #onAbort = (): void => this.#fail(this.#signal.reason)

  #checkSize(bytes: number): void {
    const { bytesMax } = this.#limits
    if (bytesMax === 0 || bytes <= bytesMax) return
    this.#fail(
      new DownloadError(
        'DownloadTooLargeError',
        `${this.#request}: body of ${bytes} bytes or more; DOWNLOAD_MAXSIZE is ${bytesMax}`,
      ),
    )
  }

  #succeed(lossy: boolean): void {
    if (!this.#settle()) return
    this.#resolve({
      status: this.#status,
      headers: this.#headers,
      chunks: this.#chunks,
      bytes: this.#bytes,
      latencyMs: this.#latencyMs,
      lossy,
    })
  }

  #fail(error: unknown): void {
    if (!this.#settle()) return
    this.#reject(error)
    this.#controller?.abort(error instanceof Error ? error : new Error(String(error)))
  }

  #settle(): boolean {
    if (this.#settled) return false
    this.#settled = true
    clearTimeout(this.#deadline)
    this.#signal.removeEventListener('abort', this.#onAbort)
    return true
  }
}

const KIND_OF_CODE: Readonly<Record<string, DownloadFailureKind>> = {
  ENOTFOUND: 'CannotResolveHostError',
  EAI_AGAIN: 'CannotResolveHostError',
  ECONNREFUSED: 'DownloadConnectionRefusedError',
  UND_ERR_CONNECT_TIMEOUT: 'DownloadTimeoutError',
  UND_ERR_HEADERS_TIMEOUT: 'DownloadTimeoutError',
  UND_ERR_BODY_TIMEOUT: 'DownloadTimeoutError',
  ETIMEDOUT: 'DownloadTimeoutError',
}

function downloadError(request: Request, error: Error & { code?: string }): unknown {
  const cause =
    error instanceof AggregateError ? ((error.errors[0] as Error & { code?: string }) ?? error) : error
  // undici's word for a proxy that answers 407; one that refuses a tunnel has a code of its own.
  if (cause.code === 'UND_ERR_INVALID_ARG' && !cause.message.startsWith('Proxy Authentication Required')) {
    // Asking again would change nothing.
    return new WebloomError('WL_REQUEST_INVALID', `${request} cannot be sent: ${cause.message}`, { cause })
  }
  const kind = KIND_OF_CODE[cause.code ?? ''] ?? 'DownloadFailedError'
  return new DownloadError(kind, `${request}: ${cause.message || cause.code || cause.name}`, { cause })
}
