import { readFileSync } from 'node:fs'
import { cpuMs } from '@webloom/testkit'
import { describe, expect, test } from 'vitest'
import { Request } from '../requests/request.ts'
import { requestToJson } from '../requests/request-json.ts'
import { readPickle } from './read-pickle.ts'
import { decodeScrapyRequest, encodeScrapyRequest } from './scrapy-request.ts'
import { writePickle } from './write-pickle.ts'

// Made by running Scrapy's Request.to_dict and Python's pickle, in protocols 2 to 5.
const { requests, refused } = JSON.parse(
  readFileSync(new URL('../../testdata/scrapy-redis-pickles.json', import.meta.url), 'utf8'),
) as { requests: Record<string, Record<string, string>>; refused: Record<string, Record<string, string>> }
const protocols = ['2', '3', '4', '5']
const pickle = (from: typeof requests, name: string, protocol: string) =>
  Buffer.from(from[name]![protocol]!, 'base64')

describe.each(protocols)('a pickle of protocol %s', (protocol) => {
  const read = (name: string) => decodeScrapyRequest(pickle(requests, name, protocol))

  test('gives the request with all its parts', () => {
    const request = read('full')
    expect(request).toMatchObject({
      url: 'http://a.test/2?q=%C3%BC',
      method: 'PUT',
      callback: 'parse_item',
      errback: 'failed',
      body: Uint8Array.from(Buffer.from('\x00\xffbinary', 'latin1')),
      cookies: { session: 'abc' },
      cbKwargs: { page: 2 },
      encoding: 'latin-1',
      priority: -7,
      dontFilter: true,
      flags: ['by hand'],
    })
    expect(request.headers.toJSON()).toEqual({ 'x-one': '1', 'x-many': ['a', 'b'], 'x-text': 'grüße' })
    expect(request.meta).toEqual({
      depth: 3,
      download_timeout: 1.5,
      proxy: null,
      nested: {
        list: [1, -1, 255, 256, 65_536, 2 ** 31, -(2 ** 33), 2 ** 53 - 1, true, false, null, 'grüß 🐍'],
        tuple: ['a', 1],
        empty: {},
        none: [],
      },
    })
  })
  test('gives requests of special classes as what they were made to', () => {
    expect(read('plain')).toMatchObject({ method: 'GET', callback: null, priority: 0, dontFilter: false })
    expect(Buffer.from(read('form').body).toString()).toBe('q=a+b')
    expect(read('form').headers.get('content-type')).toBe('application/x-www-form-urlencoded')
    expect([Buffer.from(read('json').body).toString(), read('json').priority]).toEqual(['{"a": [1]}', 5])
    expect(read('cookies').cookies).toEqual([{ name: 'a', value: '1', domain: 'a.test', path: '/' }])
    expect(read('shared').meta).toEqual({ a: ['same'], b: ['same'], c: ['same'] })
    expect([read('long').body.length, (read('long').meta.text as string).length]).toEqual([300, 300])
  })
  test.each([
    ['a date', 'it refers to datetime.date'],
    ['a decimal', 'it refers to decimal.Decimal'],
    ['a set', /a set is not data|it refers to __builtin__.set|it refers to builtins.set/],
    ['a function', /it refers to (__builtin__|builtins).print/],
    ['a command', /it refers to (posix|nt).system/],
    ['bytes in meta', 'meta.raw is bytes, which does not survive JSON'],
    ['a header in latin1', 'headers holds bytes that are not UTF-8'],
    ['nan', 'meta.x is the number NaN'],
    ['a big number', `meta.x is the number ${2n ** 70n}`],
    ['a number for a key', 'meta has the number 1 for a key'],
    ['no dict', 'it is not a dict'],
    ['no url', 'url is missing'],
  ])('with %s is refused by name', (name, reason) => {
    expect(() => decodeScrapyRequest(pickle(refused, name, protocol))).toThrow(reason)
  })
})

test('no beginning of a pickle is taken for a whole one, and none hangs', () => {
  const whole = pickle(requests, 'full', '4')
  for (let length = 0; length < whole.length; length++)
    expect(() => decodeScrapyRequest(whole.subarray(0, length))).toThrow()
})

// A million bytes, noted as number 0.
const LONG = `B\x40\x42\x0f\x00${'a'.repeat(1_000_000)}q\x00`

describe('a hostile pickle ends soon, and in an error', () => {
  const hostile: [string, Buffer][] = [
    ['a text longer than all memory', Buffer.from('80048dffffffffffffffff2e', 'hex')],
    ['a number of four gigabytes', Buffer.from('80048bffffffff2e', 'hex')],
    [
      'a million empty dicts, twice',
      Buffer.concat([Buffer.from('8004', 'hex'), Buffer.alloc(2_000_000, '}'), Buffer.from('.')]),
    ],
    [
      'marks and nothing else',
      Buffer.concat([Buffer.from('8004', 'hex'), Buffer.alloc(2_000_000, '('), Buffer.from('.')]),
    ],
    ['lists in lists', withMeta(`${']'.repeat(500)}${'a'.repeat(499)}`)],
    ['lists that share lists: 2 ** 90 of them', withMeta(sharing(90))],
    ['a header that has a megabyte 200 000 times', recalling('headers', '}(C\x01a](', LONG, 'eu')],
    [
      'cookies that have a megabyte 200 000 times',
      recalling('cookies', '](', `}(X\x04\0\0\0name${LONG}X\x05\0\0\0valueh\0uq\x01`, 'e'),
    ],
    ['flags that have a megabyte 200 000 times', recalling('flags', '](', LONG.replace('B', 'X'), 'e')],
    ['a text that is made bytes 20 000 times, each time kept', bytesOfOneText('', 20_000)],
    ['a text that is made bytes 20 000 times, each time dropped', bytesOfOneText('0', 20_000)],
    ['a list that holds itself', withMeta(']q\x00h\x00a')],
    ['more popped than was pushed', Buffer.from('80043030302e', 'hex')],
    ['a value recalled that was never noted', Buffer.from('800468632e', 'hex')],
    ['entries of a number', Buffer.from('80044b01284b014b02752e', 'hex')],
    ['a call', Buffer.from('8004636f730a73797374656d0a580200000069648552' + '2e', 'hex')],
    [
      'a call of what protocol 2 needs, with something else',
      Buffer.from('8002635f636f646563730a656e636f64650a58010000006158030000007a6970' + '86522e', 'hex'),
    ],
    ['a function for a value', Buffer.from('8002635f636f646563730a656e636f64650a2e', 'hex')],
    ['no pickle', Buffer.from('hello')],
    ['protocol 9', Buffer.from('80094e2e', 'hex')],
  ]
  test.each(hostile)('%s', (_name, bytes) => {
    const began = cpuMs()
    expect(() => decodeScrapyRequest(bytes)).toThrow(expect.objectContaining({ code: 'WL_IMPORT_REFUSED' }))
    expect(cpuMs() - began).toBeLessThan(1000)
  })
})

/** The value `shared`, in a list of which the field is made, and 200 000 times more by reference. */
function recalling(field: string, opens: string, shared: string, closes: string): Buffer {
  const head = '\x80\x04}(X\x03\x00\x00\x00urlX\x0d\x00\x00\x00http://a.test'
  const name = `X${String.fromCharCode(field.length)}\x00\x00\x00${field}`
  const again = (shared.endsWith('q\x01') ? 'h\x01' : 'h\x00').repeat(200_000)
  return Buffer.from(`${head}${name}${opens}${shared}${again}${closes}u.`, 'latin1')
}

/** Protocol 2's call for bytes, with the same megabyte each time, and what comes behind each; then a dict with no url. */
function bytesOfOneText(behind: string, times: number): Buffer {
  const text = `X${String.fromCharCode(0, 0, 0x10, 0)}${'a'.repeat(2 ** 20)}`
  const args = `${text}X\x06\x00\x00\x00latin1\x86q\x010`
  const calls = `h\x00h\x01R${behind}`.repeat(times)
  return Buffer.from(`\x80\x02c_codecs\nencode\nq\x000${args}${calls}}.`, 'latin1')
}

/** {'url': 'a', 'meta': {'x': …}} */
function withMeta(value: string): Buffer {
  const head = '\x80\x04}(X\x03\x00\x00\x00urlX\x01\x00\x00\x00aX\x04\x00\x00\x00meta}(X\x01\x00\x00\x00x'
  return Buffer.from(`${head}${value}uu.`, 'latin1')
}

/** Each list holds the one before it twice. */
function sharing(depth: number): string {
  let text = ']q\x00'
  for (let n = 1; n <= depth; n++)
    text += `0](h${String.fromCharCode(n - 1)}h${String.fromCharCode(n - 1)}eq${String.fromCharCode(n)}`
  return text
}

test('what is written is read back as it was, as a pickle and as JSON', () => {
  const request = new Request('http://a.test/?q=1', {
    method: 'POST',
    headers: { 'X-A': ['1', 'grün'] },
    body: 'text',
    cookies: [{ name: 'a', value: 'b', path: '/' }],
    meta: { n: [1, -1, 1.5, 2 ** 40, -(2 ** 31), null, true, 'ü'], o: { p: {} } },
    cbKwargs: { k: 'v' },
    callback: 'parseItem',
    priority: 3,
    dontFilter: true,
    flags: ['f'],
  })
  for (const serializer of ['pickle', 'json'] as const) {
    const encoded = encodeScrapyRequest(request, { serializer, nameOf: (name) => `${name}!` })
    const read = decodeScrapyRequest(encoded)
    expect(requestToJson(read)).toEqual({ ...requestToJson(request), cb: 'parseItem!' })
  }
})

test('a pickle that is written is what Python’s reader expects of protocol 4', () => {
  expect(writePickle(new Map([['a', [1, null]]])).toString('latin1')).toBe(
    '\x80\x04}(X\x01\x00\x00\x00a](J\x01\x00\x00\x00Neu.',
  )
  expect(readPickle(writePickle(-(2n ** 90n)))).toBe(-(2n ** 90n))
})
