import { expect, test } from 'vitest'
import { Request } from '../requests/request.ts'
import { requestToJson } from '../requests/request-json.ts'
import { CompactRequests } from './compact-request.ts'

const URL = 'http://a.test/ü?q=1#part'
const DIGEST = '0123456789abcdef0123456789abcdef01234567'

function found(init: ConstructorParameters<typeof Request>[1] = {}): Request {
  const request = new Request(URL, init)
  request.setReferer('http://a.test/')
  return request
}

test.each([
  ['with nothing of its own', new Request(URL)],
  ['found on a page', found({ meta: { depth: 3 }, priority: -2, callback: 'parseItem', errback: 'failed' })],
  ['past the filter', found({ dontFilter: true })],
  ['with meta of its own', found({ meta: { depth: 1, rule: 2, texts: ['a', null] } })],
  ['with headers', found({ headers: { Accept: ['text/html', 'text/plain'] } })],
  [
    'with a body and all the rest',
    found({ method: 'POST', body: 'ä', cookies: { a: '1' }, flags: ['x'], cbKwargs: { n: 1 } }),
  ],
  ['in another encoding', found({ encoding: 'iso-8859-1' })],
  ['whose URL stays as written', new Request('http://a.test/ü', { meta: { verbatim_url: true } })],
])('a compact request becomes an equal one: %s', (_, request) => {
  const before = requestToJson(request)
  const { request: after } = new CompactRequests().of({ id: DIGEST, request }).unpacked()
  expect(requestToJson(after)).toEqual(before)
})

test.each([
  ['a digest', DIGEST],
  ['the URL', new Request(URL).url],
  ['words', 'start/3/page 2'],
  ['a character that is not a byte', '≠'],
  ['nothing', ''],
])('a compact request keeps its id: %s', (_, id) => {
  const request = new Request(URL)
  const unpacked = new CompactRequests().of({ id, request }).unpacked()
  expect([unpacked.id, unpacked.request.url]).toEqual([id, request.url])
})

test('requests that differ in one part only are not mixed up', () => {
  const compact = new CompactRequests()
  const requests = [
    new Request(URL),
    new Request(URL, { priority: 1 }),
    new Request(URL, { dontFilter: true }),
    new Request(URL, { callback: 'a' }),
    new Request(URL, { errback: 'a' }),
    new Request(URL, { meta: { depth: 1 } }),
    new Request(URL),
  ]
  const waiting = requests.map((request) => compact.of({ id: DIGEST, request }))
  expect(waiting.map((one) => requestToJson(one.unpacked().request))).toEqual(requests.map(requestToJson))
})
