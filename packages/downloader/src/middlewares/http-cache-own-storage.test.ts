import { Request, Response } from '@webloom/core'
import { expect, test } from 'vitest'
import { testCrawler } from '../../testing/fetching.ts'
import { HttpCacheMiddleware } from './http-cache.ts'

function away(): never {
  throw new Error('the database is away')
}

/** A storage of somebody's own whose database is away. */
class Away {
  retrieve = away
  store = away
  remove = away
  close() {}
}

test('a storage that throws loses no page: each is fetched anew and counted, and it is told once', async () => {
  const told: unknown[] = []
  const crawler = testCrawler({ HTTPCACHE_ENABLED: true, HTTPCACHE_STORAGE: Away })
  const logger = { ...crawler.logger, error: (...line: unknown[]) => void told.push(line.at(-1)) }
  const middleware = HttpCacheMiddleware.fromCrawler({ ...crawler, logger })
  for (let n = 0; n < 2; n++) {
    const request = new Request('http://x.example/')
    expect(await middleware.processRequest(request)).toBeUndefined()
    const response = new Response(request.url, { body: 'page', request })
    expect(await middleware.processResponse(request, response)).toBe(response)
  }
  expect(crawler.stats.snapshot()).toMatchObject({
    'httpcache/retrieve_error': 2,
    'httpcache/store_error': 2,
    'httpcache/miss': 2,
  })
  expect(told).toEqual([
    expect.stringContaining('the HTTP cache cannot be read'),
    expect.stringContaining('the HTTP cache cannot be written'),
  ])
})

test('a storage that never answers is gone on without after DOWNLOAD_TIMEOUT, and a page waits for it once', async () => {
  const asked: string[] = []
  const never = (method: string) => () => {
    asked.push(method)
    return new Promise<never>(() => {})
  }
  class Hangs {
    retrieve = never('retrieve')
    store = never('store')
    remove = never('remove')
    close() {}
  }
  const crawler = testCrawler({ HTTPCACHE_ENABLED: true, HTTPCACHE_STORAGE: Hangs, DOWNLOAD_TIMEOUT: 0.02 })
  const middleware = HttpCacheMiddleware.fromCrawler(crawler)
  const request = new Request('http://x.example/')
  expect(await middleware.processRequest(request)).toBeUndefined()
  const response = new Response(request.url, { body: 'page', request })
  expect(await middleware.processResponse(request, response)).toBe(response)
  expect(crawler.stats.snapshot()).toMatchObject({
    'httpcache/retrieve_error': 1,
    'httpcache/store_error': 1,
  })
  expect(asked).toEqual(['retrieve'])
})

test.each([['x'], [null], [{ status: 200 }], [{ responseHeaders: {}, requestHeaders: [], body: 'text' }]])(
  'a storage that retrieves %j loses no page, and the log names it',
  async (stored) => {
    const told: unknown[] = []
    class Wrong extends Away {
      override retrieve = (() => stored) as never
    }
    const crawler = testCrawler({ HTTPCACHE_ENABLED: true, HTTPCACHE_STORAGE: Wrong })
    const logger = { ...crawler.logger, error: (...line: unknown[]) => void told.push(line[0]) }
    const middleware = HttpCacheMiddleware.fromCrawler({ ...crawler, logger })
    expect(await middleware.processRequest(new Request('http://x.example/'))).toBeUndefined()
    expect(told).toMatchObject([
      {
        err: {
          code: 'WL_COMPONENT_ANSWER',
          message: expect.stringContaining('the HTTP cache storage Wrong answered retrieve() with'),
        },
      },
    ])
  },
)
