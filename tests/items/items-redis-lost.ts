/** A Redis of items that is in trouble for longer than a crawl waits for it: what is lost and told then. */

import { PROTOCOL_TIMES } from '@webloom/core'
import { type FakeWeb, type RedisServer, startFakeWeb, startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { expect } from 'vitest'
import type { SettingsInput } from 'webloom'
import { itemsCrawl } from './items-crawl.ts'

const PAGES = 60
/** Trouble is waited for no shorter, and all connections are made in that time. */
const START_S_MAX = 5
const times = { ...PROTOCOL_TIMES, redis: { ...PROTOCOL_TIMES.redis, troubleMsMax: START_S_MAX * 1000 } }

/** Where the crawl and its items are, and what begins the trouble there. */
export interface ItemsLost {
  readonly what: string
  readonly where: string
  readonly begins: (items: RedisServer) => Promise<unknown>
  readonly urls: (
    queue: RedisServer,
    items: RedisServer,
  ) => { readonly REDIS_URL: string | null; readonly ITEMS_REDIS_URL: string }
}

function crawlOf(web: FakeWeb, settings: SettingsInput) {
  return itemsCrawl(
    web,
    { ITEM_PIPELINES: [['redis', 300]], REDIS_START_TIMEOUT: START_S_MAX, ...settings },
    {
      folder: import.meta.dirname,
      part: { begins: false, isWorker: settings.REDIS_URL !== null },
      times,
    },
  )
}

export const DEMOTED = {
  what: 'is a replica',
  // Nobody is there, so that it keeps what it has.
  begins: (items: RedisServer) => items.command('REPLICAOF', '127.0.0.1', '1'),
}
export const CROWDED = {
  what: 'takes no more connections',
  begins: async (items: RedisServer) => {
    // Ends with the server.
    const only = new Redis(items.url, { retryStrategy: () => null })
    await only.config('SET', 'maxclients', '1')
    await only.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  },
}
export const ON_ITS_OWN = {
  where: 'has a server of its own',
  urls: (queue: RedisServer, items: RedisServer) => ({ REDIS_URL: queue.url, ITEMS_REDIS_URL: items.url }),
}

/** Expects that the crawl ends soon and tells how many items it has not written, and that a later one writes what is missing. */
export async function expectItemsTold({ what, begins, urls }: ItemsLost): Promise<void> {
  await using queue = await startRedis()
  await using items = await startRedis()
  await using web = await startFakeWeb({ seed: 1, hosts: 1, pagesPerHost: PAGES, latencyMs: 20 })
  const { REDIS_URL, ITEMS_REDIS_URL } = urls(queue, items)
  const { crawl, told: toldBy } = await crawlOf(web, { REDIS_URL, ITEMS_REDIS_URL, SHUTDOWN_GRACE: 10 })
  const crawling = crawl.run()
  // Rejects when it cannot be opened.
  await Promise.race([crawling, web.waitForHits(10, 20_000)])
  await begins(items)
  const { finishReason, stats } = await crawling
  expect(finishReason).toBe('internal_error')
  const told = toldBy()
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
  const next = await crawlOf(web, { REDIS_URL, ITEMS_REDIS_URL: queue.url })
  const { finishReason: end, stats: after } = await next.crawl.run()
  expect(end).toBe('finished')
  expect(written + Number(after['redis_items/written_count'])).toBeGreaterThanOrEqual(PAGES)
}
