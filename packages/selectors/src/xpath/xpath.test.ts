import { cpuMs } from '@webloom/testkit'
import { WebloomError } from '@webloom/url'
import { describe, expect, test } from 'vitest'
import { Selector } from '../selector.ts'

const page = Selector.from(`<html lang="en"><head><title>T</title></head><body><!-- c -->
<p class="a b" title="x">one <b>two</b></p><p id="q">\u{1F600}u</p>
<ul><li>1</li><li>2<ul><li>2.1</li></ul></li><li>3</li></ul></body></html>`)

const all = (query: string) => page.xpath(query).getall()

describe('where an expression begins', () => {
  test('at <html> for a page, at the element for an element, at the document with a slash', () => {
    expect(all('name(.)')).toEqual(['html'])
    expect(all('head/title/text()')).toEqual(['T'])
    const list = page.css('ul')[0]!
    expect(list.xpath('li/text()').getall()).toEqual(['1', '2', '3'])
    expect(list.xpath('//title/text()').getall()).toEqual(['T'])
    expect(list.xpath('.//li/text()').getall()).toEqual(['1', '2', '2.1', '3'])
    expect(list.xpath('preceding::b/text()').get()).toBe('two')
  })

  test('below a text or an attribute there is nothing', () => {
    expect(page.xpath('//b/text()').xpath('..')).toHaveLength(0)
    expect(page.xpath('//p/@class').xpath('.').getall()).toEqual(['a b'])
  })
})

describe('what comes out', () => {
  test('is in document order, each thing once', () => {
    expect(all('(//li | //b | //li/ancestor::ul)/@class | //p/@* | //p[1]/@title')).toEqual(['a b', 'x', 'q'])
    expect(all('//li/..//li[last()]/text()')).toEqual(['2.1', '3'])
  })

  test.each([
    ['count(//li)', '4.0'],
    ['1 div 3', '0.3333333333333333'],
    ['-1 div 0', '-inf'],
    ['0.00001', '1e-05'],
    ['10000000 * 1000000000', '1e+16'],
    ['-0', '-0.0'],
    ['//p = "one two"', '1'],
    ['string-length(//p[2])', '2.0'],
    ['substring("12345", 1.5, 2.6)', '234'],
    ['normalize-space(" a \u00a0 b ")', 'a \u00a0 b'],
  ])('%s is %s', (query, value) => {
    expect(all(query)).toEqual([value])
  })
})

describe('parsel’s additions', () => {
  test('has-class() looks for whole names', () => {
    expect(all('//p[has-class("a", "b")]/@title')).toEqual(['x'])
    expect(all('//*[has-class("c")]')).toEqual([])
    expect(() => all('//p[has-class(1)]')).toThrow('takes strings')
  })

  test('re:test, re:match and re:replace', () => {
    expect(all('//p[re:test(@class, "\\bB\\b", "i")]/@title')).toEqual(['x'])
    expect(all('re:match("a1b2", "([a-z])(\\d)", "g")/text()')).toEqual(['a1', 'b2'])
    expect(all('re:match("a1b2", "(?P<letter>[a-z])(\\d)")/text()')).toEqual(['a1', 'a', '1'])
    expect(all('re:replace("a1b2", "(?P<l>[a-z])(\\d)", "g", "\\2\\g<l>")')).toEqual(['1a2b'])
  })

  test('set: functions compare nodes, not what they hold', () => {
    expect(all('set:difference(//li, //ul/li[1])/text()')).toEqual(['2', '3'])
    expect(all('set:intersection(//p/@*, //@class)')).toEqual(['a b'])
    expect(all('set:leading(//li, //li[ul])/text()')).toEqual(['1'])
    expect(all('set:trailing(//li, //li[ul])/text()')).toEqual(['2.1', '3'])
    expect(all('set:has-same-node(//p, //p[2])')).toEqual(['1'])
  })

  test('variables', () => {
    expect(page.xpath('//li[position() = $n]/text()', { n: 1 }).getall()).toEqual(['1', '2.1'])
    expect(page.xpath('//p[@title = $title]/@class', { title: 'x' }).get()).toBe('a b')
    expect(page.xpath('boolean($yes)', { yes: true }).get()).toBe('1')
  })
})

describe('an expression that is none throws and says where', () => {
  test.each([
    ['//p[', 'expected a name, *, @, . or .., found the end at character 5'],
    ['//p[@class=]', 'found ] at character 12'],
    ['//p]', 'expected an operator or the end, found ] at character 4'],
    ["//p['x]", 'a string that begins here does not end at character 5'],
    ['//p[#]', '# has no meaning here at character 5'],
    ['//sideways::p', 'expected an axis (ancestor'],
    ['//ns:p', 'the prefix ns is not known'],
    ['//p[nosuch()]', 'there is no function nosuch() at character 5'],
    ['contains("a")', 'contains() takes 2 arguments, not 1'],
    ['//p[$x]', '$x has no value'],
    ['count(1)', 'expected nodes, found the number 1'],
    ['//p[re:test(., "(")]', 'Invalid regular expression'],
  ])('%s', (query, reason) => {
    expect(() => all(query)).toThrow(WebloomError)
    expect(() => all(query)).toThrow(reason)
  })
})

describe('on a page of 24 000 elements it takes less than two seconds', () => {
  const wide = Selector.from('<div><i><b>x</b></i></div>'.repeat(8_000))
  // The time of each grows with the page only; were it with its square, these would take many seconds.
  test.each([
    '//i[1]',
    '//i/b/..',
    '//b/ancestor::*',
    '//i//b',
    'count(//i | //b)',
    '//b/preceding-sibling::i[1]',
    '//i = //b',
  ])('%s', (query) => {
    const start = cpuMs()
    wide.xpath(query)
    expect(cpuMs() - start).toBeLessThan(2_000)
  })
})

describe('siblings of a flat list are looked through once, not once for each', () => {
  const flat = Selector.from(`<ul>${'<li>x'.repeat(12_000)}</ul>`)
  test.each([
    ['//li/preceding-sibling::li', 11_999],
    ['//li/following-sibling::li', 11_999],
    ['//li/following::li', 11_999],
    ['//li/preceding::li', 11_999],
    ['//li[not(preceding-sibling::h2)]', 12_000],
    ['//li[count(preceding-sibling::li) = 7]', 1],
    ['//li[following-sibling::*[1][self::p]]', 0],
    ['//li[preceding-sibling::li/@id = "y"]', 0],
    ['//li[following::h2 or preceding::h2[@id]]', 0],
    ['//li[count(preceding::li) < 8]', 8],
    ['//li[following-sibling::li[last()]/@id]', 0],
    ['//li[count(../li) = count(//li)]', 12_000],
    ['//li[text()[not(following::text())]]', 1],
    ['//li/following-sibling::li[position() > 2]', 11_997],
    ['//li/preceding-sibling::li[3 <= position()]', 11_997],
    ['//li/preceding::li[position() > 1][position() > 1]', 11_997],
    ['//li[following-sibling::li[position() > 2]]', 11_997],
    ['//li[count(preceding::li[position() >= 3]) < 2]', 4],
  ])('%s', (query, found) => {
    const start = cpuMs()
    expect(flat.xpath(query)).toHaveLength(found)
    // Quadratic time would be two seconds.
    expect(cpuMs() - start).toBeLessThan(1_000)
  })

  test('those but the first on an axis are the same as each node finds by itself', () => {
    const nested = Selector.from(
      '<div><i/>a<p><i/>b<i><i/>c</i></p><i/><p><i/><b/><i/>d</p></div><i/><i/>'.repeat(3),
      {
        type: 'xml',
      },
    )
    const page = Selector.from(`<root>${nested.get()}</root>`, { type: 'xml' })
    for (const axis of ['following-sibling', 'preceding-sibling', 'following', 'preceding'])
      for (const [kept, from] of [
        ['position() > 2', 2],
        ['2.5 <= position()', 2],
        ['position() > -1', 0],
        ['position() > 1][position() > 1', 2],
      ] as const) {
        const found = new Set(
          page.xpath('//*').flatMap((node) => {
            const all = node
              .xpath(`${axis}::i`)
              .map((one) => one.xpath('count(preceding::*) + count(ancestor::*)').get())
            return axis.startsWith('preceding') ? all.reverse().slice(from) : all.slice(from)
          }),
        )
        const together = page.xpath(`//*/${axis}::i[${kept}]`)
        expect(together.length, `${axis} ${kept}`).toBe(found.size)
        expect(page.xpath(`//*[${axis}::i[${kept}]]`).length).toBe(
          page.xpath('//*').filter((node) => node.xpath(`${axis}::i`).length > from).length,
        )
      }
  })

  test('each asked for its next one', () => {
    const start = cpuMs()
    const next = flat.xpath('//li').map((li) => li.xpath('following-sibling::li[1]').length)
    expect(next.filter((length) => length === 1)).toHaveLength(11_999)
    expect(cpuMs() - start).toBeLessThan(1_000)
  })
})
