/** Hosts that ask to be left alone, are away for a while, or are dead: what a crawl of them loses, and how often it asks. */

import { type HostLists, silentLogger } from '@webloom/core'
import { startFakeWeb } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { type CrawlResult, crawl, Request, type Response, type SettingsInput, Spider } from 'webloom'

async function crawlOf(
  urls: readonly string[],
  settings: SettingsInput,
  follows = true,
): Promise<CrawlResult> {
  class OfThese extends Spider {
    override name = 'of-these'
    override *start() {
      for (const url of urls) yield new Request(url)
    }
    override *parse(response: Response): Generator<unknown> {
      yield { url: response.url }
      if (follows) yield* response.followAll()
    }
  }
  return crawl(OfThese, {
    settings: {
      ROBOTSTXT_OBEY: false,
      RETRY_BACKOFF: 0.1,
      HOST_BACKOFF: 0.1,
      HOST_BACKOFF_MAX: 0.5,
      ...settings,
    },
    logger: silentLogger,
  })
}

test('Retry-After makes the whole host wait, and no other', async () => {
  await using web = await startFakeWeb({ hosts: 2, pagesPerHost: 60, latencyMs: 20 })
  let askedAtMs = 0
  web.route(0, '/page/7', (_, response, hit) => {
    const isFirst = askedAtMs === 0
    if (isFirst) askedAtMs = hit.atMs
    response.writeHead(isFirst ? 429 : 200, isFirst ? { 'retry-after': '3' } : {}).end()
  })
  const pages = [0, 1].flatMap((host) => Array.from({ length: 60 }, (_, n) => web.pageUrl(host, n)))
  pages.splice(3, 0, `${web.origins[0]}/page/7`)
  const { stats } = await crawlOf(pages, { CONCURRENT_REQUESTS_PER_DOMAIN: 2 }, false)
  // What was in flight with it, and what left before it was answered.
  const during = web.starts(0).filter((atMs) => atMs > askedAtMs + 500 && atMs < askedAtMs + 2975)
  expect(during).toEqual([])
  expect(web.starts(0).filter((atMs) => atMs > askedAtMs + 2975).length).toBeGreaterThan(20)
  expect(web.starts(1).at(-1)! - askedAtMs).toBeLessThan(2900)
  expect(stats.response_received_count).toBe(new Set(pages).size)
  expect(stats['host_backoff/pauses']).toBe(1)
})

test('a host that is away for three seconds loses nothing, with RETRY_TIMES 2', async () => {
  await using web = await startFakeWeb({ pagesPerHost: 40, latencyMs: 30 })
  const crawling = crawlOf(web.seeds, { CONCURRENT_REQUESTS_PER_DOMAIN: 4 })
  await web.waitForHits(10)
  await web.hostDown(0)
  // Waits: how long the host is away is the test.
  await new Promise((resolve) => setTimeout(resolve, 3000))
  await web.hostUp(0)
  const { stats, finishReason } = await crawling
  expect(finishReason).toBe('finished')
  for (const url of web.reachable()) expect(web.countOf(url), url).toBeGreaterThan(0)
  expect(stats.item_scraped_count).toBe(web.reachable().size)
  expect(stats['retry/max_reached']).toBe(undefined)
})

test('a dead host with 2 000 queued is given up: few connections are tried, the rest is dropped and counted', async () => {
  await using web = await startFakeWeb({ hosts: 2, pagesPerHost: 2 })
  await web.hostDown(1)
  const dead = Array.from({ length: 2000 }, (_, n) => `${web.origins[1]}/page/${n}`)
  const { stats } = await crawlOf([...dead, web.pageUrl(0, 0)], { HOST_BACKOFF: 0.01, HOST_FAILURES_MAX: 8 })
  expect(stats.item_scraped_count).toBe(2)
  expect(Number(stats['downloader/exception_type_count/DownloadConnectionRefusedError'])).toBeLessThan(150)
  expect(Number(stats['host_backoff/dropped'])).toBeGreaterThan(1850)
})

test('a host that never answered costs one request its RETRY_TIMES and no more', async () => {
  await using web = await startFakeWeb({ pagesPerHost: 1 })
  await web.hostDown(0)
  const { stats } = await crawlOf(web.seeds, {})
  expect(stats).toMatchObject({
    'downloader/exception_count': 3,
    'retry/count': 2,
    'retry/max_reached': 1,
    'downloader/given_up/DownloadConnectionRefusedError': 1,
  })
})

test('AutoThrottle begins with its start delay, and goes down to what the host bears', async () => {
  await using web = await startFakeWeb({ pagesPerHost: 12, latencyMs: 40 })
  await crawlOf(web.seeds, { AUTOTHROTTLE_ENABLED: true, AUTOTHROTTLE_START_DELAY: 0.8 })
  const starts = web.starts(0)
  expect(starts).toHaveLength(12)
  const gaps = starts.slice(1).map((atMs, n) => atMs - starts[n]!)
  expect(gaps[0]).toBeGreaterThan(380)
  // 40 ms where nothing else runs.
  expect(Math.min(...gaps.slice(-4))).toBeLessThan(200)
  // Once the delay is about as long as an answer takes, a late answer may overlap with the next request.
  const [first, second, third] = web.hits
  expect(second!.atMs).toBeGreaterThan(first!.endedAtMs!)
  expect(third!.atMs).toBeGreaterThan(second!.endedAtMs!)
})

test('a crawl in one process knows what stands out among its hosts: crawler.hostLists', async () => {
  await using web = await startFakeWeb({ hosts: 2, pagesPerHost: 30 })
  await web.hostDown(1)
  const seen: (HostLists | undefined)[] = []
  class Looks extends Spider {
    override name = 'looks'
    override *start() {
      for (let page = 0; page < 30; page++)
        for (const host of [1, 0]) yield new Request(web.pageUrl(host, page), { dontFilter: true })
    }
    override parse() {
      seen.push(this.crawler.hostLists?.now())
    }
  }
  const settings = { ROBOTSTXT_OBEY: false, HOST_BACKOFF: 0, HOST_FAILURES_MAX: 2, RETRY_BACKOFF: 0 }
  await crawl(Looks, { settings: { ...settings, CONCURRENT_REQUESTS_PER_DOMAIN: 1 }, logger: silentLogger })
  const [up, down] = web.origins.map((origin) => new URL(origin)) as [URL, URL]
  expect(seen.at(-1)?.givenUp).toMatchObject([{ host: down.host, reason: 'DownloadConnectionRefusedError' }])
  const queued = seen.map((lists) => lists!.mostQueued.find(({ slot }) => slot === up.hostname)?.waiting ?? 0)
  expect(Math.max(...queued)).toBeGreaterThan(5)
  expect(queued.at(-1)).toBe(0)
})
