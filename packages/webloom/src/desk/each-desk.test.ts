/** Whoever looks at a crawl sees the same and can do the same, whether the crawl is on Redis or in this process. */

import { scaledTimes, silentLogger } from '@webloom/core'
import { type Response, Spider } from '@webloom/spider'
import { casesOf, type RedisServer, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, describe, test, vi } from 'vitest'
import { crawlDeskContract, type DeskUnderTest } from '../../testing/crawl-desk-contract.ts'
import { GIVES_UP_AT_ONCE, IllSite } from '../../testing/ill-site.ts'
import { assemble } from '../assembly/assemble.ts'
import type { Crawl } from '../assembly/crawl.ts'
import { deskServers } from '../redis/desk-servers.ts'
import { ProcessCrawlDesk } from './process/process-crawl-desk.ts'
import { RegistryDesks } from './registry-desks.ts'

const WITHIN = { interval: 20 }

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server?.stop())

/** A site, and a crawl of it that is not yet run. */
async function siteAndCrawl(settings: object) {
  const site = await IllSite.start()
  class Pages extends Spider {
    override name = 'pages'
    override startUrls = [`${site.origin}/`]
    override async *parse(response: Response): AsyncGenerator<unknown> {
      if (!response.url.endsWith('/')) return
      yield { url: response.url }
      yield* response.followAll()
    }
  }
  const crawl = await assemble(Pages, {
    layers: { command: { ...GIVES_UP_AT_ONCE, SCHEDULER_PERSIST: true, ...settings } },
    folder: process.cwd(),
    createLogger: () => silentLogger,
    times: scaledTimes(0.1),
  })
  return { site, crawl }
}

/** Runs the crawl to its end when the test is over. */
async function running(
  settings: object,
  deskOf: (crawl: Crawl) => Promise<Pick<DeskUnderTest, 'desk' | 'desks'>>,
) {
  const { site, crawl } = await siteAndCrawl(settings)
  const ended = crawl.run().then(({ finishReason }) => finishReason)
  const { desk, desks } = await deskOf(crawl)
  return {
    subject: { asked: site.asked, origin: site.origin, release: () => site.release(), desk, desks, ended },
    async dispose() {
      site.release()
      crawl.stop('test is over')
      await ended
      await desks.close()
      await site[Symbol.asyncDispose]()
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

const IN_SHARDS = 'a crawl on Redis, in 3 shards'
for (const [name, shards] of casesOf({ 'a crawl on Redis': 1, [IN_SHARDS]: 3 }, IN_SHARDS))
  crawlDeskContract(
    { describe, test },
    {
      name,
      create: async () => {
        const { subject, dispose } = await running(
          {
            REDIS_URL: server.url,
            ITEM_PIPELINES: { redis: 300 },
            QUEUE_SHARDS: shards,
            DUPEFILTER_SHARDS: shards,
          },
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
            await server.command('FLUSHALL')
          },
        }
      },
    },
  )
