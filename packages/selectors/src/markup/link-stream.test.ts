import { brokenMarkup, cpuMs, IN_FULL, randomStream } from '@webloom/testkit'
import { load } from 'cheerio'
import { describe, expect, test } from 'vitest'
import { streamHrefs } from './link-stream.ts'

/** The hrefs of a browser's tree, without the copies it makes (see the last tests). */
function treeHrefs(html: string): string[] {
  const $ = load(html, { scriptingEnabled: false })
  return $('a[href], area[href]')
    .toArray()
    .map((element) => element.attribs.href!)
}

describe('the stream finds what a browser’s tree has', () => {
  test.each([
    ['<a href=1>x</a><A HREF="2">x</A><a class=c href = \'3\' >x</a>'],
    ['<a href>none</a><a href=>none</a><a href="">none</a><a name=x>no</a>'],
    ['<a href="1" href="2">the first counts</a><a data-href=3>no</a><abbr href=4>no</abbr>'],
    ['<a href="?a=1&amp;b=2&copy=3&copy;&#65;&notit;&x">entities</a>'],
    [
      '<a title=">" href="a>b">quoted</a><a href=a"b\'c>odd</a><a =href=1>odd</a><a/href=2>slash</a><a href=3/>',
    ],
    ['<map><area href=1><area></map><link href=no><area shape=rect href="2"/>'],
    ['<a\nhref\n=\n"1"\n>lines</a><a\thref="a\nb">newline inside</a>'],
    [
      '<!-- <a href=no> --><!--><a href=1>--><!---><a href=2>--><!-- --!><a href=3><!- <a href=no><!><a href=4>',
    ],
    ['<?php "<a href=no>" ?><a href=1><!DOCTYPE html><a href=2></ <a href=no></><a href=3>'],
    ['1 < 2 <a href=1>a <b</b> < <a href=2>'],
    [
      '<script>"<a href=no></a>"</script ><a href=1><style><a href=no></style><SCRIPT src=x></SCRIPT><a href=2>',
    ],
    [
      '<title><a href=no></title><textarea><a href=no></textarea><iframe><a href=no></iframe><xmp><a href=no></xmp><a href=1>',
    ],
    ['<scripty><a href=1></a></scripty><noscript><a href=2></a></noscript><template><a href=3></template>'],
    ['<script><!-- w("<script><a href=no></script>") --></script><a href=1>'],
    ['<script><!-- x </script><a href=1><script>--></script><a href=2>'],
    ['<script><!--><a href=no></script><a href=1>'],
    ['<div></div a="<a href=no>"><a href=1>'],
    [
      '<svg><title><a href=1></title><style><a href=2></style><script><a href=3></script></svg><style><a href=no></style>',
    ],
    [
      '<svg><path/><path></path><foreignObject><p><br><a href=1></p><style><a href=no></style></foreignObject></svg>',
    ],
    ['<svg/><style><a href=no></style><math><mi><style><a href=no></style></mi></math><a href=1>'],
    ['<div><svg><path></div><script>"<a href=no>"</script><a href=1>'],
    ['<svg><g><p><script>"<a href=no>"</script><a href=1>'],
    ['<svg><![CDATA[ <a href=no> ]]></svg><![CDATA[ <a href=no> ]]><a href=1>'],
    ['<a href="never closed'],
    ['<a href=1><!-- never closed <a href=no>'],
    ['<a href=1><script> never closed <a href=no>'],
    ['<a href=1><a href=2 '],
    [''],
    ['<'],
  ])('%s', (html) => {
    expect(streamHrefs(html, 'a, area')).toEqual(treeHrefs(html))
  })

  // biome-ignore format: one piece of markup after another.
  const PIECES = [
    '<a href=1>', '<a href="2">x</a>', "<a href='3'>", '</a>', '<a>', '<A HREF="4">', '<area href=5>', '<a href>', '<a href= >',
    '<a data-href=6 href = "7">', '<a href=8/>', '<a/href=9>', '<a href="10" href="11">', '<a href="&amp;&copy=3&copy;">',
    '<a href="x>y">', '<a title=">" href=12>', '<a href=a"b\'c>', '<a =href=13>', '<!-- <a href=14> -->', '<!--', '-->',
    '<!--><a href=15>-->', '<!- <a href=16>', '<!DOCTYPE html>', '<?php <a href=17> ?>', '</ <a href=18>', '</>', '< a href=19>',
    '<script>', '</script>', '<script src=x>"<a href=20>"</script>', '<style>', '</style>', '<title>', '</title>', '<textarea>',
    '</textarea >', '<iframe>', '</iframe>', '<noscript><a href=21></noscript>', '<xmp><a href=22></xmp>', '<div>', '</div>',
    '<span>', '</span>', '<br/>', 'text', '&lt;', '\n', '<', '"', "'", '<![CDATA[ <a href=23> ]]>', '</div a="<a href=24>">',
    '<button>', '</button>', '<section>', '</section>',
  ]

  // As sets: the tree repeats an <a> that is open across blocks.
  function expectSameLinks(html: string): void {
    expect(new Set(streamHrefs(html, 'a, area')), html).toEqual(new Set(treeHrefs(html)))
  }

  const HEAPS = IN_FULL ? 1_000 : 250
  test(`and on ${HEAPS} heaps of broken markup the same set of links (seed 20240229)`, () => {
    const random = randomStream(20_240_229)
    const below = (end: number) => Math.floor(random() * end)
    for (let i = 0; i < HEAPS; i++) {
      expectSameLinks(Array.from({ length: 1 + below(40) }, () => PIECES[below(PIECES.length)]!).join(''))
    }
  })

  const PAGE = `<!DOCTYPE html><html><head><title>A &amp; B</title><base href="/b/"><style>a > b { }</style>
    <script>document.write('<a href="/no">')</script></head><body class=x><!-- <a href="/no"> --><nav><ul>
    <li><a class="l" href="/1?a=1&amp;b=2">one</a><li><a href='2.html' title="a > b">two</a></ul></nav>
    <svg viewBox="0 0 1 1"><title>t</title><path d="M0"/><a href="3"><text>x</text></a></svg><map><area href=4></map>
    <table><tr><td><a href="https://other.example/5">five</a></table><p>text<br><a HREF=6>six</a> &copy; more</body></html>`

  const BROKEN = IN_FULL ? 500 : 125
  test(`and of ${BROKEN} pages with a few things wrong (seed 7)`, () => {
    for (let i = 0; i < BROKEN; i++) expectSameLinks(brokenMarkup(PAGE, randomStream(7, i)))
  })
})

describe('declared differences', () => {
  test('a browser repeats an unclosed <a> in the blocks that follow; the stream gives it once, as written', () => {
    const html = '<p><a href=1>x<p>y<p>z'
    expect(treeHrefs(html)).toEqual(['1', '1', '1'])
    expect(streamHrefs(html, 'a, area')).toEqual(['1'])
  })

  test('a browser moves links out of tables and drops them in <select>; the stream leaves them where they stand', () => {
    const table = '<table><tr><td><a href=1></a></td></tr><a href=2></a></table>'
    expect(treeHrefs(table)).toEqual(['2', '1'])
    expect(streamHrefs(table, 'a, area')).toEqual(['1', '2'])
    expect(streamHrefs('<select><a href=1></a></select>', 'a, area')).toEqual(['1'])
  })

  test('a page of frames has no links in a browser; the stream gives what is written', () => {
    const html = '<frameset><frame src=a></frameset><a href=1>x</a>'
    expect(treeHrefs(html)).toEqual([])
    expect(streamHrefs(html, 'a, area')).toEqual(['1'])
  })

  test('a stray HTML end tag in SVG is taken for the end of an element around it', () => {
    const html = '<svg></span><script>"<a href=1>"</script>'
    expect(treeHrefs(html)).toEqual(['1'])
    expect(streamHrefs(html, 'a, area')).toEqual([])
  })
})

test('only a: area is left out', () => {
  expect(streamHrefs('<a href=1></a><area href=2>', 'a')).toEqual(['1'])
})

// The time of each grows with its length only; were it with its square, these would take minutes.
test.each([
  ['start tags in a start tag', '<a '.repeat(300_000)],
  ['comments in a comment', '<!--'.repeat(300_000)],
  ['scripts without an end', '<script>'.repeat(100_000)],
  ['scripts in comments of scripts', '<script><!--<script>'.repeat(50_000)],
  ['quotes without an end', '<a href="'.repeat(100_000)],
  ['end tags cut short', '<title></titl'.repeat(50_000)],
  ['SVG in SVG', '<svg><g>'.repeat(100_000)],
  ['end tags without start in SVG', `<svg>${'<g>'.repeat(30_000)}${'</x>'.repeat(30_000)}`],
  ['a URL of spaces', `<a href="${' '.repeat(1_000_000)}">`],
])('%s are read in less than a second', (_what, html) => {
  const start = cpuMs()
  streamHrefs(html, 'a, area')
  expect(cpuMs() - start).toBeLessThan(1_000)
})
