import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import {
  type DownloadError,
  type DownloaderMiddleware,
  type DownloadOptions,
  IgnoreRequest,
  type JsonObject,
  MemoryStatsCollector,
  NotConfigured,
  Request,
  Response,
  RetryLater,
  silentLogger,
} from '@webloom/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Fetching, testCrawler } from '../../testing/fetching.ts'
import { LocalProxy } from '../../testing/local-proxy.ts'
import { LocalSite } from '../../testing/local-site.ts'
import { HttpDownloadHandler } from '../http/http-download-handler.ts'
import { composeMiddlewares } from '../middleware-onion.ts'
import { RobotsFetch, type RobotsFetchOptions } from '../robots/robots-fetch.ts'
import { RobotsInquiry, type RobotsInquiryOptions } from '../robots/robots-inquiry.ts'
import { MemoryRobotsStore, type RobotsEntry, type RobotsStore } from '../robots/robots-store.ts'
import { HttpProxyMiddleware } from './http-proxy.ts'
import { RobotsTxtMiddleware, type RobotsTxtMiddlewareOptions } from './robots-txt.ts'

type Answer = { status?: number; headers?: Record<string, string | string[]>; body?: string | Buffer }
type Options = Partial<RobotsTxtMiddlewareOptions & RobotsInquiryOptions & RobotsFetchOptions>

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
    store: new MemoryRobotsStore({ sitesMax: 100, now }),
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

const FORBIDDEN = 'Forbidden by robots.txt'

describe('what robots.txt says', () => {
  test('is kept to: what is forbidden is dropped, the rest is fetched', async () => {
    robotsTxt('User-agent: *\nDisallow: /private\n')
    const { outcome, stats } = crawl()
    expect(await outcome('/private/page')).toBe(FORBIDDEN)
    expect(await outcome('/page')).toBe('fetched')
    expect(await outcome('/robots.txt')).toBe('fetched')
    expect(site.hits.map(({ path }) => path)).toEqual(['/robots.txt', '/page', '/robots.txt'])
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
    expect(await outcome(`http://user:secret@127.0.0.1:${site.port}/a`)).toBe(FORBIDDEN)
    expect(await outcome(`http://localhost:${site.port}/a`)).toBe(FORBIDDEN)
    expect(await outcome(`${other.origin}/a`)).toBe('fetched')
    expect(site.hits.map(({ host }) => host)).toEqual([`127.0.0.1:${site.port}`, `localhost:${site.port}`])
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
      site.hits.filter(({ path }) => path === '/robots.txt').map(({ headers }) => headers['user-agent']),
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
    site.script = (req, res) =>
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
      `robots.txt of ${site.origin} cannot be had (500, 5 tries), so nothing there may be fetched (ROBOTSTXT_WHEN_GIVEN_UP)`,
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
    expect(stats.snapshot()).toMatchObject({
      'robotstxt/exception_count/CannotResolveHostError': 1,
      'robotstxt/exception_count/DownloadConnectionRefusedError': 1,
    })
  })
})

describe('redirects of robots.txt', () => {
  const hops = (n: number) => {
    site.script = (req, res) => {
      const hop = Number(/^\/hop(\d+)$/.exec(req.url!)?.[1] ?? (req.url === '/robots.txt' ? 0 : Number.NaN))
      if (Number.isNaN(hop)) res.end('page')
      else if (hop < n)
        res.writeHead([301, 302, 303, 307, 308][hop % 5]!, { location: `/hop${hop + 1}` }).end()
      else res.end('User-agent: *\nDisallow: /private')
    }
  }

  test('five are followed', async () => {
    hops(5)
    const { outcome, stats } = crawl()
    expect([await outcome('/private'), await outcome('/a')]).toEqual([FORBIDDEN, 'fetched'])
    expect(stats.snapshot()).toMatchObject({ 'robotstxt/request_count': 1, 'robotstxt/response_count': 1 })
  })

  test('more are not: the site counts as having none', async () => {
    hops(6)
    expect(await crawl().outcome('/private')).toBe('fetched')
    expect(site.hits.at(-2)!.path).toBe('/hop5')
  })

  test('they may lead to another host, whose file then counts for the first', async () => {
    const other = await LocalSite.start()
    closing.push(() => other.close())
    other.script = (_, res) => res.end('User-agent: *\nDisallow: /private')
    robotsTxt({ status: 301, headers: { location: `${other.origin}/robots.txt` } })
    const { outcome } = crawl()
    expect([await outcome('/private'), await outcome('/a')]).toEqual([FORBIDDEN, 'fetched'])
    expect(other.hits).toHaveLength(1)
  })

  test.each([
    ['to itself', '/robots.txt'],
    ['to another scheme', 'ftp://example.com/robots.txt'],
    ['to no host', 'https://'],
    ['to a port that is none', 'http://example.com:99999/'],
  ])('one %s leads nowhere: all may be fetched', async (_, location) => {
    robotsTxt({ status: 302, headers: { location } })
    expect(await crawl().outcome('/a')).toBe('fetched')
    expect(robotsHits()).toBe(location === '/robots.txt' ? 6 : 1)
  })

  test('one without a target is none; one to a host that is not there keeps requests waiting', async () => {
    robotsTxt({ status: 302 })
    expect(await crawl().outcome('/a')).toBe('fetched')
    robotsTxt({ status: 302, headers: { location: 'http://127.0.0.1:1/robots.txt' } })
    expect(await crawl().outcome('/a')).toBe(2000)
  })
})

describe('by way of a proxy', () => {
  async function proxied(meta: JsonObject, headers: Record<string, string> = {}) {
    robotsTxt('User-agent: *\nDisallow: /private')
    const proxy = await LocalProxy.start({ httpPort: site.port, authorization: 'Basic dTpw' })
    closing.push(() => proxy.close())
    const byProxy = HttpProxyMiddleware.fromCrawler(testCrawler())
    const http = new HttpDownloadHandler()
    closing.push(() => http.close())
    const download = composeMiddlewares(
      [{ name: 'http-proxy', component: byProxy }],
      (request, given: DownloadOptions) => http.download(request, given),
    )
    const { fetching } = crawl({ download }, [byProxy])
    const given = {
      ...meta,
      ...('proxy' in meta && { proxy: String(meta.proxy).replace('{proxy}', proxy.address) }),
    }
    const request = (path: string) => new Request(`http://a.test${path}`, { meta: given, headers })
    expect(await fetching.response(request('/page'))).toMatchObject({ text: 'page /page' })
    await expect(fetching.response(request('/private'))).rejects.toThrow(FORBIDDEN)
    return proxy.asked.map(({ line }) => line)
  }

  test('that the request names, with its password', async () => {
    const lines = ['GET http://a.test/robots.txt', 'GET http://a.test/page']
    expect(await proxied({ proxy: 'http://u:p@{proxy}' })).toEqual(lines)
    expect(await proxied({ proxy: '{proxy}' }, { 'Proxy-Authorization': 'Basic dTpw' })).toEqual(lines)
  })
})

test('a refused address fails the request as it would itself, and is not waited for', async () => {
  const refuse = () => Promise.reject(new IgnoreRequest('inside', 'WL_ADDRESS_REFUSED'))
  const { outcome } = crawl({ download: refuse })
  expect(await outcome('/a')).toBe('inside')
})

test('a redirect to a place that may not be asked leads nowhere', async () => {
  const http = new HttpDownloadHandler()
  closing.push(() => http.close())
  robotsTxt({ status: 301, headers: { location: 'http://10.0.0.1/robots.txt' } })
  const { outcome } = crawl({
    download: (request, given) => {
      if (request.url.includes('10.0.0.1')) throw new IgnoreRequest('inside', 'WL_ADDRESS_REFUSED')
      return http.download(request, given)
    },
  })
  expect(await outcome('/a')).toBe('fetched')
})

describe('a robots.txt that lies', () => {
  const RULES = 'User-agent: *\nDisallow: /private\n'

  test.each<[string, Answer, string | number]>([
    [
      'a page',
      {
        headers: { 'content-type': 'text/html' },
        body: `<html><pre>${RULES}</pre><h1>Disallow: /</h1></html>`,
      },
      'fetched',
    ],
    [
      'bytes without meaning',
      { body: Buffer.from(Array.from({ length: 10_000 }, (_, n) => (n * 7919) % 256)) },
      'fetched',
    ],
    ['rules under another type', { headers: { 'content-type': 'image/png' }, body: RULES }, FORBIDDEN],
    ['rules, compressed', { headers: { 'content-encoding': 'gzip' }, body: gzipSync(RULES) }, FORBIDDEN],
    ['rules, compressed, and not said so', { body: gzipSync(RULES) }, 'fetched'],
    ['rules that are said to be compressed', { headers: { 'content-encoding': 'gzip' }, body: RULES }, 2000],
    ['rules before 3 MB of others', { body: RULES + 'Allow: /private\n'.repeat(200_000) }, 'fetched'],
    ['rules behind 3 MB of comments', { body: `${'# comment\n'.repeat(300_000)}${RULES}` }, 'fetched'],
    ['rules before 10 MB of nothing', { body: `${RULES}${'#\n'.repeat(5_000_000)}` }, FORBIDDEN],
    ['a bomb', { headers: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(50_000_000)) }, 2000],
    ['fewer bytes than announced', { headers: { 'content-length': '1000' }, body: RULES }, 2000],
    ['nothing', { body: '' }, 'fetched'],
  ])('%s', async (_, answer, outcome) => {
    robotsTxt(answer)
    const { outcome: of } = crawl()
    if (answer.headers?.['content-length']) {
      site.script = (req, res) => {
        res.writeHead(200, { 'content-length': '1000' })
        res.write(RULES, () => req.socket.destroy())
      }
    }
    expect(await of('/private')).toBe(outcome)
  })

  test('one that drips, and one that never begins, are left at the deadline', async () => {
    site.script = (req, res) => {
      if (req.url !== '/robots.txt') return void res.end()
      res.writeHead(200)
      const drip = setInterval(() => res.write('U'), 10)
      res.on('close', () => clearInterval(drip))
    }
    const { outcome, stats } = crawl({ timeoutMs: 200 })
    expect(await outcome('/a')).toBe(2000)
    site.script = () => {}
    expect(await outcome(`http://localhost:${site.port}/a`)).toBe(2000)
    expect(stats.get('robotstxt/exception_count/DownloadTimeoutError')).toBe(2)
  })

  test('the deadline is for all redirects together', async () => {
    site.script = (_, res) =>
      void setTimeout(() => res.writeHead(302, { location: '/robots.txt' }).end(), 100)
    expect(await crawl({ timeoutMs: 250 }).outcome('/a')).toBe(2000)
    // With one of its own each could go on for as long as there may be redirects.
    expect(robotsHits()).toBeLessThanOrEqual(3)
  })
})

describe('the host’s pace', () => {
  test.each([
    ['obey', '7', 7],
    ['obey', '1e9', 86_400],
    ['obey', 'inf', 86_400],
    ['cap', '7', 7],
    ['cap', '40', 30],
    ['ignore', '7', undefined],
    ['obey', '-5', undefined],
    ['obey', '0', undefined],
  ] as const)('CRAWL_DELAY=%s and a Crawl-delay of %s ask for %s', async (crawlDelay, written, seconds) => {
    robotsTxt(`User-agent: *\nCrawl-delay: ${written}\nDisallow: /private`)
    const asked: [string, number][] = []
    const onCrawlDelay = ({ url }: Request, delay: number) => void asked.push([url, delay])
    const { outcome } = crawl({ crawlDelay, onCrawlDelay })
    for (const path of ['/a', '/private', '/b']) await outcome(path)
    expect(asked).toEqual(
      seconds === undefined ? [] : ['/a', '/b'].map((path) => [site.origin + path, seconds]),
    )
  })

  test('robots.txt is the host’s turn: who asked for it goes back, once, and says so', async () => {
    robotsTxt('User-agent: *\nDisallow: /private')
    const started: string[] = []
    const { fetching, request, outcome } = crawl({ onStart: ({ url }) => void started.push(url) })
    const [first, waiting] = await Promise.all([
      fetching.result(request('/a')),
      fetching.result(request('/b')),
    ])
    expect(started).toEqual([`${site.origin}/a`])
    expect([first, waiting]).toMatchObject([{ delayMs: 0 }, { delayMs: 0 }])
    const again = (first as RetryLater).request
    expect(again.url).toBe(`${site.origin}/a`)
    const response = await fetching.response(again)
    expect(response.meta).toEqual({ download_latency: expect.any(Number) })
    expect([await outcome('/c'), await outcome('/private')]).toEqual(['fetched', FORBIDDEN])
    expect(robotsHits()).toBe(1)
  })

  test('who comes while robots.txt is being kept goes back, too, and overtakes nobody', async () => {
    robotsTxt('User-agent: *\nDisallow: /private')
    let kept: RobotsEntry | undefined
    let whileKept: Promise<unknown> | undefined
    const store: RobotsStore = {
      get: () => kept,
      async set(_, entry) {
        kept = entry
        whileKept = fetching.result(request('/b'))
        await sleep(20)
      },
    }
    const { fetching, request, outcome } = crawl({ store, onStart() {} })
    expect(await fetching.result(request('/a'))).toBeInstanceOf(RetryLater)
    expect(await whileKept).toBeInstanceOf(RetryLater)
    expect(await outcome('/c')).toBe('fetched')
    expect(robotsHits()).toBe(1)
  })

  test('a store that remembers nothing costs one question a page, not a crawl without end', async () => {
    robotsTxt('')
    const forgetful: RobotsStore = { get: () => undefined, set() {} }
    const { fetching, request } = crawl({ store: forgetful, onStart() {} })
    const back = (await fetching.result(request('/a'))) as RetryLater
    expect(back).toBeInstanceOf(RetryLater)
    expect((await fetching.response(back.request)).status).toBe(200)
    expect(robotsHits()).toBe(2)
  })

  test('while a site cannot tell, its host need not be asked', async () => {
    robotsTxt({ status: 503 })
    const waits: [string, number][] = []
    const { outcome } = crawl({ onWait: ({ url }, ms) => void waits.push([url, ms]) })
    await outcome('/a')
    expect(waits).toEqual([[`${site.origin}/a`, 2000]])
  })
})

describe('as part of a crawl', () => {
  test('without ROBOTSTXT_OBEY there is none', () => {
    const download = () => Promise.reject(new Error('not asked'))
    expect(() =>
      RobotsTxtMiddleware.fromCrawler(testCrawler({ ROBOTSTXT_OBEY: false }), { download }),
    ).toThrow(NotConfigured)
  })

  test('it reads its settings, and sends the spider’s own name', async () => {
    robotsTxt('User-agent: own\nCrawl-delay: 50')
    const http = new HttpDownloadHandler()
    const delays: number[] = []
    const spider = { name: 'test', userAgent: 'Own/1.0' }
    const crawler = testCrawler({ CRAWL_DELAY: 'cap', CRAWL_DELAY_MAX: 3 }, spider)
    const middleware = RobotsTxtMiddleware.fromCrawler(crawler, {
      download: (request, options) => http.download(request, options),
      onCrawlDelay: (_, seconds) => void delays.push(seconds),
    })
    const fetching = new Fetching([middleware])
    closing.push(
      () => fetching.close(),
      () => http.close(),
    )
    await fetching.response(new Request(`${site.origin}/a`))
    expect(delays).toEqual([3])
    expect(site.hits[0]!.headers).toMatchObject({
      'user-agent': 'Own/1.0',
      'accept-encoding': 'identity',
    })
  })

  test('its end ends every question', async () => {
    const asked = new Promise<void>((resolve) => {
      site.script = () => resolve()
    })
    const http = new HttpDownloadHandler()
    const crawler = testCrawler()
    const middleware = RobotsTxtMiddleware.fromCrawler(crawler, {
      download: (request, all) => http.download(request, all),
    })
    const fetching = new Fetching([middleware])
    closing.push(
      () => fetching.close(),
      () => http.close(),
    )
    const page = fetching.result(new Request(`${site.origin}/a`))
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
