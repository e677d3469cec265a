/** Cookies that workers share through Redis, in a whole crawl. */

import { startFakeWeb, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { crawl, Request, type Response, Spider } from 'webloom'
import type { Logger } from 'webloom/ports'

test('a cookie with a line break, as an older release shared it, keeps no page of its host away; nor does a Cookie header', async () => {
  const redis = await startRedis()
  await using web = await startFakeWeb({ seed: 2, pagesPerHost: 12, hitHeaders: true })
  const { hostname } = new URL(web.seeds[0]!)
  const kept = {
    name: 'bad',
    value: 'a\r\nb',
    domain: hostname,
    hostOnly: true,
    path: '/',
    secure: false,
    expiresAtMs: null,
    setAtMs: 1,
  }
  const good = { ...kept, name: 'good', value: 'g' }
  await redis.command(
    'HSET',
    `pages:cookies:null:${hostname}`,
    `/\nbad`,
    JSON.stringify(kept),
    `/\ngood`,
    JSON.stringify(good),
  )
  const warnings: string[] = []
  const keep = (fields: object | string, text?: string) => {
    warnings.push(`${text ?? ''} ${JSON.stringify(fields)}`)
  }
  const logger: Logger = { debug() {}, info() {}, warn: keep, error: keep, child: () => logger }
  class Pages extends Spider {
    override name = 'pages'
    override *start() {
      for (const url of web.seeds)
        yield new Request(url, { dontFilter: true, headers: { cookie: 'x=1; y=a\x01b; z=3' } })
    }
    override *parse(response: Response): Generator<unknown> {
      yield* response.followAll()
    }
  }
  const { finishReason } = await crawl(Pages, {
    settings: { REDIS_URL: redis.url, COOKIES_SHARED: true, PRIVATE_ADDRESSES_ALLOWED: ['*'] },
    logger,
  })
  expect(finishReason).toBe('finished')
  expect(new Set(web.hits.map(({ url }) => url))).toEqual(web.linked())
  const cookies = web.hits.map(({ url, headers }) => [web.seeds.includes(url), headers?.cookie])
  expect(new Set(cookies.filter(([isStart]) => isStart).map(([, cookie]) => cookie))).toEqual(
    new Set(['x=1; z=3']),
  )
  expect(new Set(cookies.filter(([isStart]) => !isStart).map(([, cookie]) => cookie))).toEqual(
    new Set(['good=g']),
  )
  expect(warnings.join()).toMatch(/a cookie of the request is left out .*"cookie":"y".*control character/)
  await redis.stop()
})
