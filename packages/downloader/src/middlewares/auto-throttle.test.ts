import { type HostNews, Request, Response, RetryLater } from '@webloom/core'
import { expect, test } from 'vitest'
import { downloaderInside, testCrawler } from '../../testing/fetching.ts'
import { AutoThrottle } from './auto-throttle.ts'

/** AutoThrottle as the settings have it, and one host whose state is what it was told last. */
function throttledHost(settings: object = {}, delayMs = 0) {
  const host = { delayMs, failures: 0 }
  const told: HostNews[] = []
  const downloader = downloaderInside({
    optionsOf: () => ({
      signal: new AbortController().signal,
      onStart() {},
      host: { ...host },
      onHostNews: (news) => {
        told.push(news)
        host.delayMs = news.delayMs ?? host.delayMs
      },
    }),
  })
  const crawler = testCrawler({ AUTOTHROTTLE_ENABLED: true, ...settings })
  const throttle = AutoThrottle.fromCrawler({ ...crawler, downloader })
  return {
    throttle,
    told,
    async downloads(latency: number, status = 200, meta: object = {}) {
      const request = new Request('http://x/', { meta: { download_latency: latency, ...meta } })
      const response = new Response(request.url, { status })
      await crawler.signals.send('responseDownloaded', { request, response, spider: { name: 'test' } })
    },
  }
}

test('a host that is not known gets the start delay before it is asked', () => {
  const { throttle, told } = throttledHost()
  const request = new Request('http://x/')
  expect(throttle.processRequest(request)).toEqual(new RetryLater(request, 'first'))
  expect(told).toEqual([{ delayMs: 5000 }])
  expect(throttle.processRequest(request), 'now it is known').toBe(undefined)
})

test('the start delay is never shorter than DOWNLOAD_DELAY', () => {
  const { throttle, told } = throttledHost({ DOWNLOAD_DELAY: 9 })
  throttle.processRequest(new Request('http://x/'))
  expect(told).toEqual([{ delayMs: 9000 }])
})

test('a host with a Crawl-delay is known', () => {
  const { throttle } = throttledHost({}, 2000)
  expect(throttle.processRequest(new Request('http://x/'))).toBe(undefined)
})

test('each answer that was downloaded moves the delay, within DOWNLOAD_DELAY and AUTOTHROTTLE_MAX_DELAY', async () => {
  const settings = { DOWNLOAD_DELAY: 1, AUTOTHROTTLE_MAX_DELAY: 8, AUTOTHROTTLE_TARGET_CONCURRENCY: 2 }
  const { downloads, told } = throttledHost(settings, 5000)
  await downloads(2)
  await downloads(100)
  await downloads(0.1, 503)
  for (let n = 0; n < 9; n++) await downloads(0.1)
  expect(told.slice(0, 3)).toEqual([{ delayMs: 3000 }, { delayMs: 8000 }, { delayMs: 4025 }])
  expect(told.at(-1)).toEqual({ delayMs: 1000 })
  const toldBefore = told.length
  await downloads(0.1)
  expect(told, 'nothing has changed').toHaveLength(toldBefore)
})

test('autothrottle_dont_adjust_delay leaves an answer out', async () => {
  const { downloads, told } = throttledHost({}, 5000)
  await downloads(0.1, 200, { autothrottle_dont_adjust_delay: true })
  expect(told).toEqual([])
})
