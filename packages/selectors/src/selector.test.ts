import { cpuMs } from '@webloom/testkit'
import { WebloomError } from '@webloom/url'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { Selector, SelectorList } from './selector.ts'
import type { HtmlParser } from './tree/parse-document.ts'

const shop = Selector.from(`
  <h1 id="top">Books <small>of the week</small></h1>
  <ul class="list outer"><li>one<ul class="list"><li>one.one</li></ul></li><li class="sel">two</li></ul>
  <p title="a &amp; b">Tea &lt;hot&gt; &copy; 2024, price: £3.50</p>`)

describe('what css() takes', () => {
  test('::text is the text directly in an element; with a space before, that of all below it too', () => {
    expect(shop.css('h1::text').getall()).toEqual(['Books '])
    expect(shop.css('h1 ::text').getall()).toEqual(['Books ', 'of the week'])
    expect(shop.css('h1 *::text').getall()).toEqual(['Books ', 'of the week'])
    expect(shop.css('ul ::text').getall()).toEqual(['one', 'one.one', 'two'])
  })

  test('::attr() is an attribute, in any case, quoted or not', () => {
    expect(shop.css('ul::attr(class)').getall()).toEqual(['list outer', 'list'])
    expect(shop.css('p::attr("title")').get()).toBe('a & b')
    expect(shop.css("p::attr('TITLE')").get()).toBe('a & b')
    expect(shop.css('p::attr(constructor)').get()).toBeNull()
  })

  test('parts between commas have pseudo-elements of their own; the result is in document order, each thing once', () => {
    expect(shop.css('p::attr(title), li::text, h1::attr(id), .sel::text').getall()).toEqual([
      'top',
      'one',
      'one.one',
      'two',
      'a & b',
    ])
  })

  test('a comma or parenthesis inside a string or an argument separates nothing', () => {
    const page = Selector.from('<i title="a, b">1</i><i title=")">2</i><b>3</b>')
    expect(page.css('i[title="a, b"]::text, b:not(i, u)::text').getall()).toEqual(['1', '3'])
    expect(page.css("i[title=')']::text").getall()).toEqual(['2'])
  })

  test('css-select knows more than parsel: :contains, :has, :not with a list, [a!=b]', () => {
    expect(shop.css('li:contains("one.one") > ul > li::text').getall()).toEqual(['one.one'])
    expect(shop.css('li:has(> ul)::text').getall()).toEqual(['one'])
    expect(shop.css('li:not(.sel, li li)::text').getall()).toEqual(['one'])
    expect(shop.css('li[class!=sel]::text').getall()).toEqual(['one', 'one.one'])
  })
})

describe('a selector below another', () => {
  test('searches within its element, itself included, and sees nothing around it', () => {
    const outer = shop.css('ul.outer')[0]!
    expect(outer.css('ul').length).toBe(2)
    expect(outer.css('ul ul li::text').getall()).toEqual(['one.one'])
    const inner = outer.css('ul ul')[0]!
    expect(inner.css('ul ul')).toHaveLength(0)
    expect(inner.css('li::text').getall()).toEqual(['one.one'])
  })

  test('> li and :scope > li are its own children', () => {
    const outer = shop.css('ul.outer')[0]!
    expect(outer.css('> li::text').getall()).toEqual(['one', 'two'])
    expect(outer.css(':scope > li::text').getall()).toEqual(['one', 'two'])
  })

  test('the same query on one element after another does not remember the first', () => {
    const page = Selector.from('<main><div><b>1</b></div><div><i>2</i></div></main>')
    const hits = page.css('div').map((div) => div.css('div b, :has(b)::text').length)
    expect(hits).toEqual([1, 0])
  })

  test('a list searches in each of its elements', () => {
    expect(shop.css('li').css('::text').getall()).toEqual(['one', 'one.one', 'one.one', 'two'])
  })

  test('below a text or an attribute there is nothing', () => {
    expect(shop.css('p::text')[0]!.css('*')).toHaveLength(0)
  })
})

describe('what is got', () => {
  test('get() is null for nothing, get(default) never', () => {
    expect(shop.css('h2::text').get()).toBeNull()
    const text: string = shop.css('h2::text').get('untitled')
    expect(text).toBe('untitled')
    expect(Selector.from('<b></b>').css('b').get('none')).toBe('<b></b>')
  })

  test('the types say what may be absent', () => {
    expectTypeOf(shop.css('a').get()).toEqualTypeOf<string | null>()
    expectTypeOf(shop.xpath('//a').get('none')).toEqualTypeOf<string>()
    expectTypeOf(shop.css('a').getall()).toEqualTypeOf<string[]>()
    expectTypeOf(shop.css('a').attrib.href).toEqualTypeOf<string | undefined>()
    expectTypeOf(shop.css('a')[0]).toEqualTypeOf<Selector | undefined>()
    expectTypeOf(shop.jmespath<number>('price').get()).toEqualTypeOf<number | null>()
  })

  test('an element is got as markup', () => {
    const html = `<p title='say "hi"'>a<br>&amp; &lt;b&gt;<input checked value=""><!-- c --><script>if (a<b && c) x()</script></p>`
    expect(Selector.from(html).css('p').get()).toBe(html)
  })

  test('attrib holds the attributes of the first, or nothing', () => {
    expect({ ...shop.css('ul').attrib }).toEqual({ class: 'list outer' })
    expect(shop.css('h2').attrib).toEqual({})
    const missing: string | undefined = shop.css('ul').attrib.id
    expect(missing).toBeUndefined()
  })

  test('drop() takes an element out; what was around it stays', () => {
    const page = Selector.from('<p>a<b>b</b>c</p>')
    page.css('b').drop()
    expect(page.css('body').get()).toBe('<body><p>ac</p></body>')
    expect(page.css('p b')).toHaveLength(0)
    expect(() => page.drop()).toThrow(WebloomError)
  })
})

describe('re()', () => {
  test('gives whole matches, or all groups flat, or the group named extract of the first match', () => {
    const page = Selector.from('<p>a1 b2</p>')
    expect(page.css('p::text').re('[a-z]\\d')).toEqual(['a1', 'b2'])
    expect(page.css('p::text').re(/([a-z])(\d)/)).toEqual(['a', '1', 'b', '2'])
    expect(page.css('p::text').re('(?P<extract>[a-z])(\\d)')).toEqual(['a'])
    expect(page.css('p::text').re(/(a)|(b)/)).toEqual(['a', '', '', 'b'])
  })

  test('reFirst, also spelt re_first, falls back', () => {
    expect(shop.css('p::text').reFirst(/£([\d.]+)/)).toBe('3.50')
    expect(shop.css('p::text').re_first(/\$([\d.]+)/)).toBeNull()
    expect(shop.css('p::text').re_first(/\$([\d.]+)/, '0')).toBe('0')
  })

  test('entities are decoded except those that would make markup, unless told not to', () => {
    const page = Selector.from('<p>&lt;b&gt; &amp;eacute; &amp;#233; &amp;nosuch;</p>')
    expect(page.css('p').re('>(.*)<')).toEqual(['&lt;b> &amp;eacute; &amp;#233; &amp;nosuch;'])
    expect(page.css('p::text').re('.+')).toEqual(['<b> é é '])
    expect(page.css('p::text').re('&.+', { replaceEntities: false })).toEqual(['&eacute; &#233; &nosuch;'])
  })

  test('a broken pattern is named', () => {
    expect(() => shop.css('p').re('(')).toThrow(/re\("\("\)/)
  })
})

describe('a query that is none', () => {
  test.each([
    ['p::text b', 'only ::text and ::attr(name) exist, at the end'],
    ['p::first-line', 'only ::text and ::attr(name) exist, at the end'],
    ['a:text', ':text has one colon; write ::text'],
    ['a:attr(href)', ':attr has one colon; write ::attr'],
    ['', 'a selector is missing'],
    ['a,,b', 'a selector is missing'],
    ['a >', 'a selector is missing at the end'],
    ['a[href', ''],
    ['a[href="x]', 'does not end'],
    ['..a', 'class name'],
    ['1a', '1a begins with a digit'],
    ['p:nosuch', 'Unknown pseudo-class :nosuch'],
    ['ns|a', 'the prefix ns is not known'],
  ])('css(%j) throws and says why', (query, reason) => {
    const error = thrown(() => shop.css(query))
    expect(error).toBeInstanceOf(WebloomError)
    expect(error.code).toBe('WL_SELECTOR_INVALID')
    expect(error.message).toContain(JSON.stringify(query))
    expect(error.message).toContain(reason)
  })
})

describe('XML', () => {
  const feed = Selector.from(
    '<?xml version="1.0"?><feed><Item><media:thumb url="u"/><c>a <![CDATA[<i>raw</i> &amp;]]> b</c></Item></feed>',
    { type: 'xml' },
  )

  test('names keep their case, CDATA is text; a prefix that is declared nowhere is a part of the name', () => {
    expect(feed.css('item')).toHaveLength(0)
    expect(feed.css('Item > c::text').getall()).toEqual(['a <i>raw</i> &amp; b'])
    expect(feed.css('media\\:thumb::attr(url)').get()).toBe('u')
  })

  test('is written as XML', () => {
    expect(feed.css('Item').get()).toBe(
      '<Item><media:thumb url="u"/><c>a &lt;i&gt;raw&lt;/i&gt; &amp;amp; b</c></Item>',
    )
  })

  const atom = () =>
    Selector.from(
      '<feed xmlns="urn:atom" xmlns:m="urn:media"><entry><m:thumb url="1" m:alt="2"/></entry><x xmlns=""><entry/></x></feed>',
      { type: 'xml' },
    )

  test('what is in a namespace is found by a registered prefix, without one only what is in none', () => {
    const page = atom()
    page.registerNamespace('a', 'urn:atom')
    page.register_namespace('media', 'urn:media')
    expect(page.css('entry').getall()).toEqual(['<entry xmlns:m="urn:media"/>'])
    expect(page.css('a|entry > media|thumb::attr(url)').getall()).toEqual(['1'])
    expect(page.css('*|entry')).toHaveLength(2)
    expect(page.css('|entry, a|feed > x > entry')).toHaveLength(1)
    expect(page.css('media|*')).toHaveLength(1)
    expect(page.xpath('//a:entry/media:thumb/@media:alt').getall()).toEqual(['2'])
    expect(page.xpath('//f:entry', { namespaces: { f: 'urn:atom' } })).toHaveLength(1)
    expect(() => page.xpath('//f:entry')).toThrow('registerNamespace("f", uri)')
  })

  test('removeNamespaces() makes all names plain', () => {
    const page = atom()
    page.remove_namespaces()
    expect(page.get()).toBe('<feed><entry><thumb url="1" alt="2"/></entry><x><entry/></x></feed>')
    expect(page.css('entry')).toHaveLength(2)
    expect(page.xpath('//thumb/@alt').get()).toBe('2')
  })

  test('a part that is written alone declares its prefixes', () => {
    expect(atom().xpath('//*[name()="m:thumb"]').get()).toBe(
      '<m:thumb xmlns:m="urn:media" xmlns="urn:atom" url="1" m:alt="2"/>',
    )
  })
})

describe('JSON', () => {
  const shop = Selector.from(
    '{"items": [{"name": "a", "price": 1}, {"name": "b"}], "html": "<a href=\'/l\'>L</a>"}',
  )

  test('jmespath() gives values as they are, those of a list one by one', () => {
    expect(shop.type).toBe('json')
    expect(shop.jmespath('items[*].name').getall()).toEqual(['a', 'b'])
    expect(shop.jmespath('items[0]').get()).toEqual({ name: 'a', price: 1 })
    expect(shop.jmespath('items').jmespath('price').getall()).toEqual([1])
    expect(shop.jmespath('missing').get('none')).toBe('none')
    const name: string | null = shop.jmespath<string>('items[1].name').get()
    expect(name).toBe('b')
  })

  test('a text in it is searched as HTML; the rest is not a markup', () => {
    expect(shop.jmespath('html').css('a::attr(href)').get()).toBe('/l')
    expect(() => shop.css('a')).toThrow('use jmespath()')
  })

  test('jmespath() reads the JSON of a script', () => {
    const page = Selector.from(
      '<script type="application/ld+json">{"offers": {"price": 5}}</script><p>no JSON</p>',
    )
    expect(page.css('script').jmespath<number>('offers.price').get()).toBe(5)
    expect(page.css('script::text').jmespath('offers.price').get()).toBe(5)
    expect(page.css('p').jmespath('offers')).toHaveLength(0)
    expect(() => page.css('script').jmespath('offers[')).toThrow('jmespath("offers[")')
  })
})

test('what a text is: told, or seen by how it begins', () => {
  expect(Selector.from(' [1]').type).toBe('json')
  expect(Selector.from('<?xml version="1.0"?><a/>').type).toBe('xml')
  expect(Selector.from('[not JSON').type).toBe('html')
  expect(new Selector({ text: '{"a": 1}', type: 'html' }).css('body').get()).toBe('<body>{"a": 1}</body>')
  expect(new Selector({ text: '<b>', type: 'text' }).get()).toBe('<b>')
})

test('every page has <html>, <head> and <body>, and its content in them', () => {
  const whole = (html: string) => Selector.from(html).get()
  expect(whole('')).toBe('<html><head></head><body></body></html>')
  expect(whole('<!doctype html>\n<title>t</title><!--c--><p>a</p>b')).toBe(
    '<html><head><title>t</title><!--c--></head><body><p>a</p>b</body></html>',
  )
  expect(whole('<html lang=en><head><title>t</title><p>a</html><p>b')).toBe(
    '<html lang="en"><head><title>t</title></head><body><p>a</p><p>b</p></body></html>',
  )
  expect(whole('x<html><body class=c><p>a</p></body>y</html>z')).toBe(
    '<html><head></head><body class="c">x<p>a</p>yz</body></html>',
  )
  expect(whole('<frameset><frame src=a></frameset>')).toBe(
    '<html><head></head><frameset><frame src="a"></frameset></html>',
  )
  expect(Selector.from('<p>a</p>').xpath('/html/body/p/text()').get()).toBe('a')
})

describe('hostile pages', () => {
  test.each<HtmlParser>(['htmlparser2', 'parse5'])(
    '12 000 nested <div>s are read in moderate time (%s)',
    (htmlParser) => {
      const start = cpuMs()
      const page = Selector.from(`${'<div>'.repeat(12_000)}deep<a href="/x">link</a>`, { htmlParser })
      expect(page.css('a::attr(href)').get()).toBe('/x')
      expect(page.css('div')).toHaveLength(12_000)
      expect(page.css('p div a, div:has(table)')).toHaveLength(0)
      expect(page.css('div::text').get()).toBe('deep')
      expect(page.get().length).toBeGreaterThan(120_000)
      // It takes a quarter of a second. To look from each for what is in it would take five.
      expect(cpuMs() - start).toBeLessThan(2_000)
    },
  )

  test('down to 512 levels the tree is as written', () => {
    const html = `${'<div>'.repeat(511)}<b>deep</b>${'</div>'.repeat(511)}`
    expect(Selector.from(html).css('div').get()).toBe(html)
  })

  test('an attribute of 5 MB is an attribute', () => {
    const value = 'x'.repeat(5_000_000)
    expect(Selector.from(`<p title="${value}">a</p>`).css('p::attr(title)').get()).toBe(value)
  })

  test('a result of 150 000 texts is a list like any other', () => {
    // Of JSON, which is read ten times sooner than so many elements.
    const texts = Selector.from(JSON.stringify(new Array(150_000).fill('x')), { type: 'json' })
    expect(texts.jmespath('[*]').slice(1)).toHaveLength(149_999)
  })
})

describe('what a program without types may give is told, with what to write', () => {
  const untyped = (value: unknown) => value as never

  test.each<[string, () => unknown, string]>([
    [
      'new Selector',
      () => new Selector(untyped('<p>')),
      'new Selector takes { text }, and got "<p>" (a string). Write Selector.from(text).',
    ],
    [
      'an object without text',
      () => new Selector(untyped({ txt: '' })),
      'new Selector takes { text }, and got an object.',
    ],
    [
      'bytes',
      () => Selector.from(untyped(Buffer.from('<p>'))),
      'got a Buffer. decodeText(bytes, detectEncoding(bytes, contentType)) of @webloom/url makes a text of bytes.',
    ],
    [
      'an answer of fetch',
      () => Selector.from(untyped(new Response('<p>'))),
      'got a Response. Write await response.text().',
    ],
    [
      'a Promise',
      () => Selector.from(untyped(Promise.resolve('<p>'))),
      'got a Promise. Write await before it.',
    ],
    ['undefined', () => Selector.from(untyped(undefined)), 'Selector.from takes a text, and got undefined.'],
    ['css', () => shop.css(untyped(undefined)), 'css() takes a text, and got undefined.'],
    ['xpath', () => shop.xpath(untyped(/a/)), 'xpath() takes a text, and got a RegExp.'],
    ['jmespath', () => shop.jmespath(untyped(5)), 'jmespath() takes a text, and got 5 (a number).'],
    ['re', () => shop.re(untyped(5)), 're() takes a text or a RegExp, and got 5 (a number).'],
  ])('%s', (_name, run, message) => {
    expect(thrown(run)).toMatchObject({ code: 'WL_USAGE', message: expect.stringContaining(message) })
  })

  test('a CSS query that ends too early says so', () => {
    expect(thrown(() => shop.css('p[')).message).toBe('css("p["): Expected name, found the end of the query')
  })
})

test('where a root declares thousands of namespaces, an element is written with those that its names need', () => {
  const declared = Array.from({ length: 3000 }, (_, n) => `xmlns:a${n}="urn:${n}"`).join(' ')
  const items = '<a1:n a2:b="c"><a3:d/></a1:n>'.repeat(2000)
  const found = Selector.from(`<r xmlns="urn:all" ${declared}>${items}</r>`, { type: 'xml' })
    .xpath('//*[local-name()="n"]')
    .getall()
  expect(found).toHaveLength(2000)
  expect(new Set(found)).toEqual(
    new Set([
      '<a1:n xmlns:a1="urn:1" xmlns="urn:all" xmlns:a2="urn:2" xmlns:a3="urn:3" a2:b="c"><a3:d/></a1:n>',
    ]),
  )
})

test('map gives a plain array; filter and slice stay lists', () => {
  const items = shop.css('li')
  expect(items.map((item) => item.get())).not.toBeInstanceOf(SelectorList)
  expect(
    items
      .filter((item) => item.attrib.class === 'sel')
      .css('::text')
      .get(),
  ).toBe('two')
  expect(items.slice(1).css('::text').getall()).toEqual(['one.one', 'two'])
})

function thrown(run: () => unknown): WebloomError {
  try {
    run()
  } catch (error) {
    return error as WebloomError
  }
  throw new Error('nothing was thrown')
}
