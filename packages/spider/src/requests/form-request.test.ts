/** What Scrapy makes of the same forms: `testdata/scrapy-forms.json`. */

import { readFileSync } from 'node:fs'
import { type Request, requestFromJson, requestToJson } from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { Response } from '../responses/response.ts'
import type { FormDataInit } from './form-data.ts'
import { FormRequest, type FromResponseInit } from './form-request.ts'
import { JsonRequest } from './json-request.ts'

interface Outcome {
  method: string
  url: string
  body: string
  content_type: string | null
}

interface Vectors {
  pages: Record<string, { html: string; encoding: string }>
  from_response: {
    page: string
    options: { dont_click?: boolean; formdata?: FormDataInit } & FromResponseInit
    result?: Outcome
    error?: string
  }[]
  form_requests: { url: string; init: object; result: Outcome }[]
  json_requests: { data: unknown; body: string; method: string; headers: object }[]
}

const vectors = JSON.parse(
  readFileSync(new URL('../../testdata/scrapy-forms.json', import.meta.url), 'utf8'),
) as Vectors

describe('FormRequest.fromResponse, as Scrapy', () => {
  // On the web latin-1 means windows-1252, which has a euro sign.
  const asScrapy = vectors.from_response.filter(
    ({ page, options }) => !/^latin.*€/.test(page + JSON.stringify(options)),
  )
  test.each(asScrapy.map((c) => [`${c.page} ${JSON.stringify(c.options)}`, c] as const))(
    '%s',
    (_, { page, options, result }) => {
      const { dont_click: dontClick, ...same } = options
      const make = () => FormRequest.fromResponse(pageOf(page), { ...same, ...(dontClick && { dontClick }) })
      if (result) expect(outcomeOf(make())).toEqual(result)
      else expect(make).toThrow()
    },
  )

  test('the tree of a browser gives the same', () => {
    const { html } = vectors.pages.big!
    const ofBrowser = new Response('http://example.com/dir/page.html', { body: html, htmlParser: 'parse5' })
    for (const formnumber of [0, 1, 2, 3]) {
      const options = { formnumber, formdata: { text: null } } // it keeps no <b> in an <option>
      expect(outcomeOf(FormRequest.fromResponse(ofBrowser, options))).toEqual(
        outcomeOf(FormRequest.fromResponse(pageOf('big'), options)),
      )
    }
  })

  test('what the request is told stays, and its errors say what there is', () => {
    const request = FormRequest.fromResponse(pageOf('big'), {
      callback: 'parseFound',
      meta: { page: 1 },
      priority: 3,
    })
    expect(request).toMatchObject({ callback: 'parseFound', meta: { page: 1 }, priority: 3 })
    expect(() => FormRequest.fromResponse(pageOf('big'), { formnumber: 9 })).toThrow(
      'has 5 forms, and none with formnumber 9',
    )
    expect(() => FormRequest.fromResponse(pageOf('big'), { clickdata: { type: 'submit' } })).toThrow(
      'fits 2 elements',
    )
  })
})

describe('FormRequest', () => {
  test.each(vectors.form_requests.map((c) => [JSON.stringify(c.init), c] as const))(
    'as Scrapy: %s',
    (_, { url, init, result }) => {
      expect(outcomeOf(new FormRequest(url, init))).toEqual(result)
    },
  )

  test('takes numbers and pairs, leaves out null and refuses the rest', () => {
    const body = (formdata: FormDataInit) => outcomeOf(new FormRequest('http://e.com/', { formdata })).body
    expect(body({ page: 2, n: [1, 'x'], none: null })).toBe('page=2&n=1&n=x')
    expect(body(new URLSearchParams('a=1&a=2'))).toBe('a=1&a=2')
    expect(() => body({ when: new Date(0) as never })).toThrow('field "when" of formdata is')
  })

  test('comes out of a queue as the request it is', () => {
    const request = new FormRequest('http://e.com/', { formdata: { a: 'é' }, callback: 'parseFound' })
    const again = requestFromJson(JSON.parse(JSON.stringify(requestToJson(request))))
    expect(outcomeOf(again)).toEqual(outcomeOf(request))
    expect(again.callback).toBe('parseFound')
  })
})

describe('JsonRequest', () => {
  test.each(vectors.json_requests.map((c) => [JSON.stringify(c.data), c] as const))(
    'as Scrapy: %s',
    (_, { data, body, method, headers }) => {
      const request = new JsonRequest('http://e.com/', { data })
      expect([Buffer.from(request.body).toString(), request.method]).toEqual([body, method])
      expect(request.headers.toJSON()).toEqual(headers)
    },
  )

  test('another method, other headers, another way to write', () => {
    const request = new JsonRequest('http://e.com/', {
      method: 'PATCH',
      headers: { Accept: 'application/ld+json' },
      data: { b: 1, a: 2 },
      dumps: JSON.stringify,
    })
    expect([request.method, Buffer.from(request.body).toString()]).toEqual(['PATCH', '{"b":1,"a":2}'])
    expect(request.headers.get('accept')).toBe('application/ld+json')
  })

  test('replaced with other data it keeps the rest, and how data are written', () => {
    const first = new JsonRequest('http://e.com/', {
      method: 'PUT',
      data: { page: 1 },
      dumps: (data) => `${JSON.stringify(data)}\n`,
      cbKwargs: { page: 1 },
    })
    const second = first.replace({ data: { page: 2 }, url: 'http://e.com/2' })
    expect(second).toBeInstanceOf(JsonRequest)
    expect([second.method, second.url, Buffer.from(second.body).toString()]).toEqual([
      'PUT',
      'http://e.com/2',
      '{"page":2}\n',
    ])
    expect([second.cbKwargs, second.headers.toJSON()]).toEqual([{ page: 1 }, first.headers.toJSON()])
    expect(Buffer.from(second.replace({ priority: 1 }).body).toString()).toBe('{"page":2}\n')
    expect(() => first.replace({ data: 1, body: '2' })).toThrow('expected one of them')
  })

  test('without data it is a GET that asks for JSON; with data and body it is refused', () => {
    const request = new JsonRequest('http://e.com/')
    expect([request.method, request.body.length]).toEqual(['GET', 0])
    expect(request.headers.get('accept')).toContain('application/json')
    expect(() => new JsonRequest('http://e.com/', { data: 1, body: '2' })).toThrow('expected one of them')
  })
})

const PYTHON_LABELS: Readonly<Record<string, string>> = { 'latin-1': 'windows-1252', cp1251: 'windows-1251' }

function pageOf(name: string): Response {
  const { html, encoding } = vectors.pages[name]!
  const label = PYTHON_LABELS[encoding]
  if (!label) return new Response('http://example.com/dir/page.html', { body: html })
  const body = encoding === 'cp1251' ? cp1251(html) : Buffer.from(html, 'latin1')
  return new Response('http://example.com/dir/page.html', { body, encoding: label })
}

function cp1251(text: string): Uint8Array {
  const letters = new TextDecoder('windows-1251').decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))
  return Uint8Array.from(text, (letter) => letters.indexOf(letter))
}

function outcomeOf(request: Request): Outcome {
  return {
    method: request.method,
    url: request.url,
    body: Buffer.from(request.body).toString('latin1'),
    content_type: request.headers.get('content-type'),
  }
}
