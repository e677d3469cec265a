import type { IncomingMessage, ServerResponse } from 'node:http'
import { createSecureServer } from 'node:http2'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { LOCAL_CERTIFICATE } from '../../testing/local-certificates.ts'
import { LocalSite } from '../../testing/local-site.ts'
import { ConnectedSites } from './connected-sites.ts'
import { HostAddresses } from './host-addresses.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const close of closing.splice(0).reverse()) await close()
})

// What one connection without TLS counts for, its site included.
const SITE_BYTES = 24_576

function sitesOf({ bytesMax = 100 * SITE_BYTES, sitesMax = 100 } = {}): ConnectedSites {
  const addresses = new HostAddresses({ cacheSize: 0, timeoutMs: 1000 })
  const connecting = { addresses, tls: { rejectUnauthorized: false }, http2: true, timeoutMs: 1000 }
  const sites = new ConnectedSites({ connecting, pool: { keepAliveTimeout: 60_000 }, sitesMax, bytesMax })
  closing.push(() => sites.close())
  return sites
}

/** Resolves to the answer's status; rejects with what undici says. */
function ask(sites: ConnectedSites, origin: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let status = 0
    sites.to(origin).dispatch(
      { origin, path: '/', method: 'GET' },
      {
        onRequestStart() {},
        onResponseStart(_, statusCode) {
          status = statusCode
        },
        onResponseData() {},
        onResponseEnd: () => resolve(status),
        onResponseError: (_, error) => reject(error),
      },
    )
  })
}

/** A site that says from which ports it was asked, and keeps its answers until it is told. */
async function siteThatWaits() {
  const site = await LocalSite.start()
  closing.push(() => site.close())
  const ports: (number | undefined)[] = []
  const waiting: ServerResponse[] = []
  site.script = (req: IncomingMessage, res: ServerResponse) => {
    ports.push(req.socket.remotePort)
    waiting.push(res)
  }
  const answerAll = () => {
    for (const res of waiting.splice(0)) res.end('ok')
  }
  return { origin: site.origin, ports, waiting, answerAll, site }
}

async function answeringSite() {
  const waits = await siteThatWaits()
  const { ports } = waits
  const closed: (number | undefined)[] = []
  waits.site.script = (req, res) => {
    const port = req.socket.remotePort
    if (!ports.includes(port)) req.socket.once('close', () => closed.push(port))
    ports.push(port)
    res.end('ok')
  }
  return { ...waits, closed }
}

test('what comes one after another goes over one connection', async () => {
  const { origin, ports } = await answeringSite()
  const sites = sitesOf()
  for (let times = 0; times < 10; times++) expect(await ask(sites, origin)).toBe(200)
  expect(new Set(ports).size).toBe(1)
})

test('what comes at once has a connection each, and nothing waits for another’s answer', async () => {
  const { origin, ports, waiting, answerAll } = await siteThatWaits()
  const sites = sitesOf()
  const answers = Promise.all(Array.from({ length: 8 }, () => ask(sites, origin)))
  await vi.waitFor(() => expect(waiting.length).toBe(8))
  expect(new Set(ports).size).toBe(8)
  answerAll()
  expect(await answers).toEqual(Array(8).fill(200))
})

test.each([
  ['weigh too much', { bytesMax: 2.5 * SITE_BYTES }],
  ['are too many', { sitesMax: 2 }],
])(
  'connections of the site used longest ago are closed when all %s, and opened again when asked for',
  async (_, bounds) => {
    const [first, second, third] = [await answeringSite(), await answeringSite(), await answeringSite()]
    const sites = sitesOf(bounds)
    for (const { origin } of [first, second, third]) await ask(sites, origin)
    await vi.waitFor(() => expect(first.closed.length).toBe(1))
    expect(sites.isConnected(first.origin)).toBe(false)
    expect(sites.isConnected(third.origin)).toBe(true)
    expect(await ask(sites, first.origin)).toBe(200)
  },
)

test('many connections to one site weigh more than one', async () => {
  const [other, many] = [await answeringSite(), await siteThatWaits()]
  const sites = sitesOf({ bytesMax: 5 * SITE_BYTES })
  await ask(sites, other.origin)
  const answers = Promise.all(Array.from({ length: 8 }, () => ask(sites, many.origin)))
  await vi.waitFor(() => expect(many.waiting.length).toBe(8))
  await vi.waitFor(() => expect(other.closed.length).toBe(1))
  many.answerAll()
  expect(await answers).toEqual(Array(8).fill(200))
})

test('a site that is let go answers what it was asked before', async () => {
  const [first, second] = [await siteThatWaits(), await answeringSite()]
  const sites = sitesOf({ bytesMax: SITE_BYTES })
  const answers = Promise.all([ask(sites, first.origin), ask(sites, first.origin)])
  await vi.waitFor(() => expect(first.waiting.length).toBe(2))
  await ask(sites, second.origin)
  first.answerAll()
  expect(await answers).toEqual([200, 200])
})

test('nothing is kept of a site whose connections have closed, nor of one that cannot be connected to', async () => {
  const { origin, site } = await siteThatWaits()
  site.script = (_, res) => void res.setHeader('connection', 'close').end('ok')
  const sites = sitesOf()
  await ask(sites, origin)
  await expect(ask(sites, 'http://127.0.0.1:1')).rejects.toThrow('ECONNREFUSED')
  await vi.waitFor(() => expect(sites.kept).toBe(0))
  expect(await ask(sites, origin)).toBe(200)
})

test.each([
  ['HTTP/2', 1],
  ['HTTP/1.1', 8],
] as const)(
  'a site with TLS that speaks %s, asked eight things at once: connections %i',
  async (protocol, connections) => {
    const opened = new Set<unknown>()
    const waiting: { end(text: string): unknown }[] = []
    const answer = (_: unknown, res: { end(text: string): unknown }) => {
      if (waiting.push(res) < 8) return
      for (const each of waiting) each.end('ok')
    }
    const server =
      protocol === 'HTTP/2'
        ? createSecureServer(LOCAL_CERTIFICATE, answer)
        : createServer(LOCAL_CERTIFICATE, answer)
    server.on('secureConnection', (socket) => opened.add(socket))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => server.close())
    const sites = sitesOf()
    const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    expect(await Promise.all(Array.from({ length: 8 }, () => ask(sites, origin)))).toEqual(Array(8).fill(200))
    expect(opened.size).toBe(connections)
  },
)

test('a site that has closed a used connection is connected to anew; for ten minutes its idle ones are closed after half a second', async () => {
  const { origin, ports, closed } = await answeringSite()
  const sites = sitesOf()
  await ask(sites, origin)
  sites.noteCloser(origin, undefined, sites.to(origin))
  await ask(sites, origin)
  expect(ports[1]).not.toBe(ports[0])
  expect(closed, 'what another dispatcher had is not closed twice').toEqual([ports[0]])
  const idleFromMs = performance.now()
  await vi.waitFor(() => expect(sites.kept).toBe(0), { timeout: 4000 })
  expect(performance.now() - idleFromMs).toBeGreaterThan(400)

  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 600_001)
  await ask(sites, origin)
  // Waits: longer than half a second, as nothing is to happen.
  await sleep(1200)
  expect(sites.kept).toBe(1)
})

test('of a site that does so again none is used twice', async () => {
  const { origin, ports } = await answeringSite()
  const sites = sitesOf()
  for (let time = 0; time < 2; time++) {
    await ask(sites, origin)
    sites.noteCloser(origin, undefined, sites.to(origin))
  }
  for (let page = 0; page < 3; page++) await ask(sites, origin)
  expect(new Set(ports).size).toBe(5)
})

test('connections that were opened since are kept when another one of those before is closed', async () => {
  const { origin, ports } = await answeringSite()
  const sites = sitesOf()
  const before = sites.to(origin)
  sites.noteCloser(origin, undefined, before)
  await ask(sites, origin)
  sites.noteCloser(origin, undefined, before)
  await ask(sites, origin)
  expect(ports[1]).toBe(ports[0])
})
