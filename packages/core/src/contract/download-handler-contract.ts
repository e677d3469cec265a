import assert from 'node:assert/strict'
import { DownloadError } from '../errors/errors.ts'
import type { BodyTo, DownloadHandler, DownloadOptions } from '../ports/downloader.ts'
import { Request } from '../requests/request.ts'
import { type ContractTests, type Implementation, runContract, type TestRunner } from './suite.ts'

/** A handler, and URLs for it. */
export interface HandlerUnderTest {
  readonly handler: DownloadHandler
  /** A URL that is answered with this body, which is not empty. */
  readonly url: string
  readonly body: string
  /** A URL that the handler may fetch, but that gets no answer. */
  readonly unansweredUrl: string
}

/** Downloads, and counts how often the request left. */
async function downloaded(
  { handler }: HandlerUnderTest,
  url: string,
  options: Partial<DownloadOptions> = {},
) {
  const request = new Request(url)
  const left = { count: 0 }
  const onStart = () => {
    left.count++
  }
  const answer = handler.download(request, { signal: new AbortController().signal, onStart, ...options })
  return { request, left, response: await answer }
}

const textOf = (bytes: Uint8Array | readonly Uint8Array[]) =>
  Buffer.concat(bytes instanceof Uint8Array ? [bytes] : bytes).toString()

const TESTS: ContractTests<HandlerUnderTest> = {
  'an answer has the URL that was asked for and its body, and the request left once': async (subject) => {
    const { request, left, response } = await downloaded(subject, subject.url)
    assert.equal(response.url, request.url)
    assert.equal(response.status, 200)
    assert.equal(textOf(response.body), subject.body)
    assert.equal(left.count, 1)
  },
  'several at once have an answer each': async (subject) => {
    const all = await Promise.all(Array.from({ length: 5 }, () => downloaded(subject, subject.url)))
    for (const { response } of all) assert.equal(textOf(response.body), subject.body)
  },
  'what has no answer is a DownloadError': async (subject) => {
    await assert.rejects(
      downloaded(subject, subject.unansweredUrl),
      (error) => error instanceof DownloadError && error.kind.length > 0,
    )
    assert.equal(textOf((await downloaded(subject, subject.url)).response.body), subject.body)
  },
  'what is to end before it has begun does not leave, and ends with the reason': async (subject) => {
    const reason = new Error('the time is up')
    let left = 0
    const signal = AbortSignal.abort(reason)
    await assert.rejects(
      downloaded(subject, subject.url, { signal, onStart: () => void left++ }),
      (error) => error === reason,
    )
    assert.equal(left, 0)
  },
  'a signal that fires behind the answer changes nothing': async (subject) => {
    const late = new AbortController()
    const { response } = await downloaded(subject, subject.url, { signal: late.signal })
    late.abort(new Error('too late'))
    assert.equal(textOf(response.body), subject.body)
  },
  'who takes the body is told status and headers, and gets it in place of the answer': async (subject) => {
    const taken: Uint8Array[] = []
    const told: unknown[] = []
    const bodyTo: BodyTo = (status, headers) => {
      told.push(status, headers)
      return (chunk) => void taken.push(chunk)
    }
    const { response } = await downloaded(subject, subject.url, { bodyTo })
    assert.deepEqual(told, [response.status, response.headers])
    assert.equal(textOf(taken), subject.body)
    assert.equal(response.body.length, 0)
  },
  'a body that nobody wants to take is the answer’s': async (subject) => {
    const { response } = await downloaded(subject, subject.url, { bodyTo: () => undefined })
    assert.equal(textOf(response.body), subject.body)
  },
  'what the taker throws ends the download': async (subject) => {
    const full = new Error('the disk is full')
    const bodyTo: BodyTo = () => () => {
      throw full
    }
    await assert.rejects(downloaded(subject, subject.url, { bodyTo }), (error) => error === full)
  },
}

/** Every DownloadHandler runs this; one of your own, too. `dispose` closes a handler that opens something. */
export function downloadHandlerContract(
  runner: TestRunner,
  implementation: Implementation<HandlerUnderTest>,
): void {
  runContract(runner, 'DownloadHandler', TESTS, implementation)
}
