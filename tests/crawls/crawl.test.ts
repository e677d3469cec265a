/** Whole crawls of the fake web in this process, judged by what the web saw. */

import { startFakeWeb } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { crawl, Request, Spider } from 'webloom'
import { crawlWeb, fetchedOnce } from './crawl-web.ts'

describe('a crawl reaches every page, each once', () => {
  test('over several hosts that link to each other', async () => {
    await crawlWeb(
      { seed: 1, hosts: 4, pagesPerHost: 20, crossHostLinks: 0.2, seedHosts: 'first' },
      {},
      (web, { finishReason, stats }) => {
        expect(finishReason).toBe('finished')
        fetchedOnce(web)
        expect(new Set(web.hits.map(({ url }) => url))).toEqual(web.linked())
        expect(stats.item_scraped_count).toBe(web.reachable().size)
        expect(stats['downloader/request_count']).toBe(web.hits.length)
      },
    )
  })

  test('through links in all the forms of real pages, and into none of their traps', async () => {
    await crawlWeb(
      { seed: 2, hosts: 2, pagesPerHost: 30, variedLinks: true, crossHostLinks: 0.1 },
      {},
      (web) => {
        for (const url of web.reachable()) expect(web.countOf(url), url).toBe(1)
        expect(web.hits.filter(({ url }) => url.includes('/trap/'))).toEqual([])
      },
    )
  })

  test('through redirects, flaky pages and compressed bodies', async () => {
    await crawlWeb(
      {
        seed: 3,
        hosts: 2,
        pagesPerHost: 25,
        redirects: 0.3,
        flaky: 0.2,
        flakyTimes: 2,
        flakyWith: 'either',
        encoding: ['gzip', 'br', 'deflate', 'zstd', 'identity'],
      },
      {},
      (web, { stats }) => {
        for (const url of web.reachable())
          expect(web.hitsOf(url).filter(({ status }) => status === 200).length, url).toBe(1)
        expect(stats['retry/count']).toBeGreaterThan(10)
        expect(stats.item_scraped_count).toBe(web.reachable().size)
      },
    )
  })

  test('although some pages answer with errors for ever', async () => {
    await crawlWeb({ seed: 4, pagesPerHost: 40, errors: 0.2 }, { RETRY_TIMES: 1 }, (web, { stats }) => {
      fetchedOnce(web)
      expect(stats['httperror/response_ignored_count']).toBeGreaterThan(0)
      expect(stats.item_scraped_count).toBe(web.reachable().size)
    })
  })
})

describe('politeness, measured at the server', () => {
  test('starts at one host are a delay apart, and hosts do not wait for each other', async () => {
    await crawlWeb({ seed: 5, hosts: 3, pagesPerHost: 8 }, { DOWNLOAD_DELAY: 0.1 }, (web) => {
      for (const host of web.origins.keys()) {
        expect(web.smallestGapMs(host)).toBeGreaterThanOrEqual(75)
        const starts = web.starts(host)
        const tookMs = starts.at(-1)! - starts[0]!
        expect(tookMs).toBeLessThan((starts.length - 1) * 100 * 1.5)
      }
    })
  })

  test('never more than CONCURRENT_REQUESTS_PER_DOMAIN at one host', async () => {
    await crawlWeb(
      { seed: 6, hosts: 2, pagesPerHost: 40, latencyMs: 5 },
      { CONCURRENT_REQUESTS_PER_DOMAIN: 3 },
      (web) => {
        for (const host of web.origins.keys()) expect(web.maxConcurrent(host)).toBe(3)
      },
    )
  })

  test('a host that hangs holds up no other', async () => {
    const hangs = [{ host: 0, page: 0 }]
    await crawlWeb(
      { seed: 7, hosts: 3, pagesPerHost: 30, hangs },
      { DOWNLOAD_TIMEOUT: 1, RETRY_TIMES: 0 },
      (web) => {
        for (const host of [1, 2]) expect(web.starts(host)).toHaveLength(30)
        const lastOfOthers = Math.max(...[1, 2].map((host) => web.starts(host).at(-1)!))
        const hung = web.hits.find(({ host, status }) => String(host) === '0' || status === 0)
        expect(lastOfOthers).toBeLessThan((hung?.endedAtMs ?? Number.POSITIVE_INFINITY) + 1)
      },
    )
  })
})

describe('robots.txt', () => {
  test('is asked for once a host, and what it forbids is not fetched', async () => {
    const robotsTxt = { 0: 'User-agent: *\nDisallow: /', 1: 'User-agent: *\nAllow: /' }
    await crawlWeb(
      { seed: 11, hosts: 2, pagesPerHost: 10, robotsTxt },
      { ROBOTSTXT_OBEY: true },
      (web, { stats }) => {
        const [forbidden, allowed] = [0, 1].map((host) => web.hits.filter((hit) => hit.host === host))
        expect(forbidden!.map(({ url }) => new URL(url).pathname)).toEqual(['/robots.txt'])
        expect(allowed!.length).toBe(11)
        expect(stats).toMatchObject({ 'robotstxt/forbidden': 1, 'robotstxt/response_count': 2 })
      },
    )
  })

  test('its Crawl-delay is kept from the second page on', async () => {
    const robotsTxt = 'User-agent: *\nCrawl-delay: 0.1'
    await crawlWeb({ seed: 12, pagesPerHost: 8, robotsTxt }, { ROBOTSTXT_OBEY: true }, (web) => {
      const starts = web.hits.filter(({ url }) => !url.endsWith('/robots.txt')).map(({ atMs }) => atMs)
      const gaps = starts.slice(2).map((atMs, n) => atMs - starts[n + 1]!)
      expect(Math.min(...gaps)).toBeGreaterThan(75)
    })
  })
})

test.each([true, false])(
  'COOKIES_ENABLED %s: of a Cookie header what cannot be sent is left out, and the page is fetched',
  async (enabled) => {
    await using web = await startFakeWeb({ seed: 5, pagesPerHost: 1 })
    const cookies: unknown[] = []
    web.route(0, '/cookies', ({ headers }, response) => {
      cookies.push(headers.cookie)
      response.end('there')
    })
    class Cookies extends Spider {
      override name = 'cookies'
      override async *start() {
        yield new Request(`${web.origins[0]}/cookies`, { headers: { Cookie: 'a=1\u0001; b=2' } })
        yield new Request(`${web.origins[0]}/cookies?2`, { headers: { Cookie: 'a=\u0001' } })
      }
      override *parse() {}
    }
    const { stats } = await crawl(Cookies, { settings: { COOKIES_ENABLED: enabled, ROBOTSTXT_OBEY: false } })
    expect(cookies).toEqual(['b=2', undefined])
    expect(stats['cookies/refused']).toBe(2)
  },
)
