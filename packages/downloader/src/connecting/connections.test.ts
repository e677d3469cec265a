import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import {
  DownloadError,
  MemoryStatsCollector,
  Request,
  SettingsError,
  silentLogger,
  WebloomError,
} from '@webloom/core'
import { WAYS_INSIDE } from '@webloom/testkit'
import { afterEach, describe, expect, test } from 'vitest'
import { testCrawler } from '../../testing/fetching.ts'
import { EXPIRED_CERTIFICATE, LOCAL_CA, LOCAL_CERTIFICATE } from '../../testing/local-certificates.ts'
import { LocalProxy } from '../../testing/local-proxy.ts'
import { LocalSite } from '../../testing/local-site.ts'
import { HttpDownloadHandler } from '../http/http-download-handler.ts'
import { AddressGuard } from './address-guard.ts'
import { AllowedAddresses } from './allowed-addresses.ts'
import { Connections, type ConnectionsOptions } from './connections.ts'
import { HostAddresses } from './host-addresses.ts'
import { tlsFromSettings } from './tls-settings.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function localSite(): Promise<LocalSite> {
  const site = await LocalSite.start()
  closing.push(() => site.close())
  return site
}

async function listening<S extends Server | HttpServer>(server: S, address = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  closing.push(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

function guardOf(allowed: readonly string[] = []) {
  const stats = new MemoryStatsCollector()
  return {
    stats,
    guard: new AddressGuard({ allowed: new AllowedAddresses(allowed), stats, logger: silentLogger }),
  }
}

/** Names whose addresses the test says, one answer after the other and the last one from then on. */
function naming(names: Record<string, string[][]>): HostAddresses {
  const asked: Record<string, number> = {}
  return new HostAddresses({
    cacheSize: 0,
    timeoutMs: 1000,
    lookup: async (hostname) => {
      const answers = names[hostname] ?? []
      asked[hostname] = (asked[hostname] ?? 0) + 1
      const answer = answers[Math.min(asked[hostname], answers.length) - 1]
      if (answer) return { addresses: answer }
      throw new Error('no such name')
    },
  })
}

function fetching(options: ConnectionsOptions = {}, timeoutMs = 5000) {
  const http = new HttpDownloadHandler({ timeoutMs, connections: new Connections(options) })
  closing.push(() => http.close())
  return async (url: string, meta: ConstructorParameters<typeof Request>[1] = {}) =>
    http.download(new Request(url, meta), { signal: new AbortController().signal, onStart() {} })
}

const codeOf = (error: unknown) => (error instanceof WebloomError ? error.code : error)
const kindOf = (error: unknown) => (error instanceof DownloadError ? error.kind : error)

describe('a way inside', () => {
  test.each(WAYS_INSIDE)('$name: $url', async ({ url, reason }) => {
    const inside = await localSite()
    const { guard, stats } = guardOf()
    const given = url.replace('{port}', String(inside.port))
    const failure = await fetching({ guard })(given).catch(codeOf)
    expect(inside.hits).toEqual([])
    if (reason === undefined) return expect(failure).toBe('WL_URL_INVALID')
    expect(failure).toBe('WL_ADDRESS_REFUSED')
    expect(stats.snapshot()).toEqual({ [`downloader/protection/${reason}_address`]: 1 })
  })

  test('without the guard those of loopback are ways indeed', async () => {
    const inside = await localSite()
    for (const host of ['2130706433', '0x7f.1', '0.0.0.0', 'localhost.', '[::ffff:7f00:1]'])
      expect((await fetching()(`http://${host}:${inside.port}/`)).text).toBe('ok')
  })

  test('a name that was another place when it was looked at first is checked again, and connected to as checked', async () => {
    const port = await listening(
      createHttpServer((_, res) => res.setHeader('connection', 'close').end('outside')),
      '127.0.0.2',
    )
    const inside: string[] = []
    const trap = createHttpServer((req, res) => {
      inside.push(req.url!)
      res.end('inside')
    })
    await new Promise<void>((resolve) => trap.listen(port, '127.0.0.1', resolve))
    closing.push(() => new Promise((resolve) => trap.close(resolve)))
    // 127.0.0.2 stands for the internet.
    const { guard, stats } = guardOf(['127.0.0.2'])
    const get = fetching({ guard, addresses: naming({ 'rebinds.test': [['127.0.0.2'], ['127.0.0.1']] }) })
    expect((await get(`http://rebinds.test:${port}/`)).text).toBe('outside')
    await expect(get(`http://rebinds.test:${port}/`).catch(codeOf)).resolves.toBe('WL_ADDRESS_REFUSED')
    expect(inside).toEqual([])
    expect(stats.get('downloader/protection/loopback_address')).toBe(1)
  })

  test('of several addresses none inside is tried when the public one does not answer', async () => {
    const inside = await localSite()
    const { guard } = guardOf(['127.0.0.2'])
    const get = fetching({ guard, addresses: naming({ 'both.test': [['127.0.0.2', '127.0.0.1', '::1']] }) })
    await expect(get(`http://both.test:${inside.port}/`).catch(kindOf)).resolves.toBe(
      'DownloadConnectionRefusedError',
    )
    expect(inside.hits).toEqual([])
  })

  test('through a proxy: what the URL tells is refused, names are the proxy’s business', async () => {
    const site = await localSite()
    const proxy = await LocalProxy.start({ httpPort: site.port })
    closing.push(() => proxy.close())
    const meta = { meta: { proxy: `http://${proxy.address}` } }
    const { guard, stats } = guardOf()
    const get = fetching({ guard })
    for (const host of [
      '10.0.0.1',
      '[::1]',
      'localhost',
      'a.localhost',
      'metadata.google.internal',
      '169.254.169.254',
    ])
      for (const scheme of ['http', 'https'])
        await expect(get(`${scheme}://${host}/`, meta).catch(codeOf)).resolves.toBe('WL_ADDRESS_REFUSED')
    expect(proxy.asked).toEqual([])
    expect(stats.get('downloader/protection/metadata_address')).toBe(4)
    expect((await get('http://intranet.test/', meta)).text).toBe('ok')
  })
})

describe('TLS', () => {
  async function tlsSite(certificate = LOCAL_CERTIFICATE, options: object = {}) {
    const names: unknown[] = []
    const server = createTlsServer({ ...certificate, ...options }, (_, res) => res.end('ok'))
    server.on('secureConnection', (socket) => names.push(socket.servername))
    return { names, port: await listening(server) }
  }
  const addresses = naming({ 'site.test': [['127.0.0.1']], 'other.test': [['127.0.0.1']] })
  const checking = { addresses, tls: { rejectUnauthorized: true, ca: [LOCAL_CA] } }

  test('is told the name of the site, whatever address is connected to', async () => {
    const { names, port } = await tlsSite()
    expect((await fetching(checking)(`https://site.test:${port}/`)).text).toBe('ok')
    expect((await fetching(checking)(`https://127.0.0.1:${port}/`)).text).toBe('ok')
    expect(names).toEqual(['site.test', false])
  })

  test.each([
    [
      'of an unknown authority',
      LOCAL_CERTIFICATE,
      'site.test',
      { ...checking, tls: { rejectUnauthorized: true } },
    ],
    ['that has expired', EXPIRED_CERTIFICATE, 'site.test', checking],
    ['of another host', LOCAL_CERTIFICATE, 'other.test', checking],
  ])('a certificate %s is refused, and taken where nobody checks', async (_, certificate, host, options) => {
    const { port } = await tlsSite(certificate)
    const url = `https://${host}:${port}/`
    await expect(fetching(options)(url).catch(kindOf)).resolves.toBe('DownloadCertificateError')
    expect((await fetching({ addresses })(url)).text).toBe('ok')
  })

  test('versions are kept to', async () => {
    const { port } = await tlsSite(LOCAL_CERTIFICATE, { maxVersion: 'TLSv1.2' })
    const tlsOf = (settings: object) => ({ addresses, tls: tlsFromSettings(testCrawler(settings).settings) })
    const url = `https://site.test:${port}/`
    await expect(fetching(tlsOf({ DOWNLOAD_TLS_MIN_VERSION: 'TLSv1.3' }))(url).catch(kindOf)).resolves.toBe(
      'DownloadFailedError',
    )
    expect((await fetching(tlsOf({ DOWNLOADER_CLIENT_TLS_METHOD: 'TLSv1.2' }))(url)).status).toBe(200)
    expect(
      (await fetching(tlsOf({ DOWNLOADER_CLIENT_TLS_CIPHERS: 'ECDHE-ECDSA-AES256-GCM-SHA384' }))(url)).status,
    ).toBe(200)
  })

  test('ciphers and certificates that are none are told before the crawl', () => {
    const tlsOf = (settings: object) => () => tlsFromSettings(testCrawler(settings).settings)
    expect(tlsOf({ DOWNLOADER_CLIENT_TLS_CIPHERS: 'NONE-SUCH' })).toThrow('ciphers')
    expect(tlsOf({ DOWNLOAD_CA_CERTIFICATES: '/nowhere.pem' })).toThrow('DOWNLOAD_CA_CERTIFICATES')
    expect(tlsOf({ DOWNLOAD_TLS_MIN_VERSION: 'TLSv1.3', DOWNLOAD_TLS_MAX_VERSION: 'TLSv1.2' })).toThrow('TLS')
  })
})

describe('connections', () => {
  test('come from DOWNLOAD_BIND_ADDRESS, or from meta.bindaddress', async () => {
    const port = await listening(createHttpServer((req, res) => res.end(req.socket.remoteAddress)))
    const url = `http://127.0.0.1:${port}/`
    const get = fetching({ bindAddress: '127.0.0.3' })
    expect((await get(url)).text).toBe('127.0.0.3')
    expect((await get(url, { meta: { bindaddress: '127.0.0.4' } })).text).toBe('127.0.0.4')
    expect((await get(url, { meta: { bindaddress: ['127.0.0.5', 0] } })).text).toBe('127.0.0.5')
    await expect(get(url, { meta: { bindaddress: 'eth0' } }).catch(codeOf)).resolves.toBe(
      'WL_REQUEST_INVALID',
    )
    await expect(get('http://[::1]/').catch(kindOf)).resolves.toBe('CannotResolveHostError')
    expect(() => Connections.fromCrawler(testCrawler({ DOWNLOAD_BIND_ADDRESS: 'eth0' }))).toThrow(
      SettingsError,
    )
  })

  test('to a proxy come from there, too', async () => {
    const from: (string | undefined)[] = []
    const proxy = createHttpServer((req, res) => {
      from.push(req.socket.remoteAddress)
      res.end()
    })
    proxy.on('connect', (req, socket) => {
      from.push(req.socket.remoteAddress)
      socket.end('HTTP/1.1 403 No\r\n\r\n')
    })
    const meta = { proxy: `http://127.0.0.1:${await listening(proxy)}`, bindaddress: '127.0.0.3' }
    await fetching()('http://a.test/', { meta })
    await expect(fetching()('https://a.test/', { meta }).catch(kindOf)).resolves.toBe('DownloadFailedError')
    expect(from).toEqual(['127.0.0.3', '127.0.0.3'])
  })

  test('of a name with several addresses try one after the other, and look the name up once', async () => {
    const site = await localSite()
    const asked: string[] = []
    const lookup = async (hostname: string) => {
      asked.push(hostname)
      return { addresses: asked.length === 1 ? ['127.0.0.9', '127.0.0.1'] : ['127.0.0.9'] }
    }
    const get = fetching({ addresses: new HostAddresses({ cacheSize: 0, timeoutMs: 1000, lookup }) })
    expect((await get(`http://two.test:${site.port}/`)).text).toBe('ok')
    expect(asked).toEqual(['two.test'])
  })

  test('to a host that is none are not tried', async () => {
    for (const url of ['http://1.2.3.400/', 'http://a.test:99999/', 'http://[::1/'])
      await expect(fetching()(url).catch(codeOf)).resolves.toBe('WL_URL_INVALID')
  })

  test.each([
    // The first is not quite free yet when the second request is made.
    { hint: undefined, most: 2 },
    { hint: 'timeout=5', most: 2 },
    { hint: 'timeout=3', most: 2 },
    // The server may close it before the next request arrives.
    { hint: 'timeout=2', most: 10 },
    { hint: 'timeout=0', most: 10 },
  ])('are used again where the server says $hint: at most $most for ten requests', async ({ hint, most }) => {
    const site = await localSite()
    const ports = new Set<number | undefined>()
    site.script = (req, res) => {
      ports.add(req.socket.remotePort)
      if (hint !== undefined) res.setHeader('connection', 'keep-alive').setHeader('keep-alive', hint)
      res.end('ok')
    }
    const get = fetching()
    for (let times = 0; times < 10; times++) await get(site.origin)
    if (most === 10) expect(ports.size).toBe(10)
    else expect(ports.size).toBeLessThanOrEqual(most)
  })

  test('that hang cost other hosts nothing, and end at the deadline', async () => {
    const site = await localSite()
    const silent = await listening(createTcpServer(() => {}))
    const never = new HostAddresses({
      cacheSize: 10,
      timeoutMs: 60_000,
      lookup: (name) =>
        name === 'good.test' ? Promise.resolve({ addresses: ['127.0.0.1'] }) : new Promise(() => {}),
    })
    const get = fetching({ addresses: never }, 400)
    const hanging = [
      `http://127.0.0.1:${silent}/`,
      `https://127.0.0.1:${silent}/`,
      'http://name-without-answer.test/',
      // A proxy that accepts and says nothing.
      'https://a.test/',
    ].map((url, index) =>
      get(url, index === 3 ? { meta: { proxy: `http://127.0.0.1:${silent}` } } : {}).catch(kindOf),
    )
    for (let times = 0; times < 20; times++)
      expect((await get(`http://good.test:${site.port}/`)).text).toBe('ok')
    expect(await Promise.all(hanging)).toEqual(Array(4).fill('DownloadTimeoutError'))
  })
})
