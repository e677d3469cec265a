import { describe, expect, test } from 'vitest'
import { Request } from './request.ts'

const bodyOf = (request: Request) => Buffer.from(request.body).toString()

test('what a browser copies becomes the same request', () => {
  const request = Request.fromCurl(`curl 'https://example.com/api/search?page=2' \\
    -X 'POST' -H 'accept: application/json' \\
    -H $'x-title: it\\'s \\u00e9' -H 'Cookie: session=ab=c; theme=dark' \\
    --data-raw '{"q":"loom & $wool"}' --compressed --insecure`)
  expect([request.method, request.url]).toEqual(['POST', 'https://example.com/api/search?page=2'])
  expect(request.headers.toJSON()).toEqual({
    accept: 'application/json',
    'x-title': "it's é",
    'content-type': 'application/x-www-form-urlencoded',
  })
  expect(request.cookies).toEqual({ session: 'ab=c', theme: 'dark' })
  expect(bodyOf(request)).toBe('{"q":"loom & $wool"}')
})

describe('options', () => {
  test.each([
    ['curl example.com', 'GET http://example.com'],
    ['curl localhost:8000/x', 'GET http://localhost:8000/x'],
    ['curl --url https://e.com/', 'GET https://e.com/'],
    ['curl -I https://e.com/', 'HEAD https://e.com/'],
    ['curl -XDELETE https://e.com/', 'DELETE https://e.com/'],
    ['curl -sSLXput https://e.com/', 'PUT https://e.com/'],
    ['curl https://e.com/ -d a=1 --data b=2 --data-binary c', 'POST https://e.com/ a=1&b=2&c'],
    ['curl https://e.com/ -X PATCH -d a', 'PATCH https://e.com/ a'],
    [
      'curl -G https://e.com/?x#end -d a=1 --data-urlencode "q=a b&c"',
      'GET https://e.com/?x&a=1&q=a%20b%26c#end',
    ],
    ['curl -o page.html --max-time 10 https://e.com/', 'GET https://e.com/'],
    ['curl --request=POST https://e.com/', 'POST https://e.com/'],
  ])('%s', (command, expected) => {
    const request = Request.fromCurl(command)
    expect([request.method, request.url, bodyOf(request)].join(' ').trim()).toBe(expected)
  })

  test('user, agent, referer and cookies', () => {
    const request = Request.fromCurl(
      'curl e.com -u me:pass:word -A Loom/1 -e http://r/ -b "a=1; b=2" -b jar.txt',
    )
    expect(request.headers.toJSON()).toEqual({
      authorization: `Basic ${Buffer.from('me:pass:word').toString('base64')}`,
      'user-agent': 'Loom/1',
      referer: 'http://r/',
    })
    expect(request.cookies).toEqual({ a: '1', b: '2' })
  })

  test('a content type that is given stays; a header may be empty', () => {
    const request = Request.fromCurl(
      `curl e.com -d '{}' -H 'content-type: application/json' -H 'X-None;' --json 1`,
    )
    expect(request.headers.toJSON()).toEqual({
      'content-type': 'application/json',
      'x-none': '',
      accept: 'application/json',
    })
  })

  test('parts that are given override those of the command', () => {
    const request = Request.fromCurl('curl -X POST e.com', {
      method: 'PUT',
      meta: { page: 1 },
      callback: 'parseIt',
    })
    expect(request).toMatchObject({ method: 'PUT', meta: { page: 1 }, callback: 'parseIt' })
  })

  test('one that is not known is left out with its value, or refused when asked for', () => {
    expect(Request.fromCurl('curl --proxy http://p:1 -F a=b https://e.com/').url).toBe('https://e.com/')
    expect(() =>
      Request.fromCurl('curl --proxy http://p:1 -F a=b https://e.com/', { ignoreUnknownOptions: false }),
    ).toThrow('not known here: --proxy http://p:1, -F a=b')
    expect(
      Request.fromCurl('curl -k --compressed -v https://e.com/', { ignoreUnknownOptions: false }).method,
    ).toBe('GET')
  })

  test.each([
    ['', 'begins with'],
    ['wget https://e.com/', 'begins with curl'],
    ['curl -s', 'no URL'],
    ['curl -d @file https://e.com/', 'reads a file'],
    ['curl https://e.com/ -H', '-H needs a value'],
    ["curl 'https://e.com/", 'ends within a quote'],
    ['curl https://e.com/ -H nocolon', 'no colon'],
  ])('refused: %s', (command, reason) => {
    expect(() => Request.fromCurl(command)).toThrow(reason)
  })
})

describe('a request as a curl command', () => {
  test.each([
    [new Request('https://e.com/a?b=1&c'), "curl 'https://e.com/a?b=1&c'"],
    [new Request('https://e.com/', { method: 'HEAD' }), 'curl https://e.com/ -I'],
    [
      new Request('https://e.com/', {
        method: 'POST',
        body: "it's é",
        headers: { 'x-a': ['1', ''] },
        cookies: { s: 'x' },
      }),
      "curl https://e.com/ -X POST -H 'x-a: 1' -H 'x-a;' -b s=x --data-raw 'it'\\''s é'",
    ],
  ])('%s', (request, command) => {
    expect(request.toCurl()).toBe(command)
    const again = Request.fromCurl(command)
    expect([again.method, again.url, bodyOf(again), again.cookies]).toEqual([
      request.method,
      request.url,
      bodyOf(request),
      request.cookies,
    ])
  })

  test('a body that is not text is refused', () => {
    const request = new Request('https://e.com/', { method: 'POST', body: new Uint8Array([0xff]) })
    expect(() => request.toCurl()).toThrow('not UTF-8 text')
  })
})
