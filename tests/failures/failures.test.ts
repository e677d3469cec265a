/** What a crawl gives up is in its ledger of failures, and what it does not is not: docs/decisions/failures.md. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { crawlRedisKeys, failedRequests, RedisFailures } from '@webloom/queue'
import type { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  crawl,
  type Failure,
  IgnoreRequest,
  Request,
  type Response,
  type SettingsInput,
  Spider,
} from 'webloom'
import type { Logger } from 'webloom/ports'
import { RedisBench } from '../../packages/queue/testing/redis-bench.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }

const bench = new RedisBench()
let redis: Redis
let site: Server
let origin: string
beforeAll(async () => {
  await bench.start()
  redis = bench.redis
})
afterAll(() => bench.stop())
beforeEach(async () => {
  await redis.flushall()
  site = createServer((request, response) => {
    const path = request.url ?? '/'
    if (path.startsWith('/cut')) return void request.socket.destroy()
    const status = Number(/^\/(\d{3})/.exec(path)?.[1] ?? 200)
    response.writeHead(status, { 'content-type': 'text/html' }).end(`<h1>${path}</h1>`)
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
})
afterEach(() => {
  site.closeAllConnections()
  site.close()
})

const unreadable = () => {
  throw new Error('nobody reads this')
}

/** What a page's own JSON makes of an error, and what is none. */
const ODD: ReadonlyMap<string, () => unknown> = new Map<string, () => unknown>([
  ['odd-name', () => Object.assign(new Error('odd'), { name: 42 })],
  ['odd-message', () => Object.assign(new Error('odd'), { message: { code: 5 } })],
  ['symbol-name', () => Object.assign(new Error('odd'), { name: Symbol('odd') })],
  ['getter', () => Object.defineProperty(new Error('odd'), 'message', { get: unreadable })],
  ['no-prototype', () => Object.create(null)],
  ['undefined', () => undefined],
])

class Pages extends Spider {
  override name = 'pages'
  paths: string[] = []
  override *start(): Generator<unknown> {
    for (const path of this.paths) {
      const name = path.split('/')[2]
      const errback =
        name === 'lost' ? 'onLost' : name === 'logged' ? 'onLogged' : name === 'threw' ? 'onThrew' : null
      yield new Request(origin + path, { errback })
    }
  }
  override *parse(response: Response): Generator<unknown> {
    yield { url: response.url }
    if (response.url.endsWith('/throws')) throw new TypeError(`nothing at ${response.url}`)
    if (response.url.endsWith('/ignores')) throw new IgnoreRequest('not wanted')
    const odd = ODD.get(response.url.split('/').at(-1)!)
    if (odd) throw odd()
  }
  *onLost({ request }: Failure): Generator<unknown> {
    yield { url: request.url, lost: true }
  }
  onLogged(): void {}
  onThrew(): void {
    throw new Error('the errback is wrong, too')
  }
}

async function crawled(paths: string[], settings: SettingsInput = {}) {
  class Some extends Pages {
    override paths = paths
  }
  const { stats } = await crawl(Some, {
    settings: {
      REDIS_URL: bench.server.url,
      RETRY_TIMES: 1,
      DOWNLOAD_DELAY: 0,
      HOST_BACKOFF_MAX: 0,
      ...settings,
    },
    logger: silent,
  })
  const keys = crawlRedisKeys({ spider: 'pages', crawlId: null })
  const failures = new RedisFailures({ redis, keys })
  const entries = []
  for await (const some of failedRequests(failures)) entries.push(...some)
  const byPath = new Map(entries.map((entry) => [entry.url.slice(origin.length), entry]))
  return { stats, failures, entries: byPath }
}

test('a status, a cut connection and a callback that throws are kept, with their tries and their first response', async () => {
  const { entries, failures, stats } = await crawled(['/200', '/404/a', '/404/b', '/500', '/cut', '/throws'])
  expect([...entries.keys()].sort()).toEqual(['/404/a', '/404/b', '/500', '/cut', '/throws'])
  expect(entries.get('/404/a')).toMatchObject({
    reason: 'status',
    signature: 'status-404',
    status: 404,
    attempts: 1,
  })
  expect(entries.get('/500')).toMatchObject({ signature: 'status-500', attempts: 2 })
  expect(entries.get('/cut')).toMatchObject({ reason: 'download', attempts: 2 })
  expect(entries.get('/throws')).toMatchObject({ reason: 'callback', kind: 'TypeError', status: 200 })
  expect(entries.get('/throws')?.signature).toMatch(/^TypeError:nothing-at:[\da-f]{8}$/)
  expect(stats).toMatchObject({
    'failed/count': 5,
    'failed/reason_count/status': 3,
    'failed/reason_count/download': 1,
    'failed/reason_count/callback': 1,
  })
  const snapshot = await failures.snapshot('status-404')
  expect(gunzipSync(Buffer.from(snapshot!.body, 'base64')).toString()).toMatch(/^<h1>\/404\/[ab]<\/h1>$/)
})

test('an errback that yields something has dealt with the failure; one that only looks, or throws, has not', async () => {
  const { entries } = await crawled(['/404/lost', '/404/logged', '/404/threw'])
  expect([...entries.keys()].sort()).toEqual(['/404/logged', '/404/threw'])
  expect(entries.get('/404/threw')).toMatchObject({ reason: 'status', signature: 'status-404' })
})

test('what is refused is not given up, and a crawl without failures has no key of the ledger', async () => {
  class Refusing {
    static fromCrawler() {
      return new this()
    }
    processRequest(request: Request): void {
      if (request.url.endsWith('/refused')) throw new IgnoreRequest('not wanted')
    }
  }
  const { entries, stats } = await crawled(['/200', '/refused'], {
    DOWNLOADER_MIDDLEWARES: [[Refusing, 1]],
  })
  expect(entries.size).toBe(0)
  expect(stats['failed/count']).toBeUndefined()
  expect(await redis.keys('*failures*')).toEqual([])
})

test('a new crawl begins with an empty ledger; with SCHEDULER_PERSIST the failures stay as what was seen does', async () => {
  await crawled(['/404/a'])
  expect([...(await crawled(['/404/b'])).entries.keys()]).toEqual(['/404/b'])
  expect([...(await crawled(['/404/c'], { SCHEDULER_PERSIST: true })).entries.keys()].sort()).toEqual([
    '/404/b',
    '/404/c',
  ])
  expect((await crawled([])).entries.size).toBe(0)
  expect(await redis.keys('*failures*')).toEqual([])
})

test('FAILED_MAX bounds it; 0 keeps nothing', async () => {
  const { failures, stats } = await crawled(
    Array.from({ length: 9 }, (_, n) => `/404/${n}`),
    { FAILED_MAX: 5 },
  )
  expect(await failures.counts()).toEqual({ kept: 5, total: 9, trimmed: 4, quarantined: 0 })
  expect(stats).toMatchObject({ 'failed/count': 9, 'failed/trimmed': 4 })
  const none = await crawled(['/404/a'], { FAILED_MAX: 0, CRAWL_ID: 'none' })
  expect(none.stats['failed/count']).toBe(1)
  expect((await redis.keys('*none*failures*')).length).toBe(0)
})

test('whatever a callback throws, its page is given up and the crawl goes on', async () => {
  const paths = [...ODD.keys()].map((name) => `/200/${name}`)
  const { stats, entries } = await crawled([...paths, '/200/well'])
  expect(stats).toMatchObject({ finish_reason: 'finished', 'failed/count': paths.length })
  expect([...entries.keys()].sort()).toEqual([...paths].sort())
  expect(entries.get('/200/odd-name')).toMatchObject({ reason: 'callback', kind: '42', message: 'odd' })
  expect(entries.get('/200/odd-message')).toMatchObject({ kind: 'Error', message: '[object Object]' })
  expect(entries.get('/200/no-prototype')).toMatchObject({ kind: 'object' })
})
