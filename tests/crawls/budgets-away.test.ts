/** Crawls with BUDGETS whose Redis is away when a request is about to leave. */

import { type RedisServer, startRedis } from '@webloom/testkit'
import { expect, test } from 'vitest'
import { crawl, type Request } from 'webloom'
import { ChangingWeb } from '../recrawl/changing-web.ts'
import { FollowAll } from './crawl-web.ts'
import { type LogLine, listeningTo } from './listening.ts'

const PAGES = 12

interface Outage {
  begin(server: RedisServer): Promise<unknown>
  end(server: RedisServer): Promise<unknown>
}

/** A crawl whose Redis is away from the moment on in which the links of its first page are about to leave. */
async function crawledThrough({ begin, end }: Outage, isToEnd: (line: LogLine) => boolean) {
  await using web = await ChangingWeb.start({ pages: PAGES })
  await using server = await startRedis({ appendonly: 'always' })
  let outage: Promise<unknown> | undefined
  let isOver: Promise<unknown> | undefined
  class BeforeBudgets {
    async processRequest({ url }: Request): Promise<void> {
      if (url.endsWith('/')) return
      outage ??= begin(server)
      await outage
    }
  }
  class Here extends FollowAll {
    override startUrls = [`${web.origin}/`]
  }
  const { finishReason, stats } = await crawl(Here, {
    settings: {
      REDIS_URL: server.url,
      BUDGETS: { crawl: { pages: 1000, bytes: 1e9 } },
      CONCURRENT_REQUESTS: 4,
      DOWNLOADER_MIDDLEWARES: [[BeforeBudgets, 10]],
      SCHEDULER_IDLE_BEFORE_CLOSE: 0,
    },
    logger: listeningTo((line) => {
      if (outage && isToEnd(line)) isOver ??= end(server)
    }),
  })
  await isOver
  return { finishReason, stats, asked: web.asked().map(({ path }) => path) }
}

const all = ['/', ...Array.from({ length: PAGES }, (_, n) => `/p/${n}`)].sort()

test('a Redis that refuses writes for a while: pages go back, and are fetched when it takes them again', async () => {
  const { finishReason, stats, asked } = await crawledThrough(
    {
      // As while a fail-over is under way: a master that has lost its replicas takes no writes.
      begin: (server) => server.command('CONFIG', 'SET', 'min-replicas-to-write', '1'),
      end: (server) => server.command('CONFIG', 'SET', 'min-replicas-to-write', '0'),
    },
    ({ message }) => message.startsWith('the budgets cannot be asked now'),
  )
  expect(finishReason).toBe('finished')
  expect(stats['failed/count']).toBe(undefined)
  expect(stats['budgets/unanswered']).toBeGreaterThan(0)
  expect(asked.sort()).toEqual(all)
})

test('a Redis that is stopped and started again costs no page', async () => {
  const { finishReason, stats, asked } = await crawledThrough(
    {
      begin: async (server) => {
        await server.kill()
        setImmediate(() => void server.restart())
      },
      end: async () => {},
    },
    () => false,
  )
  expect(finishReason).toBe('finished')
  expect(stats['failed/count']).toBe(undefined)
  expect([...new Set(asked)].sort()).toEqual(all)
})
