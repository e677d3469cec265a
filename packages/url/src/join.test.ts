import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { InvalidUrl } from './errors.ts'
import { urlJoin } from './join.ts'

type Golden = [base: string, url: string, joined: string | null]

const { rfc3986, cases } = JSON.parse(
  readFileSync(new URL('../testdata/urljoin.json', import.meta.url), 'utf8'),
) as { rfc3986: Golden[]; cases: Golden[] }

describe('urlJoin makes a reference absolute as Python 3.13 does', () => {
  test(`the ${rfc3986.length} examples of RFC 3986 §5.4`, () => {
    for (const [base, url, joined] of rfc3986) expect(urlJoin(base, url), url).toBe(joined)
  })

  test(`${cases.length} pairs, some written by hand, most made up at random`, () => {
    for (const [base, url, joined] of cases) {
      const context = `${base} and ${url}`
      if (joined === null) expect(() => urlJoin(base, url), context).toThrow(InvalidUrl)
      else expect(urlJoin(base, url), context).toBe(joined)
    }
  })

  test('links of two pages that are met in turn do not get the wrong base', () => {
    expect(urlJoin('http://a.com/x/', 'p')).toBe('http://a.com/x/p')
    expect(urlJoin('http://b.com/y/', 'p')).toBe('http://b.com/y/p')
    expect(urlJoin('http://a.com/x/', 'p')).toBe('http://a.com/x/p')
  })

  test('a broken base is refused every time, and forgotten', () => {
    expect(() => urlJoin('http://[::1/', 'p')).toThrow(InvalidUrl)
    expect(() => urlJoin('http://[::1/', 'p')).toThrow(InvalidUrl)
    expect(urlJoin('http://a.com/', 'p')).toBe('http://a.com/p')
  })
})

describe('the cheap way and the thorough way', () => {
  // A tab inside is taken away again but forces the thorough way.
  test('agree on plain references', () => {
    const bases = [
      'http://a.com',
      'http://a.com/b/c',
      'https://a.com/b//c/',
      'http://a.com/b/./c/../d',
      'http://a.com/b;p/c;q?r#s',
    ]
    const urls = [
      'x',
      'x/',
      'x/y.html',
      'x.y',
      'x..',
      '.x',
      'x/.y',
      'x/./y',
      'x/../y',
      'x//y',
      '/x',
      '/x//y',
      '/.x',
      '/x/..',
      '/..x',
    ]
    const tails = ['', '?', '?q', '?q?r/../s', '#', '#f', '?q#f', '#f/../g', ';', ';p', '?a:b', ':']
    for (const base of bases) {
      for (const url of [
        ...urls,
        'http://b.com',
        'https://b.com/x',
        'http://b.com/../x',
        'http://u@b.com:80/x/',
      ]) {
        for (const tail of tails) {
          const reference = url + tail
          const tabbed = `${reference.slice(0, 1)}\t${reference.slice(1)}`
          // A reference in another scheme comes back untouched, tab and all.
          expect(urlJoin(base, reference), `${base} and ${reference}`).toBe(
            urlJoin(base, tabbed).replace('\t', ''),
          )
        }
      }
    }
  })
})
