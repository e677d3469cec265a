import { cpuMs, IN_FULL } from '@webloom/testkit'
import { load } from 'cheerio'
import { describe, expect, test } from 'vitest'
import { streamHrefs } from '../markup/link-stream.ts'
import type { LinkPlaces } from './link-collector.ts'
import { linksInMarkup } from './link-reader.ts'

const HREFS: LinkPlaces = {
  isTag: (name) => name === 'a' || name === 'area',
  isAttribute: (name) => name === 'href',
}

/** Links and texts of a browser's tree. */
function linksInTree(html: string): [string, string][] {
  const $ = load(html, { scriptingEnabled: false })
  return $('a[href], area[href]')
    .toArray()
    .map((element) => [element.attribs.href!, $(element).text()])
}

const read = (html: string) => linksInMarkup(html, HREFS).map(({ value, text }) => [value, text])

describe('links have the texts that a browser’s tree has', () => {
  test.each([
    ['<a href=1>one</a> and <A HREF="2"> two </A><a href=3></a>'],
    ['<a href=1><b>bold</b> and <i>it<img alt=no></i>\n lines </a>'],
    ['<a href="?a&amp;b">&lt;tag&gt; &amp; &copy; &nbsp;x &notanentity;</a>'],
    ['<a href=1>a<!-- no -->b<script>s("<b>")</script>c<style>d{}</style></a>'],
    ['<a href=1>title <title>&amp;</title><textarea>&lt;x></textarea><xmp>&lt;</xmp></a>'],
    ['<a href=1>one<a href=2>two</a>not</a>'],
    ['<div><a href=1>one</div><p><a href=2>two</a></p>'],
    ['<ul><li><a href=1>one</a><li><a href=2>two</a></ul><a href=3>three</a>'],
    ['<table><tr><td><a href=1>one</a><td><a href=2>two</a><tr><td><a href=3>three</a></table>'],
    ['<a href=1><div><p>block</p> in</div> link</a>'],
    ['<p>1 < 2 <a href=1>3 < 4 <</a>'],
    ['<a href=1>br<br>hr<hr/>wbr<wbr></a>after'],
    ['<map><area href=1 alt=no>text<area href=2></map>'],
    ['<a name=x>anchor</a><a href=1>link</a>'],
    ['<b><a href=1>bold</b> not</a>'],
    ['<a href=1>never closed'],
    ['<noscript><a href=1>no script</a></noscript><template><a href=2>template</a></template>'],
    ['<a href=1>picture <svg><title>of</title><path/></svg> x</a>'],
  ])('%s', (html) => {
    // A browser repeats an <a> that is open where a block ends.
    const once = linksInTree(html).filter(([href], i, all) => all.findIndex((link) => link[0] === href) === i)
    expect(read(html)).toEqual(once)
  })

  test('and SVG has none, as link extractors of Scrapy see it in a browser’s tree', () => {
    const html = '<svg><a href=1>x</a><foreignObject><a href=2>y</a></foreignObject></svg><a href=3>z</a>'
    expect(read(html)).toEqual([
      ['2', 'y'],
      ['3', 'z'],
    ])
  })
})

test('any attribute of any element may be a link', () => {
  const html =
    '<div data-url=1 title=2>a<p data-url=3>b</p><img src=4 data-url=5></div><script data-url=6>c</script>'
  const everything = linksInMarkup(html, { isTag: () => true, isAttribute: () => true })
  expect(everything.map(({ value, text }) => `${value} ${text}`)).toEqual([
    '1 ab',
    '2 ab',
    '3 b',
    '4 ',
    '5 ',
    '6 c',
  ])
})

test('rel is there when a link has one', () => {
  expect(
    linksInMarkup('<a rel="ugc nofollow" href=1>x</a><a href=2>y</a>', HREFS).map(({ rel }) => rel),
  ).toEqual(['ugc nofollow', undefined])
})

// biome-ignore format: one piece of markup after another.
const PIECES = [
  '<a href=1>', '<a href="2">x</a>', "<a href='3'>", '</a>', '<a>', '<A HREF="4">', '<area href=5>', '<a href>', '<a href= >',
  '<a data-href=6 href = "7">', '<a href=8/>', '<a/href=9>', '<a href="10" href="11">', '<a href="&amp;&copy=3&copy;">',
  '<a href="x>y">', '<a title=">" href=12>', '<a href=a"b\'c>', '<a =href=13>', '<!-- <a href=14> -->', '<!--', '-->',
  '<!--><a href=15>-->', '<!- <a href=16>', '<!DOCTYPE html>', '<?php <a href=17> ?>', '</ <a href=18>', '</>', '< a href=19>',
  '<script>', '</script>', '<script src=x>"<a href=20>"</script>', '<style>', '</style>', '<title>', '</title>', '<textarea>',
  '</textarea >', '<iframe>', '</iframe>', '<noscript><a href=21></noscript>', '<xmp><a href=22></xmp>', '<div>', '</div>',
  '<li>', '</li>', '<p>', '<br/>', 'text', '&lt;', '\n', '<', '"', "'", '<![CDATA[ <a href=23> ]]>', '</div a="<a href=24>">',
]

const HEAPS = IN_FULL ? 2_000 : 400
test(`on ${HEAPS} heaps of broken markup the same links as followAll() finds (seed 20240301)`, () => {
  let state = 20_240_301
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  for (let i = 0; i < HEAPS; i++) {
    const html = Array.from({ length: 1 + random(40) }, () => PIECES[random(PIECES.length)]!).join('')
    expect(
      read(html).map(([href]) => href),
      html,
    ).toEqual(streamHrefs(html, 'a, area'))
  }
})

// The time of each grows with its length only; were it with its square, these would take minutes.
test.each([
  ['start tags in a start tag', '<a '.repeat(300_000)],
  ['comments in a comment', '<!--'.repeat(300_000)],
  ['scripts without an end', '<script>'.repeat(100_000)],
  ['links in links', '<a href=x>y'.repeat(100_000)],
  ['elements in elements', '<div>'.repeat(100_000)],
  ['end tags of what is not open', `${'<div>'.repeat(600)}${'</p>'.repeat(100_000)}`],
  ['a link around all', `<a href=x>${'<b>t</b>'.repeat(100_000)}`],
  ['quotes without an end', '<a href="'.repeat(100_000)],
])('%s are read in less than a second', (_what, html) => {
  const start = cpuMs()
  linksInMarkup(html, HREFS)
  expect(cpuMs() - start).toBeLessThan(1_000)
})
