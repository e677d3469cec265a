import { expect, test } from 'vitest'
import { Selector } from '../selector.ts'

const page = Selector.from('<div id=a-1 class="x y"><span title="(">(*)</span><b>2</b></div>')

test.each([
  ['div)', ') has no counterpart'],
  [']p', '] has no counterpart'],
  ['ul spa]n', '] has no counterpart'],
  ['in(put', '( has no counterpart'],
  ['a[[href]', '[ has no counterpart'],
  ['b[$class=x]', '[ has no counterpart'],
  ['span*', 'n*: * stands before'],
  ['*div', '*d: * stands before'],
  ['f*orm', 'f*: * stands before'],
  ['[title]*', '* stands before'],
  ['# a', 'an id is missing'],
  ['#)-a', 'an id is missing'],
  ['a:visited::text::text', 'only ::text and ::attr(name) exist'],
  ['a:not(*)::attr()', 'only ::text and ::attr(name) exist'],
  ['a:visited::foo', 'only ::text and ::attr(name) exist'],
  ['a:not(::text)', 'only ::text and ::attr(name) exist'],
  ['a:not(b, span*)', 'n*: * stands before'],
  ['div:has(> p:not(i$))', '$ has no meaning'],
  ['a:is(.5)', 'a class name is missing'],
])('%s is refused, and not taken for a query that finds nothing', (query, reason) => {
  expect(() => page.css(query)).toThrow(
    expect.objectContaining({ code: 'WL_SELECTOR_INVALID', message: expect.stringContaining(reason) }),
  )
})

test.each([
  ['span[title="("]::text', '(*)'],
  ["span:contains('(*)')::text", '(*)'],
  ['span:not([title*=")"], .xy, b)::text', '(*)'],
  ['#a-1 > *:not(span)::text', '2'],
  ['div:has(> span:not(.z)) *:last-child ::text', '2'],
  ['div:is(.x, #b):not(:empty) b:nth-child(2n)::text', '2'],
  ['*|b::text', '2'],
])('%s finds %s', (query, found) => {
  expect(page.css(query).getall()).toEqual([found])
})
