import { describe, expect, test } from 'vitest'
import { simpleAnswer } from '../css/simple-query.ts'
import { WINDOW_LENGTH } from './character-codes.ts'
import { streamHrefs } from './link-stream.ts'

describe('a page larger than the window', () => {
  // Each kind of markup once, with what the reader looks at after it: names, values, ends.
  const MARKUP =
    '<a class="x > y" href = "1&amp;2" id=n>x</a><!-- <a href=no> --><script>"<a href=no></a>"</script><A\nHREF=3><area/href=4 />' +
    "<a title='>'href='5'><svg><title><a href=6></title></svg><textarea></a><a href=no></textarea><a href=7 ></a b='<a href=no>'>"

  test('is read the same wherever its window ends', () => {
    const hrefs = streamHrefs(MARKUP, 'a, area')
    expect(hrefs).toEqual(['1&2', '3', '4', '5', '6', '7'])
    for (let before = 0; before <= MARKUP.length; before++) {
      const text = 'x'.repeat(WINDOW_LENGTH - before)
      expect(streamHrefs(text + MARKUP, 'a, area'), `window ends at ${before}`).toEqual(hrefs)
    }
  })

  test('is read the same wherever a window that has moved ends', () => {
    const tags = '<i class=x>y</i>'.repeat(6_000)
    for (let length = 0; length <= MARKUP.length; length += 7) {
      const page = `${'x'.repeat(length)}${tags}<a href=0>${tags}${MARKUP}`
      expect(streamHrefs(page, 'a'), `${length} before it`).toEqual(['0', '1&2', '3', '5', '6', '7'])
    }
  })

  const long = 'x'.repeat(3 * WINDOW_LENGTH)

  test.each([
    ['a name', `<${long}><a href=1>`],
    ['the name of an end tag', `</${long}><a href=1>`],
    ['the name of an attribute', `<a ${long}=1 href=1>`],
    ['a value', `<a title="${long}" href=1>`],
    ['a value without quotes', `<a title=${long} href=1>`],
    ['the space before a value', `<a href=${long.replaceAll('x', ' ')}1>`],
    ['the space before a name', `<a ${long.replaceAll('x', ' ')}href=1>`],
    ['attributes', `<a ${'b=c '.repeat(WINDOW_LENGTH)}href=1>`],
    ['a script', `<script>"<a href=no>"${long}"</a>"</scripts></script><a href=1>`],
    ['a textarea', `<textarea>${long}</textarea><a href=1>`],
  ])('%s longer than the window', (_what, html) => {
    expect(streamHrefs(html, 'a')).toEqual(['1'])
  })

  test('a long value is decoded to its end', () => {
    expect(streamHrefs(`<a href="${long}&amp;${long}" class=${long}>`, 'a')).toEqual([`${long}&${long}`])
  })

  test('an element is known by its name when its attributes fill windows', () => {
    expect(simpleAnswer(`<b title="${long}" id=1>bold</b>`, 'b::text')).toEqual(['bold'])
    expect(simpleAnswer(`<b title="${long}" id=1>bold</b>`, 'b::attr(title)')).toEqual([long])
  })
})
