/** A site that closes a connection when it is used again: nothing is lost, and its delay is kept. */

import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { silentLogger } from '@webloom/core'
import { type RedisServer, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { crawl, Request, type Response, Spider } from 'webloom'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

const DELAY_MS = 150
// What a request takes to the server, and its log, beside what the clock of this side says.
const SLACK_MS = 25
const PAGES = 5

test.each(['in one process', 'on Redis'])('%s', async (where) => {
  const used = new WeakSet<Socket>()
  const hits: { readonly url: string; readonly atMs: number }[] = []
  const site = createServer((req, res) => {
    hits.push({ url: req.url!, atMs: performance.now() })
    // It has read the request, so that one which goes out again is seen twice.
    if (used.has(req.socket)) req.socket.destroy()
    else res.end('ok')
    used.add(req.socket)
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const { port } = site.address() as AddressInfo
  class Pages extends Spider {
    override name = 'pages'
    override *start() {
      for (let n = 0; n < PAGES; n++) yield new Request(`http://127.0.0.1:${port}/${n}`)
    }
    override *parse(response: Response) {
      yield { url: response.url }
    }
  }

  const { stats } = await crawl(Pages, {
    settings: {
      ...(where === 'on Redis' && { REDIS_URL: redis.url }),
      ROBOTSTXT_OBEY: false,
      RETRY_ENABLED: false,
      DOWNLOAD_DELAY: DELAY_MS / 1000,
      RANDOMIZE_DOWNLOAD_DELAY: false,
    },
    logger: silentLogger,
  })
  site.closeAllConnections()
  site.close()

  expect(stats.item_scraped_count).toBe(PAGES)
  expect(hits.length).toBeGreaterThan(PAGES)
  expect(stats['downloader/unread_count']).toBe(hits.length - PAGES)
  const gaps = hits.slice(1).map(({ atMs }, n) => atMs - hits[n]!.atMs)
  expect(Math.min(...gaps)).toBeGreaterThan(DELAY_MS - SLACK_MS)
})
