/** What a site answers for its robots.txt, and what becomes of requests to it. */

import {
  type DownloadError,
  type DownloaderMiddleware,
  IgnoreRequest,
  MemoryStatsCollector,
  Request,
  Response,
  RetryLater,
  silentLogger,
} from '@webloom/core'
import { afterEach, beforeEach } from 'vitest'
import { HttpDownloadHandler } from '../src/http/http-download-handler.ts'
import { RobotsTxtMiddleware, type RobotsTxtMiddlewareOptions } from '../src/middlewares/robots-txt.ts'
import { RobotsFetch, type RobotsFetchOptions } from '../src/robots/robots-fetch.ts'
import { RobotsInquiry, type RobotsInquiryOptions } from '../src/robots/robots-inquiry.ts'
import { MemoryRobotsStore } from '../src/robots/robots-store.ts'
import { Fetching } from './fetching.ts'
import { LocalSite } from './local-site.ts'

export type Answer = { status?: number; headers?: Record<string, string | string[]>; body?: string | Buffer }
const SHARES = { sitesBytes: 10_000, filesBytes: 1e6, troublesBytes: 100_000 }
type Options = Partial<RobotsTxtMiddlewareOptions & RobotsInquiryOptions & RobotsFetchOptions>

/** For each test of a file a site, and the middleware before real HTTP, with a clock that the test moves. */
export function robotsOfFile() {
  let site: LocalSite
  const closing: (() => unknown)[] = []
  beforeEach(async () => {
    site = await LocalSite.start()
  })
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
    await site.close()
  })

  /** What the site answers for its robots.txt, one after the other, and the last one from then on. */
  function robotsTxt(...answers: (string | Answer)[]): void {
    let next = 0
    site.script = (req, res) => {
      if (req.url !== '/robots.txt') return void res.end(`page ${req.url}`)
      const answer = answers[Math.min(next++, answers.length - 1)]!
      const { status = 200, headers = {}, body = '' } = typeof answer === 'string' ? { body: answer } : answer
      res.writeHead(status, headers).end(body)
    }
  }

  const robotsHits = (path = '/robots.txt') => site.hits.filter((hit) => hit.path === path).length
  const pageHits = () => site.hits.filter((hit) => hit.path !== '/robots.txt').length

  /** The middleware before real HTTP, with a clock that the test moves. */
  function crawl(options: Options = {}, after: readonly DownloaderMiddleware[] = []) {
    const http = new HttpDownloadHandler()
    const stats = new MemoryStatsCollector()
    const clock = { nowMs: 1_000_000 }
    const now = () => clock.nowMs
    const inquiry = new RobotsInquiry({
      store: new MemoryRobotsStore({ ...SHARES, now }),
      fetch: new RobotsFetch({
        download: (request, all) => http.download(request, all),
        timeoutMs: 10_000,
        bodyBytesMax: 4_194_304,
        stats,
        ...options,
      }),
      cacheTtlMs: 86_400_000,
      errorTtlMs: 3_600_000,
      retryDelayMs: 2000,
      retryAfterMaxMs: 300_000,
      giveUpAfterMs: 30_000,
      stats,
      logger: silentLogger,
      now,
      ...options,
    })
    const middleware = new RobotsTxtMiddleware({
      inquiry,
      robotsUserAgent: null,
      userAgent: 'webloom (+https://example.com)',
      crawlDelay: 'obey',
      crawlDelaySecondsMax: 30,
      whenGivenUp: 'forbid',
      stats,
      logger: silentLogger,
      ...options,
    })
    const fetching = new Fetching([middleware, ...after])
    closing.push(
      () => fetching.close(),
      () => http.close(),
    )
    const request = (path: string, init = {}) =>
      new Request(path.startsWith('/') ? site.origin + path : path, init)
    /** A word for what became of a request. */
    const outcome = async (path: string, init = {}) => {
      try {
        const result = await fetching.result(request(path, init))
        if (result instanceof Response) return 'fetched'
        return result instanceof RetryLater ? result.delayMs : 'another request'
      } catch (error) {
        return error instanceof IgnoreRequest ? error.message : (error as DownloadError).kind
      }
    }
    return { stats, clock, inquiry, fetching, request, outcome }
  }

  return {
    get site(): LocalSite {
      return site
    },
    closing,
    robotsTxt,
    robotsHits,
    pageHits,
    crawl,
  }
}
