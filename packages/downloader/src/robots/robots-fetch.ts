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
import { asWritten } from '../http/wire-text.ts'

/** How a request reaches a site. `HttpDownloadHandler.download`, or that with middlewares before it, such as proxies. */
export type RobotsDownload = (request: Request, options: DownloadOptions) => Promise<DownloadResult>

export interface RobotsFetchOptions {
  readonly download: RobotsDownload
  /** For the file and all redirects to it, milliseconds. */
  readonly timeoutMs: number
  /** What is longer as sent is cut off there. As unpacked it is a failure. */
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
  /** Called at the moment the request leaves for the site; not for redirects, which may lead elsewhere. */
  readonly onStart: () => void
}

// RFC 9309, 2.3.1.2: at least five are followed; after more the file counts as unavailable.
const REDIRECTS_MAX = 5
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Gets a site's robots.txt. */
export class RobotsFetch {
  readonly #options: RobotsFetchOptions
  readonly #decoder: ResponseDecoder

  constructor(options: RobotsFetchOptions) {
    this.#options = options
    this.#decoder = new ResponseDecoder(options)
  }

  /**
   * The answer, whatever its status; undefined when redirects lead nowhere. Rejects when there is none: with what
   * `download` threw at the site itself, and with a `DownloadError` when it was at the target of a redirect.
   */
  async fetch(request: RobotsFetchRequest): Promise<Response | undefined> {
    const { origin, signal, onStart } = request
    const cut = new AbortController()
    const end = () => cut.abort(signal.reason)
    const deadline = setTimeout(() => cut.abort(this.#late(origin)), this.#options.timeoutMs)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
    try {
      const first = await this.#get(`${origin}/robots.txt`, request, { signal: cut.signal, onStart })
      return await this.#followed(first, request, { signal: cut.signal, onStart() {} })
    } finally {
      clearTimeout(deadline)
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
        // To a place inside, which may not be asked, or by a scheme that no handler takes.
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
        // What is cut off could not be unpacked.
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
    throw new DownloadError('DownloadFailedError', `${request}: a middleware gave no response`)
  }

  #late(origin: string): DownloadError {
    const { timeoutMs } = this.#options
    return new DownloadError(
      'DownloadTimeoutError',
      `${origin}/robots.txt took longer than ${timeoutMs / 1000} s (ROBOTSTXT_TIMEOUT)`,
    )
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

/** Where a redirect leads; undefined when that is no place to fetch from. */
function targetOf(response: Response): string | undefined {
  const location = response.headers.get('location')
  if (location === null) return undefined
  const target = urlJoin(response.url, asWritten(location.trim()))
  return /^https?:\/\/[^/?#]/i.test(target) && URL.canParse(target) ? target : undefined
}
