import { brokenMarkup, IN_FULL, randomStream } from '@webloom/testkit'
import { WebloomError } from '@webloom/url'
import { describe, expect, test } from 'vitest'
import { Selector } from '../selector.ts'
import { isSimpleQuery, simpleAnswer } from './simple-query.ts'

const PAGE = `<!DOCTYPE html><html lang=en><head><title>A &amp; B</title><meta name="description" content="x &lt; y">
<META PROPERTY='og:image' content=i.png><link rel="Canonical" href="/c?a=1&amp;b=2"><script>"<h1>no</h1>"</script></head>
<body><h1 class="big red">Head</h1><!-- <h1>no</h1> --><svg viewBox="0 0 1 1"><path d="M0"/></svg>
<p>one<p class=x>two</p><h2>a <b>b</b></h2><img src=1.png alt="&copy;"></body></html>`

describe('a simple query is answered as by the tree', () => {
  test.each([
    ['title::text', ['A & B']],
    ['h1.big.red::text', ['Head']],
    ['h1.blue::text', []],
    ['meta[name=description]::attr(content)', ['x < y']],
    [' meta[property="og:image"]::attr("content") ', ['i.png']],
    ['link[rel=canonical]::attr(href)', ['/c?a=1&b=2']],
    ['img::attr(ALT)', ['\u00a9']],
    ['p.x::attr(class)', ['x']],
    ['nosuch::text', []],
  ])('%s', (query, expected) => {
    expect(simpleAnswer(PAGE, query)).toEqual(expected)
    expect(Selector.from(PAGE).css(query).getall()).toEqual(expected)
  })
})

test.each([
  'h1',
  'h1 b::text',
  'h1, h2::text',
  'p:first-child::text',
  '::text',
  'h1 ::text',
  'body::attr(class)',
  '.x::text',
])('%s needs the tree', (query) => expect(isSimpleQuery(query)).toBe(false))

test.each([
  ['h2::text', PAGE, 'there are elements in its text'],
  ['p::text', PAGE, 'where the first ends is not written'],
  ['title::text', '<svg><title>x</title></svg>', 'it is one of SVG'],
  ['h1::text', '<h1>a<!-- b -->c</h1>', 'a comment makes two texts of one'],
  ['h1::text', '<![CDATA[ > <h1>a</h1> ]]>', 'the tree has CDATA where browsers have none'],
])('%s on %s is left to the tree: %s', (query, html) => {
  expect(simpleAnswer(html, query)).toBeUndefined()
})

const QUERIES = [
  'title::text',
  'h1::text',
  'h1.big::attr(class)',
  'meta[content]::attr(name)',
  'img::attr(src)',
  'p::text',
  'link::attr(href)',
]

const PAGES = IN_FULL ? 700 : 200
test(`on ${PAGES} pages with a few things wrong the answer is that of the tree, or none (seed 11)`, () => {
  let answers = 0
  for (let i = 0; i < PAGES; i++) {
    const html = brokenMarkup(PAGE, randomStream(11, i))
    const page = Selector.from(html, { type: 'html' })
    for (const query of QUERIES) {
      const answer = simpleAnswer(html, query)
      if (answer) expect(answer, `${query} on ${html}`).toEqual(page.css(query).getall())
      if (answer) answers++
    }
  }
  expect(answers).toBeGreaterThan(2 * PAGES)
})

test('a query that is none throws on a page without such elements, too', () => {
  expect(() => simpleAnswer('', 'meta[content="x]::attr(content)')).toThrow(WebloomError)
  expect(() => simpleAnswer('', 'meta::attr(12)')).toThrow(WebloomError)
})
