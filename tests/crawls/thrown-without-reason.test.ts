/** `throw undefined` and `Promise.reject()` in each of a user's own methods: the page ends as with any error, and the log names who threw. */

import { startFakeWeb } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { crawl, Request, type Response, type SettingsInput, Spider } from 'webloom'
import { listeningLogger } from './crawl-web.ts'

/** Ends a crawl that would fetch its page for ever, so that the test fails by its figures and not by its time. */
const CALLS_MAX = 20

let calls = 0
function nothing(): never {
  if (++calls > CALLS_MAX) throw new Error('called again and again')
  throw undefined
}
const rejected = async () => nothing()

class OutMiddleware {
  processRequest = rejected
}
class InMiddleware {
  processResponse = nothing
}
class RescueMiddleware {
  processRequest() {
    throw new Error('told to the next hook')
  }
  processException = rejected
}
class Handler {
  download = rejected
}
class SyncHandler {
  download = nothing
}
class NullHandler {
  download(): Promise<Response> {
    calls++
    throw null
  }
}
class InputMiddleware {
  processSpiderInput = nothing
}
class ItemMiddleware {
  processSpiderItem = nothing
}
class RequestMiddleware {
  processSpiderRequest = nothing
}
class Admission {
  requestScheduled = nothing
}
class Pipeline {
  processItem = rejected
}

const GIVEN_UP = { 'failed/count': 1 }
const LOST = { item_error_count: 1 }

test.each<[string, SettingsInput, string, Readonly<Record<string, number>>]>([
  [
    'processRequest',
    { DOWNLOADER_MIDDLEWARES: [[OutMiddleware, 1]] },
    'OutMiddleware.processRequest',
    GIVEN_UP,
  ],
  [
    'processResponse',
    { DOWNLOADER_MIDDLEWARES: [[InMiddleware, 1]] },
    'InMiddleware.processResponse',
    GIVEN_UP,
  ],
  [
    'processException',
    { DOWNLOADER_MIDDLEWARES: [[RescueMiddleware, 1]] },
    'RescueMiddleware.processException',
    GIVEN_UP,
  ],
  ['a download handler', { DOWNLOAD_HANDLERS: { http: Handler } }, 'the download handler Handler', GIVEN_UP],
  [
    'one that is not async',
    { DOWNLOAD_HANDLERS: { http: SyncHandler } },
    'the download handler SyncHandler',
    GIVEN_UP,
  ],
  [
    'one that throws null',
    { DOWNLOAD_HANDLERS: { http: NullHandler } },
    'the download handler NullHandler',
    GIVEN_UP,
  ],
  [
    'processSpiderInput',
    { SPIDER_MIDDLEWARES: [[InputMiddleware, 1]] },
    'InputMiddleware.processSpiderInput',
    GIVEN_UP,
  ],
  [
    'processSpiderItem',
    { SPIDER_MIDDLEWARES: [[ItemMiddleware, 1]] },
    'ItemMiddleware.processSpiderItem',
    GIVEN_UP,
  ],
  ['a pipeline', { ITEM_PIPELINES: [[Pipeline, 1]] }, 'Pipeline.processItem', LOST],
])('without a reason, thrown by %s', async (_where, settings, who, counted) => {
  const { stats, errors, finishReason } = await crawled(settings, {})
  expect({ calls, finishReason, stats }).toMatchObject({ calls: 1, finishReason: 'finished', stats: counted })
  expect(errors).toContainEqual(expect.stringContaining(`${who} threw`))
})

test.each<[string, object, Readonly<Record<string, number>>]>([
  ['the callback', { parse: nothing }, { 'spider_exceptions/count': 1, 'failed/count': 1 }],
  ['the callback', { parse: rejected }, { 'spider_exceptions/count': 1, 'failed/count': 1 }],
  ['the errback', { failed: rejected }, { 'spider_exceptions/count': 1, 'failed/count': 1 }],
])('without a reason, thrown by %s', async (who, methods, counted) => {
  const { stats, errors, finishReason } = await crawled({}, methods)
  expect({ calls, finishReason, stats }).toMatchObject({ calls: 1, finishReason: 'finished', stats: counted })
  expect(errors).toContainEqual(expect.stringContaining(`${who} threw undefined; throw an Error`))
})

test.each<[string, SettingsInput]>([
  ['RequestMiddleware.processSpiderRequest', { SPIDER_MIDDLEWARES: [[RequestMiddleware, 1]] }],
  ['Admission.requestScheduled', { DOWNLOADER_MIDDLEWARES: [[Admission, 1]] }],
])('without a reason, thrown by %s for a request of start(): it ends start()', async (who, settings) => {
  const { errors, finishReason } = await crawled(settings, {})
  expect({ calls, finishReason }).toEqual({ calls: 1, finishReason: 'start_error' })
  expect(errors).toContainEqual(expect.stringContaining(`${who} threw undefined; throw an Error`))
})

/** Crawls one page; with a method `failed` one that is not there, whose errback it is. */
async function crawled(settings: SettingsInput, methods: object) {
  await using web = await startFakeWeb({ pagesPerHost: 1 })
  calls = 0
  const { logger, lines } = listeningLogger()
  const isAbsent = 'failed' in methods
  class OnePage extends Spider {
    override name = 'one-page'
    override async *start() {
      yield new Request(
        isAbsent ? `${web.origins[0]}/no-such-page` : web.seeds[0]!,
        isAbsent ? { errback: 'failed' } : {},
      )
    }
    override *parse(response: Response): Generator<unknown> {
      yield { url: response.url }
    }
  }
  Object.assign(OnePage.prototype, methods)
  const { stats, finishReason } = await crawl(OnePage, {
    settings: { ROBOTSTXT_OBEY: false, RETRY_ENABLED: false, DOWNLOAD_DELAY: 0, ...settings },
    logger,
  })
  const errors = lines
    .filter(({ level }) => level === 'error')
    .map(({ message, fields }) => `${message} ${(fields.err as Error | undefined)?.message}`)
  return { stats, errors, finishReason }
}
