import { describe, expect, test } from 'vitest'
import { canonicalizeUrl } from '../canonicalize-url.ts'
import { urlJoin } from '../join.ts'
import { safeUrlString } from '../safe-url.ts'
import { urlSplit } from '../urlsplit.ts'

// Programs without types write what the compiler would refuse.
const untyped = (value: unknown) => value as never

describe('an option that does not exist would make other fingerprints without a word: it is an error', () => {
  test.each([
    ['keepFragment', 'canonicalizeUrl has no option "keepFragment". Did you mean keepFragments?'],
    ['keep_fragments', 'canonicalizeUrl has no option "keep_fragments". Did you mean keepFragments?'],
  ])('canonicalizeUrl: %s', (name, message) => {
    expect(() => canonicalizeUrl('http://a/?b=1#x', untyped({ [name]: true }))).toThrow(message)
  })

  test('safeUrlString: encodng', () => {
    expect(() => safeUrlString('http://a/', untyped({ encodng: 'latin1' }))).toThrow(
      'safeUrlString has no option "encodng". Did you mean encoding?',
    )
  })

  test.each([canonicalizeUrl, safeUrlString])('%o: rules that do not exist', (write) => {
    expect(() => write('http://a/', untyped({ rules: 'w3lib-2.3' }))).toThrow(
      `rules of ${write.name} is "w3lib-2.3" (a string); expected "w3lib-2.4" or "w3lib-2.5"`,
    )
  })
})

describe('what is not a text is told, with what to write', () => {
  test.each<[(url: string) => unknown, string]>([
    [canonicalizeUrl, 'canonicalizeUrl'],
    [safeUrlString, 'safeUrlString'],
    [urlSplit, 'urlSplit'],
    [(url) => urlJoin('http://a/', url), 'urlJoin'],
  ])('%o', (read, name) => {
    expect(() => read(untyped(5))).toThrow(`${name} takes a text, and got 5 (a number).`)
    expect(() => read(untyped(new URL('http://a/')))).toThrow(
      `${name} takes a text, and got a URL. Write its href.`,
    )
  })

  test('undefined, as an attribute that is not there', () => {
    expect(() => canonicalizeUrl(untyped(undefined))).toThrow(
      'canonicalizeUrl takes a text, and got undefined.',
    )
  })
})
