import { Request } from '@webloom/core'
import { LinkExtractor, Selector } from '@webloom/selectors'
import { describe, expect, test } from 'vitest'
import { ItemLoader } from '../items/item-loader.ts'
import { FormRequest } from '../requests/form-request.ts'
import { JsonRequest } from '../requests/json-request.ts'
import { Response } from '../responses/response.ts'
import { createSpider, Spider, type SpiderClass } from '../spider.ts'
import { Rule } from './rule.ts'

const URL = 'https://site.example/'
const page = new Response(URL, {
  body: '<a href="/1">1</a><a href="/2">2</a><form action="/found"></form>',
  headers: { 'content-type': 'text/html' },
  request: new Request(URL),
})

class Quotes extends Spider {
  override name = 'quotes'
  parseQuote() {}
}
const spider = new Quotes()
// What a misspelt method is, in JavaScript.
const missing: undefined = undefined

describe('links that are followed', () => {
  test('to a callback alone, as in the tutorial of Scrapy', () => {
    expect(page.follow('/1', spider.parseQuote).callback).toBe(spider.parseQuote)
    const followed = page.followAll(page.css('a'), spider.parseQuote)
    expect(followed.map(({ callback }) => callback)).toEqual([spider.parseQuote, spider.parseQuote])
    expect(page.followAll('a', 'parseQuote')[0]?.callback).toBe('parseQuote')
  })

  test('to a method that does not exist', () => {
    expect(() => page.follow('/1', missing)).toThrow(/follow\(\) was given undefined after the URL/)
    expect(() => page.followAll('a', missing)).toThrow(/is the method's name misspelt/)
    // @ts-expect-error undefined is not a callback
    expect(() => page.followAll('a', { callback: missing })).toThrow(/callback of followAll\(\) is undefined/)
  })

  test('with several options that are not known: each is told', () => {
    // @ts-expect-error options of Python
    expect(() => page.follow('/1', { cb_kwargs: {}, dont_filter: true })).toThrow(
      /Did you mean cbKwargs.*Did you mean dontFilter/,
    )
  })

  test('with options that are not known, even when the page has no link', () => {
    // @ts-expect-error an option of Python
    expect(() => page.follow('/1', { cb_kwargs: {} })).toThrow(/follow\(\) .*Did you mean cbKwargs/)
    // @ts-expect-error an option of Python
    expect(() => page.followAll([], { dont_filter: true })).toThrow(/followAll\(\) .*dontFilter/)
    // @ts-expect-error an option of Python
    expect(() => page.followAll({ css: 'a' })).toThrow(
      /followAll\(\) was given an object; expected a CSS query/,
    )
  })
})

describe('options of what else an author makes', () => {
  test.each<[string, () => unknown, RegExp]>([
    // @ts-expect-error unknown option
    ['form', () => new FormRequest(URL, { formData: {} }), /FormRequest has no option "formData".*formdata/],
    // @ts-expect-error unknown option
    ['form of a page', () => FormRequest.fromResponse(page, { dont_click: true }), /Did you mean dontClick/],
    // @ts-expect-error unknown option
    ['JSON', () => new JsonRequest(URL, { dta: 1 }), /Did you mean data/],
    // @ts-expect-error unknown option
    ['links', () => new LinkExtractor({ restrict_css: 'a' }), /LinkExtractor .*Did you mean restrictCss/],
    // @ts-expect-error unknown option
    ['rule', () => new Rule(new LinkExtractor(), { call_back: 'x' }), /Rule .*Did you mean callback/],
    // @ts-expect-error unknown option
    ['rule alone', () => new Rule({ follows: true }), /Did you mean follow\?/],
    // @ts-expect-error undefined is not a callback
    ['method', () => new Rule(new LinkExtractor(), { callback: missing }), /callback of Rule is undefined/],
    // @ts-expect-error unknown option
    ['selector', () => Selector.from('<a>', { typ: 'xml' }), /Selector.from .*Did you mean type/],
    // @ts-expect-error unknown option
    ['pattern', () => page.selector.re('a', { replace_entities: false }), /Did you mean replaceEntities/],
    // @ts-expect-error unknown option
    ['loader', () => new ItemLoader({ response: page }), /ItemLoader .*Write source: response/],
    [
      'field',
      // @ts-expect-error unknown option
      () => new ItemLoader({ fields: { a: { in: String } } }),
      /field a of ItemLoader .*input, output/,
    ],
  ])('%s', (_of, make, reason) => expect(make).toThrow(reason))
})

describe('fields of a spider', () => {
  function made(fields: object, statics: object = {}): Spider {
    class Made extends Spider {
      override name = 'made'
      constructor(args?: Readonly<Record<string, string>>) {
        super(args)
        Object.assign(this, fields)
      }
    }
    return createSpider(Object.assign(Made, statics) as SpiderClass)
  }

  test.each([
    [{ start_urls: [] }, 'start_urls; here it is called startUrls'],
    [{ custom_settings: {} }, 'custom_settings; here it is called customSettings'],
    [{ download_delay: 2 }, 'download_delay; here it is called customSettings = { DOWNLOAD_DELAY: … }'],
    [
      { custumSettings: { FEEDS: {} } },
      'custumSettings = { FEEDS: … }, and nothing reads that field. Did you mean customSettings?',
    ],
  ])('%o is refused', (fields, reason) => expect(() => made(fields)).toThrow(reason))

  test('a field of the author’s own with a similar name is let be', () => {
    const fields = {
      baseCustomSettings: { DOWNLOAD_DELAY: 2 },
      custom: { DE_DE: 1 },
      customSetings: { lamp: 1 },
    }
    expect(made(fields)).toMatchObject(fields)
    const settings = { DOWNLOAD_DELAY: 2 }
    expect(made({ _customSettings: settings, customSettings: settings })).toMatchObject({
      customSettings: settings,
    })
  })

  test('static fields are refused unless the spider takes them over', () => {
    expect(() => made({}, { startUrls: [URL] })).toThrow(
      /startUrls of Made is static; .*without the word static/,
    )
    expect(() => made({}, { custom_settings: {} })).toThrow(/write {2}customSettings = …/)
    expect(made({ startUrls: [URL] }, { startUrls: [URL] }).startUrls).toEqual([URL])
  })

  test('a static name', () => {
    class Named extends Spider {
      static override name = 'named'
    }
    expect(() => createSpider(Named)).toThrow(/the name "named" is static; write it as a field/)
  })
})
