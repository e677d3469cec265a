/** A worker that waits for others until it may join its crawl: it says so, and ends when it, or the crawl, is told to. */

import { type FakeWeb, type RedisServer, startFakeWeb, startRedis } from '@webloom/testkit'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Spider } from 'webloom'
import { assemble } from '../../packages/webloom/src/assembly/assemble.ts'
import { stop } from '../../packages/webloom/src/commands/crawl-control.ts'
import { crawlHealth } from '../../packages/webloom/src/processes/crawl-health.ts'
import { listeningLogger } from '../crawls/crawl-web.ts'

let redis: RedisServer
let web: FakeWeb
beforeAll(async () => {
  ;[redis, web] = await Promise.all([startRedis(), startFakeWeb({ seed: 5, hosts: 1, pagesPerHost: 1 })])
})
afterAll(() => Promise.all([redis.stop(), web[Symbol.asyncDispose]()]))

class Pages extends Spider {
  override name = 'pages'
  override startUrls = [...web.seeds]
  override *parse(): Generator<unknown> {}
}

const SILENT = { words: /^it waits for workers of this crawl that are silent/, shards: 1, silentMs: 15_000 }
const SHARD = { words: /^it waits until a worker of .* lost a shard has ended/, shards: 2, silentMs: 0 }

test.each([
  { ...SILENT, id: 'a', by: 'signal' },
  { ...SILENT, id: 'b', by: 'stop' },
  { ...SHARD, id: 'c', by: 'signal' },
  { ...SHARD, id: 'd', by: 'stop' },
])('$words, by $by', async ({ words, shards, silentMs, id, by }) => {
  const key = (what: string) => `webloom:{pages@${id}}:${what}`
  const begun = ['run', 'n.1', 'firstRun', 'n.1', 'state', 'running', 'format', '2', 'persists', '1']
  const inShards = shards > 1 ? ['shards', String(shards)] : []
  await redis.command('HSET', key('record'), ...begun, ...inShards)
  await redis.command('HSET', key('workers'), 'silent', JSON.stringify({ at: Date.now() - silentMs }))
  const { logger } = listeningLogger()
  const place = { REDIS_URL: redis.url, CRAWL_ID: id, QUEUE_SHARDS: shards }
  const crawl = await assemble(Pages, {
    layers: { command: { ...place, SCHEDULER_PERSIST: true, SCHEDULER_FLUSH_ON_START: true } },
    folder: import.meta.dirname,
    createLogger: () => logger,
  })
  const ended = crawl.run()
  const ready = () => crawlHealth(crawl).ready()
  await vi.waitFor(async () =>
    expect(await ready()).toEqual({ ok: false, why: expect.stringMatching(words) }),
  )
  const told = performance.now()
  if (by === 'signal') crawl.stop('enough')
  else {
    vi.spyOn(console, 'log').mockReturnValue()
    const nowhere = { path: import.meta.dirname, folder: import.meta.dirname, spiders: [], settings: {} }
    const set = Object.entries(place).map(([name, value]) => `${name}=${value}`)
    await stop(Pages, { set, reason: 'enough' }, nowhere)
  }
  expect((await ended).finishReason).toBe('enough')
  expect(performance.now() - told, 'before it would have joined').toBeLessThan(8000)
  expect(await redis.command('HKEYS', key('workers'))).toEqual(['silent'])
  expect(web.hits).toEqual([])
})
