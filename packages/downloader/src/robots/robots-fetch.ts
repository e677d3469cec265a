import {
  DownloadError,
  type DownloadOptions,
  type DownloadResult,
  IgnoreRequest,
  type JsonObject,
  Request,
  Response,
  type StatsCollector,
  urlJoin,
} from '@webloom/core'
import { ResponseDecoder } from '../compression/response-decoder.ts'
import { Deadline } from '../http/deadline.ts'
import { asWritten } from '../http/wire-text.ts'

/** Sends a request to a site: `HttpDownloadHandler.download`, or that with middlewares before it, such as proxies. */
export type RobotsDownload = (request: Request, options: DownloadOptions) => Promise<DownloadResult>

export interface RobotsFetchOptions {
  readonly download: RobotsDownload
  /** For the file and all redirects to it, milliseconds. */
  readonly timeoutMs: number
  /** A file that is longer as sent is cut off there. A compressed file that unpacks to more is a failure. */
  readonly bodyBytesMax: number
  readonly stats: StatsCollector
}

export interface RobotsFetchRequest {
  /** `https://example.com` */
  readonly origin: string
  readonly userAgent: string
  /** The request that waits for it: the file is fetched by the same way, be it a proxy or an address of this machine. */
  readonly asking?: Request
  readonly signal: AbortSignal
  /** Called when the request leaves for the site; not called for redirects, which may lead elsewhere. */
  readonly onStart: () => void
  /** Of the request that waits for it, for which the file is fetched: `DownloadOptions.stepAside`. */
  readonly stepAside?: NonNullable<DownloadOptions['stepAside']>
}

// RFC 9309, 2.3.1.2: at least five redirects are followed; after more the file counts as unavailable.
const REDIRECTS_MAX = 5
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Fetches a site's robots.txt. */
export class RobotsFetch {
  readonly #options: RobotsFetchOptions
  readonly #decoder: ResponseDecoder

  constructor(options: RobotsFetchOptions) {
    this.#options = options
    this.#decoder = new ResponseDecoder(options)
  }

  /**
   * Resolves to the answer, whatever its status; to undefined when redirects lead nowhere. Rejects when there is no answer:
   * with the error of `download` when the site itself failed or may not be asked, with a `DownloadError` when the target of a redirect did.
   */
  async fetch(request: RobotsFetchRequest): Promise<Response | undefined> {
    const { origin, signal, onStart, stepAside } = request
    const cut = new AbortController()
    const end = () => cut.abort(signal.reason)
    const deadline = new Deadline(this.#options.timeoutMs, () => cut.abort(this.#late(origin)))
    const options = { signal: cut.signal, ...(stepAside && { stepAside: timed(stepAside, deadline) }) }
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
    try {
      const first = await this.#get(`${origin}/robots.txt`, request, { ...options, onStart })
      return await this.#followed(first, request, { ...options, onStart() {} })
    } finally {
      deadline.clear()
      signal.removeEventListener('abort', end)
    }
  }

  async #followed(
    first: Response,
    request: RobotsFetchRequest,
    options: DownloadOptions,
  ): Promise<Response | undefined> {
    let response = first
    for (let redirects = 0; REDIRECT_STATUSES.has(response.status); redirects++) {
      const target = targetOf(response)
      if (target === undefined || redirects === REDIRECTS_MAX) return undefined
      try {
        response = await this.#get(target, request, options)
      } catch (error) {
        if (options.signal.aborted) throw error
        // The redirect leads to an address inside, which may not be connected to, or to a scheme without a handler.
        if (error instanceof IgnoreRequest || isUnsupported(error)) return undefined
        throw new DownloadError(
          'DownloadFailedError',
          `${first.url} leads to ${target}: ${(error as Error).message}`,
          {
            cause: error,
          },
        )
      }
    }
    return response
  }

  async #get(
    url: string,
    { userAgent, asking }: RobotsFetchRequest,
    options: DownloadOptions,
  ): Promise<Response> {
    const { download, timeoutMs, bodyBytesMax } = this.#options
    const request = new Request(url, {
      headers: {
        'User-Agent': userAgent,
        Accept: 'text/plain, */*;q=0.5',
        // The file may be cut off, and a compressed file that was cut off could not be unpacked.
        'Accept-Encoding': 'identity',
        ...proxyAuthorizationOf(asking),
      },
      meta: {
        ...wayOf(asking),
        dont_obey_robotstxt: true,
        download_timeout: timeoutMs / 1000,
        download_maxsize: bodyBytesMax,
      },
    })
    const result = await download(request, { ...options, cutsBody: true })
    if (result instanceof Response) return this.#decoder.decoded(request, result)
    const detail = ': a middleware gave no response'
    throw new DownloadError('DownloadFailedError', `${request}${detail}`, { detail })
  }

  #late(origin: string): DownloadError {
    const { timeoutMs } = this.#options
    return new DownloadError(
      'DownloadTimeoutError',
      `${origin}/robots.txt took longer than ${timeoutMs / 1000} s (ROBOTSTXT_TIMEOUT)`,
    )
  }
}

/** The same, where the time does not count in which the request only waits for a place: the site is not to blame for it. */
function timed(
  stepAside: NonNullable<DownloadOptions['stepAside']>,
  deadline: Deadline,
): NonNullable<DownloadOptions['stepAside']> {
  return async (wait) => {
    try {
      return await stepAside(wait.finally(() => deadline.pause()))
    } finally {
      deadline.resume()
    }
  }
}

function isUnsupported(error: unknown): boolean {
  return error instanceof DownloadError && error.kind === 'UnsupportedURLSchemeError'
}

const KEYS_OF_THE_WAY = ['proxy', 'bindaddress']

function wayOf(asking: Request | undefined): JsonObject {
  if (!asking?.hasMeta) return {}
  return Object.fromEntries(Object.entries(asking.meta).filter(([key]) => KEYS_OF_THE_WAY.includes(key)))
}

function proxyAuthorizationOf(asking: Request | undefined): Record<string, string> {
  const authorization = asking?.hasHeaders ? asking.headers.get('proxy-authorization') : null
  return authorization === null || authorization === undefined ? {} : { 'Proxy-Authorization': authorization }
}

/** Returns where a redirect leads; undefined when nothing can be fetched from there. */
function targetOf(response: Response): string | undefined {
  const location = response.headers.get('location')
  if (location === null) return undefined
  const target = urlJoin(response.url, asWritten(location.trim()))
  return /^https?:\/\/[^/?#]/i.test(target) && URL.canParse(target) ? target : undefined
}
