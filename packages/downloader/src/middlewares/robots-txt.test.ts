import {
  type DownloadError,
  type DownloaderMiddleware,
  IgnoreRequest,
  NotConfigured,
  Request,
  Response,
} from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { downloaderInside, Fetching, testCrawler } from '../../testing/fetching.ts'
import { LocalSite } from '../../testing/local-site.ts'
import { robotsOfFile } from '../../testing/robots-of-file.ts'
import { HttpDownloadHandler } from '../http/http-download-handler.ts'
import { RobotsTxtMiddleware } from './robots-txt.ts'

const robots = robotsOfFile()
const { closing, robotsTxt, robotsHits, pageHits, crawl } = robots

const FORBIDDEN = 'Forbidden by robots.txt'

describe('what robots.txt says', () => {
  test('is kept to: what is forbidden is dropped, the rest is fetched', async () => {
    robotsTxt('User-agent: *\nDisallow: /private\n')
    const { outcome, stats } = crawl()
    expect(await outcome('/private/page')).toBe(FORBIDDEN)
    expect(await outcome('/page')).toBe('fetched')
    expect(await outcome('/robots.txt')).toBe('fetched')
    expect(robots.site.hits.map(({ path }) => path)).toEqual(['/robots.txt', '/page', '/robots.txt'])
    expect(stats.snapshot()).toEqual({
      'robotstxt/forbidden': 1,
      'robotstxt/request_count': 1,
      'robotstxt/response_count': 1,
      'robotstxt/response_status_count/200': 1,
    })
  })

  test('is asked for once by all who wait for it', async () => {
    robotsTxt('User-agent: *\nDisallow: /even')
    const { outcome } = crawl()
    const all = Array.from({ length: 20 }, (_, n) => outcome(n % 2 === 0 ? '/even' : '/odd'))
    expect(await Promise.all(all)).toEqual(all.map((_, n) => (n % 2 === 0 ? FORBIDDEN : 'fetched')))
    expect(robotsHits()).toBe(1)
  })

  test('counts for one scheme, host and port', async () => {
    const other = await LocalSite.start()
    closing.push(() => other.close())
    robotsTxt('User-agent: *\nDisallow: /')
    const { outcome } = crawl()
    expect(await outcome(`http://user:secret@127.0.0.1:${robots.site.port}/a`)).toBe(FORBIDDEN)
    expect(await outcome(`http://localhost:${robots.site.port}/a`)).toBe(FORBIDDEN)
    expect(await outcome(`${other.origin}/a`)).toBe('fetched')
    expect(robots.site.hits.map(({ host }) => host)).toEqual([
      `127.0.0.1:${robots.site.port}`,
      `localhost:${robots.site.port}`,
    ])
  })

  test('is not asked for where meta.dont_obey_robotstxt is true, nor for other schemes', async () => {
    robotsTxt('User-agent: *\nDisallow: /')
    const { outcome } = crawl()
    expect(await outcome('/a', { meta: { dont_obey_robotstxt: true } })).toBe('fetched')
    expect(await outcome('data:,hello')).toBe('UnsupportedURLSchemeError')
    expect(robotsHits()).toBe(0)
  })

  test('is looked up by ROBOTSTXT_USER_AGENT, else by what the request says it is, else by USER_AGENT', async () => {
    robotsTxt(
      'User-agent: webloom\nDisallow: /w\n\nUser-agent: mybot\nDisallow: /m\n\nUser-agent: set\nDisallow: /s',
    )
    const plain = crawl()
    expect(await plain.outcome('/w')).toBe(FORBIDDEN)
    const mine = { headers: { 'User-Agent': 'Mozilla/5.0 (compatible; MyBot/2.0; +https://example.com)' } }
    expect([await plain.outcome('/w', mine), await plain.outcome('/m', mine)]).toEqual(['fetched', FORBIDDEN])
    const named = crawl({ robotsUserAgent: 'set' })
    expect([await named.outcome('/m', mine), await named.outcome('/s', mine)]).toEqual(['fetched', FORBIDDEN])
    // It is asked for under the name that the page is asked for.
    expect(
      robots.site.hits
        .filter(({ path }) => path === '/robots.txt')
        .map(({ headers }) => headers['user-agent']),
    ).toEqual(['webloom (+https://example.com)', mine.headers['User-Agent']])
  })

  test('is asked for again after its time, and what it says then counts', async () => {
    robotsTxt('User-agent: *\nDisallow: /', 'User-agent: *\nDisallow:')
    const { outcome, clock } = crawl()
    expect(await outcome('/a')).toBe(FORBIDDEN)
    clock.nowMs += 86_399_000
    expect(await outcome('/a')).toBe(FORBIDDEN)
    clock.nowMs += 1000
    expect(await outcome('/a')).toBe('fetched')
    expect(robotsHits()).toBe(2)
  })
})

describe('no robots.txt', () => {
  test.each([400, 401, 403, 404, 410, 451])('%i allows all, and is remembered', async (status) => {
    robotsTxt({ status, body: 'User-agent: *\nDisallow: /' })
    const { outcome } = crawl()
    expect([await outcome('/a'), await outcome('/b')]).toEqual(['fetched', 'fetched'])
    expect(robotsHits()).toBe(1)
  })

  test.each([429, 500, 503, 999])(
    '%i keeps its requests waiting, ever longer, until it is there',
    async (status) => {
      robotsTxt({ status }, { status }, { status }, 'User-agent: *\nDisallow: /private')
      const { outcome, clock, stats } = crawl()
      expect(await outcome('/a')).toBe(2000)
      clock.nowMs += 500
      expect(await outcome('/private')).toBe(1500)
      clock.nowMs += 1500
      expect(await outcome('/a')).toBe(4000)
      clock.nowMs += 4000
      expect(await outcome('/a')).toBe(8000)
      expect(pageHits()).toBe(0)
      clock.nowMs += 8000
      expect([await outcome('/a'), await outcome('/private')]).toEqual(['fetched', FORBIDDEN])
      expect(stats.snapshot()).toMatchObject({
        'robotstxt/waited': 4,
        'robotstxt/request_count': 4,
        [`robotstxt/response_status_count/${status}`]: 3,
        'robotstxt/response_status_count/200': 1,
      })
    },
  )

  test('a dropped connection does so, too', async () => {
    let drops = 1
    robots.site.script = (req, res) =>
      req.url === '/robots.txt' && drops-- > 0 ? req.socket.destroy() : res.end('ok')
    const { outcome, clock, stats } = crawl()
    expect(await outcome('/a')).toBe(2000)
    expect(stats.get('robotstxt/exception_count/DownloadFailedError')).toBe(1)
    clock.nowMs += 2000
    expect(await outcome('/a')).toBe('fetched')
  })

  test('Retry-After counts, up to RETRY_AFTER_MAX', async () => {
    robotsTxt(
      { status: 503, headers: { 'Retry-After': '20' } },
      { status: 429, headers: { 'Retry-After': '9999' } },
      '',
    )
    const { outcome, clock } = crawl()
    expect(await outcome('/a')).toBe(20_000)
    clock.nowMs += 20_000
    expect(await outcome('/a')).toBe(300_000)
  })

  test('is given up after its time: requests are dropped and counted, and later it is asked once more', async () => {
    robotsTxt({ status: 500 })
    const { outcome, clock, stats } = crawl()
    const waits: number[] = []
    let last = await outcome('/a')
    for (; typeof last === 'number'; last = await outcome('/a')) {
      waits.push(last)
      clock.nowMs += last
    }
    // The last wait is shorter, so that it ends when the time is over.
    expect(waits).toEqual([2000, 4000, 8000, 16_000])
    expect(last).toBe(
      `robots.txt of ${robots.site.origin} cannot be fetched (500, 5 tries), so nothing there may be fetched (ROBOTSTXT_WHEN_GIVEN_UP)`,
    )
    clock.nowMs += 3_599_000
    expect(await outcome('/b')).toBe(last)
    expect([robotsHits(), pageHits(), stats.get('robotstxt/given_up')]).toEqual([5, 0, 2])
    clock.nowMs += 1000
    expect(await outcome('/c')).toContain('6 tries')
    robotsTxt('')
    clock.nowMs += 3_600_000
    expect(await outcome('/d')).toBe('fetched')
  })

  test('with ROBOTSTXT_WHEN_GIVEN_UP=allow they are fetched', async () => {
    robotsTxt({ status: 500 })
    const { outcome, clock } = crawl({ whenGivenUp: 'allow', giveUpAfterMs: 1000 })
    expect(await outcome('/a')).toBe(1000)
    clock.nowMs += 1000
    expect([await outcome('/a'), await outcome('/b')]).toEqual(['fetched', 'fetched'])
    expect(robotsHits()).toBe(2)
  })

  test('an old copy is used on while the site is unreachable', async () => {
    robotsTxt(
      'User-agent: *\nDisallow: /private',
      { status: 503 },
      { status: 503 },
      'User-agent: *\nDisallow: /now',
    )
    const { outcome, clock } = crawl()
    expect(await outcome('/private')).toBe(FORBIDDEN)
    clock.nowMs += 86_400_000
    expect([await outcome('/private'), await outcome('/a')]).toEqual([FORBIDDEN, 'fetched'])
    clock.nowMs += 60_000
    expect([await outcome('/private'), await outcome('/now')]).toEqual([FORBIDDEN, 'fetched'])
    clock.nowMs += 60_000
    expect([await outcome('/private'), await outcome('/now')]).toEqual(['fetched', FORBIDDEN])
    expect(robotsHits()).toBe(4)
  })

  test('where nobody is, the request fails as it would itself, and other middlewares see that', async () => {
    const seen: unknown[] = []
    const witness: DownloaderMiddleware = { processException: (_, error) => void seen.push(error) }
    const { outcome, stats } = crawl({}, [witness])
    expect(await outcome('http://127.0.0.1:1/a')).toBe('DownloadConnectionRefusedError')
    expect(await outcome('http://nowhere.invalid/a')).toBe('CannotResolveHostError')
    expect(seen.map((error) => (error as DownloadError).kind)).toEqual([
      'DownloadConnectionRefusedError',
      'CannotResolveHostError',
    ])
    expect(String(seen[0])).toContain('<GET http://127.0.0.1:1/a>: connect ECONNREFUSED 127.0.0.1:1')
    expect(stats.snapshot()).toMatchObject({
      'robotstxt/exception_count/CannotResolveHostError': 1,
      'robotstxt/exception_count/DownloadConnectionRefusedError': 1,
    })
  })
})

describe('as part of a crawl', () => {
  test('without ROBOTSTXT_OBEY there is none', () => {
    const crawler = testCrawler({ ROBOTSTXT_OBEY: false })
    expect(() => RobotsTxtMiddleware.fromCrawler(crawler)).toThrow(NotConfigured)
  })

  test('it reads its settings, and sends the spider’s own name', async () => {
    robotsTxt('User-agent: own\nCrawl-delay: 50')
    const http = new HttpDownloadHandler()
    const delays: number[] = []
    const spider = { name: 'test', userAgent: 'Own/1.0' }
    const crawler = testCrawler({ CRAWL_DELAY: 'cap', CRAWL_DELAY_MAX: 3 }, spider)
    const downloader = downloaderInside({
      download: (request, options) => http.download(request, options),
      optionsOf: () => ({
        signal: new AbortController().signal,
        onStart() {},
        onHostNews: ({ delayMs = 0 }) => void delays.push(delayMs / 1000),
      }),
    })
    const middleware = RobotsTxtMiddleware.fromCrawler({ ...crawler, downloader })
    const fetching = new Fetching([middleware])
    closing.push(
      () => fetching.close(),
      () => http.close(),
    )
    await fetching.result(new Request(`${robots.site.origin}/a`))
    expect(delays).toEqual([3])
    expect(robots.site.hits[0]!.headers).toMatchObject({
      'user-agent': 'Own/1.0',
      'accept-encoding': 'identity',
    })
  })

  test('its end ends every question', async () => {
    const asked = new Promise<void>((resolve) => {
      robots.site.script = () => resolve()
    })
    const http = new HttpDownloadHandler()
    const crawler = testCrawler()
    const downloader = downloaderInside({ download: (request, options) => http.download(request, options) })
    const middleware = RobotsTxtMiddleware.fromCrawler({ ...crawler, downloader })
    const fetching = new Fetching([middleware])
    closing.push(
      () => fetching.close(),
      () => http.close(),
    )
    const page = fetching.result(new Request(`${robots.site.origin}/a`))
    page.catch(() => {})
    await asked
    await crawler.signals.send('engineStopped', {})
    await expect(page).rejects.toThrow('the crawl ended before robots.txt was here')
  })

  test('an error that is none of the site’s goes to the request, and is not remembered', async () => {
    const refused = new IgnoreRequest('inside the own network')
    let refusals = 1
    const download = async (request: Request) => {
      if (refusals-- > 0) throw refused
      return new Response(request.url, { request })
    }
    const { fetching, request } = crawl({ download })
    await expect(fetching.result(request('/a'))).rejects.toBe(refused)
    expect((await fetching.response(request('/a'))).status).toBe(200)
  })
})
