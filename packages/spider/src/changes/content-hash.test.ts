import { IN_FULL } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { LAYOUTS, type PageMade, type Visit } from '../../testing/noisy-pages.ts'
import { contentHash, type HashedPage, valueHash } from './content-hash.ts'

const PAGES = IN_FULL ? 1000 : 200

const page = (body: string, type = 'text/html'): HashedPage => ({
  type,
  body: Buffer.from(body),
  text: () => body,
})
const hashOf = (body: string) => contentHash(page(body))
const made = (n: number, visit: Visit, price = 19.9 + n): string => {
  const { html }: PageMade = LAYOUTS[n % LAYOUTS.length]!(n, visit, price)
  return html
}

describe('has a page changed?', () => {
  test(`of ${PAGES} pages whose navigation, tokens and time stamps are others, none has`, () => {
    const changed = Array.from({ length: PAGES }, (_, n) => n).filter(
      (n) => hashOf(made(n, { number: 1 })) !== hashOf(made(n, { number: 2 })),
    )
    expect(changed.map((n) => `${n}, layout ${n % LAYOUTS.length}`)).toEqual([])
  })

  test(`of ${PAGES} pages with another price, each has`, () => {
    const same = Array.from({ length: PAGES }, (_, n) => n).filter(
      (n) => hashOf(made(n, { number: 1 })) === hashOf(made(n, { number: 2 }, 20 + n)),
    )
    expect(same.map((n) => `${n}, layout ${n % LAYOUTS.length}`)).toEqual([])
  })

  test('a page whose main is filled by a script is judged by the rest', () => {
    const shell = (text: string) => `<body><main id=app></main><p>${text}</p></body>`
    expect(hashOf(shell('Closed in June.'))).not.toBe(hashOf(shell('Closed in July.')))
  })

  test('a block that is left out and never closed ends with the content around it', () => {
    const open = (price: string) =>
      `<main>${'Words. '.repeat(20)}<nav>Home</main><main>${'More. '.repeat(20)} ${price}</main>`
    expect(hashOf(open('€ 5'))).not.toBe(hashOf(open('€ 6')))
  })

  test.each([
    ['a paragraph', 'p', (price: string) => `<p class="cookie">We use cookies<p>Price ${price}`],
    [
      'a paragraph before a heading',
      'p',
      (price: string) => `<p class="cookie">We use cookies<h2>Price</h2> ${price}`,
    ],
    [
      'a paragraph, at the end of the block around it',
      'p',
      (price: string) => `<div><p class="ads">Buy</div> ${price}`,
    ],
    ['a cell', 'td', (price: string) => `<table><tr><td class="sidebar">Links<td>${price}</table>`],
    [
      'a cell with a table of its own',
      'td',
      (price: string) =>
        `<table><tr><td class="sidebar"><table><tr><td>a<td>b</table>Links<td>${price}</table>`,
    ],
    [
      'a cell at the end of its table',
      'td',
      (price: string) => `<table><tr><td class="ads">x</table>${price}`,
    ],
    [
      'a paragraph in a cell',
      'p',
      (price: string) => `<table><tr><td><p class="ads">Sale!</td><td>${price}</table>`,
    ],
    [
      'a paragraph in a cell that has none either',
      'p',
      (price: string) => `<table><tr><td><p class="ads">Sale!<td>${price}</table>`,
    ],
    ['a paragraph in an item', 'p', (price: string) => `<ul><li><p class="ads">Sale!<li>${price}</ul>`],
    ['a paragraph in a definition', 'p', (price: string) => `<dl><dd><p class="ads">Sale!<dt>${price}</dl>`],
    [
      'a block in a cell',
      'div',
      (price: string) => `<table><tr><td><div class="ads">x</td><td>${price}</table>`,
    ],
    ['a block in a section', 'div', (price: string) => `<section><div class="ads">x</section>${price}`],
    ['what stands beside', 'aside', (price: string) => `<section><aside>x</section>${price}`],
    ['navigation', 'nav', (price: string) => `<div><nav><ul><li>x</ul></div>${price}`],
    ['what is for searching', 'a', (price: string) => `<div><a role="search">x</div>${price}`],
    ['an item of a list', 'li', (price: string) => `<ul><li role="search">Find<li>${price}</ul>`],
    ['a picture that a slash ends', 'svg', (price: string) => `<svg viewBox="0 0 1 1"/><p>${price}</p>`],
  ])('%s that is left out and has no end tag hides nothing behind it', (_, tag, html) => {
    const around = (inner: string) => `<main>${'Words. '.repeat(20)}${inner}</main>`
    expect(html('€ 5')).toContain(`<${tag}`)
    expect(hashOf(around(html('€ 5')))).not.toBe(hashOf(around(html('€ 6'))))
  })

  test('what is inside of an element that is left out is no content, tables and lists included', () => {
    const shown = (inner: string) =>
      hashOf(
        `<main>${'Words. '.repeat(20)}<table><tr><td class="ads"><table><tr><td>x<td>${inner}</table><td>A cell</table></main>`,
      )
    expect(shown('5')).toBe(shown('6'))
  })

  test('a day is content, a moment is not', () => {
    const told = (when: string) =>
      hashOf(`<main><h1>Concert in the old town hall of Bern</h1> ${when}</main>`)
    expect(told('2026-05-01')).not.toBe(told('2026-05-02'))
    expect(told('2026-05-01T10:00:00Z')).toBe(told('2026-05-01T10:00:07Z'))
    expect(told('Last updated: 1 May 2026')).toBe(told('Last updated: 2 May 2026'))
    expect(told('Doors open 19:30')).not.toBe(told('Doors open 20:00'))
  })

  test.each([
    ['Departs 2026-11-28 10:00', 'Departs 2026-11-28 12:30', 'seen'],
    ['Auction ends: 12:30:00', 'Auction ends: 18:00:00', 'seen'],
    ['{"startDate":"2026-11-28T19:00:00Z"}', '{"startDate":"2026-11-28T20:00:00Z"}', 'seen'],
    ['Sale ends in 12:30:00', 'Sale ends in 12:29:00', 'unseen'],
    ['Sale ends 12:30:07', 'Sale ends 12:29:51', 'unseen'],
    ['Page made 2026-11-28 10:00', 'Page made 2026-11-28 12:30', 'unseen'],
  ])('the moment of what is announced is content: %s, then %s, is %s', (before, after, is) => {
    const told = (words: string) => hashOf(`<main>${'Words. '.repeat(20)}${words}</main>`)
    expect(told(before) === told(after) ? 'unseen' : 'seen').toBe(is)
  })

  test('of products that are shown beside this one, no price counts, in their JSON-LD neither', () => {
    const around = (others: string) => hashOf(`<main>${'Words. '.repeat(20)}${others}</main>`)
    const list = (price: number) =>
      `<aside><a href="/a">A</a> € ${price} <a href="/b">B</a> € ${price + 3}</aside>`
    expect(around(list(5))).toBe(around(list(6)))
    const beside = (price: number) =>
      hashOf(
        `<script type="application/ld+json">{"@graph":[{"@type":"ItemList","itemListElement":[{"price":${price}}]}]}</script><main>${'Words. '.repeat(20)}</main>`,
      )
    expect(beside(5)).toBe(beside(6))
  })

  test('JSON-LD that cannot be read says its price all the same', () => {
    const broken = (price: number) =>
      hashOf(
        `<script type="application/ld+json">{"offers":{"price":"${price}",}}</script><main>${'Words. '.repeat(20)}</main>`,
      )
    expect(broken(5)).not.toBe(broken(6))
  })

  test('a page beside whose content there are very many prices is read', () => {
    const words = `<main>${'Words. '.repeat(20)}</main>`
    const json = `[${'{"price":1},'.repeat(140_000)}{"price":5}]`
    expect(hashOf(`<script type="application/ld+json">${json}</script>${words}`)).toMatch(/^[0-9a-f]{8}$/)
    expect(hashOf(`${'€ 1, '.repeat(140_000)}${words}`)).toMatch(/^[0-9a-f]{8}$/)
  })

  test('a page that is all digits, or all attributes, is read in a moment', () => {
    const began = performance.now()
    for (const piece of ['1', '€', '€ 1 ', '1.', ' data-price', 'data-price-', '&#1'])
      hashOf(`<main>${'Words. '.repeat(20)}<aside>€ ${piece.repeat(50_000)}</aside></main>`)
    expect(performance.now() - began).toBeLessThan(5000)
  })

  test('a restaurant’s menu is content', () => {
    const menu = (price: string) =>
      hashOf(`<body><div class="menu">Soup of the day, bread and butter ${price}</div></body>`)
    expect(menu('8.50')).not.toBe(menu('9.00'))
  })

  test('JSON is compared without its moments, other files byte by byte', () => {
    const json = (price: number, at: string) =>
      contentHash(page(JSON.stringify({ price, renderedAt: at }), 'application/json'))
    expect(json(5, '2026-05-01T10:00:00.000Z')).toBe(json(5, '2026-05-02T11:00:00.000Z'))
    expect(json(5, '2026-05-01T10:00:00.000Z')).not.toBe(json(6, '2026-05-01T10:00:00.000Z'))
    const picture = (bytes: number[]) =>
      contentHash({ type: 'image/png', body: Uint8Array.from(bytes), text: () => '' })
    expect(picture([1, 2])).not.toBe(picture([1, 3]))
  })

  test('what a spider takes for the content may be any JSON', () => {
    expect(valueHash({ price: 5 })).toBe(valueHash({ price: 5 }))
    expect(valueHash({ price: 5 })).not.toBe(valueHash({ price: 6 }))
    expect(valueHash(undefined)).toMatch(/^[0-9a-f]{8}$/)
  })
})

test('the dates of a sitemap are what it says; those of another feed are not', () => {
  const xml = (root: string, at: string) =>
    contentHash(
      page(`<?xml version="1.0"?>\n<${root}>\n<a><lastmod>${at}</lastmod></a></${root}>`, 'application/xml'),
    )
  const [before, after] = ['2026-01-01T10:00:00Z', '2026-01-02T10:00:00Z'] as const
  for (const root of ['urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"', 's:sitemapindex'])
    expect(xml(root, before)).not.toBe(xml(root, after))
  expect(xml('prices', before)).toBe(xml('prices', after))
})
