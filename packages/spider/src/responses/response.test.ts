import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { InvalidUrl, Request, WebloomError } from '@webloom/core'
import { cpuMs } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { Response } from './response.ts'

const URL_OF_PAGE = 'https://site.example/dir/page.html?q=1'

function page(body: string, contentType = 'text/html; charset=utf-8'): Response {
  return new Response(URL_OF_PAGE, { body, headers: { 'content-type': contentType } })
}

const urls = (requests: Request[]) => requests.map(({ url }) => url)

describe('the tree', () => {
  test('is not built for links alone', () => {
    const response = page('<base href="/b/"><a href=1>x</a><area href=2>')
    response.linkUrls()
    response.followAll()
    for (const query of ['a', 'a[href]', 'a::attr(href)', ' a[href]::attr("href") '])
      response.followAll(query)
    response.follow('next')
    expect(response.domBuilt).toBe(false)
    response.followAll('.next a')
    expect(response.domBuilt).toBe(true)
  })

  test('is one for css and $', () => {
    const response = page('<p class=a>one</p><p>twö &amp; three</p>')
    expect(response.$('p').length).toBe(2)
    response.$('p.a').text('changed').addClass('b')
    expect(response.css('p.b::text').getall()).toEqual(['changed'])
    response.css('p.b').drop()
    expect(response.$('p').length).toBe(1)
    expect(response.$('body').html()).toBe('<p>twö &amp; three</p>')
  })

  test('once built, decides about links too, so that what $ removed is not followed', () => {
    const response = page('<nav><a href=1>x</a></nav><a href=2>x</a>')
    response.$('nav').remove()
    expect(urls(response.followAll())).toEqual(['https://site.example/dir/2'])
  })

  test('is that of a browser with parse5', () => {
    const body = '<table><tr><td>1</table>'
    expect(page(body).css('tbody')).toHaveLength(0)
    const response = new Response(URL_OF_PAGE, { body, htmlParser: 'parse5' })
    expect(response.css('tbody > tr > td::text').get()).toBe('1')
    expect(response.$('tbody td').text()).toBe('1')
    expect(response.replace({ body: '<p>' }).css('html > body > p')).toHaveLength(1)
  })

  test.each([
    ['application/rss+xml', '<rss><pubDate>x</pubDate></rss>', true],
    ['text/xml; charset=utf-8', '<rss><pubDate>x</pubDate></rss>', true],
    ['text/html', ' <?xml version="1.0"?>\n<!-- x --><rss><pubDate>x</pubDate></rss>', true],
    ['text/html', '<?xml version="1.0"?><!DOCTYPE html PUBLIC "x"><html><pubDate>x</pubDate></html>', false],
    ['application/xhtml+xml', '<html><pubDate>x</pubDate></html>', false],
    ['text/html', '<rss><pubDate>x</pubDate></rss>', false],
  ])('%s %s is XML: %s', (contentType, body, xml) => {
    expect(page(body, contentType).css(xml ? 'pubDate' : 'pubdate').length).toBe(1)
    expect(page(body, contentType).selector.type).toBe(xml ? 'xml' : 'html')
  })
})

describe('the base URL', () => {
  test.each([
    ['<p>none</p>', URL_OF_PAGE],
    ['<head><base href="/other/"></head>', 'https://site.example/other/'],
    ["<BASE target=_top HREF = ' sub/ ' >", 'https://site.example/dir/sub/'],
    ['<base href=//cdn.example/x/>', 'https://cdn.example/x/'],
    ['<!-- <base href="/no/"> --><base href="/yes/">', 'https://site.example/yes/'],
    ['<base target=_blank><base href="/yes/">', 'https://site.example/yes/'],
    ['<base data-href="/no/">', URL_OF_PAGE],
    ['<base href="http://[broken/">', URL_OF_PAGE],
    [`${' '.repeat(4_096)}<base href="/no/">`, URL_OF_PAGE],
  ])('of %s is %s', (html, base) => {
    const response = page(html)
    expect(response.baseUrl).toBe(base)
    expect(response.urljoin('x')).toBe(new URL('x', base).href)
  })
})

describe('linkUrls()', () => {
  test('are absolute, in order, each as often as it is linked, and of pages only', () => {
    const response =
      page(`<base href="/b/"><a href=" x ">1</a><a href="/y#part">2</a><map><area href="?z=1&amp;w"></map>
      <a href="x">again</a><a href="mailto:a@b.example">no</a><a href="javascript:void(0)">no</a><a href="tel:1">no</a>
      <a href="data:text/html,x">no</a><a href="//other.example/p">3</a><a href="ftp://f.example/x">4</a><link href="no">`)
    expect(response.linkUrls()).toEqual([
      'https://site.example/b/x',
      'https://site.example/y#part',
      'https://site.example/b/?z=1&w',
      'https://site.example/b/x',
      'https://other.example/p',
      'ftp://f.example/x',
    ])
  })

  test('are the same with a tree', () => {
    const body =
      '<a href=" 1\n">x</a><p><a href="2?a&amp;b">x</a><area href=3></p><a href="mailto:x">x</a><a href>x</a>'
    const treeBuilt = page(body)
    treeBuilt.css('title')
    expect(treeBuilt.linkUrls()).toEqual(page(body).linkUrls())
  })
})

describe('links by schemes of DOWNLOAD_HANDLERS', () => {
  const body =
    '<a href="echo://two/x">1</a><a href="ECHO://two/y">2</a><a href="gopher://g/">3</a><a href="mailto:a@b">4</a>'
  const echoed = ['echo://two/x', 'echo://two/y']

  test('are followed, and found by linkUrls()', () => {
    const response = new Response(URL_OF_PAGE, { body, schemes: new Set(['echo', 'mailto']) })
    for (const found of [response, response.replace({ status: 203 })]) {
      expect(urls(found.followAll())).toEqual(echoed)
      expect(urls(found.followAll('a'))).toEqual(echoed)
      expect(found.linkUrls().map((url) => url.toLowerCase())).toEqual(echoed)
    }
  })

  test('are not followed where no handler is named, but for the page’s own scheme', () => {
    expect(urls(page(body).followAll('a'))).toEqual([])
    expect(urls(new Response('echo://one/', { body }).followAll('a'))).toEqual(echoed)
  })
})

describe('follow()', () => {
  const response = page(
    '<a class=x href=" /a?b=1&amp;c ">x</a><p>text</p><a name=n>no href</a><link rel=next href=n>',
  )

  test.each([
    ['a relative URL', 'other#f', 'https://site.example/dir/other#f'],
    ['a URL with white space around', ' \n/x\t', 'https://site.example/x'],
    ['a URL object', new URL('https://u.example/'), 'https://u.example/'],
    ['an <a>', response.css('a')[0]!, 'https://site.example/a?b=1&c'],
    ['a <link>', response.css('link')[0]!, 'https://site.example/dir/n'],
    ['an attribute', response.css('a::attr(class)')[0]!, 'https://site.example/dir/x'],
    ['a link', { url: 'l' }, 'https://site.example/dir/l'],
  ])('takes %s', (_what, target, url) => {
    expect(response.follow(target).url).toBe(url)
  })

  test('hands on callback, meta and the like, and the encoding of the page', () => {
    const body = Buffer.from('<a href="/?q=\xe9">x</a>', 'latin1')
    const latin = new Response(URL_OF_PAGE, {
      body,
      headers: { 'content-type': 'text/html; charset=iso-8859-1' },
    })
    const request = latin.follow(latin.css('a')[0]!, {
      callback: 'parseItem',
      meta: { depth: 1 },
      priority: 2,
    })
    expect(request).toBeInstanceOf(Request)
    expect([request.callback, request.meta, request.priority]).toEqual(['parseItem', { depth: 1 }, 2])
    expect(request.url).toBe('https://site.example/?q=%E9')
    expect(latin.followAll()[0]!.url).toBe('https://site.example/?q=%E9')
  })

  test('says what is wrong with what cannot be followed', () => {
    expect(() => response.follow(response.css('p')[0]!)).toThrow(
      /<p>text<\/p>.* cannot be followed: expected <a>/,
    )
    expect(() => response.follow(response.css('[name=n]')[0]!)).toThrow(WebloomError)
    // @ts-expect-error: get() may be null; without a check this is a slip.
    expect(() => response.follow(response.css('b::attr(href)').get())).toThrow(InvalidUrl)
    // @ts-expect-error: a list.
    expect(() => response.follow(response.css('a'))).toThrow(/use followAll\(\)/)
    expect(() => response.follow('mailto:x')).toThrow(InvalidUrl)
  })
})

describe('followAll()', () => {
  const response =
    page(`<li class=next><a href=1>x</a></li><a href="mailto:x">x</a><a name=n>x</a><a href="http://[bad/">x</a>
    <area href=2><a class=next href=3 data-url=4>x</a><link href=5>`)

  test.each([
    [undefined, ['1', '2', '3']],
    ['a', ['1', '3']],
    ['a::attr(href)', ['1', '3']],
    ['a, area, link', ['1', '2', '3', '5']],
    ['.next', ['3']],
    ['.next a, a.next', ['1', '3']],
    ['a::attr(data-url)', ['4']],
  ])('of %j are %j', (query, expected) => {
    expect(urls(response.followAll(query))).toEqual(
      expected.map((path) => `https://site.example/dir/${path}`),
    )
  })

  test('takes lists of anything follow() takes', () => {
    const targets = ['x', { url: 'y' }, ...response.css('a.next'), 'javascript:z']
    expect(urls(response.followAll(targets))).toEqual(
      ['x', 'y', '3'].map((path) => `https://site.example/dir/${path}`),
    )
    expect(urls(response.followAll(response.css('li a')))).toEqual(['https://site.example/dir/1'])
  })

  test('skips links that are wrong, not settings that are', () => {
    expect(() => response.followAll('a', { method: 'NO WAY' })).toThrow(/method/)
    expect(() => response.followAll('a:text')).toThrow(/one colon/)
  })
})

test('a URL of a million spaces inside is read at once', () => {
  const start = cpuMs()
  page(`<a href="x${' '.repeat(1_000_000)}y">x</a>`).followAll()
  expect(cpuMs() - start).toBeLessThan(1_000)
})

test('a request does not keep the page it was found on in memory', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const kept: Request[] = []
  collect()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < 100; i++) {
    const body = Buffer.from(
      `${'x'.repeat(1_000_000)}<a href="https://site.example/some/long/path/${i}">x</a>`,
    )
    const response = new Response(`https://site.example/${i}`, { body })
    kept.push(...response.followAll())
  }
  collect()
  expect(kept).toHaveLength(100)
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20_000_000)
})

// Compiles, or it is none: a callback that names itself must not make its own type circular (TS7022, TS7023).
export class TypeChecked {
  async *parse(response: Response) {
    for (const quote of response.css('.quote')) {
      yield { text: quote.css('.text::text').get(), tags: quote.css('.tag::text').getall() }
    }
    yield* response.followAll('.next a', { callback: this.parse })
    yield response.follow('/more', { callback: this.parseMore })
  }

  *parseMore(response: Response) {
    const title: string | null = response.css('h1::text').get()
    yield { title, sure: response.css('h1::text').get('').trim() }
    for (const link of response.css('a'))
      yield response.follow(link, { callback: this.parse, errback: this.parseMore })
    yield* response.followAll()
  }
}

test('Scrapy’s names of a response are told apart from what is not there: what it is called here', () => {
  const response = page('<a href=1>') as unknown as Record<string, (query: string) => void>
  expect(() => response.follow_all?.('a')).toThrow(
    'a response has no follow_all; here it is called followAll',
  )
  expect(() => response.cb_kwargs).toThrow('cbKwargs')
})
