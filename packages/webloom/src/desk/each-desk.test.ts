/** Whoever looks at a crawl sees the same and can do the same, whether the crawl is on Redis or in this process. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { scaledTimes, silentLogger } from '@webloom/core'
import { type Response, Spider } from '@webloom/spider'
import { startRedis } from '@webloom/testkit'
import { describe, test, vi } from 'vitest'
import { crawlDeskContract, type DeskUnderTest } from '../../testing/crawl-desk-contract.ts'
import { assemble } from '../assembly/assemble.ts'
import type { Crawl } from '../assembly/crawl.ts'
import { deskServers } from '../redis/desk-servers.ts'
import { ProcessCrawlDesk } from './process/process-crawl-desk.ts'
import { RegistryDesks } from './registry-desks.ts'

const SETTINGS = {
  RETRY_ENABLED: false,
  HOST_FAILURES_MAX: 0,
  HOST_BACKOFF_MAX: 0,
  DOWNLOAD_DELAY: 0,
  ROBOTSTXT_OBEY: false,
  SCHEDULER_PERSIST: true,
}
const LINKS = ['1', '2', '3', 'held'].map((path) => `<a href="/${path}">${path}</a>`).join('')
const WITHIN = { timeout: 20_000, interval: 20 }

/** A site, and a crawl of it that is not yet run. */
async function siteAndCrawl(settings: object) {
  const asked: string[] = []
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const site = createServer(async (request, response) => {
    const path = request.url!
    asked.push(path)
    if (path === '/held') await released
    response.writeHead(/^\/\d/.test(path) ? 503 : 200, { 'content-type': 'text/html' })
    response.end(path === '/' ? LINKS : 'ill')
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  class Pages extends Spider {
    override name = 'pages'
    override startUrls = [`${origin}/`]
    override async *parse(response: Response): AsyncGenerator<unknown> {
      if (!response.url.endsWith('/')) return
      yield { url: response.url }
      yield* response.followAll()
    }
  }
  const crawl = await assemble(Pages, {
    layers: { command: { ...SETTINGS, ...settings } },
    folder: process.cwd(),
    createLogger: () => silentLogger,
    times: scaledTimes(0.1),
  })
  return { site, crawl, subject: { asked, origin, release } }
}

/** Runs the crawl to its end when the test is over. */
async function running(
  settings: object,
  deskOf: (crawl: Crawl) => Promise<Pick<DeskUnderTest, 'desk' | 'desks'>>,
) {
  const { site, crawl, subject } = await siteAndCrawl(settings)
  const ended = crawl.run().then(({ finishReason }) => finishReason)
  const { desk, desks } = await deskOf(crawl)
  return {
    subject: { ...subject, desk, desks, ended },
    async dispose() {
      subject.release()
      crawl.stop('test is over')
      await ended
      await desks.close()
      site.closeAllConnections()
      await new Promise((resolve) => site.close(resolve))
    },
  }
}

crawlDeskContract(
  { describe, test },
  {
    name: 'a crawl in this process',
    create: () =>
      running({}, async (crawl) => {
        const desk = new ProcessCrawlDesk(crawl)
        return { desk, desks: desk }
      }),
  },
)

crawlDeskContract(
  { describe, test },
  {
    name: 'a crawl on Redis',
    create: async () => {
      const server = await startRedis()
      const { subject, dispose } = await running(
        { REDIS_URL: server.url, ITEM_PIPELINES: { redis: 300 } },
        async () => {
          const desks = new RegistryDesks(deskServers({ redis: [server.url] }, undefined))
          const desk = await vi.waitUntil(() => desks.desk('pages'), WITHIN)
          return { desk, desks }
        },
      )
      return {
        subject,
        async dispose() {
          await dispose()
          await server[Symbol.asyncDispose]()
        },
      }
    },
  },
)
