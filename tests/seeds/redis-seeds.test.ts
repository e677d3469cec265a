/** Whole crawls whose start URLs come from Redis and whose items go there, judged by a fake web that knows the truth. */

import { scaledTimes, silentLogger } from '@webloom/core'
import { type RedisServer, startFakeWeb, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { RedisSpider, type Response, type SettingsInput } from 'webloom'
import type { Logger } from 'webloom/ports'
import { assemble } from '../../packages/webloom/src/assembly/assemble.ts'

/** How long seeds are kept at least is none of what is promised here. */
const TIMES = scaledTimes(0.2)

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis({ appendonly: 'always' })
})
afterAll(() => redis.stop())
beforeEach(() => redis.command('FLUSHALL'))

class Pages extends RedisSpider {
  override name = 'pages'
  override maxIdleTime = 1
  override *parse(response: Response): Generator<unknown> {
    yield { url: response.url, by: 'parse' }
    yield* response.followAll()
  }
  *parseAlone(response: Response, { tag }: Record<string, unknown>): Generator<unknown> {
    yield { url: response.url, by: 'parseAlone', tag }
  }
}

class Seeds extends Pages {
  override maxIdleTime = 0.3
  override *parse(): Generator<unknown> {}
}

const crawled = async (Class: typeof Pages, settings: SettingsInput = {}, logger: Logger = silentLogger) => {
  const command = {
    REDIS_URL: redis.url,
    ROBOTSTXT_OBEY: false,
    PRIVATE_ADDRESSES_ALLOWED: ['*'],
    ...settings,
  }
  const options = {
    layers: { command },
    folder: import.meta.dirname,
    createLogger: () => logger,
    times: TIMES,
  }
  return (await assemble(Class, options)).run()
}
const run = (settings: SettingsInput = {}) => crawled(Pages, settings)
const push = (...messages: string[]) => redis.command('RPUSH', 'pages:start_urls', ...messages)
const items = async () =>
  ((await redis.command('LRANGE', 'pages:items', 0, -1)) as string[]).map(
    (json) => JSON.parse(json) as Record<string, unknown>,
  )

describe('a RedisSpider', () => {
  test('fetches seeds by their score, also the one that had robots.txt asked for', async () => {
    await using web = await startFakeWeb({ seed: 3, pagesPerHost: 12, hosts: 1 })
    web.route(0, '/robots.txt', (_, response) => void setTimeout(() => response.end(), 120))
    const urls = Array.from({ length: 6 }, (_, n) => `${web.origins[0]}/page/${n}`)
    await redis.command('ZADD', 'pages:start_urls', ...urls.flatMap((url, n) => [-n, url]))
    const paced = { ROBOTSTXT_OBEY: true, DOWNLOAD_DELAY: 0.05, RANDOMIZE_DOWNLOAD_DELAY: false }
    await crawled(Seeds, paced)
    expect(web.hits.map(({ url }) => url)).toEqual([`${web.origins[0]}/robots.txt`, ...urls])
  })

  test('does not fetch a seed or start URL longer than URLLENGTH_LIMIT, and says so', async () => {
    await using web = await startFakeWeb({ seed: 4, pagesPerHost: 3, hosts: 1 })
    const told: unknown[] = []
    const logger: Logger = {
      ...silentLogger,
      warn: (...said: unknown[]) => void told.push(said),
      child: () => logger,
    }
    const long = `${web.origins[0]}/page/${'1'.repeat(100)}`
    await push(long, web.seeds[0]!)
    class Own extends Seeds {
      override startUrls = [`${long}?start`]
    }
    const { stats } = await crawled(Own, { URLLENGTH_LIMIT: 100 }, logger)
    expect(web.hits.map(({ url }) => url)).toEqual([web.seeds[0]])
    expect(stats['urllength/request_ignored_count']).toBe(2)
    expect(JSON.stringify(told).match(/URLLENGTH_LIMIT lets it in/g)).toHaveLength(2)
  })

  test('crawls what it finds in Redis, then what comes later, and ends when nothing comes any more', async () => {
    await using web = await startFakeWeb({ seed: 1, pagesPerHost: 40 })
    const [first] = web.seeds
    const later = [...web.reachable()].find((url) => url !== first)!
    await push(first!)
    const running = run({ ITEM_PIPELINES: [['redis', 300]] })
    await web.waitForHits(1, 20_000)
    await push(
      JSON.stringify({ url: later, callback: 'parseAlone', cb_kwargs: { tag: 7 }, dont_filter: true }),
    )
    const { finishReason, stats } = await running
    expect(finishReason).toBe('finished')
    expect(stats).toMatchObject({ 'seeds/taken': 2, 'seeds/acknowledged': 2 })
    const found = await items()
    expect(new Set(found.filter(({ by }) => by === 'parse').map(({ url }) => url))).toEqual(web.reachable())
    expect(found.filter(({ by }) => by === 'parseAlone')).toEqual([{ url: later, by: 'parseAlone', tag: 7 }])
    expect(await redis.command('EXISTS', '{pages:start_urls}:processing')).toBe(0)
  })

  test('puts aside what it cannot crawl, with the reason, and crawls the rest', async () => {
    await using web = await startFakeWeb({ seed: 2, pagesPerHost: 10 })
    await push('no url', `{"url":"${web.seeds[0]}","callback":"parseNothing"}`, web.seeds[0]!)
    const { stats } = await run()
    expect(new Set(web.hits.map(({ url }) => url))).toEqual(web.linked())
    expect(stats['seeds/invalid']).toBe(2)
    const invalid = ((await redis.command('LRANGE', 'pages:start_urls:invalid', 0, -1)) as string[]).map(
      (json) => (JSON.parse(json) as { reason: string }).reason,
    )
    expect(invalid.some((reason) => reason.includes('no scheme'))).toBe(true)
    expect(invalid.some((reason) => reason.includes('callback "parseNothing" is not a method'))).toBe(true)
  })
})
