/** A Redis of items that is in trouble for longer than a crawl waits for it. */

import { PROTOCOL_TIMES } from '@webloom/core'
import { type FakeWeb, type RedisServer, startFakeWeb, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { SettingsInput } from 'webloom'
import { assemble } from '../../packages/webloom/src/assembly/assemble.ts'
import { FollowAll, listeningLogger } from '../crawls/crawl-web.ts'

const PAGES = 60
const TROUBLE_S_MAX = 0.5
const times = { ...PROTOCOL_TIMES, redis: { ...PROTOCOL_TIMES.redis, troubleMsMax: TROUBLE_S_MAX * 1000 } }

let queue: RedisServer
let items: RedisServer
let web: FakeWeb
/** The one connection that a crowded server has. */
let only: Redis | undefined
beforeEach(async () => {
  ;[queue, items, web] = await Promise.all([
    startRedis(),
    startRedis(),
    startFakeWeb({ seed: 1, hosts: 1, pagesPerHost: PAGES, latencyMs: 20 }),
  ])
})
afterEach(() => {
  only?.disconnect()
  return Promise.all([queue.stop(), items.stop(), web[Symbol.asyncDispose]()])
})

async function crawlOf(settings: SettingsInput) {
  class Pages extends FollowAll {
    override startUrls = [...web.seeds]
  }
  const { logger, lines } = listeningLogger()
  const crawl = await assemble(Pages, {
    layers: {
      command: {
        ITEM_PIPELINES: [['redis', 300]],
        REDIS_START_TIMEOUT: TROUBLE_S_MAX,
        PRIVATE_ADDRESSES_ALLOWED: ['*'],
        CONCURRENT_REQUESTS_PER_DOMAIN: 8,
        ...settings,
      },
    },
    folder: import.meta.dirname,
    part: { begins: false, isWorker: settings.REDIS_URL !== null },
    createLogger: () => logger,
    times,
  })
  return { crawl, lines }
}

const demoted = {
  what: 'is a replica',
  // Nobody is there, so that it keeps what it has.
  begins: () => items.command('REPLICAOF', '127.0.0.1', '1'),
}
const crowded = {
  what: 'takes no more connections',
  begins: async () => {
    only = new Redis(items.url)
    await only.config('SET', 'maxclients', '1')
    await only.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  },
}

test.each([
  {
    ...demoted,
    where: 'has a server of its own',
    urls: () => ({ REDIS_URL: queue.url, ITEMS_REDIS_URL: items.url }),
  },
  { ...demoted, where: 'is the crawl’s', urls: () => ({ REDIS_URL: items.url, ITEMS_REDIS_URL: items.url }) },
  {
    ...demoted,
    where: 'has a crawl in memory',
    urls: () => ({ REDIS_URL: null, ITEMS_REDIS_URL: items.url }),
  },
  {
    ...crowded,
    where: 'has a server of its own',
    urls: () => ({ REDIS_URL: queue.url, ITEMS_REDIS_URL: items.url }),
  },
])(
  'one that $what and $where: the crawl ends at once and tells how many items it has not written, and no page is lost',
  async ({ what, begins, urls }) => {
    const { REDIS_URL, ITEMS_REDIS_URL } = urls()
    const { crawl, lines } = await crawlOf({ REDIS_URL, ITEMS_REDIS_URL, SHUTDOWN_GRACE: 10 })
    const crawling = crawl.run()
    await web.waitForHits(10, 20_000)
    await begins()
    const { finishReason, stats } = await crawling
    expect(finishReason).toBe('internal_error')
    const told = lines.map(({ level, message }) => `${level} ${message}`)
    const why = `Redis at .* cannot be used: it ${what}`
    expect(told.filter((line) => line.startsWith('error'))).toEqual([
      expect.stringMatching(`${why}.*waited for in vain, and the crawl ends`),
    ])
    const unwritten = Number(stats['redis_items/unwritten_count'])
    expect(unwritten).toBeGreaterThan(0)
    expect(told.join('\n')).toMatch(
      new RegExp(
        `warn items that were not written: ${unwritten}, as items cannot be written to the key follow-all:items: ${why}.*do not count as done`,
      ),
    )
    expect(told.join('\n')).not.toContain('SHUTDOWN_GRACE is over')
    if (REDIS_URL !== queue.url) return
    const written = Number(stats['redis_items/written_count'])
    const next = await crawlOf({ REDIS_URL, ITEMS_REDIS_URL: queue.url })
    const { finishReason: end, stats: after } = await next.crawl.run()
    expect(end).toBe('finished')
    expect(written + Number(after['redis_items/written_count'])).toBeGreaterThanOrEqual(PAGES)
  },
)
