import type { ServerResponse } from 'node:http'
import { type JsonObject, MemoryStatsCollector, Request, type RequestInit, silentLogger } from '@webloom/core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Fetching, testCrawler } from '../../testing/fetching.ts'
import { LocalProxy } from '../../testing/local-proxy.ts'
import { LocalSite } from '../../testing/local-site.ts'
import { MemoryCookieJarStore } from '../cookies/memory-cookie-jar-store.ts'
import { CookiesMiddleware } from './cookies.ts'
import { RedirectMiddleware } from './redirect.ts'
import { RetryMiddleware } from './retry.ts'

// Every http host leads to this site, by way of a real proxy: cookies care for names.
let site: LocalSite
let proxy: LocalProxy
let fetching: Fetching
let stats: MemoryStatsCollector
let jars: MemoryCookieJarStore
let warnings: (object | string)[]

beforeAll(async () => {
  site = await LocalSite.start()
  proxy = await LocalProxy.start({ httpPort: site.port })
})
afterAll(() => Promise.all([proxy.close(), site.close()]))
beforeEach(() => open())
afterEach(() => fetching.close())

function open(bounds: Partial<ConstructorParameters<typeof MemoryCookieJarStore>[0]> = {}): void {
  stats = new MemoryStatsCollector()
  site.hits.length = 0
  warnings = []
  jars = new MemoryCookieJarStore({
    perDomainMax: 180,
    cookiesMax: 1000,
    jarsMax: 100,
    stats,
    ...bounds,
  })
  const rules = { stats, logger: silentLogger }
  const logger = { ...silentLogger, warn: (fields: object | string) => void warnings.push(fields) }
  fetching = new Fetching([
    new RetryMiddleware({
      times: 2,
      httpCodes: [503],
      exceptions: ['DownloadFailedError'],
      priorityAdjust: -1,
      giveUpLogLevel: 'ERROR',
      ...rules,
    }),
    new RedirectMiddleware({ timesMax: 20, priorityAdjust: 2, spider: { name: 'test' }, ...rules }),
    new CookiesMiddleware({ jars, bytesMax: 4096, debug: false, stats, logger }),
  ])
}

/** Each response sets these cookies. */
function setting(...cookies: string[]): void {
  site.script = (_, res) => void res.setHeader('set-cookie', cookies).end('ok')
}

const answering = (res: ServerResponse) => res.end('ok')

const request = (url: string, { meta = {}, ...init }: RequestInit = {}): Request =>
  new Request(url, { ...init, meta: { proxy: `http://${proxy.address}`, ...meta } })

/** The Cookie header that the site gets for that URL. */
async function sent(url: string, init: RequestInit = {}): Promise<string | undefined> {
  await fetching.result(request(url, init))
  return site.hits.at(-1)!.headers.cookie
}

describe('a jar', () => {
  test('sends back what a server set, to that host and path only', async () => {
    setting('a=1', 'b=2; Path=/deep', 'c=3; Path=/')
    expect(await sent('http://shop.example.com/deep/page')).toBe(undefined)
    expect(await sent('http://shop.example.com/deep/other')).toBe('a=1; b=2; c=3')
    expect(await sent('http://shop.example.com/')).toBe('c=3')
    expect(await sent('http://www.example.com/')).toBe(undefined)
  })

  test('sends a cookie with a Domain to the subdomains too', async () => {
    setting('a=1; Domain=.example.com; Path=/')
    await sent('http://shop.example.com/')
    setting()
    expect(await sent('http://www.example.com/')).toBe('a=1')
    expect(await sent('http://a.b.example.com/')).toBe('a=1')
    expect(await sent('http://example.com/')).toBe('a=1')
    expect(await sent('http://notexample.com/')).toBe(undefined)
  })

  test.each([
    ['another site', 'http://a.com/', 'a=1; Domain=b.com'],
    ['a subdomain', 'http://a.com/', 'a=1; Domain=www.a.com'],
    ['a public suffix', 'http://a.co.uk/', 'a=1; Domain=co.uk'],
    ['a private suffix that sites share', 'http://mine.github.io/', 'a=1; Domain=github.io'],
    ['a top level domain', 'http://a.com/', 'a=1; Domain=com'],
    ['https only, set over http', 'http://a.com/', 'a=1; Secure'],
    ['a name that promises https', 'http://a.com/', '__Secure-a=1; Path=/'],
  ])('refuses a cookie for %s', async (_, url, cookie) => {
    setting(cookie)
    await sent(url)
    expect(await sent(url)).toBe(undefined)
    expect(stats.get('cookies/refused')).toBe(2)
  })

  test('a suffix may have cookies of its own, and keeps them to itself', async () => {
    setting('a=1; Domain=github.io; Path=/')
    await sent('http://github.io/')
    setting()
    expect(await sent('http://github.io/')).toBe('a=1')
    expect(await sent('http://mine.github.io/')).toBe(undefined)
  })

  test('hosts that are addresses have cookies', async () => {
    setting('a=1', 'b=2; Domain=127.0.0.1', 'c=3; Domain=0.0.1')
    const url = `${site.origin}/`
    await fetching.result(new Request(url))
    await fetching.result(new Request(url))
    expect(site.hits.at(-1)!.headers.cookie).toBe('a=1; b=2')
  })

  test('a new value takes the place of the old, and a cookie that has ended goes', async () => {
    setting('a=1', 'b=1; Max-Age=3600', 'c=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT')
    await sent('http://a.com/')
    setting('a=2')
    await sent('http://a.com/')
    expect(site.hits.at(-1)!.headers.cookie).toBe('a=1; b=1; c=1')
    setting('b=; Max-Age=0', 'c=; Expires=Thu, 01 Jan 1970 00:00:00 GMT')
    await sent('http://a.com/')
    expect(site.hits.at(-1)!.headers.cookie).toBe('a=2; b=1; c=1')
    expect(await sent('http://a.com/')).toBe('a=2')
  })

  test('sends bytes that are not ASCII as they came', async () => {
    site.script = (_, res) => void res.setHeader('set-cookie', Buffer.from('a=é').toString('latin1')).end()
    await sent('http://a.com/')
    expect(Buffer.from((await sent('http://a.com/'))!, 'latin1').toString()).toBe('a=é')
  })
})

describe("a request's own cookies", () => {
  test('go into the jar: later requests send them too', async () => {
    setting()
    expect(await sent('http://a.com/', { cookies: { a: '1', b: '2' } })).toBe('a=1; b=2')
    expect(await sent('http://a.com/x')).toBe('a=1; b=2')
    expect(await sent('http://b.com/')).toBe(undefined)
  })

  test('may name domain and path; one for another site is not sent', async () => {
    setting()
    const cookies = [
      { name: 'a', value: '1', domain: 'a.com', path: '/' },
      { name: 'b', value: '2', path: '/x' },
      { name: 'c', value: '3', domain: 'b.com' },
      { name: 'd', value: '4', secure: true },
    ]
    expect(await sent('http://www.a.com/x', { cookies })).toBe('b=2; a=1')
    expect(await sent('http://a.com/')).toBe('a=1')
    expect(await sent('http://b.com/')).toBe(undefined)
  })

  test('given as a header stand alone and are not changed', async () => {
    setting('a=1')
    await sent('http://a.com/')
    expect(await sent('http://a.com/', { headers: { cookie: 'own=1' } })).toBe('own=1')
    expect(await sent('http://a.com/')).toBe('a=1')
  })
})

describe('sessions', () => {
  test('know nothing of each other', async () => {
    const session = (cookiejar: JsonObject['']) => sent('http://a.com/', { meta: { cookiejar: cookiejar! } })
    setting('a=first')
    await session(1)
    setting('a=second')
    await session('1')
    setting()
    expect(await session(1)).toBe('a=first')
    expect(await session('1')).toBe('a=second')
    expect(await session(2)).toBe(undefined)
    expect(await sent('http://a.com/')).toBe(undefined)
  })

  test('dont_merge_cookies sends the own cookies only, and keeps none', async () => {
    setting('a=1')
    await sent('http://a.com/')
    setting('b=2')
    const meta = { dont_merge_cookies: true }
    expect(await sent('http://a.com/', { meta, cookies: { own: '1' } })).toBe('own=1')
    expect(await sent('http://a.com/', { meta })).toBe(undefined)
    expect(await sent('http://a.com/')).toBe('a=1')
  })
})

describe('what is asked again sends what the jar has by then', () => {
  test('after a redirect that sets a cookie', async () => {
    site.script = (req, res) =>
      void (req.url === '/login'
        ? res.writeHead(302, { location: '/home', 'set-cookie': 'session=new; Path=/' }).end()
        : answering(res))
    const login = request('http://a.com/login', { cookies: { session: 'old' } })
    const target = (await fetching.result(login)) as Request
    expect(site.hits.at(-1)!.headers.cookie).toBe('session=old')
    expect(target.url).toBe('http://a.com/home')
    await fetching.result(target)
    expect(site.hits.at(-1)!.headers.cookie).toBe('session=new')
  })

  test('and a redirect to another site takes none along', async () => {
    site.script = (_, res) => void res.writeHead(302, { location: 'http://b.com/' }).end()
    const target = (await fetching.result(request('http://a.com/', { cookies: { a: '1' } }))) as Request
    site.script = (_, res) => void answering(res)
    await fetching.result(target)
    expect(site.hits.at(-1)!).toMatchObject({ host: 'b.com' })
    expect(site.hits.at(-1)!.headers.cookie).toBe(undefined)
  })

  test('after a failure: the header that was sent is not in the request that is queued', async () => {
    setting('a=1')
    await sent('http://a.com/')
    site.script = (_, res) => void res.writeHead(503, { 'set-cookie': 'a=2' }).end()
    const again = (await fetching.result(request('http://a.com/'))) as unknown as { request: Request }
    expect(again.request.headers.has('cookie')).toBe(false)
    site.script = (req) => void req.socket.destroy()
    const onceMore = (await fetching.result(again.request)) as unknown as { request: Request }
    expect(site.hits.at(-1)!.headers.cookie).toBe('a=2')
    expect(onceMore.request.headers.has('cookie')).toBe(false)
  })
})

describe('a cookie that cannot be sent', () => {
  test.each([
    ['a value', { session: 'a\r\nX-Evil: 1' }],
    ['a name', { 'a\nb': '1' }],
    ['a NUL', { session: '\0' }],
    ['a DEL', { session: '\x7f' }],
    ['a tab', [{ name: 'session', value: 'a\tb' }]],
    ['a domain', [{ name: 'session', value: 'a', domain: 'a.com\n.b.com' }]],
    ['half a character for a domain', [{ name: 'session', value: 'a', domain: '\ud800' }]],
    ['more than COOKIE_MAXSIZE', { session: 'x'.repeat(4096) }],
  ] as const)('is left out, with a line in the log: %s', async (_, cookies) => {
    setting('good=1; Path=/')
    await sent('http://a.com/')
    expect(await sent('http://a.com/', { cookies: cookies as never })).toBe('good=1')
    expect(await sent('http://a.com/')).toBe('good=1')
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatchObject({ url: 'http://a.com/' })
    expect(stats.get('cookies/refused') ?? stats.get('cookies/too_large')).toBe(1)
  })

  test('is told ten times and counted always', async () => {
    for (let n = 0; n < 12; n++) await sent('http://a.com/', { cookies: { a: '\n' } })
    expect(warnings).toHaveLength(10)
    expect(stats.get('cookies/refused')).toBe(12)
  })

  test('a path with one counts as none', async () => {
    setting()
    const cookies = [{ name: 'a', value: '1', path: '/\n' }]
    expect(await sent('http://a.com/deep/', { cookies })).toBe('a=1')
    expect(await sent('http://a.com/')).toBe(undefined)
  })

  test('is not sent out of a jar that an older release filled', async () => {
    const place = { domain: 'a.com', hostOnly: true, path: '/', secure: false, expiresAtMs: null }
    jars.keep('null', [
      { ...place, name: 'bad', value: 'a\nb' },
      { ...place, name: 'good', value: '1' },
    ])
    setting()
    expect(await sent('http://a.com/')).toBe('good=1')
  })

  test('comes from a server as well', async () => {
    setting('good=1; Path=/')
    await sent('http://a.com/')
    site.script = (_, res) =>
      void res.socket!.end('HTTP/1.1 200 OK\r\nSet-Cookie: bad=a\x7fb\r\nContent-Length: 0\r\n\r\n')
    await sent('http://a.com/')
    setting()
    expect(await sent('http://a.com/')).toBe('good=1')
  })

  test('a Domain that is not a name costs the cookie and not the page', async () => {
    setting('bad=1; Domain=%ff', 'worse=1; Domain=a b', 'good=1')
    expect(await fetching.result(request('http://a.com/'))).toMatchObject({ status: 200 })
    expect(await sent('http://a.com/')).toBe('good=1')
  })

  test('what is not ASCII is sent as UTF-8, as Scrapy does', async () => {
    setting()
    const header = await sent('http://a.com/', { cookies: { a: 'é€ж' } })
    expect(Buffer.from(header!, 'latin1').toString('utf8')).toBe('a=é€ж')
  })
})

describe('bounds', () => {
  test('a cookie that is too large is not kept', async () => {
    setting(`a=${'x'.repeat(4096)}`, `b=${'x'.repeat(4095)}`)
    await sent('http://a.com/')
    setting()
    expect(await sent('http://a.com/')).toMatch(/^b=x+$/)
    expect(stats.get('cookies/too_large')).toBe(1)
  })

  test('past the most of a domain the oldest goes', async () => {
    await fetching.close()
    open({ perDomainMax: 3 })
    setting('a=1', 'b=2', 'c=3', 'd=4')
    await sent('http://a.com/')
    expect(await sent('http://a.com/')).toBe('b=2; c=3; d=4')
    expect(stats.get('cookies/evicted')).toBeGreaterThan(0)
  })

  test('past the most of all cookies the domain used longest ago loses its own', async () => {
    await fetching.close()
    open({ cookiesMax: 4 })
    setting('a=1', 'b=2')
    for (const host of ['a', 'b']) await sent(`http://${host}.com/`)
    setting()
    await sent('http://a.com/')
    setting('c=3')
    await sent('http://c.com/')
    setting()
    expect(await sent('http://b.com/')).toBe(undefined)
    expect(await sent('http://a.com/')).toBe('a=1; b=2')
    expect(stats.get('cookies/evicted')).toBe(2)
  })

  test('past the most of jars the one used longest ago goes', async () => {
    await fetching.close()
    open({ jarsMax: 2 })
    setting('a=1')
    for (const cookiejar of [1, 2, 3]) await sent('http://a.com/', { meta: { cookiejar } })
    setting()
    expect(await sent('http://a.com/', { meta: { cookiejar: 1 } })).toBe(undefined)
    expect(await sent('http://a.com/', { meta: { cookiejar: 2 } })).toBe('a=1')
    expect(stats.get('cookies/jars_evicted')).toBe(1)
  })
})

test('COOKIES_ENABLED=false leaves the middleware out', () => {
  expect(() => CookiesMiddleware.fromCrawler(testCrawler({ COOKIES_ENABLED: false }))).toThrow(
    /COOKIES_ENABLED/,
  )
  expect(CookiesMiddleware.fromCrawler(testCrawler())).toBeInstanceOf(CookiesMiddleware)
})
