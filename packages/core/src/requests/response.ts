import { byteHead, decodeText, detectEncoding, urlJoin } from '@webloom/url'
import type { Rendered } from '../browser/browser-options.ts'
import { WebloomError } from '../errors/errors.ts'
import { Headers, type HeadersInit } from './headers.ts'
import type { JsonObject } from './json.ts'
import type { Request } from './request.ts'

/** The parts of a response beside its URL. Each may be left out. */
export interface ResponseInit {
  /** Default 200. */
  status?: number
  /** The answer's headers. */
  headers?: HeadersInit
  /** Bytes, or a text, which counts as UTF-8 whatever the page says. Default: empty. */
  body?: Uint8Array | string
  /** The request that this answers; `meta` and `cbKwargs` are read from it. */
  request?: Request
  /** Words for logs, such as `cached` or `dataloss`. */
  flags?: readonly string[]
  /** Overrides every other sign of the encoding. */
  encoding?: string
  /** The server's address, if the handler that fetched the page tells it. The built-in handlers do not. */
  ipAddress?: string
  /** The protocol, such as `HTTP/1.1`, if the handler that fetched the page tells it. The built-in handlers do not. */
  protocol?: string
  /** What the browser brought that rendered the page. */
  browser?: Rendered
}

const NO_BODY = new Uint8Array(0)

/** A server's answer. It parses nothing: bytes, and text on demand. */
export class Response {
  /** Where the page came from, after redirects. */
  readonly url: string
  /**
   * The HTTP status. A callback gets others than 2xx only when it asks for them (`handleHttpstatusList`,
   * HTTPERROR_ALLOWED_CODES).
   */
  readonly status: number
  /** The headers as the server sent them, with names in lower case. */
  readonly headers: Headers
  /** The page in bytes, unpacked. */
  readonly body: Uint8Array
  /** Words for logs, such as `cached` or `dataloss`. */
  readonly flags: string[]
  /** The server's address, if the handler that fetched the page tells it; the built-in handlers do not. */
  readonly ipAddress: string | undefined
  /** The protocol, such as `HTTP/1.1`, if the handler that fetched the page tells it; the built-in handlers do not. */
  readonly protocol: string | undefined
  /** What the browser brought beside the page: screenshot, captured answers, errors. Undefined when no browser rendered it. */
  readonly browser: Rendered | undefined
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
      // A string was decoded already, whatever its headers or meta tags say.
      this.#encoding ??= 'utf-8'
    } else {
      this.body = init.body ?? NO_BODY
    }
    this.#request = init.request
    this.flags = [...(init.flags ?? [])]
    this.ipAddress = init.ipAddress
    this.protocol = init.protocol
    this.browser = init.browser
  }

  /** The request that this answers. Throws when the response was made by hand without one. */
  get request(): Request {
    if (this.#request) return this.#request
    throw new WebloomError(
      'WL_REQUEST_INVALID',
      `the response of ${this.url} was made without a request; pass {request} to its constructor`,
    )
  }

  /** False for a response that was made by hand without a request: then `request` cannot be read. */
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
   * The name of the encoding of `text`, found as browsers do: byte order mark, then the Content-Type header, then a meta
   * tag or XML declaration in the first 4 096 bytes, then a guess from the bytes.
   */
  get encoding(): string {
    this.#encoding ??= detectEncoding(this.body, this.headers.get('content-type'), () => this.head)
    return this.#encoding
  }

  /** The first 4 096 bytes of the body, one character for each byte, whatever the encoding. */
  get head(): string {
    this.#head ??= byteHead(this.body)
    return this.#head
  }

  /** The body as text; bytes that are invalid in its encoding become U+FFFD. It is decoded once. */
  get text(): string {
    this.#text ??= decodeText(this.body, this.encoding)
    return this.#text
  }

  /** Returns the body as JSON. Throws SyntaxError, which names the URL, when it is none. */
  json<T = unknown>(): T {
    try {
      return JSON.parse(this.text) as T
    } catch (cause) {
      throw new SyntaxError(`${this.url} is not JSON: ${(cause as Error).message}`, { cause })
    }
  }

  /** Returns `url` made absolute against this page, by the rules of Python's `urljoin`. */
  urljoin(url: string): string {
    return urlJoin(this.url, url)
  }

  /** Returns the parts that a copy needs; subclasses use it in their own `replace`. */
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
      ...(this.browser && { browser: this.browser }),
    }
  }

  /** Returns the same response with some parts changed, of the same class. */
  replace(changes: ResponseInit & { url?: string } = {}): this {
    const { url = this.url, ...init } = changes
    const parts = this.parts()
    // A new body is decoded anew unless the caller names its encoding.
    if (init.body !== undefined) delete parts.encoding
    const Class = this.constructor as new (url: string, init: ResponseInit) => this
    return new Class(url, { ...parts, ...init })
  }

  toString(): string {
    return `<${this.status} ${this.url}>`
  }
}
