/** Servers that close a connection when it is used again, as happens when a request leaves just when they think it idle for too long. */

import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { type DownloadError, Request } from '@webloom/core'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { LOCAL_CERTIFICATE } from '../../testing/local-certificates.ts'
import { LocalProxy } from '../../testing/local-proxy.ts'
import { HttpDownloadHandler } from './http-download-handler.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const close of closing.splice(0).reverse()) await close()
})

type Answer = (use: number, socket: Socket, res: ServerResponse, hit: number) => void

const closesUsed: Answer = (use, socket, res) => void (use > 0 ? socket.destroy() : res.end('ok'))

/** A server that answers by how often the connection was used before. */
async function site(answer: Answer, { isTls = false } = {}) {
  const uses = new Map<Socket, number>()
  let hits = 0
  const listener = (req: IncomingMessage, res: ServerResponse) => {
    const use = uses.get(req.socket) ?? 0
    uses.set(req.socket, use + 1)
    hits++
    req.resume().on('end', () => answer(use, req.socket, res, hits))
  }
  const server = isTls ? createTlsServer(LOCAL_CERTIFICATE, listener) : createHttpServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { port, origin: `${isTls ? 'https' : 'http'}://127.0.0.1:${port}`, uses }
}

/** Resolves to the answer's text, or to how the download failed. */
function fetching() {
  const http = new HttpDownloadHandler({ timeoutMs: 20_000 })
  closing.push(() => http.close())
  const { signal } = new AbortController()
  return async (url: string, init: ConstructorParameters<typeof Request>[1] = {}) => {
    try {
      return (await http.download(new Request(url, init), { signal, onStart() {} })).text
    } catch (error) {
      const { kind, unread } = error as DownloadError
      return { kind, unread }
    }
  }
}

/** From now on the clock says so many milliseconds more. */
function laterBy(ms: number) {
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ms)
}

const UNREAD = { kind: 'DownloadFailedError', unread: true }
const FAILED = { kind: 'DownloadFailedError', unread: false }

test.each([
  ['closes', (socket: Socket) => socket.destroy()],
  ['resets', (socket: Socket) => socket.resetAndDestroy()],
])('when a server %s a connection as it is used again, the request was not read', async (_, close) => {
  const { origin } = await site((use, socket, res) => void (use > 0 ? close(socket) : res.end('ok')))
  const get = fetching()
  expect(await get(origin)).toBe('ok')
  expect(await get(origin)).toEqual(UNREAD)
  expect(await get(origin), 'a new one').toBe('ok')
})

describe.each([false, true])('over TLS: %s', (isTls) => {
  test('when it closes one that is used for the first time, the request may have been read', async () => {
    const { origin } = await site((_, socket) => socket.destroy(), { isTls })
    expect(await fetching()(origin)).toEqual(FAILED)
  })

  test('of many that are closed at once, none was read, and none is closed again', async () => {
    const { origin } = await site(closesUsed, { isTls })
    const get = fetching()
    const some = () => Promise.all(Array.from({ length: 8 }, () => get(origin)))
    await some()
    const failed = (await some()).filter((answer) => answer !== 'ok')
    expect(failed.length).toBeGreaterThan(3)
    for (const one of failed) expect(one).toEqual(UNREAD)
    expect(await some()).toEqual(Array(8).fill('ok'))
  })
})

test('by a proxy: one of the proxy’s own, and a tunnel', async () => {
  const plain = await site(closesUsed)
  const secure = await site(closesUsed, { isTls: true })
  const proxy = await LocalProxy.start({ tlsPort: secure.port })
  closing.push(() => proxy.close())
  const get = fetching()
  for (const [url, address] of [
    ['http://a.example/', plain.origin],
    [secure.origin, `http://${proxy.address}`],
  ] as const) {
    const meta = { proxy: address }
    expect(await get(url, { meta })).toBe('ok')
    // undici has the connection in its pool again.
    await setImmediate()
    expect(await get(url, { meta })).toEqual(UNREAD)
  }
})

test('a tunnel that is closed at its first request is a failure', async () => {
  const { origin, port } = await site((_, socket) => socket.destroy(), { isTls: true })
  const proxy = await LocalProxy.start({ tlsPort: port })
  closing.push(() => proxy.close())
  const meta = { proxy: `http://${proxy.address}` }
  expect(await fetching()(origin, { meta })).toEqual(FAILED)
})

test.each([
  'HTTP/1.1 2',
  'HTTP/1.1 103 Early Hints\r\n\r\n',
  'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc',
])('a request whose answer has begun was read: %j', async (begun) => {
  const { origin } = await site((use, socket, res) => void (use > 0 ? socket.end(begun) : res.end('ok')))
  const get = fetching()
  await get(origin)
  expect(await get(origin)).toMatchObject({ unread: false })
})

test('so may have been one whose connection is closed only after seconds', async () => {
  const asked = Promise.withResolvers<Socket>()
  const { origin } = await site((use, socket, res) => {
    if (use > 0) asked.resolve(socket)
    else res.end('ok')
  })
  const get = fetching()
  await get(origin)
  const second = get(origin)
  const socket = await asked.promise
  laterBy(5001)
  socket.destroy()
  expect(await second).toEqual(FAILED)
})
