import { describe, expect, test } from 'vitest'
import { Request } from './request.ts'
import { REQUEST_OPTIONS } from './request-parts.ts'

const URL = 'https://site.example/'

class Spider {
  parse() {}
  parseItem() {}
}
const spider = new Spider()
// What a misspelt method is, in JavaScript.
const missing: string | undefined = undefined

describe('what a request is made with', () => {
  test('a callback alone, as in Scrapy', () => {
    expect(new Request(URL, spider.parseItem).callback).toBe(spider.parseItem)
    expect(new Request(URL, 'parseItem').callback).toBe('parseItem')
  })

  test.each([
    ['dont_filter', 'Did you mean dontFilter?'],
    ['cb_kwargs', 'Did you mean cbKwargs?'],
    ['callbak', 'Did you mean callback?'],
    ['formdata', 'Write new FormRequest(url, { formdata })'],
    ['nonsense', 'There are method, headers, body, cookies, meta, cbKwargs, priority, dontFilter, callback'],
  ])('%s is refused: %s', (name, hint) => {
    const refusal = expect(() => new Request(URL, { [name]: true }))
    refusal.toThrow(`Request has no option "${name}".`)
    expect(() => new Request(URL).replace({ [name]: true })).toThrow(hint)
    expect(() => Request.fromCurl(`curl ${URL}`, { [name]: true })).toThrow(/has no option/)
  })

  test('every part that a request has is known', () => {
    for (const name of Object.keys(REQUEST_OPTIONS))
      if (!['callback', 'errback'].includes(name))
        expect(() => new Request(URL, { [name]: undefined }), name).not.toThrow()
  })

  test('a callback that is undefined is a misspelt method', () => {
    const reason = /callback of Request is undefined: is the method's name misspelt/
    // @ts-expect-error undefined is not a callback
    expect(() => new Request(URL, { callback: missing })).toThrow(reason)
    // @ts-expect-error undefined is not an errback
    expect(() => new Request(URL, { errback: missing })).toThrow(/errback of Request is undefined/)
    expect(new Request(URL, { callback: null }).callback).toBeNull()
  })

  test('undefined in the place of the parts is a misspelt method, too', () => {
    const page = (parts?: { priority: number }) => new Request(URL, parts)
    expect(() => page()).toThrow(
      /new Request\(\) was given undefined after the URL: is the method's name misspelt/,
    )
    expect(page({ priority: 1 }).priority).toBe(1)
    expect(new Request(URL).url).toBe(URL)
  })

  test.each([
    ['mailto:a@b.example', 'mailto: leads to no page; expected http:// or https://'],
    ['TEL:123', 'tel: leads to no page'],
    ['mem:x', 'write http://…, https://…, or mem://… if a download handler is set for it'],
    ['javascript:void(0)', 'javascript: leads to no page'],
    ['site.example/a', 'it has no scheme; write https://…'],
    ['localhost:8000/a', 'it has no scheme; write https://…'],
    ['site.example:80', 'it has no scheme'],
    ['/a?b=mailto:c', 'it has no scheme'],
  ])('%s is not a URL of a page: %s', (url, reason) => {
    expect(() => new Request(url)).toThrow(reason)
  })

  test.each([
    [{ priority: '5' }, 'priority is "5" (a string); expected an integer'],
    [{ callback: [1] }, 'callback is a list of 1; expected a method of the spider'],
    [{ meta: new Map([['a', 1]]) }, 'meta is a Map; expected a plain object'],
    [{ cbKwargs: ['a'] }, 'cbKwargs is a list of 1; expected a plain object'],
    [{ meta: 'depth' }, 'meta is "depth" (a string); expected a plain object'],
  ])('%o: %s', (parts, reason) => {
    // @ts-expect-error wrong kinds of values
    expect(() => new Request(URL, parts)).toThrow(reason)
  })
})
