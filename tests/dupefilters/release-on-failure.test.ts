/** DUPEFILTER_RELEASE_ON_FAILURE: whole crawls of a site that fails at first, and what is refused. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type RedisServer, startRedis, tempDir } from '@webloom/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { crawl, type Response, type SettingsInput, Spider } from 'webloom'
import type { Logger } from 'webloom/ports'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

/** `/` links to /flaky and /1, /1 to /flaky and /2, and so on. */
const CHAIN = 12

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

let site: Server
let origin: string
let hits: Map<string, number>
/** What /flaky answers, hit by hit; the last one stands for all further ones. */
let flaky: (number | 'cut')[]
beforeEach(async () => {
  await redis.command('FLUSHALL')
  hits = new Map()
  site = createServer((request, response) => {
    // A used connection that is cut says that the request was not read.
    response.shouldKeepAlive = false
    const path = request.url ?? '/'
    const hit = (hits.get(path) ?? 0) + 1
    hits.set(path, hit)
    const answer = path === '/flaky' ? flaky[Math.min(hit, flaky.length) - 1]! : 200
    if (answer === 'cut') return void request.socket.destroy()
    const next = path === '/' ? 1 : Number(path.slice(1)) + 1
    const links = next <= CHAIN ? ['/flaky', `/${next}`] : []
    response.writeHead(answer, { 'content-type': 'text/html' })
    response.end(links.map((link) => `<a href="${link}">${link}</a>`).join(''))
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
})
afterEach(() => {
  site.closeAllConnections()
  site.close()
})

async function crawlSite(settings: SettingsInput, onPage?: (response: Response) => void) {
  class Pages extends Spider {
    override name = 'pages'
    override startUrls = [`${origin}/`]
    override *parse(response: Response): Generator<unknown> {
      onPage?.(response)
      yield { url: response.url }
      yield* response.followAll()
    }
  }
  const given = { RETRY_TIMES: 0, CONCURRENT_REQUESTS: 1, DUPEFILTER_RELEASE_ON_FAILURE: true, ...settings }
  return crawl(Pages, { settings: given, logger: silent })
}

const onRedis = (more: SettingsInput): SettingsInput => ({ REDIS_URL: redis.url, ...more })

describe.each<[string, () => SettingsInput]>([
  ['memory', () => ({})],
  ['counting-bloom in memory', () => ({ DUPEFILTER_CLASS: 'counting-bloom', BLOOMFILTER_CAPACITY: 1000 })],
  ['redis-set', () => onRedis({})],
  ['redis-set, QUEUE_MODE=job', () => onRedis({ QUEUE_MODE: 'job' })],
  ['redis-key', () => onRedis({ DUPEFILTER_CLASS: 'redis-key', DUPEFILTER_TTL: 3600 })],
  ['counting-bloom', () => onRedis({ DUPEFILTER_CLASS: 'counting-bloom', BLOOMFILTER_CAPACITY: 1000 })],
])('%s', (_filter, settings) => {
  test('a page that could not be fetched is fetched again for the next link to it, until it is there', async () => {
    flaky = [503, 'cut', 200]
    const { stats } = await crawlSite(settings())
    expect(hits.get('/flaky')).toBe(3)
    for (let n = 1; n <= CHAIN; n++) expect(hits.get(`/${n}`)).toBe(1)
    expect(stats['dupefilter/forgotten']).toBe(2)
    expect(stats.item_scraped_count).toBe(CHAIN + 2)
  })
})

test('without the setting it stays seen', async () => {
  flaky = [503, 200]
  await crawlSite({ DUPEFILTER_RELEASE_ON_FAILURE: false })
  expect(hits.get('/flaky')).toBe(1)
})

test('what is not there, and what a callback throws on, stays seen', async () => {
  flaky = [404]
  await crawlSite({})
  expect(hits.get('/flaky')).toBe(1)
  flaky = [200]
  hits.clear()
  const { stats } = await crawlSite({}, (response) => {
    if (response.url.endsWith('/flaky')) throw new Error('a bug of the spider')
  })
  expect(hits.get('/flaky')).toBe(1)
  expect(stats['dupefilter/forgotten']).toBeUndefined()
})

test('a start page that could not be fetched is fetched when a page links to it', async () => {
  flaky = [503, 200]
  class Pages extends Spider {
    override name = 'pages'
    override startUrls = [`${origin}/flaky`, `${origin}/`]
    override *parse(response: Response): Generator<unknown> {
      yield* response.followAll()
    }
  }
  const settings = { RETRY_TIMES: 0, CONCURRENT_REQUESTS: 1, DUPEFILTER_RELEASE_ON_FAILURE: true }
  await crawl(Pages, { settings, logger: silent })
  expect(hits.get('/flaky')).toBe(2)
})

describe('refused at the start, naming the filters that can', () => {
  test.each<[string, () => SettingsInput]>([
    ['redis-bloom', () => onRedis({ DUPEFILTER_CLASS: 'redis-bloom', BLOOMFILTER_CAPACITY: 1000 })],
    ['memory-bloom', () => ({ DUPEFILTER_CLASS: 'memory-bloom', BLOOMFILTER_CAPACITY: 1000 })],
  ])('%s', async (name, settings) => {
    flaky = [200]
    await expect(crawlSite(settings())).rejects.toThrow(
      `DUPEFILTER_CLASS is ${name}, which cannot forget a request. These can: memory, redis-set, redis-key, counting-bloom`,
    )
    expect(hits.size).toBe(0)
  })

  test('a JOBDIR', async () => {
    await using folder = await tempDir()
    await expect(crawlSite({ JOBDIR: folder.join('job') })).rejects.toThrow(
      'JOBDIR is set, whose filter cannot',
    )
  })
})
