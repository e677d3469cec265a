import { createServer as createTlsServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { DownloadError, InvalidUrl, NotConfigured, Request, SettingsError } from '@webloom/core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Fetching, testCrawler } from '../../testing/fetching.ts'
import { LOCAL_CA, LOCAL_CERTIFICATE } from '../../testing/local-certificates.ts'
import { LocalProxy } from '../../testing/local-proxy.ts'
import { LocalSite } from '../../testing/local-site.ts'
import { Connections } from '../connecting/connections.ts'
import { HttpProxyMiddleware } from './http-proxy.ts'

const trusting = (ca: string[]) => ({
  connections: new Connections({ tls: { rejectUnauthorized: true, ca } }),
})

let site: LocalSite
let tlsSite: Server | undefined
let tlsPort = 0
const opened: { close(): Promise<unknown> }[] = []

beforeAll(async () => {
  site = await LocalSite.start()
  opened.length = 0
  tlsSite = createTlsServer(LOCAL_CERTIFICATE, (req, res) =>
    res.end(JSON.stringify({ path: req.url, host: req.headers.host, headers: req.headers })),
  )
  await new Promise<void>((resolve) => tlsSite!.listen(0, '127.0.0.1', resolve))
  tlsPort = (tlsSite.address() as AddressInfo).port
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()))
  site.hits.length = 0
})
afterAll(async () => {
  await site.close()
  tlsSite?.closeAllConnections()
  tlsSite?.close()
})

async function proxy(options: { authorization?: string } = {}): Promise<LocalProxy> {
  const started = await LocalProxy.start({ httpPort: site.port, tlsPort, ...options })
  opened.push(started)
  return started
}

function fetching(settings: object = {}, http: ConstructorParameters<typeof Fetching>[1] = {}) {
  const crawler = testCrawler(settings)
  const made = new Fetching([HttpProxyMiddleware.fromCrawler(crawler)], { timeoutMs: 5000, ...http })
  opened.push(made)
  return { fetching: made, stats: crawler.stats }
}

const failedWith = (kind: string) => (error: unknown) => error instanceof DownloadError && error.kind === kind

describe('meta.proxy', () => {
  test('sends http through the proxy, headers, body and answer unchanged', async () => {
    const { address, asked } = await proxy()
    site.script = (req, res) =>
      void req
        .toArray()
        .then((body) => res.writeHead(201, { 'set-cookie': ['a=1', 'b=2'] }).end(Buffer.concat(body)))
    const request = new Request('http://a.example/x?y=1', {
      method: 'POST',
      body: 'hello',
      headers: { 'x-many': ['1', '2'] },
      meta: { proxy: `http://${address}` },
    })
    const response = await fetching().fetching.response(request)
    expect(asked).toEqual([{ line: 'POST http://a.example/x?y=1', authorization: undefined }])
    expect(site.hits).toMatchObject([{ host: 'a.example', path: '/x?y=1', headers: { 'x-many': '1, 2' } }])
    expect(response.text).toBe('hello')
    expect(response.headers.getAll('set-cookie')).toEqual(['a=1', 'b=2'])
  })

  test('sends https through a tunnel, and checks the site, not the proxy', async () => {
    const { address, asked } = await proxy()
    const meta = { proxy: `http://${address}` }
    const refused = fetching({}, trusting([])).fetching.response(new Request('https://a.example/x', { meta }))
    await expect(refused).rejects.toSatisfy(failedWith('DownloadCertificateError'))

    const { fetching: checking } = fetching({}, trusting([LOCAL_CA]))
    const response = await checking.response(new Request('https://a.example/x', { meta }))
    expect(response.json()).toMatchObject({ path: '/x', host: 'a.example' })
    expect(asked.at(-1)!.line).toBe('CONNECT a.example:443')
    const other = checking.response(new Request('https://not.example/', { meta }))
    await expect(other).rejects.toSatisfy(failedWith('DownloadCertificateError'))
  })

  test('gives user and password to the proxy and not to the site', async () => {
    const authorization = `Basic ${Buffer.from('user:p@ss').toString('base64')}`
    const { address, asked } = await proxy({ authorization })
    const request = new Request('http://a.example/', { meta: { proxy: `http://user:p%40ss@${address}` } })
    site.script = (_, res) => void res.end('in')
    expect((await fetching().fetching.response(request)).text).toBe('in')
    expect(asked).toMatchObject([{ authorization }])
    expect(site.hits[0]!.headers['proxy-authorization']).toBe(undefined)
    // As it was before: a retry is queued without a header full of passwords.
    expect(request.meta.proxy).toBe(`http://user:p%40ss@${address}`)
    expect(request.headers.has('proxy-authorization')).toBe(false)
  })

  test('gives them for a tunnel too', async () => {
    const authorization = `Basic ${Buffer.from('u:p').toString('base64')}`
    const { address, asked } = await proxy({ authorization })
    const request = new Request('https://a.example/', { meta: { proxy: `http://u:p@${address}` } })
    const response = await fetching().fetching.response(request)
    expect(asked).toEqual([{ line: 'CONNECT a.example:443', authorization }])
    expect(response.json<{ headers: object }>().headers).not.toHaveProperty('proxy-authorization')
  })

  test('a wrong password is a failed download, over http and https', async () => {
    const { address } = await proxy({ authorization: 'Basic right' })
    for (const scheme of ['http', 'https']) {
      const request = new Request(`${scheme}://a.example/`, { meta: { proxy: `http://u:wrong@${address}` } })
      const refused = fetching().fetching.response(request)
      await expect(refused).rejects.toSatisfy(failedWith('DownloadFailedError'))
      await expect(refused).rejects.toThrow(` by the proxy http://${address}: `)
      await expect(refused).rejects.not.toThrow('wrong@')
    }
    expect(site.hits).toEqual([])
  })

  test('a proxy that is not there is a refused connection, not a direct request', async () => {
    for (const scheme of ['http', 'https']) {
      const request = new Request(`${scheme}://127.0.0.1:${site.port}/`, {
        meta: { proxy: 'http://127.0.0.1:1' },
      })
      const refused = fetching().fetching.response(request)
      await expect(refused).rejects.toSatisfy(failedWith('DownloadConnectionRefusedError'))
      await expect(refused).rejects.toThrow(/ by the proxy http:\/\/127\.0\.0\.1:1: /)
    }
    expect(site.hits).toEqual([])
  })

  test('that names no proxy fails before anything is sent', async () => {
    const request = new Request(site.origin, { meta: { proxy: 'ftp://x' } })
    await expect(fetching().fetching.response(request)).rejects.toThrow(InvalidUrl)
    expect(site.hits).toEqual([])
  })

  test('null goes out directly, and a Proxy-Authorization header stays behind', async () => {
    const { address, asked } = await proxy()
    const { fetching: direct } = fetching({ PROXY_LIST: [`http://${address}`] })
    const headers = { 'proxy-authorization': 'Basic secret' }
    await direct.response(new Request(site.origin, { meta: { proxy: null }, headers }))
    expect(asked).toEqual([])
    expect(site.hits[0]!.headers['proxy-authorization']).toBe(undefined)
  })
})

describe('PROXY_LIST', () => {
  test('proxies take turns, and the request tells nothing of them afterwards', async () => {
    const proxies = [await proxy(), await proxy()]
    const { fetching: rotating, stats } = fetching({ PROXY_LIST: proxies.map(({ address }) => address) })
    const request = new Request('http://a.example/')
    // 40 throws of a coin: all on one side once in 10 ** 11.
    for (let times = 0; times < 40; times++) await rotating.response(request)
    expect(Math.min(...proxies.map(({ asked }) => asked.length))).toBeGreaterThan(0)
    expect(request.meta).not.toHaveProperty('proxy')
    expect(stats.get('proxy/successes')).toBe(40)
  })

  test('one that is down is found out, and the others go on', async () => {
    const good = await proxy()
    const { fetching: rotating, stats } = fetching({ PROXY_LIST: ['127.0.0.1:1', good.address] })
    let failures = 0
    for (let times = 0; times < 100; times++)
      await rotating.response(new Request('http://a.example/')).catch(() => failures++)
    expect(failures).toBeLessThanOrEqual(3)
    expect(stats.get('proxy/failures') ?? 0).toBe(failures)
    expect(good.asked.length).toBe(100 - failures)
  })

  test('a proxy in it that is none is refused before the crawl, without its password', () => {
    const broken = () => fetching({ PROXY_LIST: ['http://ok:1', 'socks5://u:secret@x:1'] })
    expect(broken).toThrow(SettingsError)
    expect(broken).toThrow(/PROXY_LIST\[1\]/)
    expect(broken).not.toThrow(/secret/)
  })
})

test('connections of proxies are bounded, and one that was closed is opened again', async () => {
  const proxies = [await proxy(), await proxy()]
  const { fetching: bounded } = fetching({}, { connections: new Connections({ proxyAgentsMax: 1 }) })
  for (const { address } of [...proxies, ...proxies]) {
    const request = new Request('http://a.example/', { meta: { proxy: `http://${address}` } })
    expect((await bounded.response(request)).status).toBe(200)
  }
})

test('HTTPPROXY_ENABLED=false leaves the middleware out', () => {
  expect(() => fetching({ HTTPPROXY_ENABLED: false })).toThrow(NotConfigured)
})
