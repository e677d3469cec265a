import { describe, expect, test } from 'vitest'
import { WebloomError } from '../errors/errors.ts'
import { Request } from './request.ts'
import { requestFromJson, requestToJson } from './request-json.ts'
import { checkedRequestJson } from './request-json-check.ts'

const URL = 'http://a.test/'
/** As import reads a line. */
const read = (text: string) => requestFromJson(checkedRequestJson(JSON.parse(text)))

test('each part that a request may have is taken, and comes out as it went in', () => {
  const request = new Request(URL, {
    method: 'POST',
    headers: { a: 'x', b: ['y', 'z'] },
    body: 'bytes',
    cookies: [{ name: 'a', value: 'b', domain: 'a.test', path: '/', secure: true }],
    meta: { depth: 1, ['__proto__']: { a: 1 } },
    cbKwargs: { a: [1] },
    priority: -3,
    dontFilter: true,
    callback: 'parseItem',
    errback: 'failed',
    flags: ['cached'],
    encoding: 'latin-1',
  })
  const text = JSON.stringify(requestToJson(request))
  expect(JSON.stringify(requestToJson(read(text)))).toBe(text)
  expect(read(`{"v":1,"url":"${URL}","c":{"a":"b","n":5}}`).cookies).toEqual({ a: 'b', n: 5 })
})

test('a header of any name is kept', () => {
  const { headers } = read(`{"v":1,"url":"${URL}","h":{"__proto__":["x","y"],"constructor":"z"}}`)
  expect(JSON.stringify(headers)).toBe('{"__proto__":["x","y"],"constructor":"z"}')
})

describe('what is not a request', () => {
  test.each(['5', 'null', '[1]', '"text"', '{}', '{"v":1}', '{"v":1,"url":5}', `{"url":"${URL}"}`])(
    '%s is told as a whole',
    (text) => {
      expect(() => read(text)).toThrow(/not a request as webloom export writes it/)
    },
  )

  test.each([
    '"h":5',
    '"h":"x"',
    '"h":[1]',
    '"h":null',
    '"h":{"a":5}',
    '"h":{"a":{"b":1}}',
    '"b":5',
    '"b":{}',
    '"b":null',
    '"b":"%%%"',
    '"c":5',
    '"c":"abc"',
    '"c":[5]',
    '"c":[{"name":5}]',
    '"c":[{"name":"a","value":"b","domain":5}]',
    '"c":{"a":{}}',
    '"meta":5',
    '"meta":[1]',
    '"kw":"x"',
    '"p":"5"',
    '"p":1.5',
    '"p":null',
    '"df":"x"',
    '"df":true',
    '"cb":5',
    '"cb":{}',
    '"eb":5',
    '"f":5',
    '"f":"abc"',
    '"f":[{}]',
    '"m":5',
    '"enc":5',
    '"zzz":1',
    '"__proto__":1',
  ])('%s is told by its name', (part) => {
    const name = /"(\w+)"/.exec(part)![1]!
    const refusal = (() => {
      try {
        return read(`{"v":1,"url":"${URL}",${part}}`)
      } catch (error) {
        return error
      }
    })()
    expect(refusal).toBeInstanceOf(WebloomError)
    expect((refusal as WebloomError).message).toMatch(
      new RegExp(`its ${name} is .*; expected|no part "${name}"`),
    )
  })

  test('of another version it is told which', () => {
    expect(() => read(`{"v":2,"url":"${URL}","new":1}`)).toThrow(/has form 2; this release reads form 1/)
  })
})
