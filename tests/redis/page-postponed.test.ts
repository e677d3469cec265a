/** Pages that go back while Redis takes nothing: for want of room for their links, and to be fetched again. */

import { type Logger, scaledTimes, silentLogger } from '@webloom/core'
import { type Response, Spider } from '@webloom/spider'
import { startFakeWeb, startRedis } from '@webloom/testkit'
import { expect, test, vi } from 'vitest'
import { assemble } from '../../packages/webloom/src/assembly/assemble.ts'

const FIRST = Array.from({ length: 20 }, (_, n) => `/first-${n}`)
/** Links wait half a second for room, and their page stays away for one and a half. */
const TIMES = scaledTimes(0.1)

test('what a page showed before it went back is fetched once another page links to it', async () => {
  await using queue = await startRedis()
  await using filter = await startRedis()
  await using web = await startFakeWeb({ pagesPerHost: 1 })
  const pending = async () => Number(await filter.command('HLEN', '{seen}:pending'))
  const show = (path: string, links: () => Promise<readonly string[]>) =>
    web.route(0, path, async (_request, response) => {
      const anchors = (await links()).map((link) => `<a href="${link}">link</a>`)
      response.writeHead(200, { 'Content-Type': 'text/html' }).end(anchors.join('\n'))
    })
  let fetches = 0
  show('/changing', async () => {
    if (++fetches > 1) return ['/then']
    await queue.command('CONFIG', 'SET', 'maxmemory', '1')
    return FIRST
  })
  show('/then', async () => FIRST)
  for (const path of FIRST) show(path, async () => [])
  class Pages extends Spider {
    override name = 'pages'
    override startUrls = [new URL('/changing', web.seeds[0]).href]
    override async *parse(response: Response) {
      yield* response.followAll()
    }
  }
  const settings = {
    QUEUE_REDIS_URL: queue.url,
    DUPEFILTER_REDIS_URL: [filter.url],
    SCHEDULER_DUPEFILTER_KEY: 'seen',
    ROBOTSTXT_OBEY: false,
    PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.0/8', '::1'],
  }
  const crawl = await assemble(Pages, {
    layers: { command: settings },
    folder: process.cwd(),
    createLogger: () => silentLogger,
    times: TIMES,
    part: { begins: false, isWorker: true },
  })
  const running = crawl.run()
  await vi.waitFor(async () => expect(await pending()).toBeGreaterThanOrEqual(FIRST.length))
  // Waits: its links wait for room for so long, and then it goes back.
  await new Promise((resolve) => setTimeout(resolve, 2 * TIMES.scheduler.fullHoldMs))
  await queue.command('CONFIG', 'SET', 'maxmemory', '0')
  expect((await running).finishReason).toBe('finished')
  const paths = web.hits.map(({ url }) => new URL(url).pathname)
  expect(paths.filter((path) => path === '/changing')).toHaveLength(2)
  expect(paths.filter((path) => path.startsWith('/first')).sort()).toEqual([...FIRST].sort())
})

test('a page to be retried, just when its Redis has failed over, waits for the new master to take writes', async () => {
  await using redis = await startRedis()
  await using web = await startFakeWeb({ pagesPerHost: 1 })
  const needReplicas = (count: string) => redis.command('CONFIG', 'SET', 'min-replicas-to-write', count)
  let fetches = 0
  web.route(0, '/again', async (_request, response) => {
    const isFirst = ++fetches === 1
    // What a new master says until it has a replica.
    if (isFirst) await needReplicas('1')
    response.writeHead(isFirst ? 503 : 200).end()
  })
  class Pages extends Spider {
    override name = 'pages'
    override startUrls = [new URL('/again', web.seeds[0]).href]
    override async *parse(response: Response) {
      yield { status: response.status }
    }
  }
  const waits = Promise.withResolvers<void>()
  const warn = (_fields: object | string, text?: string) => {
    if (text?.startsWith('putting a page back must wait')) waits.resolve()
  }
  const logger: Logger = { ...silentLogger, warn, child: () => logger }
  const crawl = await assemble(Pages, {
    layers: {
      command: {
        REDIS_URL: redis.url,
        RETRY_BACKOFF: 0.1,
        ROBOTSTXT_OBEY: false,
        PRIVATE_ADDRESSES_ALLOWED: ['127.0.0.0/8', '::1'],
      },
    },
    folder: process.cwd(),
    createLogger: () => logger,
    times: TIMES,
    part: { begins: false, isWorker: true },
  })
  const running = crawl.run()
  await Promise.race([waits.promise, running])
  await needReplicas('0')
  expect((await running).finishReason).toBe('finished')
  expect(fetches).toBe(2)
})
