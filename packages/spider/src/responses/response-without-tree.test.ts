import { describe, expect, test } from 'vitest'
import { Response } from './response.ts'

const PAGE = `<!DOCTYPE html><html lang=en><head><title>A &amp; B</title><link rel="Canonical" href="/c?a=1&amp;b=2"></head>
<body><h1 class="big red">Head</h1><p>one<p class=x>two</p></body></html>`

describe('a response', () => {
  const response = (body = PAGE) =>
    new Response('https://site.example/', { body, headers: { 'content-type': 'text/html' } })

  test('builds no tree for some simple queries, one for many or for any other', () => {
    const page = response()
    expect(page.css('title::text').get()).toBe('A & B')
    expect(page.css('h1::text').re(/H(.*)/)).toEqual(['ead'])
    expect(page.followAll(page.css('link::attr(href)'))[0]!.url).toBe('https://site.example/c?a=1&b=2')
    expect(page.domBuilt).toBe(false)
    for (let i = 0; i < 3; i++) expect(page.css('title::text')).toHaveLength(1)
    expect(page.domBuilt).toBe(true)
    const other = response()
    expect(other.css('h1').css('::text').get()).toBe('Head')
    expect(other.domBuilt).toBe(true)
  })

  test('what was found without a tree can be dropped from it', () => {
    const page = response()
    page.css('title::text').drop()
    expect(page.css('title').get()).toBe('<title></title>')
  })

  test('what $ changed is seen', () => {
    const page = response()
    page.$('title').text('changed')
    expect(page.css('title::text').get()).toBe('changed')
  })
})
