import { readFileSync } from 'node:fs'
import { cpuMs } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { requestFromSeed } from './seed-request.ts'

interface Vector {
  readonly message: string
  readonly url?: string
  readonly method?: string
  readonly body?: string
  readonly headers?: Record<string, string[]>
  readonly meta?: Record<string, unknown>
  readonly error?: string
  readonly result?: string
}

// Made by running scrapy-redis and Scrapy's FormRequest.
const vectors = (
  JSON.parse(
    readFileSync(new URL('../../testdata/start-urls-scrapy-redis.json', import.meta.url), 'utf8'),
  ) as { cases: Vector[] }
).cases

describe('SEEDS_FORMAT=scrapy-redis', () => {
  const seed = (message: string) => requestFromSeed(message, { format: 'scrapy-redis' })

  test.each(vectors)('as scrapy-redis takes $message', (vector) => {
    if (vector.error !== undefined || vector.result === 'empty-list') {
      expect(() => seed(vector.message)).toThrow()
      return
    }
    const request = seed(vector.message)
    expect({
      url: request.url,
      method: request.method,
      body: Buffer.from(request.body).toString(),
      meta: request.meta,
      headers: Object.fromEntries([...request.headers].map(([name, value]) => [name, value])),
      dontFilter: request.dontFilter,
    }).toEqual({
      url: vector.url,
      method: vector.method,
      body: vector.body,
      meta: vector.meta,
      headers: Object.fromEntries(
        Object.entries(vector.headers ?? {}).map(([name, [value]]) => [name.toLowerCase(), value]),
      ),
      dontFilter: true,
    })
  })

  test('form data keeps the order in which it was written, even where JavaScript would change it', () => {
    const message =
      '{"b":"x", "url":"http://example.com/#top", "10":"ten", "2":["{\\"7\\":", "z"], "meta":{"1":1}}'
    expect(seed(message).url).toBe('http://example.com/?b=x&10=ten&2=%7B%227%22%3A&2=z#top')
  })
  test('what Python reads as a number and JSON does not know is not a URL', () => {
    expect(() => seed('{"url":"http://example.com/","a":NaN}')).toThrow('NaN or Infinity')
    expect(() => seed('{"url":"http://example.com/","meta":{"a":-Infinity}}')).toThrow('NaN or Infinity')
    expect(seed('{"url":"http://example.com/","a":"NaN"}').url).toBe('http://example.com/?a=NaN')
  })
  test('a long message that is nearly JSON takes no long time', () => {
    const began = cpuMs()
    expect(() => seed(`{"url":"${'\\"'.repeat(200_000)}`)).toThrow('scheme')
    expect(cpuMs() - began).toBeLessThan(2000)
  })
  test('half a character is refused, as Python cannot write it either', () => {
    expect(() => seed('{"url":"http://example.com/","a":"\\ud800"}')).toThrow('half a character')
  })
})

describe('SEEDS_FORMAT=webloom', () => {
  test('a plain URL, with whatever a text file leaves around it', () => {
    for (const message of [
      'https://example.com/?a=b c',
      '  https://example.com/?a=b c\r\n',
      '\ufeffhttps://example.com/?a=b c',
    ]) {
      const request = requestFromSeed(message)
      expect(request.url).toBe('https://example.com/?a=b%20c')
      expect(request.dontFilter).toBe(true)
      expect(request.callback).toBeNull()
    }
  })

  test('every part of a request, in camelCase and in Scrapy’s words', () => {
    const parts = {
      url: 'https://example.com/',
      method: 'put',
      headers: { 'X-One': '1', 'X-Many': ['a', 'b'] },
      body: 'grüße',
      cookies: { session: 'abc' },
      meta: { depth: 3 },
      callback: 'parseFound',
      errback: 'failed',
      priority: -7,
      flags: ['by hand'],
      encoding: 'latin-1',
    }
    const expected = {
      url: 'https://example.com/',
      method: 'PUT',
      cookies: { session: 'abc' },
      meta: { depth: 3 },
      cbKwargs: { page: 2 },
      callback: 'parseFound',
      errback: 'failed',
      priority: -7,
      dontFilter: false,
      flags: ['by hand'],
      encoding: 'latin-1',
      body: Buffer.from('grüße', 'latin1'),
    }
    for (const names of [
      { cbKwargs: { page: 2 }, dontFilter: false },
      { cb_kwargs: { page: 2 }, dont_filter: false, delay: null },
    ]) {
      const request = requestFromSeed(JSON.stringify({ ...parts, ...names }))
      expect(request).toMatchObject(expected)
      expect(request.headers.getAll('x-many')).toEqual(['a', 'b'])
    }
  })

  test('a form is posted; with GET it is added to the query', () => {
    const posted = requestFromSeed('{"url":"https://example.com/?x=1","form":{"q":"a b&c","n":[1,2]}}')
    expect([posted.method, Buffer.from(posted.body).toString(), posted.url]).toEqual([
      'POST',
      'q=a+b%26c&n=1&n=2',
      'https://example.com/?x=1',
    ])
    expect(posted.headers.get('content-type')).toBe('application/x-www-form-urlencoded')
    const got = requestFromSeed('{"url":"https://example.com/?x=1#end","method":"GET","formdata":{"q":"a"}}')
    expect([got.method, got.body.length, got.url]).toEqual(['GET', 0, 'https://example.com/?x=1&q=a#end'])
  })

  test('json is posted as JSON, unless method and type are given', () => {
    const posted = requestFromSeed('{"url":"https://example.com/","json":{"ids":[1,null]}}')
    expect([posted.method, Buffer.from(posted.body).toString()]).toEqual(['POST', '{"ids":[1,null]}'])
    expect(posted.headers.get('content-type')).toBe('application/json')
    const patched = requestFromSeed(
      '{"url":"https://example.com/","method":"PATCH","json":null,"headers":{"content-type":"application/ld+json"}}',
    )
    expect([patched.method, Buffer.from(patched.body).toString()]).toEqual(['PATCH', 'null'])
    expect(patched.headers.getAll('content-type')).toEqual(['application/ld+json'])
  })

  test('a delay is noted for whoever hands the seed out', () => {
    expect(requestFromSeed('{"url":"https://example.com/","delay":2.5,"meta":{"a":1}}').meta).toEqual({
      a: 1,
      seed_delay: 2.5,
    })
  })

  test.each([
    ['', 'the message is empty'],
    ['example.com', 'no scheme'],
    ['{"url":"https://example.com/"', 'begins like JSON, but is not JSON'],
    ['["https://example.com/"]', 'expected a URL or a JSON object'],
    ['"https://example.com/"', 'expected a URL or a JSON object'],
    ['{}', 'url is missing; expected a string'],
    ['{"url":7}', 'url is 7; expected a string'],
    [
      '{"url":"https://example.com/","calback":"parse"}',
      'there is no field "calback". Did you mean callback',
    ],
    ['{"url":"https://example.com/","q":"loom"}', 'SEEDS_FORMAT=scrapy-redis'],
    ['{"url":"https://example.com/","dontFilter":true,"dont_filter":true}', 'dontFilter is given twice'],
    ['{"url":"https://example.com/","body":"a","form":{}}', 'body and form are given'],
    ['{"url":"https://example.com/","priority":1.5}', 'priority is 1.5'],
    ['{"url":"https://example.com/","priority":"1"}', 'priority is "1"; expected an integer'],
    ['{"url":"https://example.com/","headers":{"X":1}}', 'headers is {"X":1}'],
    ['{"url":"https://example.com/","headers":{"X":"a\\nb"}}', 'X'],
    ['{"url":"https://example.com/","cookies":[{"name":"a"}]}', 'cookies is'],
    ['{"url":"https://example.com/","cookies":[{"name":"a","value":"b","path":1}]}', 'cookies is'],
    ['{"url":"https://example.com/","headers":{"X":"a\\u0001"}}', 'no control characters'],
    ['{"url":"https://example.com/","meta":[]}', 'meta is []; expected an object'],
    ['{"url":"https://example.com/","delay":-1}', 'delay is -1; expected seconds'],
    ['{"url":"https://example.com/","form":{"a":null}}', 'form.a holds null'],
  ])('%s is invalid, and the reason says why', (message, reason) => {
    expect(() => requestFromSeed(message)).toThrow(reason)
  })
})
