import { expect, test } from 'vitest'
import { Selector } from '../selector.ts'

// As lxml 6.1.3 with libxml2 2.14.6 writes them.
test.each([
  ['<option checked="x" selected="selected">', '<option checked selected></option>'],
  [
    `<a href=" \n/a b?q=[1]&{é}|^\`<b>" name="é">`,
    `<a href="/a%20b?q=[1]&amp;{%C3%A9}|^\`&lt;b&gt;" name="%C3%A9"></a>`,
  ],
  [`<b name=" é" cite=" é" src='a"b'>`, `<b name=" é" cite=" é" src='a"b'></b>`],
])('%s is written as lxml does', (html, written) => {
  expect(Selector.from(html).css('body > *').get()).toBe(written)
})
