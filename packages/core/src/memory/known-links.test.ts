import { expect, test } from 'vitest'
import { KnownUrl } from '../requests/known-url.ts'
import { KnownLinks } from './known-links.ts'

test('a link of one host is looked up once, and not taken for that of another', () => {
  const made: string[] = []
  const links = new KnownLinks((url) => {
    made.push(url)
    return new KnownUrl(url)
  })
  for (let page = 0; page < 3; page++) {
    expect(links.from('https://a.com')('/about')?.url).toBe('https://a.com/about')
    expect(links.from('https://b.com')('/about')?.url).toBe('https://b.com/about')
  }
  expect(made).toEqual(['https://a.com/about', 'https://b.com/about'])
})

test.each([
  'about',
  '../about',
  '//b.com/about',
  '/a/../b',
  '/a b',
  'https://a.com/about',
  '?page=2',
  '#top',
  '',
])('%j has to be joined', (link) => {
  const links = new KnownLinks((url) => new KnownUrl(url))
  expect(links.from('https://a.com')(link)).toBeUndefined()
})

test('more hosts and links than are kept change no answer', () => {
  const links = new KnownLinks((url) => new KnownUrl(url))
  const wrong: string[] = []
  for (let n = 0; n < 50_000; n++) {
    const root = `https://${n}.com`
    if (links.from(root)('/')?.url !== `${root}/`) wrong.push(root)
  }
  const ofOne = links.from('https://a.com')
  for (let n = 0; n < 50_000; n++) if (ofOne(`/${n}`)?.url !== `https://a.com/${n}`) wrong.push(`/${n}`)
  expect(wrong).toEqual([])
})

test('a host of whose pages no link is plain takes no place of others', () => {
  let made = 0
  const links = new KnownLinks((url) => {
    made++
    return new KnownUrl(url)
  })
  const ask = () => links.from('https://a.com')('/about')
  ask()
  for (let n = 0; n < 50_000; n++) links.from(`https://${n}.com`)('https://elsewhere.com/')
  ask()
  expect(made).toBe(1)
})
