import { InvalidUrl } from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { EnvironmentProxies } from './environment-proxies.ts'
import { proxyAddress } from './proxy-address.ts'

const proxyFor = (environment: Record<string, string>, url: string) =>
  new EnvironmentProxies(environment, 'latin-1').proxyFor(url)?.url

const both = { http_proxy: 'http://plain:1', https_proxy: 'http://tls:2' }

describe('the environment', () => {
  test.each([
    [both, 'http://x/', 'http://plain:1'],
    [both, 'https://x/', 'http://tls:2'],
    [{}, 'http://x/', undefined],
    [{ https_proxy: 'http://tls:2' }, 'http://x/', undefined],
    [{ HTTP_PROXY: 'http://upper:1' }, 'http://x/', 'http://upper:1'],
    [{ HTTP_PROXY: 'http://upper:1', http_proxy: 'http://lower:1' }, 'http://x/', 'http://lower:1'],
    [{ HTTP_PROXY: 'http://upper:1', http_proxy: '' }, 'http://x/', undefined],
    [{ HTTP_PROXY: 'http://upper:1', REQUEST_METHOD: 'GET' }, 'http://x/', undefined],
    [{ http_proxy: 'bare:3128' }, 'http://x/', 'http://bare:3128'],
  ])('%j %s → %s', (environment, url, proxy) => expect(proxyFor(environment, url)).toBe(proxy))

  test.each([
    ['*', 'http://x/', false],
    ['x', 'http://x/', false],
    ['X', 'http://x/', false],
    ['a.com', 'http://a.com/', false],
    ['a.com', 'http://www.a.com/', false],
    ['.a.com', 'http://www.a.com/', false],
    ['.a.com', 'http://a.com/', false],
    ['a.com', 'http://nota.com/', true],
    ['a.com', 'http://a.com.evil/', true],
    ['localhost, 127.0.0.1', 'http://127.0.0.1:8080/', false],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080/', false],
    ['127.0.0.1:8080', 'http://127.0.0.1:8081/', true],
    ['', 'http://x/', true],
    [', ,', 'http://x/', true],
  ])('no_proxy=%s, %s: by proxy %s', (no_proxy, url, byProxy) => {
    for (const name of ['no_proxy', 'NO_PROXY'])
      expect(proxyFor({ ...both, [name]: no_proxy }, url) !== undefined, name).toBe(byProxy)
  })
})

describe('the address of a proxy', () => {
  const basic = (text: string, encoding: BufferEncoding = 'latin1') =>
    `Basic ${Buffer.from(text, encoding).toString('base64')}`

  test('is split into what to connect to and what to say there', () => {
    expect(proxyAddress('http://user:p%40ss@proxy:8080/', 'latin-1')).toEqual({
      url: 'http://proxy:8080',
      authorization: basic('user:p@ss'),
    })
    expect(proxyAddress('https://proxy', 'latin-1')).toEqual({ url: 'https://proxy' })
  })

  test('names user and password in the encoding that was asked for', () => {
    const url = 'http://m%C3%A1n:pass@proxy'
    expect(proxyAddress(url, 'latin-1').authorization).toBe(basic('mán:pass'))
    expect(proxyAddress(url, 'utf-8').authorization).toBe(basic('mán:pass', 'utf8'))
  })

  test('that is none is refused, without its password in the message', () => {
    for (const text of ['socks5://u:secret@proxy:1', 'http://u:secret@', '', 'http://u:secret@a b/']) {
      expect(() => proxyAddress(text, 'latin-1'), text).toThrow(InvalidUrl)
      expect(() => proxyAddress(text, 'latin-1'), text).not.toThrow(/secret/)
    }
  })
})
