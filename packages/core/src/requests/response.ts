import { byteHead, decodeText, detectEncoding, urlJoin } from '@webloom/url'
import { WebloomError } from '../errors/errors.ts'
import { Headers, type HeadersInit } from './headers.ts'
import type { JsonObject } from './json.ts'
import type { Request } from './request.ts'

/** Everything about a response but its URL; each part may be left out. */
export interface ResponseInit {
  /** Default 200. */
  status?: number
  /** Of the answer. */
  headers?: HeadersInit
  /** Bytes, or a text, which counts as UTF-8 whatever the page says of itself. Default: empty. */
  body?: Uint8Array | string
  /** The request this answers; `meta` and `cbKwargs` are read through it. */
  request?: Request
  /** Words for logs, such as `cached` or `dataloss`. */
  flags?: readonly string[]
  /** Overrides every other sign of the encoding. */
  encoding?: string
  /** The server's address, as the handler that fetched it has it. The built-in handlers give none. */
  ipAddress?: string
  /** As the handler that fetched it has it: `HTTP/1.1`. The built-in handlers give none. */
  protocol?: string
}

const NO_BODY = new Uint8Array(0)

/** What a server answered. It parses nothing: bytes, and text on demand. */
export class Response {
  /** Where the page is from, after redirects. */
  readonly url: string
  /**
   * HTTP status. A callback gets others than 2xx only where it says so (`handleHttpstatusList`,
   * HTTPERROR_ALLOWED_CODES).
   */
  readonly status: number
  /** As the server sent them, names in lower case. */
  readonly headers: Headers
  /** The page in bytes, unpacked. */
  readonly body: Uint8Array
  /** Words for logs, such as `cached` or `dataloss`. */
  readonly flags: string[]
  /** The server's address, as the handler that fetched it has it; the built-in handlers give none. */
  readonly ipAddress: string | undefined
  /** As the handler that fetched it has it: `HTTP/1.1`; the built-in handlers give none. */
  readonly protocol: string | undefined
  readonly #request: Request | undefined
  #encoding: string | undefined
  #head: string | undefined
  #text: string | undefined

  constructor(url: string, init: ResponseInit = {}) {
    this.url = url
    this.status = init.status ?? 200
    this.headers = init.headers instanceof Headers ? init.headers : new Headers(init.headers)
    this.#encoding = init.encoding
    if (typeof init.body === 'string') {
      this.body = Buffer.from(init.body, 'utf8')
      // A string has been decoded already; what its headers or meta tags say no longer applies.
      this.#encoding ??= 'utf-8'
    } else {
      this.body = init.body ?? NO_BODY
    }
    this.#request = init.request
    this.flags = [...(init.flags ?? [])]
    this.ipAddress = init.ipAddress
    this.protocol = init.protocol
  }

  /** The request this answers. Throws when the response was made by hand without one. */
  get request(): Request {
    if (this.#request) return this.#request
    throw new WebloomError(
      'WL_REQUEST_INVALID',
      `the response of ${this.url} was made without a request; pass {request} to its constructor`,
    )
  }

  /** Whether `request` can be read: not for a response that was made by hand without one. */
  get hasRequest(): boolean {
    return this.#request !== undefined
  }

  /** The request's `meta`; empty when there is no request. */
  get meta(): JsonObject {
    return this.#request?.meta ?? {}
  }

  /** The request's `cbKwargs`; empty when there is no request. */
  get cbKwargs(): JsonObject {
    return this.#request?.cbKwargs ?? {}
  }

  /**
   * Name of the encoding of `text`, as browsers find it: byte order mark, then the Content-Type header, then a meta
   * tag or XML declaration in the first 4 096 bytes, then a guess from the bytes.
   */
  get encoding(): string {
    this.#encoding ??= detectEncoding(this.body, this.headers.get('content-type'), () => this.head)
    return this.#encoding
  }

  /** The first 4 096 bytes of the body, a character for each byte, whatever its encoding. */
  get head(): string {
    this.#head ??= byteHead(this.body)
    return this.#head
  }

  /** The body as text; bytes that are wrong in its encoding become U+FFFD. Decoded once. */
  get text(): string {
    this.#text ??= decodeText(this.body, this.encoding)
    return this.#text
  }

  /** The body as JSON. Throws SyntaxError, naming the URL, when it is none. */
  json<T = unknown>(): T {
    try {
      return JSON.parse(this.text) as T
    } catch (cause) {
      throw new SyntaxError(`${this.url} is not JSON: ${(cause as Error).message}`, { cause })
    }
  }

  /** `url` made absolute against this page, by the rules of Python's `urljoin`. */
  urljoin(url: string): string {
    return urlJoin(this.url, url)
  }

  /** The parts a copy needs; subclasses use it in their own `replace`. */
  protected parts(): ResponseInit {
    return {
      status: this.status,
      headers: this.headers,
      body: this.body,
      flags: this.flags,
      ...(this.#request && { request: this.#request }),
      ...(this.#encoding !== undefined && { encoding: this.#encoding }),
      ...(this.ipAddress !== undefined && { ipAddress: this.ipAddress }),
      ...(this.protocol !== undefined && { protocol: this.protocol }),
    }
  }

  /** The same response with some parts changed, of the same class. */
  replace(changes: ResponseInit & { url?: string } = {}): this {
    const { url = this.url, ...init } = changes
    const parts = this.parts()
    // A new body is decoded afresh unless the caller says how.
    if (init.body !== undefined) delete parts.encoding
    const Class = this.constructor as new (url: string, init: ResponseInit) => this
    return new Class(url, { ...parts, ...init })
  }

  toString(): string {
    return `<${this.status} ${this.url}>`
  }
}
