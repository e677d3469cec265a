/** What a crawl says that waits, or has nothing to do. */

import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { crawlRedisKeys } from '@webloom/queue'
import { runProcess, startRedis, tempDir } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { describe, expect, test, vi } from 'vitest'
import { type CrawlResult, crawl, type SettingsInput, Spider, type SpiderClass } from 'webloom'
import { type LogLine, listeningTo } from './listening.ts'

const BIN = join(import.meta.dirname, '../packages/webloom/bin/webloom.js')

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
  test('that cannot be had is told at once, once for its host, with what to do', async () => {
    await using site = await siteWith(500)
    const stop = new AbortController()
    const lines: LogLine[] = []
    const logger = listeningTo((line) => {
      lines.push(line)
      if (line.message.includes('cannot be had')) stop.abort()
    })
    const begunAt = performance.now()
    const origin = `http://127.0.0.1:${site.port}`
    await crawl(spiderOf([`${origin}/1`, `${origin}/2`]), {
      settings: OBEYING,
      logger,
      signal: stop.signal,
    })
    expect(performance.now() - begunAt).toBeLessThan(5_000)
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

  test('is not waited for by fetch', async () => {
    await using site = await siteWith(503)
    const url = `http://127.0.0.1:${site.port}/`
    const refused = await runProcess(process.execPath, [BIN, 'fetch', url, '-s', 'ROBOTSTXT_OBEY=true'])
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toMatch(/ROBOTSTXT_OBEY=false/)
    const { stdout } = await runProcess(process.execPath, [BIN, 'fetch', url, '-s', 'ROBOTSTXT_OBEY=false'])
    expect(stdout).toBe(PAGE)
  })

  test('that forbids a start URL: a warning with the URL and the setting', async () => {
    await using site = await siteWith('User-agent: *\nDisallow: /')
    const url = `http://127.0.0.1:${site.port}/`
    const { lines } = await crawled(spiderOf([url]), OBEYING)
    const [forbidden, empty] = warnings(lines)
    expect(forbidden?.fields.url).toBe(url)
    expect(forbidden?.message).toMatch(/start URL is forbidden by robots.txt.*ROBOTSTXT_OBEY=false/)
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

  test('whose callbacks yield nothing', async () => {
    await using site = await siteWith('')
    const { lines } = await crawled(spiderOf([`http://127.0.0.1:${site.port}/`]))
    expect(warnings(lines).map(({ message }) => message)).toEqual([
      expect.stringMatching(/the callbacks of one page yielded no item and no request.*webloom shell http:/),
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

  test('whose items no output can write, with FAIL_ON_EMPTY: exit code 1, and one line for each item names page and fields', async () => {
    await using site = await siteWith('')
    await using folder = await tempDir()
    const file = folder.join('lost.mjs')
    const url = `http://127.0.0.1:${site.port}/`
    const parse = "yield { heads: r.css('h1'), text: r.css('h1::text').get, ok: 1, all: this.parseOther(r) }"
    await writeFile(
      file,
      `import { Spider } from ${JSON.stringify(import.meta.resolve('webloom'))}\nexport default class Lost extends Spider { name = 'lost'; startUrls = ['${url}'];\n *parse(r) { ${parse} }\n async *parseOther() {} }\n`,
    )
    const items = folder.join('items.jsonl')
    const words = [BIN, 'runspider', file, '-O', items, '-s', 'FAIL_ON_EMPTY=true', '-s', 'LOG_FORMAT=json']
    const { code, stderr } = await runProcess(process.execPath, [
      ...words,
      '-s',
      'LOG_LEVEL=WARNING',
      '-s',
      'STATS_DUMP=false',
    ])
    const lines = stderr
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(code).toBe(1)
    expect(lines[0]).toMatchObject({ level: 'ERROR', url, callback: 'parse' })
    expect(lines[0]).not.toHaveProperty('err')
    expect(lines[0]?.reason).toMatch(
      /field "heads" is a SelectorList.*field "text" is the function get.*field "all" is a generator/,
    )
    expect(lines.slice(1).map(({ level, msg }) => `${level} ${msg}`)).toEqual([
      expect.stringMatching(
        /^WARNING of what the spider yielded is lost: 1 item that an output could not write/,
      ),
      expect.stringMatching(/^WARNING nothing was crawled: no item could be written to an output/),
    ])
  })

  test.each([
    ['nothing, the last worker says it for all', () => undefined, 1],
    ['an item in one of them, none says anything', () => ({ title: 'x' }), 0],
  ])('on Redis, where two workers bring %s', async (_what, parse, told) => {
    const server = await startRedis()
    const redis = new Redis(server.url)
    const bothAreThere = () => vi.waitFor(async () => expect(await redis.hlen(WORKERS)).toBe(2), 10_000)
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

  test('and each line as JSON says whose it is: spider, crawl and worker', async () => {
    await using folder = await tempDir()
    const file = folder.join('empty.mjs')
    await writeFile(
      file,
      `import { Spider } from ${JSON.stringify(import.meta.resolve('webloom'))}\nexport default class Empty extends Spider {\n name = 'empty'\n async *start() { this.logger.info('mine') } }\n`,
    )
    const { stderr } = await runProcess(process.execPath, [BIN, 'runspider', file, '-s', 'CRAWL_ID=monday'])
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines.map(({ msg }) => msg)).toContain('mine')
    const worker = lines[0]?.worker
    expect(worker).toMatch(/:\d+:[0-9a-f]{8}$/)
    for (const line of lines) expect(line).toMatchObject({ spider: 'empty', crawl: 'monday', worker })
  })

  test('and exit code 1 with FAIL_ON_EMPTY', async () => {
    await using folder = await tempDir()
    const file = folder.join('empty.mjs')
    await writeFile(
      file,
      `import { Spider } from ${JSON.stringify(import.meta.resolve('webloom'))}\nexport default class Empty extends Spider { name = 'empty' }\n`,
    )
    const run = (...more: string[]) => runProcess(process.execPath, [BIN, 'runspider', file, ...more])
    expect((await run()).code).toBe(0)
    const { code, stderr } = await run('-s', 'FAIL_ON_EMPTY=true')
    expect(code).toBe(1)
    expect(stderr).toMatch(/Empty has no start URLs/)
    const server = await startRedis()
    try {
      const worker = await runProcess(process.execPath, [
        ...[BIN, 'worker', file, '-s', `REDIS_URL=${server.url}`, '-s', 'FAIL_ON_EMPTY=true'],
      ])
      expect(worker.code).toBe(1)
      expect(worker.stderr).toMatch(/nothing was crawled by any worker: Empty has no start URLs/)
    } finally {
      await server.stop()
    }
  })
})
