import { describe, expect, test } from 'vitest'
import { orNull, recorded, writesAsRecorded } from '../testing/w3lib-cases.ts'
import { type CanonicalizeOptions, canonicalizeAny, canonicalizeUrl } from './canonicalize-url.ts'

type Golden = [url: string, canonical: string | null, options?: CanonicalizeOptions]
type Fuzzed = [
  url: string,
  encoding: string | null,
  safe: string | null,
  canonical: string | null,
  withFragment: string | null,
  withoutBlanks: string | null,
]

describe('canonicalizeUrl writes a URL as w3lib 2.4.1 does', () => {
  const rules = 'w3lib-2.4'
  writesAsRecorded(recorded<Golden>('canonicalize-url'), (url, options?: CanonicalizeOptions) =>
    canonicalizeUrl(url, { rules, ...options }),
  )

  test('URLs made up at random: unicode hosts, brackets, escapes, strange schemes', () => {
    // Compared without expect(), which takes longer than what is compared; it says what differs.
    for (const [url, encoding, , canonical, withFragment, withoutBlanks] of recorded<Fuzzed>('url-fuzz')) {
      const options = { rules, ...(encoding !== null && { encoding }) } as const
      const written = [
        orNull(() => canonicalizeUrl(url, options)),
        orNull(() => canonicalizeUrl(url, { ...options, keepFragments: true })),
        orNull(() => canonicalizeUrl(url, { ...options, keepBlankValues: false })),
      ]
      const asRecorded = [canonical, withFragment, withoutBlanks]
      if (written.some((one, at) => one !== asRecorded[at]))
        expect(written, `${url} in ${encoding}`).toEqual(asRecorded)
    }
  })
})

describe.each(['w3lib-2.4', 'w3lib-2.5'] as const)('the cheap way and the thorough way of %s', (rules) => {
  test('agree on paths and fragments', () => {
    const paths = [
      '',
      '/',
      '/a',
      '/a;',
      '/a;p',
      '/%41',
      '/%e9',
      '/%E9',
      '/%2F%3F',
      '/%25',
      '/[x]|',
      '/a//b/../c',
      '/./a',
      '/a/..',
      '/a/.',
      '/.a',
      '/%3b%3B',
      '/%2e%2e/a',
    ]
    const hosts = ['a', 'example.com', 'a..b', 'a:80', 'a:', 'a:080', 'a:65536', 'A.com', 'u@a', 'a_b']
    for (const host of hosts) {
      for (const path of paths) {
        for (const tail of ['', '?', '#', '#f', '?a=1#f', '?#f', '#\ud800'])
          agree(`http://${host}${path}${tail}`)
      }
    }
  })

  test('agree on every order of three query parameters', () => {
    const pairs = [
      'a',
      'a=',
      'a=1',
      'a=12',
      'a=1=2',
      'a=%E9',
      'a=%3D',
      'a-=1',
      'a1=1',
      'a+b=1',
      'a%20b',
      'A=1',
      '',
      '=1',
      '%E9=1',
      'a=%',
    ]
    for (const one of pairs) {
      for (const two of pairs) for (const three of pairs) agree(`https://example.com/?${one}&${two}&${three}`)
    }
  })

  function agree(url: string): void {
    const cheap = orNull(() => canonicalizeUrl(url, { rules }))
    const thorough = orNull(() => canonicalizeAny(url, { rules }))
    if (cheap !== thorough) expect(cheap, url).toBe(thorough)
  }
})

describe('what the duplicate filter takes for one page', () => {
  test.each([
    ['the order of parameters', 'http://e.com/?b=2&a=1', 'http://e.com/?a=1&b=2'],
    ['the case of the host', 'http://E.com/', 'http://e.com/'],
    ['the fragment', 'http://e.com/#f', 'http://e.com/'],
    ['an escape that is not needed', 'http://e.com/%7Ejoe', 'http://e.com/~joe'],
    ['the case of an escape', 'http://e.com/%e9', 'http://e.com/%E9'],
    ['a missing slash', 'http://e.com', 'http://e.com/'],
    ['a space as + or %20', 'http://e.com/?q=a%20b', 'http://e.com/?q=a+b'],
    ['a host in Unicode', 'http://bücher.de/', 'http://xn--bcher-kva.de/'],
  ])('%s does not count', (_name, one, other) => {
    expect(canonicalizeUrl(one)).toBe(canonicalizeUrl(other))
  })

  test.each([
    ['the scheme', 'http://e.com/', 'https://e.com/'],
    ['a default port', 'http://e.com:80/', 'http://e.com/'],
    ['the case of the path', 'http://e.com/A', 'http://e.com/a'],
    ['an escaped slash', 'http://e.com/a%2Fb', 'http://e.com/a/b'],
    ['a parameter given twice', 'http://e.com/?a=1&a=1', 'http://e.com/?a=1'],
  ])('%s counts', (_name, one, other) => {
    expect(canonicalizeUrl(one)).not.toBe(canonicalizeUrl(other))
  })

  test('parameters are in the order of their bytes, not of UTF-16: U+FFFD before an emoji', () => {
    expect(canonicalizeUrl('http://e.com/?\u{1f600}&\ufffd')).toBe('http://e.com/?%EF%BF%BD=&%F0%9F%98%80=')
  })
})
