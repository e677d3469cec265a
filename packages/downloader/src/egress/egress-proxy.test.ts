import { request as httpRequest } from 'node:http'
import { connect, isIP } from 'node:net'
import { type Egress, type EgressOptions, MemoryStatsCollector, Request, silentLogger } from '@webloom/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LocalProxy } from '../../testing/local-proxy.ts'
import { LocalSite } from '../../testing/local-site.ts'
import { AddressGuard } from '../connecting/address-guard.ts'
import { AllowedAddresses } from '../connecting/allowed-addresses.ts'
import { EgressGate } from './egress-gate.ts'

let site: LocalSite
const opened: Egress[] = []
beforeEach(async () => {
  site = await LocalSite.start()
})
afterEach(async () => {
  for (const egress of opened.splice(0)) await egress.close()
  await site.close()
})

interface Opened extends Partial<EgressOptions> {
  readonly allowed?: string[]
  readonly proxy?: string
  readonly lookup?: (name: string) => readonly string[]
}

async function egressOf({
  allowed = ['127.0.0.0/8'],
  proxy,
  lookup,
  ...options
}: Opened = {}): Promise<Egress> {
  const stats = new MemoryStatsCollector()
  const gate = new EgressGate({
    addresses: { of: async (name) => (isIP(name) ? [name] : (lookup?.(name) ?? ['127.0.0.1'])) },
    guard: new AddressGuard({ allowed: new AllowedAddresses(allowed), stats, logger: silentLogger }),
  })
  const request = new Request('http://a.example/', { meta: proxy ? { proxy: `http://${proxy}` } : {} })
  const egress = await gate.open(request, { bytesMax: 0, onTooMuch() {}, ...options })
  opened.push(egress)
  return egress
}

/** What a client gets that asks for the URL by the proxy; the error's code where it gets nothing. */
function get(egress: Egress, url: string, headers: Record<string, string> = {}): Promise<string> {
  const { hostname, port } = new URL(egress.server)
  return new Promise((resolve) => {
    const asked = httpRequest({
      host: hostname,
      port,
      path: url,
      headers: { host: new URL(url).host, ...headers },
    })
    asked.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    asked.on('response', (answer) => {
      let text = `${answer.statusCode} `
      answer.on('data', (chunk) => (text += chunk))
      answer.on('end', () => resolve(text))
      answer.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    })
    asked.end()
  })
}

/** What a site says through a tunnel to which `text` is sent; empty where there is no tunnel. */
function throughTunnel(egress: Egress, place: string, text: string): Promise<string> {
  const { hostname, port } = new URL(egress.server)
  return new Promise((resolve) => {
    let got = ''
    const socket = connect(Number(port), hostname, () =>
      socket.write(`CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\n\r\n`),
    )
    socket.on('data', (chunk) => {
      got += chunk
      if (got === 'HTTP/1.1 200 Connection Established\r\n\r\n') socket.write(text)
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(got))
  })
}

const ASK = 'GET /tunnelled HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n'

test('requests and tunnels lead to the site, with the headers of the client and none of the proxy’s', async () => {
  const egress = await egressOf()
  expect(
    await get(egress, `http://a.example:${site.port}/path?q=1`, {
      'X-Own': 'yes',
      'Proxy-Connection': 'keep-alive',
    }),
  ).toBe('200 ok')
  expect(await throughTunnel(egress, `a.example:${site.port}`, ASK)).toMatch(/ok$/)
  const [first, second] = site.hits
  expect([first!.host, first!.path, first!.headers['x-own']]).toEqual([
    `a.example:${site.port}`,
    '/path?q=1',
    'yes',
  ])
  expect(first!.headers['proxy-connection']).toBe(undefined)
  expect(second!.path).toBe('/tunnelled')
  expect(egress.requests).toBe(2)
  expect(egress.bytes).toBeGreaterThan(4)
  expect([...egress.hosts]).toEqual([[`a.example:${site.port}`, 2]])
})

describe('nothing is connected to', () => {
  test.each([
    ['an address inside', {}, 'http://127.0.0.1:{port}/'],
    ['the same in other notation', {}, 'http://2130706433:{port}/'],
    ['a name that leads inside', {}, 'http://a.example:{port}/'],
    ['metadata', { allowed: ['*'] }, 'http://169.254.169.254:{port}/'],
    ['a blocked host', { allowed: ['*'], blockedHosts: ['example'] }, 'http://a.example:{port}/'],
  ])('that is %s, and the client gets no answer', async (_, options, url) => {
    const egress = await egressOf({ allowed: [], ...options })
    const target = url.replace('{port}', String(site.port))
    expect(await get(egress, target)).toBe('ECONNRESET')
    expect(await throughTunnel(egress, new URL(target).host, ASK)).toBe('')
    expect(site.hits).toEqual([])
    expect(egress.refusals.length).toBeGreaterThanOrEqual(2)
  })

  test('after the bound of bytes is passed, and what is open is cut', async () => {
    site.script = (_, res) => void res.end(Buffer.alloc(500_000))
    let times = 0
    const egress = await egressOf({ bytesMax: 100_000, onTooMuch: () => times++ })
    const url = `http://a.example:${site.port}/`
    expect(await get(egress, url)).toMatch(/ECONNRESET|aborted/)
    expect(await get(egress, url)).toBe('ECONNRESET')
    expect([times, site.hits.length]).toEqual([1, 1])
  })

  test('after as much has been sent', async () => {
    let times = 0
    const egress = await egressOf({ bytesMax: 100_000, onTooMuch: () => times++ })
    const { hostname, port } = new URL(egress.server)
    const posted = await new Promise((resolve) => {
      const asked = httpRequest({
        host: hostname,
        port,
        method: 'POST',
        path: `http://a.example:${site.port}/`,
      })
      asked.on('error', () => resolve('cut')).on('response', () => resolve('answered'))
      asked.end(Buffer.alloc(500_000))
    })
    expect([posted, times]).toEqual(['cut', 1])
    const other = await egressOf({ bytesMax: 100_000, onTooMuch: () => times++ })
    await throughTunnel(
      other,
      `a.example:${site.port}`,
      `POST / HTTP/1.1\r\nContent-Length: 500000\r\n\r\n${'x'.repeat(500_000)}`,
    )
    expect(times).toBe(2)
  })

  test('for whoever has no password, where others than this machine can reach the proxy', async () => {
    const egress = await egressOf({ listenAt: '127.0.0.2' })
    const url = `http://a.example:${site.port}/`
    expect(await get(egress, url)).toMatch(/^407 /)
    expect(await throughTunnel(egress, `a.example:${site.port}`, ASK)).toMatch(/^HTTP\/1.1 407 /)
    const { username, password } = egress.credentials!
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    expect(await get(egress, url, { 'proxy-authorization': authorization })).toBe('200 ok')
    expect(site.hits).toHaveLength(1)
  })
})

test.each([
  ['a status that is none', '000 OK', 'ECONNRESET'],
  ['words with control bytes', '200 O\x01K', '200 hi'],
  ['another protocol', '101 Other\r\nUpgrade: x\r\nConnection: upgrade', 'ECONNRESET'],
])('a site that answers with %s takes nothing down', async (_, line, expected) => {
  site.script = (_, res) => res.socket!.end(`HTTP/1.1 ${line}\r\nContent-Length: 2\r\n\r\nhi`)
  const egress = await egressOf()
  expect(await get(egress, `http://a.example:${site.port}/`)).toBe(expected)
})

test('a name is looked up once: it cannot lead inside later, while the page is open', async () => {
  const answers = [['127.0.9.9'], ['127.0.0.1']]
  let lookups = 0
  const egress = await egressOf({ allowed: ['127.0.9.0/24'], lookup: () => answers[lookups++] ?? [] })
  const url = `http://a.example:${site.port}/`
  expect(await get(egress, url)).toBe('ECONNRESET')
  expect(await get(egress, url)).toBe('ECONNRESET')
  expect(lookups).toBe(1)
  expect(egress.failureOf(url)).toMatchObject({ kind: 'DownloadConnectionRefusedError' })
})

test('what keeps a connection from being made is told by the URL', async () => {
  const egress = await egressOf({ allowed: [] })
  await get(egress, `http://a.example:${site.port}/`)
  await throughTunnel(egress, 'b.example:443', ASK)
  expect(egress.failureOf(`http://a.example:${site.port}/any`)).toMatchObject({ code: 'WL_ADDRESS_REFUSED' })
  expect(egress.failureOf('https://b.example/any')).toMatchObject({ code: 'WL_ADDRESS_REFUSED' })
  expect(egress.failureOf('https://c.example/')).toBe(undefined)
})

describe('by the proxy of the request', () => {
  let proxy: LocalProxy
  beforeEach(async () => {
    proxy = await LocalProxy.start({ httpPort: site.port, tlsPort: site.port })
  })
  afterEach(() => proxy.close())

  test('everything goes on, names unresolved', async () => {
    const egress = await egressOf({
      proxy: proxy.address,
      lookup: (name) => {
        throw new Error(`${name} is looked up`)
      },
    })
    expect(await get(egress, 'http://a.example/path')).toBe('200 ok')
    expect(await throughTunnel(egress, 'b.example:443', ASK)).toMatch(/ok$/)
    expect(proxy.asked.map(({ line }) => line)).toEqual([
      'GET http://a.example/path',
      'CONNECT b.example:443',
    ])
  })

  test('addresses inside do not', async () => {
    const egress = await egressOf({ proxy: proxy.address, allowed: [] })
    expect(await get(egress, 'http://127.0.0.1/')).toBe('ECONNRESET')
    expect(await throughTunnel(egress, '169.254.169.254:80', ASK)).toBe('')
    expect(proxy.asked).toEqual([])
  })
})
