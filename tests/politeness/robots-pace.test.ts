import {
  type DownloaderInside,
  type Lease,
  MemoryStatsCollector,
  noRedis,
  Request,
  Response,
  RetryLater,
  Settings,
  Signals,
  silentLogger,
} from '@webloom/core'
import { Downloader, HttpDownloadHandler, RobotsTxtMiddleware } from '@webloom/downloader'
import { MemoryHostClock, MemoryRequestQueue } from '@webloom/queue'
import { startFakeWeb } from '@webloom/testkit'
import { expect, test } from 'vitest'

// Timers count whole milliseconds, and may fire one early.
const SLACK_MS = 2

test.each([
  ['DOWNLOAD_DELAY', 300, 'User-agent: *\nDisallow: /other'],
  ['Crawl-delay', 0, 'User-agent: *\nCrawl-delay: 0.3'],
])('with a %s, robots.txt is one of the requests that it lies between', async (_, delayMs, robotsTxt) => {
  const web = await startFakeWeb({ hosts: 1, pagesPerHost: 5, robotsTxt })
  const clock = new MemoryHostClock({ pace: { delayMs, concurrency: 8, randomize: false } })
  const queue = new MemoryRequestQueue({ clock })
  const http = new HttpDownloadHandler()
  const leftAtMs: number[] = []
  const leaves = (lease: Lease) => {
    leftAtMs.push(performance.now())
    lease.started()
  }
  const crawler = {
    settings: new Settings(),
    stats: new MemoryStatsCollector(),
    signals: new Signals(() => {}),
    logger: silentLogger,
    spider: { name: 'test' },
    redis: noRedis,
    close() {},
  }
  const inside: DownloaderInside = {
    download: (request, options) => http.download(request, options),
    optionsOf: (request) => downloader.optionsOf(request),
    blameHost: (request) => downloader.blameHost(request),
    isHostToBlame: (request) => downloader.isHostToBlame(request),
    ownHandlerOf: () => undefined,
  }
  const robots = RobotsTxtMiddleware.fromCrawler({ ...crawler, downloader: inside })
  const downloader: Downloader = Downloader.fromCrawler(crawler, {
    handlers: { http },
    middlewares: [{ name: 'robotstxt', component: robots }],
  })

  await queue.open()
  const pages = [0, 1, 2, 3].map((n) => new Request(`${web.origins[0]}/page/${n}`))
  await queue.push(
    pages.map((request, n) => ({ id: `page ${n}`, request })),
    'start/0',
  )
  let fetched = 0
  while (fetched < pages.length) {
    const taken = await queue.lease(4)
    await Promise.all(
      taken.map(async (lease) => {
        const { signal } = lease
        const result = await downloader.fetch(lease.request, {
          signal,
          isPaced: lease.isPaced,
          onStart: () => leaves(lease),
          onHostNews: (news) => clock.learn(lease.slot, news, performance.now()),
        })
        if (result instanceof RetryLater) return queue.retry(lease, result.request, result.delayMs)
        expect(result).toBeInstanceOf(Response)
        fetched++
        return queue.commit(lease)
      }),
    )
  }

  const { hits } = web
  expect(hits.filter(({ url }) => url.endsWith('/robots.txt'))).toHaveLength(1)
  expect(hits).toHaveLength(1 + pages.length)
  const gaps = leftAtMs.slice(1).map((at, n) => at - leftAtMs[n]!)
  expect(gaps).toHaveLength(pages.length)
  expect(Math.min(...gaps)).toBeGreaterThan(300 - SLACK_MS)
  await queue.close()
  await http.close()
  await web.close()
})
