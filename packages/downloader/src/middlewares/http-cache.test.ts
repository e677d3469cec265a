import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import zlib from 'node:zlib'
import { IgnoreRequest, NotConfigured, Request, type RequestInit, type StatsCollector } from '@webloom/core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { Fetching, testCrawler } from '../../testing/fetching.ts'
import { LocalSite } from '../../testing/local-site.ts'
import { HttpCacheMiddleware } from './http-cache.ts'
import { HttpCompressionMiddleware } from './http-compression.ts'

let site: LocalSite
let folder: string
const closers: (() => unknown)[] = []

beforeAll(async () => {
  site = await LocalSite.start()
})
afterAll(() => site.close())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'webloom-cache-'))
  site.hits.length = 0
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  await rm(folder, { recursive: true, force: true })
})

interface Cache {
  readonly stats: StatsCollector
  get(path?: string, init?: RequestInit): Promise<import('@webloom/core').Response>
}

function cache(settings: object = {}): Cache {
  const crawler = testCrawler({ HTTPCACHE_ENABLED: true, HTTPCACHE_DIR: folder, ...settings })
  const { spider, stats, signals } = crawler
  const fetching = new Fetching([
    HttpCompressionMiddleware.fromCrawler(crawler),
    HttpCacheMiddleware.fromCrawler(crawler),
  ])
  closers.push(
    () => fetching.close(),
    () => signals.send('spiderClosed', { spider, reason: 'finished' }),
  )
  return { stats, get: (path = '/', init = {}) => fetching.response(new Request(site.origin + path, init)) }
}

/** Each answer has another number. */
function numbered(headers: Record<string, string | string[]> = {}, status = 200): void {
  let answers = 0
  site.script = (_, res) => void res.writeHead(status, headers).end(String(++answers))
}

const STORAGES = ['file', 'sqlite'] as const
const RFC = { HTTPCACHE_POLICY: 'scrapy.extensions.httpcache.RFC2616Policy' }

describe.each(STORAGES)('the storage %s', (HTTPCACHE_STORAGE) => {
  test('gives the same answer again, without the site', async () => {
    site.script = (_, res) =>
      void res
        .writeHead(404, { 'set-cookie': ['a=1', 'b=2'], 'x-latin': Buffer.from('é').toString('latin1') })
        .end(Buffer.from([0, 255, 13, 10]))
    const { get, stats } = cache({ HTTPCACHE_STORAGE })
    const first = await get()
    const second = await get()
    expect(site.hits).toHaveLength(1)
    expect(second.flags).toEqual(['cached'])
    expect(first.flags).toEqual([])
    expect(second.status).toBe(404)
    expect(Buffer.from(second.body)).toEqual(Buffer.from([0, 255, 13, 10]))
    expect(second.headers.toJSON()).toEqual(first.headers.toJSON())
    expect(second.request.url).toBe(`${site.origin}/`)
    expect(stats.snapshot()).toMatchObject({
      'httpcache/firsthand': 1,
      'httpcache/hit': 1,
      'httpcache/miss': 1,
      'httpcache/store': 1,
    })
  })

  test('tells requests apart by URL, method and body', async () => {
    numbered()
    const { get } = cache({ HTTPCACHE_STORAGE })
    const post = (body: string) => get('/', { method: 'POST', body })
    const texts = [
      await get('/'),
      await get('/?a'),
      await post('x'),
      await post('y'),
      await get('/'),
      await post('x'),
    ]
    expect(texts.map(({ text }) => text)).toEqual(['1', '2', '3', '4', '1', '3'])
  })

  test('a compressed answer is unpacked each time', async () => {
    site.script = (_, res) =>
      void res.writeHead(200, { 'content-encoding': 'gzip' }).end(zlib.gzipSync('hello'))
    const { get } = cache({ HTTPCACHE_STORAGE })
    expect([(await get()).text, (await get()).text]).toEqual(['hello', 'hello'])
  })

  test('HTTPCACHE_EXPIRATION_SECS: what is older is fetched anew', async () => {
    numbered()
    const { get } = cache({ HTTPCACHE_STORAGE, HTTPCACHE_EXPIRATION_SECS: 1 })
    await get()
    expect((await get()).text).toBe('1')
    const later = Date.now() + 1050
    closers.push(() => vi.restoreAllMocks())
    vi.spyOn(Date, 'now').mockReturnValue(later)
    expect((await get()).text).toBe('2')
  })

  test('HTTPCACHE_IGNORE_MISSING replays: what is not there is dropped, and nothing is fetched', async () => {
    numbered()
    await cache({ HTTPCACHE_STORAGE }).get('/known')
    const replay = cache({ HTTPCACHE_STORAGE, HTTPCACHE_IGNORE_MISSING: true })
    expect((await replay.get('/known')).text).toBe('1')
    await expect(replay.get('/unknown')).rejects.toThrow(IgnoreRequest)
    expect(site.hits).toHaveLength(1)
    expect(replay.stats.get('httpcache/ignore')).toBe(1)
  })
})

describe('the policy dummy', () => {
  test('meta.dont_cache, ignored statuses and ignored schemes go past it', async () => {
    numbered({}, 503)
    const { get, stats } = cache({ HTTPCACHE_IGNORE_HTTP_CODES: [503] })
    await get()
    expect((await get()).text).toBe('2')
    expect(stats.get('httpcache/uncacheable')).toBe(2)
    numbered()
    await get('/x', { meta: { dont_cache: true } })
    expect((await get('/x')).flags).toEqual([])
    const ignoring = cache({ HTTPCACHE_IGNORE_SCHEMES: ['http'] })
    await ignoring.get('/x')
    expect(ignoring.stats.get('httpcache/miss')).toBe(undefined)
  })

  test('half a body is not kept', async () => {
    site.script = (_, res) => {
      res.writeHead(200, { 'content-length': '100' })
      res.write('half', () => res.destroy())
    }
    const { get, stats } = cache()
    const init = { meta: { download_fail_on_dataloss: false } }
    expect((await get('/', init)).flags).toEqual(['dataloss'])
    expect(stats.get('httpcache/uncacheable')).toBe(1)
    expect((await get('/', init)).flags).toEqual(['dataloss'])
  })
})

describe('a broken cache is an empty one', () => {
  const entry = () => {
    const key = readdirSync(join(folder, 'test'), { recursive: true, encoding: 'utf8' }).find((path) =>
      path.endsWith('/meta'),
    )!
    return join(folder, 'test', key, '..')
  }

  test.each([
    ['an empty meta', 'meta', ''],
    ['half a meta', 'meta', '{"url": "http'],
    ["Scrapy's meta", 'meta', "{'url': 'http://x/', 'status': 200, 'timestamp': 1.5}"],
    ['half a body', 'response_body', 'hal'],
    ['an empty body', 'response_body', ''],
    ['other headers', 'response_headers', 'a: b\r\n'],
    ['no body', 'response_body', undefined],
    ['no headers', 'request_headers', undefined],
  ])('%s', async (_, part, content) => {
    numbered()
    const { get, stats } = cache()
    await get()
    const path = join(entry(), part)
    if (content === undefined) rmSync(path)
    else writeFileSync(path, content)
    expect((await get()).text).toBe('2')
    expect(stats.get('httpcache/retrieve_error')).toBe(1)
    expect((await get()).text).toBe('2')
  })

  test('an entry that is a file, and a folder in place of a file', async () => {
    numbered()
    const { get } = cache()
    await get()
    const path = entry()
    rmSync(path, { recursive: true })
    writeFileSync(path, 'nonsense')
    expect((await get()).text).toBe('2')
    expect((await get()).text).toBe('2')
  })

  test('a file that is not a database is put aside', async () => {
    numbered()
    writeFileSync(
      join(folder, 'test.sqlite'),
      'this is not a database, but long enough to look like one '.repeat(100),
    )
    const { get } = cache({ HTTPCACHE_STORAGE: 'sqlite' })
    await get()
    expect((await get()).flags).toEqual(['cached'])
    expect(readdirSync(folder).some((name) => name.startsWith('test.sqlite.broken-'))).toBe(true)
  })

  test('a cache that cannot be written is counted, and the crawl goes on', async () => {
    numbered()
    const file = join(folder, 'a-file')
    writeFileSync(file, '')
    const { get, stats } = cache({ HTTPCACHE_DIR: join(file, 'below') })
    expect((await get()).text).toBe('1')
    expect((await get()).text).toBe('2')
    expect(stats.get('httpcache/store_error')).toBe(2)
  })

  test('passwords are not written to disk, and a name leads nowhere else', async () => {
    numbered()
    const crawler = testCrawler(
      { HTTPCACHE_ENABLED: true, HTTPCACHE_DIR: join(folder, 'in') },
      { name: '../../out' },
    )
    const fetching = new Fetching([HttpCacheMiddleware.fromCrawler(crawler)])
    closers.push(() => fetching.close())
    await fetching.response(new Request(site.origin, { headers: { authorization: 'Basic secret' } }))
    expect(existsSync(join(folder, '..', 'out'))).toBe(false)
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    expect(files.map(({ name }) => name).sort()).toEqual([
      'meta',
      'request_body',
      'request_headers',
      'response_body',
      'response_headers',
    ])
    for (const { parentPath, name } of files)
      expect(readFileSync(join(parentPath, name), 'utf8')).not.toContain('secret')
  })
})

describe('the policy rfc2616 (RFC 9111)', () => {
  const hour = { 'cache-control': 'max-age=3600' }

  test('a fresh answer is given without asking', async () => {
    numbered(hour)
    const { get } = cache(RFC)
    await get()
    expect((await get()).text).toBe('1')
  })

  test.each([
    ['nothing said', {}],
    ['no-store', { 'cache-control': 'max-age=3600, no-store', etag: '"a"' }],
    ['Vary: *', { ...hour, vary: '*' }],
  ])('%s is not stored', async (_, headers) => {
    numbered(headers as Record<string, string>)
    const { get, stats } = cache(RFC)
    await get()
    expect((await get()).text).toBe('2')
    expect(stats.get('httpcache/uncacheable')).toBe(2)
  })

  test('a stale answer is asked about, and a 304 renews it', async () => {
    let answers = 0
    site.script = (req, res) => {
      answers++
      if (req.headers['if-none-match'] !== '"a"')
        return void res.writeHead(200, { etag: '"a"', 'x-n': '1', 'content-length': '4' }).end('body')
      res.writeHead(304, { 'cache-control': 'max-age=3600', 'x-n': '2', 'content-length': '999' }).end()
    }
    const { get, stats } = cache(RFC)
    await get()
    const renewed = await get()
    expect(renewed).toMatchObject({ status: 200, flags: ['cached'] })
    expect(renewed.text).toBe('body')
    expect(renewed.headers.get('x-n')).toBe('2')
    expect(renewed.headers.get('content-length')).toBe('4')
    expect(renewed.request.headers.has('if-none-match')).toBe(false)
    expect((await get()).text).toBe('body')
    expect(answers).toBe(2)
    expect(stats.get('httpcache/revalidate')).toBe(1)
  })

  test('Last-Modified is asked about too, and a new answer takes the place of the old', async () => {
    const modified = new Date(Date.now() - 10_000).toUTCString()
    numbered({ 'last-modified': modified, 'cache-control': 'max-age=0' })
    const { get, stats } = cache(RFC)
    await get()
    expect((await get()).text).toBe('2')
    expect(site.hits[1]!.headers['if-modified-since']).toBe(modified)
    expect(stats.get('httpcache/invalidate')).toBe(1)
  })

  test('a server in trouble, or gone, does not take away what is there; must-revalidate does', async () => {
    for (const [directive, survives] of [
      ['max-age=0', true],
      ['max-age=0, must-revalidate', false],
    ] as const) {
      const path = `/${survives}`
      numbered({ etag: '"a"', 'cache-control': directive })
      const { get, stats } = cache(RFC)
      await get(path)
      site.script = (_, res) => void res.writeHead(503).end('broken')
      expect((await get(path)).text).toBe(survives ? '1' : 'broken')
      site.script = (req) => void req.socket.destroy()
      if (survives) expect((await get(path)).text).toBe('1')
      else await expect(get(path)).rejects.toThrow()
      expect(stats.get('httpcache/errorrecovery') ?? 0).toBe(survives ? 1 : 0)
    }
  })

  test('answers that vary are told apart', async () => {
    numbered({ ...hour, vary: 'Accept-Language, Cookie' })
    const { get } = cache(RFC)
    const speaking = async (language: string) =>
      (await get('/', { headers: { 'accept-language': language } })).text
    expect([await speaking('en'), await speaking('en'), await speaking('de'), await speaking('de')]).toEqual([
      '1',
      '1',
      '2',
      '2',
    ])
  })

  test('other methods are not answered from it, and a successful change empties it', async () => {
    numbered(hour)
    const { get } = cache(RFC)
    await get()
    await get('/', { method: 'POST', body: 'x' })
    expect((await get()).text).toBe('3')
  })

  test('requests say what they want: no-store, no-cache, max-age, min-fresh, max-stale', async () => {
    numbered({ 'cache-control': 'max-age=100', age: '50' })
    const { get } = cache(RFC)
    await get()
    const served = async (value: string) =>
      (await get('/', { headers: { 'cache-control': value } })).flags.includes('cached')
    expect(await served('max-age=60')).toBe(true)
    expect(await served('min-fresh=40')).toBe(true)
    expect(await served('min-fresh=60')).toBe(false)
    expect(await served('max-age=40')).toBe(false)
    expect(await served('max-age=40, max-stale=20')).toBe(true)
    expect(await served('max-age=0, max-stale')).toBe(true)
    expect(await served('no-cache')).toBe(false)
    expect(await served('no-store')).toBe(false)
  })

  test.each([
    ['Expires after Date', () => ({ expires: inSeconds(100), date: inSeconds(0) }), true],
    ['Expires that is not a date', () => ({ expires: '0' }), false],
    ['max-age before Expires', () => ({ expires: inSeconds(100), 'cache-control': 'max-age=0' }), false],
    ['changed ten days ago: a day more', () => ({ 'last-modified': inSeconds(-864_000) }), true],
    ['Age past max-age', () => ({ 'cache-control': 'max-age=100', age: '100' }), false],
    ['Date long ago', () => ({ 'cache-control': 'max-age=100', date: inSeconds(-200) }), false],
    ['no-cache', () => ({ 'cache-control': 'max-age=100, no-cache' }), false],
    ['a quoted number', () => ({ 'cache-control': 'Max-Age="100"' }), true],
    ['must-revalidate while it is fresh', () => ({ 'cache-control': 'max-age=100, must-revalidate' }), true],
  ])('%s', async (_, headers, isFresh) => {
    numbered(headers())
    const { get } = cache(RFC)
    await get()
    expect((await get()).flags.includes('cached')).toBe(isFresh)
  })

  test('a redirect for good holds for a year with nothing said', async () => {
    numbered({ location: '/x' }, 301)
    const { get } = cache(RFC)
    await get()
    expect((await get()).flags).toEqual(['cached'])
  })

  test('HTTPCACHE_ALWAYS_STORE and HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS', async () => {
    numbered()
    const storing = cache({ ...RFC, HTTPCACHE_ALWAYS_STORE: true })
    await storing.get()
    expect(storing.stats.get('httpcache/store')).toBe(1)
    numbered({ 'cache-control': 'no-store, max-age=100' })
    const deaf = cache({ ...RFC, HTTPCACHE_IGNORE_RESPONSE_CACHE_CONTROLS: ['no-store'] })
    await deaf.get('/deaf')
    expect((await deaf.get('/deaf')).flags).toEqual(['cached'])
  })
})

test('the files lie where Scrapy would put them', async () => {
  numbered()
  await cache().get('/page')
  const key = createHash('sha1')
    .update(`{"body": "", "headers": {}, "method": "GET", "url": "${site.origin}/page"}`)
    .digest('hex')
  const body = join(folder, 'test', key.slice(0, 2), key, 'response_body')
  expect(readFileSync(body, 'utf8')).toBe('1')
})

test('without HTTPCACHE_ENABLED the middleware is left out', () => {
  expect(() => HttpCacheMiddleware.fromCrawler(testCrawler())).toThrow(NotConfigured)
})

function inSeconds(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toUTCString()
}
