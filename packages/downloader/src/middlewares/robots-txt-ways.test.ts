import {
  DownloadError,
  type DownloadOptions,
  IgnoreRequest,
  type JsonObject,
  type Logger,
  Request,
  Response,
  silentLogger,
} from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { testCrawler } from '../../testing/fetching.ts'
import { LocalProxy } from '../../testing/local-proxy.ts'
import { LocalSite } from '../../testing/local-site.ts'
import { robotsOfFile } from '../../testing/robots-of-file.ts'
import { HttpDownloadHandler } from '../http/http-download-handler.ts'
import { composeMiddlewares } from '../middleware-onion.ts'
import { HttpProxyMiddleware } from './http-proxy.ts'

const robots = robotsOfFile()
const { closing, robotsTxt, robotsHits, crawl } = robots

const FORBIDDEN = 'Forbidden by robots.txt'

describe('redirects of robots.txt', () => {
  const hops = (n: number) => {
    robots.site.script = (req, res) => {
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
    expect(robots.site.hits.at(-2)!.path).toBe('/hop5')
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
    const proxy = await LocalProxy.start({ httpPort: robots.site.port, authorization: 'Basic dTpw' })
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

test('where no handler takes the scheme, the request fails as it would itself, and is not waited for', async () => {
  const noHandler = () => Promise.reject(new DownloadError('UnsupportedURLSchemeError', 'no handler'))
  const { outcome } = crawl({ download: noHandler })
  expect(await outcome('/a')).toBe('UnsupportedURLSchemeError')
})

describe('by a handler of one’s own', () => {
  const missing = new DownloadError('DownloadFailedError', 'not in the archive')

  test.each([
    ['DownloadFailedError', missing],
    ['TypeError', new TypeError('cannot read it')],
  ])('a %s that it throws is waited for through three tries, and no longer', async (kind, error) => {
    const told: string[] = []
    const logger: Logger = {
      ...silentLogger,
      warn: (...line: unknown[]) => void told.push(String(line.at(-1))),
    }
    const download = () => Promise.reject(error)
    const { outcome, clock } = crawl({
      download,
      logger,
      ownHandlerOf: () => 'Archive',
      giveUpAfterMs: 300_000,
    })
    for (const waitMs of [2000, 4000]) {
      expect(await outcome('/a')).toBe(waitMs)
      clock.nowMs += waitMs
    }
    expect(await outcome('/a')).toContain(`cannot be fetched (${kind}, 3 tries)`)
    expect(told).toHaveLength(2)
    expect(told[0]).toContain(
      'its requests wait for it, 3 tries at most. The download handler Archive is asked for it',
    )
    for (const line of told) expect(line).toContain('answers with status 404 where there is none')
  })

  test('what it answers counts as from the site: 404 allows all, 503 is waited for', async () => {
    const answers = (status: number) => ({
      ownHandlerOf: () => 'Archive',
      download: async (request: Request) => new Response(request.url, { status, request }),
    })
    expect(await crawl(answers(404)).outcome('/a')).toBe('fetched')
    const { outcome, clock } = crawl(answers(503))
    for (const waitMs of [2000, 4000, 8000]) {
      expect(await outcome('/a')).toBe(waitMs)
      clock.nowMs += waitMs
    }
  })
})
