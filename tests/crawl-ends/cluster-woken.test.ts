/**
 * Seeds wake a finished crawl; and a worker leaves one while another wakes it at that moment: the crawl is the second one's then.
 */

import { scaledTimes, silentLogger } from '@webloom/core'
import { type RedisServer, startFakeWeb, startRedis, startTcpProxy } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { RedisSpider, type Response } from 'webloom'
import { assemble } from '../../packages/webloom/src/assembly/assemble.ts'
import { expectWoken } from './expect-woken.ts'

/** Shorter than a leaving worker waits for its answer, and much longer than waking a crawl takes. */
const HELD_MS = 3000
const POLL = { interval: 10 }

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

interface Worker {
  readonly url?: string
  readonly stays?: boolean
  /** Holds up its end, when the crawl is finished and it has not left. */
  readonly closed?: () => Promise<void>
}

/** One that ends as soon as nothing is there, unless it stays. */
function worker(crawlId: string, { url = redis.url, stays = false, closed = async () => {} }: Worker = {}) {
  class Pages extends RedisSpider {
    override readonly name = 'pages'
    override readonly maxIdleTime = stays ? 0 : 0.2
    override async *parse(): AsyncGenerator<unknown> {}
    override closed = closed
  }
  return assemble(Pages, {
    folder: import.meta.dirname,
    layers: { command: { REDIS_URL: url, CRAWL_ID: crawlId, SEEDS_TRUSTED: true } },
    createLogger: () => silentLogger,
    part: { begins: false, isWorker: true },
    stays,
  })
}

const stateIs = (crawlId: string, state: string) =>
  vi.waitFor(async () => {
    expect(await redis.command('HGET', `webloom:{pages@${crawlId}}:record`, 'state')).toBe(state)
  }, POLL)

/** `first` is about to leave the finished crawl; `leaves` lets it. The other one stays, and takes a seed that comes then. */
async function wokenBy(crawlId: string, first: Promise<unknown>, leaves = () => {}): Promise<void> {
  await using web = await startFakeWeb({ hosts: 1, pagesPerHost: 3 })
  const second = await worker(crawlId, { stays: true })
  const running = second.run()
  await stateIs(crawlId, 'running')
  leaves()
  expect(await first).toMatchObject({ finishReason: 'finished' })
  await redis.command('RPUSH', `pages:${crawlId}:start_urls`, web.seeds[0]!)
  expect(await Promise.race([running, web.waitForHits(1, 20_000).then(() => 'goes on')])).toBe('goes on')
  second.stop('shutdown')
  expect(await running).toMatchObject({ finishReason: 'shutdown' })
}

test('while the one that has finished it still closes its outputs', async () => {
  const crawlId = 'closing'
  const closing = Promise.withResolvers<void>()
  const mayClose = Promise.withResolvers<void>()
  const closed = () => {
    closing.resolve()
    return mayClose.promise
  }
  const first = (await worker(crawlId, { closed })).run()
  await closing.promise
  await stateIs(crawlId, 'finished')
  await wokenBy(crawlId, first, mayClose.resolve)
})

test('after the last one has left, and before it has heard so', async () => {
  const crawlId = 'leaving'
  await using proxy = await startTcpProxy({ target: redis.url })
  const leaving = Promise.withResolvers<void>()
  proxy.judgeBy(([name, ...args]) => {
    if (!/^EVAL/.test(name!) || !args.some((arg) => arg.includes('"stops":'))) return 'forward'
    leaving.resolve()
    return { holdReplyMs: HELD_MS }
  })
  const first = (await worker(crawlId, { url: proxy.url })).run()
  await leaving.promise
  await wokenBy(crawlId, first)
})

test('seeds wake a finished crawl on Redis, and what was seen is seen', async () => {
  await using web = await startFakeWeb({ hosts: 2, pagesPerHost: 5, crossHostLinks: 0 })
  class Following extends RedisSpider {
    override readonly name = 'pages'
    override readonly maxIdleTime = 0.2
    override *parse(response: Response): Generator<unknown> {
      yield* response.followAll()
    }
  }
  const fetched = async (...seeds: string[]) => {
    await redis.command('RPUSH', 'pages:again:start_urls', ...seeds)
    web.resetHits()
    const crawl = await assemble(Following, {
      folder: import.meta.dirname,
      layers: {
        command: {
          ...{ REDIS_URL: redis.url, CRAWL_ID: 'again', SCHEDULER_PERSIST: true },
          ...{ PRIVATE_ADDRESSES_ALLOWED: ['*'], ROBOTSTXT_OBEY: false },
        },
      },
      createLogger: () => silentLogger,
      part: { begins: false, isWorker: true },
      times: scaledTimes(0.2),
    })
    expect(await crawl.run()).toMatchObject({ finishReason: 'finished' })
    return new Set(web.hits.map(({ url }) => url))
  }
  await expectWoken(web, fetched)
})
