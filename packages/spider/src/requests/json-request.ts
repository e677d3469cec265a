import {
  checkOptions,
  Headers,
  type OptionNames,
  REQUEST_OPTIONS,
  Request,
  type RequestInit,
  WebloomError,
} from '@webloom/core'
import { pythonJson } from './python-json.ts'

/** The options of a `JsonRequest`. */
export interface JsonRequestInit extends RequestInit {
  /** What is sent: any value that JSON can hold. With it the method is POST, unless another one is given. */
  data?: unknown
  /** Writes the JSON. Default: as Scrapy does, with keys in order, so that the fingerprint is the same. */
  dumps?: (data: unknown) => string
}

/** The changes of `replace` of a `JsonRequest`; what is left out stays as it is. */
export type JsonRequestChanges = JsonRequestInit & { readonly url?: string | URL }

const JSON_OPTIONS = {
  ...REQUEST_OPTIONS,
  data: true,
  dumps: true,
} as const satisfies OptionNames<JsonRequestInit>

/** A request that sends JSON and accepts JSON. Once queued it is a request like any other. */
export class JsonRequest extends Request {
  readonly #dumps: (data: unknown) => string

  /** Throws WL_REQUEST_INVALID when both `data` and `body` are given, and what `new Request` throws. */
  constructor(url: string | URL, options: JsonRequestInit = {}) {
    checkOptions(options, JSON_OPTIONS, {
      of: 'JsonRequest',
      code: 'WL_REQUEST_INVALID',
      hints: {
        dumpsKwargs: 'Write a function:  dumps: (data) => text',
        dumps_kwargs: 'Write a function:  dumps: (data) => text',
      },
    })
    const { data, dumps = pythonJson, ...init } = options
    const headers = new Headers(init.headers)
    if (!headers.has('content-type')) headers.set('Content-Type', 'application/json')
    if (!headers.has('accept')) headers.set('Accept', 'application/json, text/javascript, */*; q=0.01')
    super(
      url,
      data === undefined ? { ...init, headers } : { method: 'POST', ...withData(init, dumps(data)), headers },
    )
    this.#dumps = dumps
  }

  /** Changes the request as `Request.replace` does; `data` writes the body anew. */
  override replace(changes: JsonRequestChanges = {}): JsonRequest {
    const { url = this.url, data, dumps = this.#dumps, ...init } = changes
    const changed = data === undefined ? init : withData(init, dumps(data))
    return new JsonRequest(url, { ...this.parts, ...changed, dumps })
  }
}

function withData(init: RequestInit, json: string): RequestInit {
  if (init.body !== undefined && init.body !== null)
    throw new WebloomError('WL_REQUEST_INVALID', 'data and body are given; expected one of them')
  return { ...init, body: Buffer.from(json) }
}
