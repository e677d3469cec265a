import {
  type DownloadOptions,
  type DownloadResult,
  doubtingVisit,
  Request,
  Response,
  RetryLater,
} from '@webloom/core'
import type { EngineDownloader } from '../engine/engine-ports.ts'
import type { PageVisits } from './page-visits.ts'

/** Asks for pages that were visited before by what is known of them. */
export class RevisitingDownloader implements EngineDownloader {
  readonly #downloader: EngineDownloader
  readonly #visits: PageVisits

  constructor(downloader: EngineDownloader, visits: PageVisits) {
    this.#downloader = downloader
    this.#visits = visits
  }

  async fetch(request: Request, options: DownloadOptions): Promise<DownloadResult> {
    const begun = this.#visits.begin(request)
    if (!begun) return this.#downloader.fetch(request, options)
    const { restore, asking } = begun
    let result: DownloadResult
    try {
      result = await this.#downloader.fetch(request, options)
    } finally {
      restore(request)
    }
    // Its next try is as this one was, without what middlewares have put into it.
    if (result instanceof RetryLater)
      return new RetryLater(result.request.replace({ headers: asking.headers }), result.when)
    if (result instanceof Response && this.#visits.doubts(request, result))
      return new RetryLater(doubtingVisit(request).replace({ headers: asking.headers }), 'first')
    if (result instanceof Request) {
      restore(result)
      this.#visits.redirected(request, result)
    }
    return result
  }

  close(): Promise<void> {
    return this.#downloader.close()
  }
}
