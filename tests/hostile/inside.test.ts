/** Whole crawls of pages that try to lead them inside. All is on loopback: one port is the site, the other none of its business. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type RedisServer, startRedis, tempDir, WAYS_INSIDE } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  crawl,
  type Failure,
  IgnoreRequest,
  RedisSpider,
  Request,
  type Response,
  type SettingsInput,
  Spider,
} from 'webloom'

type Script = (req: IncomingMessage, res: ServerResponse) => void

class Listening {
  readonly paths: string[] = []
  script: Script = (_, res) => void res.end('<title>inside</title>')
  readonly #server: Server = createServer((req, res) => {
    this.paths.push(req.url!)
    this.script(req, res)
  })

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

let site: Listening
let inside: Listening
beforeEach(async () => {
  site = new Listening()
  inside = new Listening()
  await Promise.all([site.start(), inside.start()])
})
afterEach(() => Promise.all([site.close(), inside.close()]))

const html = (body: string) => `<html><body>${body}</body></html>`
const links = (urls: readonly string[]) => html(urls.map((url) => `<a href="${url}">x</a>`).join('\n'))

/** What the site answers, by path. */
function serve(pages: Record<string, string | Script>): void {
  site.script = (req, res) => {
    const page = pages[req.url!]
    if (typeof page === 'function') return page(req, res)
    res.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html' }).end(page)
  }
}

class FollowAll extends Spider {
  override name = 'follow-all'

  override *parse(response: Response): Generator<unknown> {
    yield { url: response.url }
    yield* response.followAll('a', { errback: this.failed })
  }

  *failed({ error }: Failure): Generator<unknown> {
    yield { refused: error instanceof IgnoreRequest && error.code }
  }
}

async function crawled(settings: SettingsInput = {}, startUrls = [`http://127.0.0.1:${site.port}/`]) {
  class OfThisSite extends FollowAll {
    override startUrls = startUrls
  }
  const { stats, finishReason } = await crawl(OfThisSite, {
    settings: { PRIVATE_ADDRESSES_ALLOWED: [], LOG_LEVEL: 'CRITICAL', ...settings },
  })
  expect(finishReason).toBe('finished')
  return stats
}

const refusals = (stats: Record<string, unknown>) =>
  Object.entries(stats)
    .filter(([key]) => /^downloader\/protection\/\w+_address$/.test(key))
    .reduce((sum, [, count]) => sum + (count as number), 0)

describe('from a page outside', () => {
  test('no link leads inside, however it is written; the site’s own pages are crawled', async () => {
    const ways = WAYS_INSIDE.filter(({ reason }) => reason !== undefined)
    const urls = ways.map(({ url }) => url.replace('{port}', String(inside.port)))
    serve({ '/': links([...urls, '/page']), '/page': html('good') })
    const stats = await crawled()
    expect(inside.paths).toEqual([])
    expect(site.paths).toEqual(['/', '/page'])
    // Some are one URL in two notations, which the filter knows.
    expect(refusals(stats)).toBeGreaterThan(35)
    expect(stats['downloader/protection/metadata_address']).toBeGreaterThan(3)
    // The two good pages, and an errback for each refusal.
    expect(stats.item_scraped_count).toBe(2 + refusals(stats))
    expect(stats['retry/count']).toBe(undefined)
  })

  test('no redirect does, by status or by meta refresh', async () => {
    const target = `http://127.0.0.1:${inside.port}/secret`
    serve({
      '/': links(['/status', '/meta']),
      '/status': (_, res) => void res.writeHead(302, { location: target }).end(),
      '/meta': `<meta http-equiv="refresh" content="0; url=${target}?meta">`,
    })
    const stats = await crawled()
    expect(inside.paths).toEqual([])
    expect(stats['downloader/protection/loopback_address']).toBe(2)
  })

  test('nor does a robots.txt, whose pages are then crawled as those of a site that has none', async () => {
    serve({
      '/': html('good'),
      '/robots.txt': (_, res) =>
        void res.writeHead(301, { location: `http://127.0.0.1:${inside.port}/robots.txt` }).end(),
    })
    await crawled({ ROBOTSTXT_OBEY: true })
    expect(inside.paths).toEqual([])
    expect(site.paths).toEqual(['/robots.txt', '/'])
  })

  test('a robots.txt is not asked for inside, either', async () => {
    serve({ '/': links([`http://127.0.0.1:${inside.port}/`]) })
    await crawled({ ROBOTSTXT_OBEY: true })
    expect(inside.paths).toEqual([])
  })
})

describe('what may be asked for all the same', () => {
  const leadsInside = () => serve({ '/': links([`http://127.0.0.1:${inside.port}/page`]) })

  test('what PRIVATE_ADDRESSES_ALLOWED names', async () => {
    leadsInside()
    await crawled({ PRIVATE_ADDRESSES_ALLOWED: [`127.0.0.1:${inside.port}`] })
    expect(inside.paths).toEqual(['/page'])
  })

  test('another start host, even before its own start request has been sent', async () => {
    leadsInside()
    await crawled({}, [`http://127.0.0.1:${site.port}/`, `http://127.0.0.1:${inside.port}/start`])
    expect(inside.paths.sort()).toEqual(['/page', '/start'])
  })

  test('another one of startUrls, long before it is its turn', async () => {
    leadsInside()
    const own = Array.from({ length: 20 }, (_, n) => `http://127.0.0.1:${site.port}/${n || ''}`)
    const last = `http://127.0.0.1:${inside.port}/start`
    await crawled({ START_LOW_WATER: 1, CONCURRENT_REQUESTS: 1 }, [...own, last])
    expect(inside.paths).toEqual(['/page', '/start'])
  })

  test('what a resumed crawl was started with', async () => {
    await using dir = await tempDir()
    leadsInside()
    class Stopping extends FollowAll {
      override startUrls = [`http://127.0.0.1:${site.port}/`, `http://127.0.0.1:${inside.port}/start`]

      override *parse(response: Response): Generator<unknown> {
        yield* response.followAll('a')
        this.crawler.close('stopped')
      }
    }
    const settings = {
      PRIVATE_ADDRESSES_ALLOWED: [],
      JOBDIR: dir.path,
      CONCURRENT_REQUESTS: 1,
      LOG_LEVEL: 'CRITICAL',
    } as const
    const reasons: string[] = []
    for (let runs = 0; runs < 5 && reasons.at(-1) !== 'finished'; runs++)
      reasons.push((await crawl(Stopping, { settings })).finishReason)
    expect(reasons[0]).toBe('stopped')
    expect(inside.paths.sort()).toEqual(['/page', '/start'])
  })
})

describe('start URLs from Redis', () => {
  let redis: RedisServer
  let client: Redis
  beforeAll(async () => {
    redis = await startRedis()
    client = new Redis(redis.url)
  })
  afterAll(async () => {
    client.disconnect()
    await redis.stop()
  })

  class OfSeeds extends RedisSpider {
    override name = 'of-seeds'
    override maxIdleTime = 0.05

    override *parse(response: Response): Generator<unknown> {
      yield { url: response.url }
      // To be idle for long enough takes some seconds.
      this.crawler.close('seen')
    }
  }

  const withSeeds = async (seeds: readonly string[], settings: SettingsInput = {}) => {
    await client.flushall()
    await client.rpush('of-seeds:start_urls', ...seeds)
    const own = { PRIVATE_ADDRESSES_ALLOWED: [], SEEDS_REDIS_URL: redis.url, LOG_LEVEL: 'CRITICAL' } as const
    return (await crawl(OfSeeds, { settings: { ...own, ...settings } })).stats
  }

  test('come from strangers, who may not choose a proxy', async () => {
    const proxied = { url: 'http://a.test/', meta: { proxy: `http://127.0.0.1:${inside.port}` } }
    const stats = await withSeeds([`http://127.0.0.1:${inside.port}/`, JSON.stringify(proxied)])
    expect(inside.paths).toEqual([])
    expect(stats).toMatchObject({ 'downloader/protection/loopback_address': 1, 'seeds/invalid': 1 })
  })

  test('with SEEDS_TRUSTED they may lead inside', async () => {
    await withSeeds([`http://127.0.0.1:${inside.port}/`], { SEEDS_TRUSTED: true })
    expect(inside.paths).toEqual(['/'])
  })

  test('a new crawl knows nothing of the start hosts of the last one', async () => {
    class Once extends FollowAll {
      override startUrls = [`http://127.0.0.1:${site.port}/`]
    }
    const known: Promise<string[]>[] = []
    serve({
      '/': (_, res) => {
        known.push(client.smembers('webloom:{follow-all}:start-hosts'))
        res.end('good')
      },
    })
    await client.flushall()
    const settings = { PRIVATE_ADDRESSES_ALLOWED: [], REDIS_URL: redis.url, LOG_LEVEL: 'CRITICAL' } as const
    await crawl(Once, { settings })
    expect(await Promise.all(known)).toEqual([[`127.0.0.1:${site.port}`]])
    expect(await client.keys('*start-hosts*')).toEqual([])
  })
})

test('a request that a callback makes of itself is not a start request', async () => {
  serve({ '/': html('good') })
  class OwnIdea extends FollowAll {
    override startUrls = [`http://127.0.0.1:${site.port}/`]

    override *parse(): Generator<unknown> {
      yield new Request(`http://127.0.0.1:${inside.port}/`)
    }
  }
  await crawl(OwnIdea, { settings: { PRIVATE_ADDRESSES_ALLOWED: [], LOG_LEVEL: 'CRITICAL' } })
  expect(inside.paths).toEqual([])
})
