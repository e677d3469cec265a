/** One request and its answer over HTTP, within its bounds. */

import type { Request } from '@webloom/core'
import type { Dispatcher } from 'undici'
import { wasClosedWhenUsedAgain } from '../connecting/used-connections.ts'
import { BodyChunks } from './body-chunks.ts'
import type { BodyRoom, ReceivedBody } from './body-room.ts'
import { Deadline } from './deadline.ts'
import { endedTooEarly, failureBeforeAnswer, tooLate, tooMuch, tooSlow } from './exchange-errors.ts'
import type { ExchangeLimits } from './exchange-limits.ts'
import { type RateClock, RateWatch } from './rate-watch.ts'
import { addReceivedBytes } from './received-bytes.ts'

export interface ExchangeOptions {
  readonly request: Request
  readonly limits: ExchangeLimits
  readonly room: BodyRoom
  /** The clock of `limits.rateMin` and `rateWindowMs`. */
  readonly rateClock: RateClock
  /** Milliseconds for connecting, headers and body together, without the time that the body waits for room. */
  readonly timeoutMs: number
  /** How much of that is over, as the host's name was looked up before. Default 0. */
  readonly elapsedMs?: number
  readonly signal: AbortSignal
  /** Called when the request leaves. */
  readonly onStart: () => void
  /** Returns the function that takes the body's chunks in place of `Answer.body`; undefined: the body is kept. */
  readonly bodyTo?: ((status: number, headers: Answer['headers']) => TakeChunk | undefined) | undefined
}

type TakeChunk = (chunk: Buffer) => void

/** A request and the end of its server's patience have crossed on the way when the end is here within so long; else the request may have been read. */
const CROSSED_MS_MAX = 5000

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
  /** Milliseconds from the request's leaving to the answer's headers. */
  readonly latencyMs: number
  readonly lossy: boolean
}

/**
 * Settles exactly once, however undici, the clocks and the caller's signal race. An answer that is cut off is discarded,
 * and its connection is closed.
 */
export class HttpExchange implements Dispatcher.DispatchHandler, ReceivedBody {
  readonly #options: ExchangeOptions
  readonly #resolve: (answer: Answer) => void
  readonly #reject: (error: unknown) => void
  readonly #deadline: Deadline
  readonly #rate: RateWatch
  readonly #body = new BodyChunks()
  #take: TakeChunk | undefined
  #takenBytes = 0
  #controller: Dispatcher.DispatchController | undefined
  #settled = false
  #hasAnswerBegun = false
  #startedAtMs = 0
  #latencyMs = 0
  #interimAnswers = 0
  #status = 0
  #headers: Answer['headers'] = {}

  constructor(options: ExchangeOptions, resolve: (answer: Answer) => void, reject: (error: unknown) => void) {
    const { request, limits, timeoutMs, elapsedMs = 0, signal, rateClock } = options
    this.#options = options
    this.#resolve = resolve
    this.#reject = reject
    this.#deadline = new Deadline(timeoutMs - elapsedMs, () => this.#fail(tooLate(request, timeoutMs)))
    this.#rate = new RateWatch(rateClock, () =>
      this.#fail(tooSlow(request, this.#status === 0 ? 'slow_headers' : 'slow_body', limits)),
    )
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
    this.#options.onStart()
  }

  /** Called by undici when the first byte of an answer's headers has come. */
  onResponseStarted(): void {
    this.#hasAnswerBegun = true
    if (!this.#settled) this.#rate.start()
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Answer['headers']): void {
    if (this.#settled) return
    if (status < 200) {
      this.#onInterimAnswer()
      return
    }
    this.#latencyMs = performance.now() - this.#startedAtMs
    this.#status = status
    this.#headers = headers
    this.#rate.start()
    this.#checkHeaders(headers)
    // These answers announce the length of a body that does not come.
    if (this.#options.request.method === 'HEAD' || status === 204 || status === 304) return
    const length = Number(headers['content-length'] ?? 0)
    if (!this.#options.limits.cutsBody) this.#checkSize(length)
    this.#attempt(() => {
      this.#take = this.#options.bodyTo?.(status, headers)
    })
    if (!this.#settled && !this.#take) this.#body.announce(length)
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return
    this.#rate.count(chunk.length)
    if (this.#take) this.#handOn(chunk, this.#take)
    else this.#keep(chunk)
  }

  onResponseEnd(): void {
    this.#succeed(false)
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    // undici hands back the reason of an exchange that was aborted here.
    if (this.#settled) return
    const { request, limits } = this.#options
    if (this.#status === 0) this.#fail(failureBeforeAnswer(request, error, this.#isUnreadAfter(error)))
    else if (limits.failOnDataLoss)
      this.#fail(endedTooEarly(request, this.#body.bytes + this.#takenBytes, error))
    else this.#succeed(true)
  }

  pause(): void {
    this.#deadline.pause()
    this.#rate.stop()
    this.#controller?.pause()
  }

  resume(): void {
    this.#deadline.resume()
    this.#rate.start()
    // Deferred: another exchange that has just ended may call this from within undici's parser, which cannot be entered
    // twice.
    queueMicrotask(() => this.#controller?.resume())
  }

  #onAbort = (): void => this.#fail(this.#options.signal.reason)

  #isUnreadAfter(error: Error): boolean {
    if (this.#hasAnswerBegun || !wasClosedWhenUsedAgain(error)) return false
    return performance.now() - this.#startedAtMs < CROSSED_MS_MAX
  }

  /** Called for a 1xx answer. The real answer follows, and its headers may take their full time again. */
  #onInterimAnswer(): void {
    this.#rate.stop()
    const { request, limits } = this.#options
    if (++this.#interimAnswers <= limits.interimAnswersMax) return
    const what = `${this.#interimAnswers} interim answers (1xx); DOWNLOAD_MAX_INTERIM_ANSWERS is ${limits.interimAnswersMax}`
    this.#fail(tooMuch(request, 'interim_answers', what))
  }

  #checkHeaders(headers: Answer['headers']): void {
    const { request, limits } = this.#options
    const count = headerCount(headers)
    if (count <= limits.headersMax) return
    this.#fail(
      tooMuch(request, 'header_count', `${count} headers; DOWNLOAD_MAX_HEADERS is ${limits.headersMax}`),
    )
  }

  #keep(chunk: Buffer): void {
    this.#body.add(chunk)
    this.#options.room.grow(this, chunk.length, this.#body.bytes)
    this.#checkSize(this.#body.bytes)
  }

  #handOn(chunk: Buffer, take: TakeChunk): void {
    this.#takenBytes += chunk.length
    this.#checkSize(this.#takenBytes)
    this.#attempt(() => take(chunk))
  }

  /** Calls code that is not ours. What it throws must not reach undici's parser. */
  #attempt(act: () => void): void {
    if (this.#settled) return
    try {
      act()
    } catch (error) {
      this.#fail(error)
    }
  }

  #checkSize(bytes: number): void {
    const { request, limits } = this.#options
    const { bodyBytesMax } = limits
    if (bodyBytesMax === 0 || !(bytes > bodyBytesMax)) return
    const what = `body of ${bytes} bytes or more; DOWNLOAD_MAXSIZE is ${bodyBytesMax}`
    if (limits.cutsBody) this.#cut()
    else this.#fail(tooMuch(request, 'body_size', what))
  }

  #cut(): void {
    this.#succeed(false)
    this.#controller?.abort(new Error('the rest is not wanted'))
  }

  #succeed(lossy: boolean): void {
    if (!this.#settle()) return
    this.#resolve({
      status: this.#status,
      headers: this.#headers,
      body: this.#body.whole(),
      latencyMs: this.#latencyMs,
      lossy,
    })
  }

  #fail(error: unknown): void {
    if (!this.#settle()) return
    addReceivedBytes(this.#options.request, this.#body.bytes)
    this.#reject(error)
    this.#controller?.abort(error instanceof Error ? error : new Error(String(error)))
  }

  #settle(): boolean {
    if (this.#settled) return false
    this.#settled = true
    this.#deadline.clear()
    this.#rate.stop()
    this.#options.room.leave(this, this.#body.bytes)
    this.#options.signal.removeEventListener('abort', this.#onAbort)
    return true
  }
}

function headerCount(headers: Answer['headers']): number {
  let count = 0
  for (const name in headers) {
    const value = headers[name]
    count += Array.isArray(value) ? value.length : 1
  }
  return count
}
