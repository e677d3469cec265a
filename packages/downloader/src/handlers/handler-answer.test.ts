import { type DownloadHandler, MemoryStatsCollector, Request, Response, silentLogger } from '@webloom/core'
import { expect, test } from 'vitest'
import { HttpDownloadHandler } from '../http/http-download-handler.ts'
import { handlerAnswer, ownHandlerOf } from './handler-answer.ts'

class Own implements DownloadHandler {
  readonly #answer: unknown
  constructor(answer: unknown) {
    this.#answer = answer
  }
  async download(): Promise<Response> {
    return this.#answer as Response
  }
}

const answerOf = (answer: unknown) =>
  handlerAnswer(
    new Own(answer),
    new Request('http://x.example/a'),
    { signal: new AbortController().signal, onStart() {} },
    { timeoutMs: 5000, stats: new MemoryStatsCollector(), logger: silentLogger },
  )

test.each([
  ['undefined', undefined],
  ['"<p>" (a string)', '<p>'],
  ['a Response of fetch()', new globalThis.Response('<p>')],
  ['an object', { status: 200 }],
])('a handler that gives %s is named with the URL, and with what to give', async (shown, answer) => {
  await expect(answerOf(answer)).rejects.toMatchObject({
    code: 'WL_MIDDLEWARE_MISUSE',
    message: `the download handler Own gave ${shown} for <GET http://x.example/a>; expected a Response of webloom: new Response(request.url, { status, headers, body, request })`,
  })
})

test('an answer that was made without its request gets it', async () => {
  const made = await answerOf(new Response('http://x.example/b', { status: 404, body: 'é' }))
  expect(made).toMatchObject({ url: 'http://x.example/b', status: 404, text: 'é' })
  expect(made.request.url).toBe('http://x.example/a')
})

test('whose handler fetches a URL: no name for ours, for one that extends ours, and where there is none', async () => {
  class Patient extends HttpDownloadHandler {}
  const handlers = { http: new HttpDownloadHandler(), https: new Own(undefined), ftp: new Patient() }
  const names = ['http://a/', 'https://a/', 'ftp://a/', 'gopher://a/', 'constructor://a/']
  expect(names.map((url) => ownHandlerOf(url, handlers))).toEqual([
    undefined,
    'Own',
    undefined,
    undefined,
    undefined,
  ])
})
