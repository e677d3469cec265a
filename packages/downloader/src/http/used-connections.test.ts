/** Servers that close a connection when it is used again, as happens when a request leaves just when they think it idle for too long. */

import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { type DownloadOptions, MemoryStatsCollector, Request } from '@webloom/core'
import { afterEach, describe, expect, test } from 'vitest'
import { LOCAL_CERTIFICATE } from '../../testing/local-certificates.ts'
import { LocalProxy } from '../../testing/local-proxy.ts'
import { HttpDownloadHandler } from './http-download-handler.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

type Answer = (use: number, socket: Socket, res: ServerResponse, hit: number) => void

/** A server that answers by how often the connection was used before. `hits` are methods and paths in the order of their coming. */
async function site(answer: Answer, isTls = false) {
  const hits: string[] = []
  const uses = new Map<Socket, number>()
  const listener = (req: IncomingMessage, res: ServerResponse) => {
    const use = uses.get(req.socket) ?? 0
    uses.set(req.socket, use + 1)
    hits.push(`${req.method} ${req.url}`)
    req.resume().on('end', () => answer(use, req.socket, res, hits.length))
  }
  const server = isTls ? createTlsServer(LOCAL_CERTIFICATE, listener) : createHttpServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { port, origin: `${isTls ? 'https' : 'http'}://127.0.0.1:${port}`, hits, uses }
}

function fetching(options: Partial<DownloadOptions> = {}) {
  const stats = new MemoryStatsCollector()
  const http = new HttpDownloadHandler({ timeoutMs: 5000, stats })
  closing.push(() => http.close())
  let starts = 0
  const { signal } = new AbortController()
  return {
    stats,
    starts: () => starts,
    get: async (url: string, init: ConstructorParameters<typeof Request>[1] = {}) => {
      const given = { signal, onStart: () => void starts++, ...options }
      return (await http.download(new Request(url, init), given)).text
    },
  }
}

const closes = {
  'closes it': (socket: Socket) => socket.destroy(),
  'resets it': (socket: Socket) => socket.resetAndDestroy(),
}

describe.each(Object.entries(closes))('a server that %s when a connection is used again', (_, close) => {
  const closesUsed: Answer = (use, socket, res) => void (use > 0 ? close(socket) : res.end('ok'))

  test.each(['GET', 'HEAD', 'PUT'])('%s goes out again on a new connection', async (method) => {
    const { origin, hits } = await site(closesUsed)
    const { get, starts, stats } = fetching()
    await get(`${origin}/1`)
    await get(`${origin}/2`, { method })
    expect(hits).toEqual(['GET /1', `${method} /2`, `${method} /2`])
    expect(starts()).toBe(3)
    expect(stats.snapshot()).toEqual({ 'downloader/sent_again_count': 1 })
  })

  test('so do all that are under way at once', async () => {
    const { origin, hits } = await site(closesUsed)
    const { get } = fetching()
    const some = (from: number) =>
      Promise.all(Array.from({ length: 8 }, (_, n) => get(`${origin}/${from + n}`)))
    await some(0)
    expect(await some(8)).toEqual(Array(8).fill('ok'))
    expect(new Set(hits).size).toBe(16)
  })

  test('POST does not: it may do something twice', async () => {
    const { origin, hits } = await site(closesUsed)
    const { get } = fetching()
    await get(`${origin}/1`)
    const post = { method: 'POST', body: 'a' } as const
    await expect(get(`${origin}/2`, post)).rejects.toMatchObject({ kind: 'DownloadFailedError' })
    expect(hits).toEqual(['GET /1', 'POST /2'])
    expect(await get(`${origin}/2`, post)).toBe('ok')
  })
})

test('a connection that is closed at its first request is a failure', async () => {
  const { origin, hits } = await site((_, socket) => socket.destroy())
  await expect(fetching().get(`${origin}/1`)).rejects.toMatchObject({ kind: 'DownloadFailedError' })
  expect(hits).toEqual(['GET /1'])
})

test('a request goes out again once', async () => {
  const { origin, hits } = await site((_, socket, res, hit) => void (hit > 1 ? socket.destroy() : res.end()))
  const { get } = fetching()
  await get(`${origin}/1`)
  await expect(get(`${origin}/2`)).rejects.toMatchObject({ kind: 'DownloadFailedError' })
  expect(hits).toEqual(['GET /1', 'GET /2', 'GET /2'])
})

test.each([
  'HTTP/1.1 2',
  'HTTP/1.1 103 Early Hints\r\n\r\n',
  'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc',
])('an answer that has begun is not asked for again: %j', async (begun) => {
  const { origin, hits } = await site(
    (use, socket, res) => void (use > 0 ? socket.end(begun) : res.end('ok')),
  )
  const { get } = fetching()
  await get(`${origin}/1`)
  await expect(get(`${origin}/2`)).rejects.toThrow()
  expect(hits).toEqual(['GET /1', 'GET /2'])
})

test('a site that has closed a used connection has its idle ones closed after half a second', async () => {
  const { origin, uses } = await site(
    (use, socket, res, hit) => void (use > 0 && hit < 3 ? socket.destroy() : res.end('ok')),
  )
  const { get } = fetching()
  for (const page of [1, 2, 3]) await get(`${origin}/${page}`)
  const last = [...uses.keys()].at(-1)!
  // The last two pages on one connection, which is closed by the client though the server would keep it for five seconds.
  expect(uses.get(last)).toBe(2)
  const askedAtMs = performance.now()
  await new Promise((resolve) => last.once('close', resolve))
  expect(performance.now() - askedAtMs).toBeLessThan(2000)
})

const closesUsed: Answer = (use, socket, res) => void (use > 0 ? socket.destroy() : res.end('ok'))

test('over TLS, too', async () => {
  const { origin, hits } = await site(closesUsed, true)
  const { get } = fetching()
  expect([await get(`${origin}/1`), await get(`${origin}/2`)]).toEqual(['ok', 'ok'])
  expect(hits).toEqual(['GET /1', 'GET /2', 'GET /2'])
})

test('a proxy that closes a used connection, too', async () => {
  const { origin, hits } = await site(closesUsed)
  const { get } = fetching()
  const page = (n: number) => get(`http://a.example/${n}`, { meta: { proxy: origin } })
  await page(1)
  // undici has the connection in its pool again.
  await setImmediate()
  expect(await page(2)).toBe('ok')
  expect(hits).toEqual([1, 2, 2].map((n) => `GET http://a.example/${n}`))
})

test('a site that closes a used tunnel, too', async () => {
  const { origin, port, hits } = await site(closesUsed, true)
  const proxy = await LocalProxy.start({ tlsPort: port })
  closing.push(() => proxy.close())
  const { get } = fetching()
  const page = (n: number) => get(`${origin}/${n}`, { meta: { proxy: `http://${proxy.address}` } })
  await page(1)
  // undici has the connection in its pool again.
  await setImmediate()
  expect(await page(2)).toBe('ok')
  expect(hits).toEqual(['GET /1', 'GET /2', 'GET /2'])
})

test('at a host with a delay it waits until it may leave, and says when it has left', async () => {
  const { origin, hits } = await site(closesUsed)
  const told: string[] = []
  const asked = Promise.withResolvers<void>()
  const may = Promise.withResolvers<void>()
  const { get } = fetching({
    isPaced: true,
    documents: () => ({
      async mayLeave(url) {
        asked.resolve()
        await may.promise
        told.push(`may ${url.slice(origin.length)}`)
        return { left: () => void told.push('left'), over: () => void told.push('over') }
      },
    }),
  })
  await get(`${origin}/1`)
  const second = get(`${origin}/2`)
  await asked.promise
  expect(hits).toEqual(['GET /1', 'GET /2'])
  may.resolve()
  expect(await second).toBe('ok')
  expect(told).toEqual(['may /2', 'left', 'over'])
})

test('who gives up while it waits gives back its turn', async () => {
  const { origin, hits } = await site(closesUsed)
  const cut = new AbortController()
  const asked = Promise.withResolvers<void>()
  const may = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const { get } = fetching({
    signal: cut.signal,
    isPaced: true,
    documents: () => ({
      async mayLeave() {
        asked.resolve()
        await may.promise
        return { left() {}, over: over.resolve }
      },
    }),
  })
  await get(`${origin}/1`)
  const second = get(`${origin}/2`)
  await asked.promise
  cut.abort(new Error('over'))
  await expect(second).rejects.toThrow('over')
  may.resolve()
  await over.promise
  expect(hits).toEqual(['GET /1', 'GET /2'])
})
