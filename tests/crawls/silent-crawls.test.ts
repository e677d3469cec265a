/** What a crawl says that waits, or has nothing to do. */

import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { crawlRedisKeys } from '@webloom/queue'
import { MachineLag, startRedis, tempDir } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { describe, expect, test, vi } from 'vitest'
import { type CrawlResult, crawl, type SettingsInput, Spider, type SpiderClass } from 'webloom'
import { type LogLine, listeningTo } from './listening.ts'

class Site implements AsyncDisposable {
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(listener: RequestListener): Promise<Site> {
    const server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new Site(server)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}

const WORKERS = crawlRedisKeys({ spider: 'made', crawlId: null }).workers
const PAGE = '<title>Home</title><a href="/2">2</a>'

/** A site whose robots.txt is that text, or that status. */
function siteWith(robots: string | number): Promise<Site> {
  return Site.start((request, response) => {
    if (request.url !== '/robots.txt') response.setHeader('content-type', 'text/html').end(PAGE)
    else if (typeof robots === 'number') response.writeHead(robots).end()
    else response.end(robots)
  })
}

function spiderOf(urls: readonly string[], parse: Spider['parse'] = () => undefined): SpiderClass {
  return class Made extends Spider {
    override name = 'made'
    override startUrls = [...urls]
    override parse = parse
  }
}

async function crawled(
  Class: SpiderClass,
  settings: SettingsInput = {},
): Promise<{ result: CrawlResult; lines: LogLine[] }> {
  const lines: LogLine[] = []
  const result = await crawl(Class, { settings, logger: listeningTo((line) => lines.push(line)) })
  return { result, lines }
}

const warnings = (lines: readonly LogLine[]) => lines.filter(({ level }) => level === 'warn')

// The tests' environment turns it off.
const OBEYING: SettingsInput = { ROBOTSTXT_OBEY: true }

describe('robots.txt', () => {
  test('that cannot be fetched is told at once, once for its host, with what to do', async () => {
    await using site = await siteWith(500)
    const stop = new AbortController()
    const lines: LogLine[] = []
    const logger = listeningTo((line) => {
      lines.push(line)
      if (line.message.includes('cannot be fetched')) stop.abort()
    })
    using lag = new MachineLag()
    const begunAt = performance.now()
    const origin = `http://127.0.0.1:${site.port}`
    await crawl(spiderOf([`${origin}/1`, `${origin}/2`]), {
      settings: OBEYING,
      logger,
      signal: stop.signal,
    })
    expect(performance.now() - begunAt).toBeLessThan(5_000 + lag.ms)
    const [line, ...more] = warnings(lines)
    expect(more).toEqual([])
    expect(line?.fields).toMatchObject({ origin, reason: 'HTTP 500' })
    expect(line?.message).toMatch(
      /its requests wait for it, 300 s at most \(ROBOTSTXT_GIVE_UP_AFTER\).*ROBOTSTXT_OBEY=false/,
    )
  })

  test('is not waited for where no TLS is spoken: the request fails as it would itself', async () => {
    await using site = await siteWith('')
    const url = `https://127.0.0.1:${site.port}/`
    const { result, lines } = await crawled(spiderOf([url]), { ...OBEYING, RETRY_ENABLED: false })
    expect(result.stats).toMatchObject({ 'downloader/given_up/bad_tls': 1 })
    expect(result.stats['robotstxt/waited']).toBeUndefined()
    const failure = lines.find(({ level }) => level === 'error')
    expect(failure?.fields.reason).toMatch(/no TLS is spoken there; is it http:\/\//)
  })

  test.each([
    ['closes', (socket: Socket) => socket.end()],
    ['resets', (socket: Socket) => socket.resetAndDestroy()],
  ])('is not waited for where the server %s each connection in the TLS handshake', async (_, act) => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {}).once('data', () => act(socket))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const { port } = server.address() as AddressInfo
      const { result, lines } = await crawled(spiderOf([`https://127.0.0.1:${port}/`]), {
        ...OBEYING,
        RETRY_TIMES: 2,
        RETRY_BACKOFF: 0.01,
      })
      expect(result.stats).toMatchObject({
        'downloader/given_up/bad_tls': 1,
        'retry/reason_count/DownloadFailedError': 2,
      })
      const failure = lines.find(({ message }) => message === 'could not be downloaded')
      expect(failure?.fields.reason).toMatch(/the server closed the connection in the TLS handshake/)
    } finally {
      server.close()
    }
  })

  test('that forbids a start URL: a warning with the URL and the setting', async () => {
    await using site = await siteWith('User-agent: *\nDisallow: /')
    const url = `http://127.0.0.1:${site.port}/`
    const { lines } = await crawled(spiderOf([url]), OBEYING)
    const [forbidden, empty] = warnings(lines)
    expect(forbidden?.fields.url).toBe(url)
    expect(forbidden?.message).toMatch(/robots.txt forbids it.*ROBOTSTXT_OBEY=false/)
    expect(empty?.message).toMatch(
      /nothing was crawled: the start request brought no page; skipped: 1 robots.txt/,
    )
  })
})

describe('a crawl that brings nothing ends with a line that says so', () => {
  test('without start URLs', async () => {
    const { lines } = await crawled(spiderOf([]))
    expect(warnings(lines).map(({ message }) => message)).toEqual([
      expect.stringMatching(/^nothing was crawled: Made has no start URLs: write the field {2}startUrls/),
    ])
  })

  test('whose start() makes requests and does not yield them', async () => {
    class Made extends spiderOf([]) {
      // biome-ignore lint/correctness/useYield: it is what the author forgot
      override *start(): Generator<Request> {
        new Request('http://127.0.0.1:9/')
      }
    }
    const { lines } = await crawled(Made)
    expect(warnings(lines).map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^nothing was crawled: start\(\) of Made yielded no request\. Does it {2}yield {2}each/,
      ),
    ])
  })

  test('whose callbacks yield nothing', async () => {
    await using site = await siteWith('')
    const { lines } = await crawled(spiderOf([`http://127.0.0.1:${site.port}/`]))
    expect(warnings(lines).map(({ message }) => message)).toEqual([
      expect.stringMatching(/the callbacks of one page yielded no item and no request.*webloom shell http:/),
    ])
  })

  test('that followed links, and got no item for its output', async () => {
    await using site = await siteWith('')
    await using folder = await tempDir()
    const follow = (response: { follow(url: string): unknown }) => response.follow('/2')
    const file = folder.join('items.jsonl')
    const { lines } = await crawled(spiderOf([`http://127.0.0.1:${site.port}/`], follow), {
      FEEDS: { [file]: {} },
    })
    expect(warnings(lines).map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^no item was found: 2 pages yielded links alone, so .*items.jsonl got nothing.*webloom shell http:.*FAIL_ON_EMPTY/,
      ),
    ])
  })

  test.each([
    ['an item', () => ({ title: 'x' })],
    ['a request', (response: { follow(url: string): unknown }) => response.follow('/')],
  ])('but not with %s', async (_what, parse) => {
    await using site = await siteWith('')
    const { lines } = await crawled(spiderOf([`http://127.0.0.1:${site.port}/`], parse))
    expect(warnings(lines)).toEqual([])
  })

  test('where each value is refused: start() has yielded, but nothing that can be used', async () => {
    class Made extends Spider {
      override name = 'made'
      override *start() {
        yield 'https://site.example/' as never
      }
    }
    const { lines } = await crawled(Made)
    expect(lines.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual([
      expect.stringMatching(/^start\(\) must yield requests, items/),
    ])
    expect(warnings(lines).map(({ message }) => message)).toEqual([
      expect.stringMatching(/is lost: 1 value that is neither item nor request/),
      expect.stringMatching(/^nothing was crawled: nothing that start\(\) of Made yielded could be used/),
    ])
  })

  test('whose requests are all refused', async () => {
    await using site = await siteWith('')
    const { lines } = await crawled(
      spiderOf([`http://127.0.0.1:${site.port}/`], (response) => response.followAll('a', () => undefined)),
    )
    const [refused] = lines.filter(({ level }) => level === 'error')
    expect(refused?.fields).toMatchObject({ page: expect.stringContaining('127.0.0.1'), callback: 'parse' })
    expect(warnings(lines).map(({ message }) => message)).toEqual([
      expect.stringMatching(/is lost: 1 request that could not be queued/),
      expect.stringMatching(
        /the callbacks of one page yielded no item and no request.*ERROR lines above \(1\)/,
      ),
    ])
  })

  test.each([
    ['nothing, the last worker says it for all', () => undefined, 1],
    ['an item in one of them, none says anything', () => ({ title: 'x' }), 0],
  ])('on Redis, where two workers bring %s', async (_what, parse, told) => {
    const server = await startRedis()
    const redis = new Redis(server.url)
    const bothAreThere = () => vi.waitFor(async () => expect(await redis.hlen(WORKERS)).toBe(2))
    await using site = await Site.start((_request, response) => {
      void bothAreThere().then(() => response.setHeader('content-type', 'text/html').end(PAGE))
    })
    try {
      const Class = spiderOf([`http://127.0.0.1:${site.port}/`], parse)
      const both = [crawled(Class, { REDIS_URL: server.url }), crawled(Class, { REDIS_URL: server.url })]
      const said = (await Promise.all(both)).flatMap(({ lines }) => warnings(lines))
      const empty = said.filter(({ message }) => message.includes('nothing was crawled'))
      expect(empty.map(({ message }) => message)).toEqual(
        Array.from({ length: told }, () =>
          expect.stringMatching(/^nothing was crawled by any worker: the callbacks of one page/),
        ),
      )
    } finally {
      redis.disconnect()
      await server.stop()
    }
  })
})
