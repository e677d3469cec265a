import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import {
  DownloadError,
  MemoryStatsCollector,
  Request,
  Response,
  RetryLater,
  Signals,
  silentLogger,
} from '@webloom/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Downloader } from './downloader.ts'
import { HttpDownloadHandler, type HttpDownloadHandlerOptions } from './http/http-download-handler.ts'
import { DefaultHeadersMiddleware } from './middlewares/default-headers.ts'
import { OffsiteMiddleware } from './middlewares/offsite.ts'
import { RetryMiddleware } from './middlewares/retry.ts'
import { UserAgentMiddleware } from './middlewares/user-agent.ts'

type Script = Parameters<typeof createServer>[1]

let server: Server
let site: string
const scripts = new Map<string, NonNullable<Script>>()
const seen: { url: string; headers: Record<string, unknown>; method: string }[] = []

beforeAll(async () => {
  server = createServer((req, res) => {
    seen.push({ url: req.url!, headers: req.headers, method: req.method! })
    const script = scripts.get(req.url!.split('?')[0]!)
    if (script) script(req, res as never)
    else res.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

async function download(
  path: string,
  options: HttpDownloadHandlerOptions = {},
  init = {},
): Promise<Response> {
  const handler = new HttpDownloadHandler(options)
  try {
    const url = path.includes('://') ? path : site + path
    return await handler.download(new Request(url, init), {
      signal: new AbortController().signal,
      onStart() {},
    })
  } finally {
    await handler.close()
  }
}

const failure = (kind: string) => (error: unknown) => {
  expect(error).toBeInstanceOf(DownloadError)
  expect((error as DownloadError).kind).toBe(kind)
  return true
}

describe('HttpDownloadHandler', () => {
  test('gives status, headers, body and latency', async () => {
    scripts.set('/page', (_, res) =>
      res.writeHead(201, { 'content-type': 'text/html', 'set-cookie': ['a=1', 'b=2'] }).end('<p>hi'),
    )
    const response = await download('/page')
    expect(response.status).toBe(201)
    expect(response.headers.getAll('Set-Cookie')).toEqual(['a=1', 'b=2'])
    expect(response.text).toBe('<p>hi')
    expect(response.meta.download_latency).toBeGreaterThan(0)
  })

  test('sends method, headers and body, and the path as it was written', async () => {
    scripts.set('/a/../b%7e', (req, res) => void req.toArray().then((body) => res.end(Buffer.concat(body))))
    const response = await download(
      '/a/../b%7e?x=1#top',
      {},
      { method: 'POST', body: 'name=ä', headers: { 'X-Own': 'yes' } },
    )
    expect(response.text).toBe('name=ä')
    expect(seen.at(-1)).toMatchObject({ url: '/a/../b%7e?x=1', method: 'POST', headers: { 'x-own': 'yes' } })
  })

  test('tells the moment at which the request leaves', async () => {
    scripts.set('/', (_, res) => res.end('x'))
    const handler = new HttpDownloadHandler()
    let started = 0
    await handler.download(new Request(`${site}?`), {
      signal: new AbortController().signal,
      onStart: () => started++,
    })
    expect(started).toBe(1)
    await handler.close()
  })

  test('a host nobody knows, a closed port and a dropped connection have names', async () => {
    await expect(download('http://nowhere.invalid/')).rejects.toSatisfy(failure('CannotResolveHostError'))
    await expect(download('http://127.0.0.1:1/')).rejects.toSatisfy(failure('DownloadConnectionRefusedError'))
    scripts.set('/reset', (req) => req.socket.destroy())
    await expect(download('/reset')).rejects.toSatisfy(failure('DownloadFailedError'))
  })

  test('one deadline covers a server that never answers, and one that drips', async () => {
    scripts.set('/silent', () => {})
    await expect(download('/silent', { timeoutMs: 60 })).rejects.toSatisfy(failure('DownloadTimeoutError'))
    scripts.set('/drip', (_, res) => {
      res.writeHead(200)
      const drip = setInterval(() => res.write('.'), 10)
      res.on('close', () => clearInterval(drip))
    })
    await expect(download('/drip', { timeoutMs: 100 })).rejects.toSatisfy(failure('DownloadTimeoutError'))
  })

  test('meta.download_timeout (seconds) overrides the deadline', async () => {
    await expect(download('/silent', {}, { meta: { download_timeout: 0.05 } })).rejects.toSatisfy(
      failure('DownloadTimeoutError'),
    )
  })

  test('a server that accepts and never speaks is left at the deadline', async () => {
    const mute = createTcpServer(() => {})
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(mute.address() as AddressInfo).port}/`
    await expect(download(url, { timeoutMs: 60 })).rejects.toSatisfy(failure('DownloadTimeoutError'))
    mute.close()
  })

  test('a body over the limit is cut, announced or not', async () => {
    scripts.set('/announced', (_, res) => res.writeHead(200, { 'content-length': '5000000' }).end('x'))
    await expect(download('/announced', { limits: { bodyBytesMax: 1000 } })).rejects.toSatisfy(
      failure('DownloadTooLargeError'),
    )
    scripts.set('/endless', (_, res) => {
      const more = () => res.write('x'.repeat(10_000), () => !res.destroyed && setImmediate(more))
      more()
    })
    await expect(download('/endless', { limits: { bodyBytesMax: 50_000 } })).rejects.toSatisfy(
      failure('DownloadTooLargeError'),
    )
  })

  test('a body that ends too early is an error, or handed on and flagged', async () => {
    scripts.set('/short', (req, res) => {
      res.writeHead(200, { 'content-length': '100' })
      res.write('only this')
      setImmediate(() => req.socket.destroy())
    })
    await expect(download('/short')).rejects.toSatisfy(failure('ResponseDataLossError'))
    const response = await download('/short', { limits: { failOnDataLoss: false } })
    expect(response.text).toBe('only this')
    expect(response.flags).toEqual(['dataloss'])
  })

  test('the caller’s signal ends a download, also before it begins', async () => {
    const handler = new HttpDownloadHandler()
    const abort = new AbortController()
    const arrived = new Promise<void>((resolve) => scripts.set('/hang', () => resolve()))
    const running = handler.download(new Request(`${site}/hang`), { signal: abort.signal, onStart() {} })
    await arrived
    abort.abort(new Error('stop'))
    await expect(running).rejects.toThrow('stop')
    await expect(
      handler.download(new Request(`${site}/hang`), { signal: abort.signal, onStart() {} }),
    ).rejects.toThrow('stop')
    await handler.close()
  })

  test('connections are used again', async () => {
    const ports = new Set<number | undefined>()
    scripts.set('/kept', (req, res) => {
      ports.add(req.socket.remotePort)
      res.end('x')
    })
    const handler = new HttpDownloadHandler()
    for (let n = 0; n < 5; n++)
      await handler.download(new Request(`${site}/kept`), {
        signal: new AbortController().signal,
        onStart() {},
      })
    await handler.close()
    // Two: a connection counts as busy until its answer's last event is over, and by then the next request is there.
    expect(ports.size).toBeLessThanOrEqual(2)
  })
})

function downloaderWith(...components: { name: string; component: object }[]): {
  downloader: Downloader
  stats: MemoryStatsCollector
  close(): Promise<void>
} {
  const http = new HttpDownloadHandler()
  const downloader = new Downloader({
    handlers: { http, https: http },
    deadline: { timeoutMs: 5000, stats: new MemoryStatsCollector(), logger: silentLogger },
    middlewares: components,
    signals: new Signals(() => {}),
    logger: silentLogger,
    spider: { name: 'test' },
  })
  return { downloader, stats: new MemoryStatsCollector(), close: () => downloader.close() }
}

const options = () => ({ signal: new AbortController().signal, onStart() {} })

describe('middlewares', () => {
  test('run out in order, back in reverse, and a Response on the way out still passes all on the way back', async () => {
    const trail: string[] = []
    const tracing = (name: string, answer?: Response) => ({
      name,
      component: {
        processRequest: () => {
          trail.push(`${name} out`)
          return answer
        },
        processResponse: (_: Request, response: Response) => {
          trail.push(`${name} in`)
          return response
        },
      },
    })
    const { downloader, close } = downloaderWith(
      tracing('a'),
      tracing('b', new Response('http://x/')),
      tracing('c'),
    )
    await downloader.fetch(new Request('http://x/'), options())
    expect(trail).toEqual(['a out', 'b out', 'c in', 'b in', 'a in'])
    await close()
  })

  test('an exception is offered in reverse until one answers', async () => {
    const instead = new Response('http://x/')
    const { downloader, close } = downloaderWith(
      {
        name: 'a',
        component: {
          processException: () => {
            throw new Error('not asked')
          },
        },
      },
      { name: 'b', component: { processException: () => instead } },
      { name: 'c', component: { processException: async () => undefined } },
    )
    expect(await downloader.fetch(new Request('http://127.0.0.1:1/'), options())).toBe(instead)
    await close()
  })

  test('an answer of the wrong kind names the middleware', async () => {
    const { downloader, close } = downloaderWith({
      name: 'mine',
      component: { processRequest: () => 'what?' },
    })
    await expect(downloader.fetch(new Request('http://x/'), options())).rejects.toThrow(
      /mine\.processRequest answered "what\?" \(a string\); expected nothing/,
    )
    await close()
  })

  test('a scheme without a handler is refused by name', async () => {
    const { downloader, close } = downloaderWith()
    await expect(downloader.fetch(new Request('gopher://x/'), options())).rejects.toSatisfy(
      failure('UnsupportedURLSchemeError'),
    )
    await close()
  })

  test('defaults fill in headers that a request does not set', () => {
    const request = new Request('http://x/', { headers: { accept: 'text/plain' } })
    new DefaultHeadersMiddleware({ Accept: 'text/html', 'Accept-Language': 'en' }).processRequest(request)
    new UserAgentMiddleware('me').processRequest(request)
    expect(request.headers.toJSON()).toEqual({
      accept: 'text/plain',
      'accept-language': 'en',
      'user-agent': 'me',
    })
  })

  test.each([
    ['http://example.com/', true],
    ['http://sub.example.com/', true],
    ['http://notexample.com/', false],
    ['http://example.com.evil.test/', false],
    ['http://user@EXAMPLE.com:8080/', true],
  ])('offsite: %s is %s', (url, admitted) => {
    const stats = new MemoryStatsCollector()
    const offsite = new OffsiteMiddleware({
      spider: { name: 's', allowedDomains: ['example.com'] },
      stats,
      logger: silentLogger,
    })
    const { downloader } = downloaderWith({ name: 'offsite', component: offsite })
    expect(downloader.admits(new Request(url))).toBe(admitted)
    expect(downloader.admits(new Request(url, { dontFilter: true }))).toBe(true)
    expect(downloader.admits(new Request(url, { meta: { allow_offsite: true } }))).toBe(true)
    expect(stats.get('offsite/filtered')).toBe(admitted ? undefined : 1)
  })
})

describe('RetryMiddleware', () => {
  const make = (stats = new MemoryStatsCollector()) => ({
    stats,
    retry: new RetryMiddleware({
      times: 2,
      httpCodes: [503],
      exceptions: ['DownloadTimeoutError'],
      priorityAdjust: -1,
      giveUpLogLevel: 'ERROR',
      stats,
      logger: silentLogger,
    }),
  })

  test('asks again as often as it may, then hands the response on', () => {
    const { retry, stats } = make()
    let request = new Request('http://x/', { priority: 2 })
    for (const times of [1, 2]) {
      const again = retry.processResponse(request, new Response('http://x/', { status: 503 })) as RetryLater
      expect(again).toBeInstanceOf(RetryLater)
      expect(again.request.meta.retry_times).toBe(times)
      expect(again.request.priority).toBe(request.priority - 1)
      request = again.request
    }
    const last = new Response('http://x/', { status: 503 })
    expect(retry.processResponse(request, last)).toBe(last)
    expect(stats.snapshot()).toEqual({
      'retry/count': 2,
      'retry/max_reached': 1,
      'retry/reason_count/503 Service Unavailable': 2,
    })
  })

  test('leaves alone what it was not asked to retry', () => {
    const { retry } = make()
    expect(
      retry.processException(new Request('http://x/'), new DownloadError('CannotResolveHostError', 'x')),
    ).toBeUndefined()
    expect(
      retry.processException(
        new Request('http://x/', { meta: { dont_retry: true } }),
        new DownloadError('DownloadTimeoutError', 'x'),
      ),
    ).toBeUndefined()
    expect(
      retry.processException(
        new Request('http://x/', { meta: { max_retry_times: 0 } }),
        new DownloadError('DownloadTimeoutError', 'x'),
      ),
    ).toBeUndefined()
  })
})
