import {
  type Crawler,
  type DownloadHandler,
  type DownloadOptions,
  downloadTimeoutMsOf,
  type Logger,
  protectionStat,
  type Request,
  type StatsCollector,
} from '@webloom/core'
import { tooLate } from '../http/exchange-errors.ts'
import { HttpDownloadHandler } from '../http/http-download-handler.ts'

/** How long a download may take, whatever its handler does. */
export interface DownloadDeadline {
  /** DOWNLOAD_TIMEOUT in milliseconds. `meta.download_timeout` (seconds) overrides it. */
  readonly timeoutMs: number
  /** Counts the downloads that took longer. */
  readonly stats: StatsCollector
  /** Told of answers and errors that come too late. */
  readonly logger: Logger
}

/** Returns the deadline that the settings say. */
export function downloadDeadlineOf({ settings, stats, logger }: Crawler): DownloadDeadline {
  return { timeoutMs: settings.getMs('DOWNLOAD_TIMEOUT'), stats, logger }
}

/**
 * Resolves to what the handler gives. Rejects with DownloadTimeoutError at the deadline, and with the reason of `options.signal` when that
 * fires, also where the handler heeds neither. What comes of the download later is dropped, and takes no part in the crawl.
 *
 * A handler that keeps the deadline itself (`keepsDeadline`) is left alone: HttpDownloadHandler does not count the time in which a
 * body waits for room.
 */
export function inTime(
  handler: DownloadHandler,
  request: Request,
  options: DownloadOptions,
  deadline: DownloadDeadline,
): Promise<unknown> {
  // Of nearly every page: no promise more than is needed.
  if (handler.download === HttpDownloadHandler.prototype.download || handler.keepsDeadline)
    return handler.download(request, options)
  return cutInTime(handler, request, options, deadline)
}

async function cutInTime(
  handler: DownloadHandler,
  request: Request,
  options: DownloadOptions,
  deadline: DownloadDeadline,
): Promise<unknown> {
  options.signal.throwIfAborted()
  const timeoutMs = downloadTimeoutMsOf(request, deadline.timeoutMs)
  const cut = new AbortController()
  const over = Promise.withResolvers<never>()
  const end = (error: unknown, reason = error) => {
    cut.abort(reason)
    over.reject(error)
  }
  const onAbort = () => end(options.signal.reason)
  const timer = setTimeout(() => {
    deadline.stats.inc(protectionStat('deadline'))
    end(tooLate(request, timeoutMs), new DOMException('DOWNLOAD_TIMEOUT is over', 'TimeoutError'))
  }, timeoutMs)
  options.signal.addEventListener('abort', onAbort)
  try {
    const download = Promise.resolve(handler.download(request, until(cut.signal, options)))
    tellIfLate(download, request, cut.signal, deadline.logger)
    return await Promise.race([download, over.promise])
  } finally {
    clearTimeout(timer)
    options.signal.removeEventListener('abort', onAbort)
  }
}

/** The same options, of which none has an effect once `signal` has fired. */
function until(signal: AbortSignal, options: DownloadOptions): DownloadOptions {
  const { onStart, onHostNews, bodyTo } = options
  return {
    ...options,
    signal,
    onStart: () => void (signal.aborted || onStart()),
    ...(onHostNews && { onHostNews: (news) => void (signal.aborted || onHostNews(news)) }),
    ...(bodyTo && {
      bodyTo: (status, headers) => {
        signal.throwIfAborted()
        const take = bodyTo(status, headers)
        return (
          take &&
          ((chunk) => {
            signal.throwIfAborted()
            take(chunk)
          })
        )
      },
    }),
  }
}

function tellIfLate(download: Promise<unknown>, request: Request, signal: AbortSignal, logger: Logger): void {
  const tell = (outcome: object) => {
    if (signal.aborted)
      logger.debug({ url: request.url, ...outcome }, 'a download that came too late is dropped')
  }
  download.then(
    () => tell({}),
    (err: unknown) => tell({ err }),
  )
}
