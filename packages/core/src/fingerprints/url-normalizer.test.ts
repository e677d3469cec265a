import { describe, expect, test } from 'vitest'
import { urlNormalizer } from './url-normalizer.ts'

const { normalize } = urlNormalizer({})

describe('with its defaults', () => {
  test.each([
    ['order of parameters, fragment, default port', 'https://Example.com:443/a?b=2&a=1#top'],
    ['tracking parameters', 'https://example.com/a?a=1&b=2&UTM_source=mail&gclid=1&fbclid=2'],
    ['dot segments and doubled slashes', 'https://example.com/x/..//a?a=1&b=2'],
    ['escapes that need not be', 'https://example.com/%61?%61=1&b=2'],
  ])('%s do not make another page', (_, url) => {
    expect(normalize(url, false)).toBe('https://example.com/a?a=1&b=2')
  })

  test.each([
    ['a slash at the end', 'https://example.com/a/', 'https://example.com/a'],
    ['www.', 'https://www.example.com/a', 'https://example.com/a'],
    ['https', 'https://example.com/a', 'http://example.com/a'],
    ['a user', 'https://me@example.com/a', 'https://example.com/a'],
    ['an index file', 'https://example.com/index.html', 'https://example.com/'],
    ['an escaped slash', 'https://example.com/a%2Fb', 'https://example.com/a/b'],
  ])('%s makes another page: a server may redirect the one to the other', (_, one, other) => {
    expect(normalize(one, false)).not.toBe(normalize(other, false))
  })

  test('?a and ?a= are one, as with Scrapy', () => {
    expect(normalize('https://example.com/?a', false)).toBe(normalize('https://example.com/?a=', false))
  })

  test('fragments count where they are to be kept', () => {
    expect(normalize('https://example.com/#a', true)).toBe('https://example.com/#a')
    expect(normalize('https://example.com/#a', false)).toBe('https://example.com')
  })

  test('queries that are not UTF-8 are left alone: the library would make different words one', () => {
    expect(normalize('https://example.com/?q=%E9', false)).toBeUndefined()
    expect(normalize('https://example.com/?q=%C3%A9', false)).toBe('https://example.com/?q=%C3%A9')
  })

  test('a URL that the library refuses is left alone, too', () => {
    expect(normalize('https://exa%00mple/', false)).toBeUndefined()
  })
})

describe('options', () => {
  test('are the library’s, with regular expressions as text', () => {
    const own = urlNormalizer({ stripWWW: true, removeQueryParameters: ['sid', '/^x_/i'] })
    expect(own.normalize('https://www.example.com/?sid=1&X_y=2&z=3', false)).toBe('https://example.com/?z=3')
  })

  test('make other fingerprints, and so another name', () => {
    expect(urlNormalizer({}).name).toBe('normalize-url')
    const [a, b, c] = [{ stripWWW: true }, { stripWWW: false }, { stripWWW: true }].map(
      (options) => urlNormalizer(options).name,
    )
    expect(a).toMatch(/^normalize-url\/[0-9a-f]{8}$/)
    expect(a).not.toBe(b)
    expect(a).toBe(c)
  })

  test('that are wrong are all told at once', () => {
    const wrong = { stripWww: true, stripHash: 'yes', keepQueryParameters: ['/(/'], emptyQueryValue: 'x' }
    expect(() => urlNormalizer(wrong)).toThrow(/^4 settings are wrong/)
    expect(() => urlNormalizer(wrong)).toThrow('does not know. Did you mean stripWWW?')
    expect(() => urlNormalizer(wrong)).toThrow(
      'NORMALIZE_URL_OPTIONS.stripHash is "yes"; expected true or false',
    )
    expect(() => urlNormalizer({ forceHttp: true, forceHttps: true })).toThrow('cannot be used together')
  })
})
