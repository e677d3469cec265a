import { cpuMs } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { orNull, recorded, writesAsRecorded } from '../testing/w3lib-cases.ts'
import { safeUrlString } from './safe-url.ts'

type Golden = [url: string, safe: string | null, encoding?: string]
type Fuzzed = [url: string, encoding: string | null, safe: string | null, ...rest: unknown[]]

describe('safeUrlString writes a URL as w3lib 2.4.1 does', () => {
  const rules = 'w3lib-2.4'
  const golden = recorded<Golden>('safe-url')
  writesAsRecorded(golden, (url, encoding?: string) =>
    safeUrlString(url, { rules, ...(encoding && { encoding }) }),
  )

  test('URLs made up at random: unicode hosts, brackets, odd ports, userinfo, strange schemes', () => {
    for (const [url, encoding, safe] of recorded<Fuzzed>('url-fuzz')) {
      expect(
        orNull(() => safeUrlString(url, { rules, ...(encoding && { encoding }) })),
        `${url} in ${encoding}`,
      ).toBe(safe)
    }
  })

  test('a safe URL comes back unchanged, so a request that is queued and read again keeps its URL', () => {
    for (const [url, safe] of golden) {
      // Userinfo is unescaped and escaped anew, and what was not UTF-8 is lost the first time only.
      if (safe !== null) expect(safeUrlString(safe, { rules }), url).toBe(safe)
    }
  })
})

describe.each(['w3lib-2.4', 'w3lib-2.5'] as const)('the cheap way and the thorough way of %s', (rules) => {
  // A leading tab is taken away again but forces the thorough way.
  test('agree on every plain URL', () => {
    const paths = ['', '/', '/a', '/a/../b', '//', '/a%20b', '/a;b=1', "/!$&'()*+,;=:@~-._"]
    const tails = ['', '?', '?a', '?a=b&c=%C3%A9', "?a='x'", '?a?b', '#', '#f', '#f?/:@', '?q#f', '?#']
    const hosts = [
      'a',
      'example.com',
      'a..b',
      '.a',
      'a.',
      'x_y-z.co',
      'a:80',
      'a:080',
      'a:0',
      'a:',
      'a:65535',
      'A.com',
    ]
    for (const host of hosts) {
      for (const path of paths) {
        for (const tail of tails) {
          const url = `https://${host}${path}${tail}`
          expect(safeUrlString(url, { rules }), url).toBe(safeUrlString(`\t${url}`, { rules }))
        }
      }
    }
  })
})

describe('an InvalidUrl says what is wrong', () => {
  test.each([
    ['http://example.com:http/', /port is "http"; expected a number from 0 to 65535/],
    ['http://example.com:65536/', /port is "65536"/],
    ['http://[::1/', /only one of the brackets/],
    ['http://[::1]x/', /only a :port may follow/],
    ['http://x[::1]/', /text before the bracket/],
    ['http://[127.0.0.1]/', /not an IPv6 address/],
    ['http://℀.com/', /NFKC/],
    ['http://example.com/?\ud800', /query holds a character that utf-8 cannot write/],
  ])('%s', (url, message) => {
    expect(() => safeUrlString(url)).toThrow(message)
  })

  test('an encoding that nobody knows', () => {
    expect(() => safeUrlString('http://example.com/', 'klingon')).toThrow(
      /encoding "klingon" is unknown; utf-8 always works/,
    )
  })

  test('a character that the encoding of the page does not have', () => {
    expect(() => safeUrlString('http://example.com/?q=€', 'latin-1')).toThrow(
      /query holds a character that latin-1 cannot write/,
    )
  })
})

describe('hostile URLs take linear time', () => {
  const length = 200_000
  test.each([
    ['spaces inside', `http://a/${' '.repeat(length)}x`],
    ['colons in the host', `http://a${':'.repeat(length)}x/`],
    ['brackets full of colons', `http://[${':'.repeat(length)}]/`],
    ['a host of one long label', `http://${'é'.repeat(length)}/`],
    ['escapes without digits', `http://${'%'.repeat(length)}@a/`],
  ])('%s', (_name, url) => {
    const start = cpuMs()
    orNull(() => safeUrlString(url))
    // Quadratic time would be tens of seconds.
    expect(cpuMs() - start).toBeLessThan(2000)
  })
})
