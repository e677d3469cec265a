import {
  createSecureServer,
  type Http2SecureServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type DownloadError, Request, type Response } from '@webloom/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LOCAL_CERTIFICATE } from '../../testing/local-certificates.ts'
import { HttpDownloadHandler, type HttpDownloadHandlerOptions } from '../http/http-download-handler.ts'
import { Connections } from './connections.ts'

type Headers = Record<string, string | string[] | number | undefined>
type Script = (stream: ServerHttp2Stream, headers: Headers) => void

let server: Http2SecureServer
let script: Script
let hits: Headers[]
let sessions: ServerHttp2Session[]
let requestsOverHttp1: number
const opened: HttpDownloadHandler[] = []

beforeEach(async () => {
  hits = []
  sessions = []
  requestsOverHttp1 = 0
  script = (stream) => answer(stream, 'ok')
  server = createSecureServer({ ...LOCAL_CERTIFICATE, allowHTTP1: true })
  server.on('session', (session) => sessions.push(session))
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    hits.push(headers)
    script(stream, headers)
  })
  server.on('request', (req, res) => {
    if (req.httpVersionMajor > 1) return
    requestsOverHttp1++
    res.end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((handler) => handler.close()))
  for (const session of sessions) session.destroy()
  await new Promise((resolve) => server.close(resolve))
})

function answer(stream: ServerHttp2Stream, body: string | Buffer, headers: Headers = {}): void {
  stream.respond({ ':status': 200, ...headers })
  stream.end(body)
}

function handler(options: HttpDownloadHandlerOptions = {}): HttpDownloadHandler {
  const made = new HttpDownloadHandler({ timeoutMs: 5000, ...options })
  opened.push(made)
  return made
}

const origin = () => `https://127.0.0.1:${(server.address() as AddressInfo).port}`

function get(
  http: HttpDownloadHandler,
  path: string,
  init: ConstructorParameters<typeof Request>[1] = {},
  signal = new AbortController().signal,
): Promise<Response> {
  return http.download(new Request(`${origin()}${path}`, init), { signal, onStart() {} })
}

const kind = (error: unknown) => (error as DownloadError).kind

test('a site that has it is asked over one connection', async () => {
  const http = handler()
  await get(http, '/first')
  const responses = await Promise.all(Array.from({ length: 50 }, (_, n) => get(http, `/${n}`)))
  expect(responses.map(({ text }) => text)).toEqual(Array(50).fill('ok'))
  expect([hits.length, sessions.length, requestsOverHttp1]).toEqual([51, 1, 0])
})

test('HTTP2_ENABLED=false asks it in HTTP/1.1', async () => {
  const http = handler({ connections: new Connections({ http2: false }) })
  expect((await get(http, '/')).text).toBe('ok')
  expect([sessions.length, requestsOverHttp1]).toEqual([0, 1])
})

test('headers, body and answer are as over HTTP/1.1', async () => {
  script = (stream) =>
    void stream
      .toArray()
      .then((body) =>
        answer(stream, Buffer.concat(body), { ':status': 201, 'set-cookie': ['a=1', 'b=2'], 'x-odd': 'é' }),
      )
  const response = await get(handler(), '/a/../b?x=%41', {
    method: 'POST',
    body: 'hello',
    headers: { 'X-Many': ['1', '2'], Cookie: 'c=3' },
  })
  expect(hits[0]).toMatchObject({
    ':path': '/a/../b?x=%41',
    ':method': 'POST',
    'x-many': '1, 2',
    cookie: 'c=3',
  })
  expect([response.status, response.text]).toEqual([201, 'hello'])
  expect(response.headers.getAll('set-cookie')).toEqual(['a=1', 'b=2'])
})

test('Connection is left out, and Host becomes the authority', async () => {
  await get(handler(), '/', { headers: { Connection: 'keep-alive', Host: 'a.example' } })
  expect(hits[0]![':authority']).toBe('a.example')
  expect(hits[0]).not.toHaveProperty('connection')
})

test('HEAD, 204 and 304 have no body, whatever length they announce', async () => {
  const http = handler()
  script = (stream) => stream.respond({ ':status': 200, 'content-length': 99_999_999 }, { endStream: true })
  expect((await get(http, '/', { method: 'HEAD' })).body.length).toBe(0)
  for (const status of [204, 304]) {
    script = (stream) => stream.respond({ ':status': status }, { endStream: true })
    expect((await get(http, '/')).status).toBe(status)
  }
})

test('interim answers are passed over', async () => {
  script = (stream) => {
    stream.additionalHeaders({ ':status': 103, link: '</a.css>; rel=preload' })
    answer(stream, 'real')
  }
  const response = await get(handler(), '/')
  expect([response.status, response.text]).toEqual([200, 'real'])
})

test('a body that is too large is cut, and the others on the connection go on', async () => {
  const http = handler({ limits: { bodyBytesMax: 100_000 } })
  await get(http, '/first')
  script = (stream, headers) => {
    if (headers[':path'] === '/small') {
      setTimeout(() => answer(stream, 'small'), 100)
      return
    }
    stream.respond({ ':status': 200 })
    const chunk = Buffer.alloc(16_384)
    const more = () => {
      while (!stream.destroyed && stream.write(chunk));
    }
    stream.on('drain', more)
    more()
  }
  const small = get(http, '/small')
  await expect(get(http, '/endless').catch(kind)).resolves.toBe('DownloadTooLargeError')
  expect((await small).text).toBe('small')
  expect(sessions.length).toBe(1)
})

test('one that is given up does not disturb the others', async () => {
  const http = handler()
  await get(http, '/first')
  const waiting: ServerHttp2Stream[] = []
  script = (stream) => void waiting.push(stream)
  const cut = new AbortController()
  const given = get(http, '/', {}, cut.signal)
  const other = get(http, '/')
  while (waiting.length < 2) await new Promise((resolve) => setImmediate(resolve))
  const closed = new Promise((resolve) => waiting[0]!.on('close', resolve))
  cut.abort(new Error('not wanted'))
  await expect(given).rejects.toThrow('not wanted')
  await closed
  answer(waiting[1]!, 'still here')
  expect((await other).text).toBe('still here')
})

test('the deadline fires on a stream that never answers, and on one that drips', async () => {
  const http = handler({ timeoutMs: 150 })
  script = () => {}
  await expect(get(http, '/').catch(kind)).resolves.toBe('DownloadTimeoutError')
  script = (stream) => {
    stream.respond({ ':status': 200 })
    const drip = setInterval(() => stream.write('.'), 20)
    stream.on('close', () => clearInterval(drip))
  }
  await expect(get(http, '/').catch(kind)).resolves.toBe('DownloadTimeoutError')
})

test('a stream that is reset and a body that ends too early are failures', async () => {
  const http = handler()
  script = (stream) => stream.close(2)
  await expect(get(http, '/').catch(kind)).resolves.toBe('DownloadFailedError')
  script = (stream) => {
    stream.respond({ ':status': 200, 'content-length': 1000 })
    stream.write('half', () => stream.close(2))
  }
  await expect(get(http, '/').catch(kind)).resolves.toBe('ResponseDataLossError')
})

test('a server that says GOAWAY finishes what it has, and is asked again over a new connection', async () => {
  const http = handler()
  await get(http, '/first')
  script = (stream) => {
    stream.session!.goaway(0)
    setTimeout(() => answer(stream, 'last'), 50)
  }
  expect((await get(http, '/')).text).toBe('last')
  script = (stream) => answer(stream, 'new')
  expect((await get(http, '/')).text).toBe('new')
  expect(sessions.length).toBe(2)
})

test('a connection that breaks fails what is on it, and the next request has a new one', async () => {
  const http = handler()
  script = (stream) => stream.session!.destroy()
  await expect(get(http, '/').catch(kind)).resolves.toBe('DownloadFailedError')
  script = (stream) => answer(stream, 'new')
  expect((await get(http, '/')).text).toBe('new')
})

test('headers of a megabyte end the download', async () => {
  const http = handler()
  script = (stream) => {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`x-${n}`, 'y'.repeat(16_000)]))
    answer(stream, 'ok', many)
  }
  await expect(get(http, '/').then(({ status }) => status, kind)).resolves.toMatch(/^Download/)
  script = (stream) => answer(stream, 'ok')
  expect((await get(http, '/')).text).toBe('ok')
})
