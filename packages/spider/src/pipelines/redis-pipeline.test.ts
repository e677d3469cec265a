import { MemoryStatsCollector, silentLogger } from '@webloom/core'
import { type RedisServer, startRedis, startTcpProxy } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { RedisPipeline, type RedisPipelineOptions } from './redis-pipeline.ts'

let server: RedisServer
let keys = 0
const cleanups: (() => unknown)[] = []

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup()
})

function pipelineTo(options: Partial<Omit<RedisPipelineOptions, 'redis'>> & { url?: string } = {}) {
  const stats = new MemoryStatsCollector()
  const redis = new Redis(options.url ?? server.url, { maxRetriesPerRequest: null })
  redis.on('error', () => {})
  cleanups.push(() => redis.disconnect())
  const key = options.key ?? `spider${++keys}:items`
  const warn = vi.fn()
  const pipeline = new RedisPipeline({
    redis,
    key,
    as: 'list',
    itemsMax: 0,
    idField: null,
    logger: { ...silentLogger, warn },
    stats,
    ...options,
  })
  cleanups.push(() => pipeline.closeSpider())
  /** The items of one page, which go through the pipelines all at once. */
  const page = (name: string, ...items: unknown[]) =>
    Promise.all(items.map((item, n) => pipeline.processItem(item, { id: `${name}/${n}`, response: null })))
  return { pipeline, key, stats, warn, page, redis }
}

const entries = (key: string) => server.command('LRANGE', key, 0, -1) as Promise<string[]>
const eventually = (check: () => unknown) => vi.waitFor(check, { interval: 20 })

test('a list has the items as JSON in their order and nothing else, as scrapy-redis writes them', async () => {
  const { page, key, stats } = pipelineTo()
  const item = { text: 'grüße', at: new Date(0) }
  const [handedOn] = await page('a', item, 'text', 7, { n: 2 })
  expect(handedOn).toBe(item)
  expect(await entries(key)).toEqual([
    '{"text":"grüße","at":"1970-01-01T00:00:00.000Z"}',
    '"text"',
    '7',
    '{"n":2}',
  ])
  expect(stats.get('redis_items/written_count')).toBe(4)
})

test('the items of a page are one round trip', async () => {
  await using proxy = await startTcpProxy({ target: server.url })
  const { page, key } = pipelineTo({ url: proxy.url })
  await page('warm', {})
  proxy.resetCounts()
  await page('a', ...Array.from({ length: 100 }, (_, n) => ({ n })))
  expect(proxy.roundTrips).toBe(1)
  expect(await entries(key)).toHaveLength(101)
})

test('with REDIS_ITEMS_ID_FIELD an item gets its id, the same when its page runs again, or keeps its own', async () => {
  const { page, key } = pipelineTo({ idField: '_id' })
  await page('a', { n: 1 }, { _id: 'mine', n: 2 }, {}, ['list'])
  await page('a', { n: 1 })
  expect((await entries(key)).map((json) => JSON.parse(json))).toEqual([
    { _id: 'a/0', n: 1 },
    { _id: 'mine', n: 2 },
    { _id: 'a/2' },
    ['list'],
    { _id: 'a/0', n: 1 },
  ])
})

test('a stream has the id beside the item, and drops its oldest', async () => {
  const { page, key } = pipelineTo({ as: 'stream', itemsMax: 100 })
  await page('a', { n: 0 })
  expect(await server.command('XRANGE', key, '-', '+')).toEqual([
    [expect.any(String), ['id', 'a/0', 'item', '{"n":0}']],
  ])
  for (let n = 1; n <= 20; n++) await page(`b${n}`, ...Array.from({ length: 50 }, (_, m) => ({ n: m })))
  const length = Number(await server.command('XLEN', key))
  expect(length).toBeGreaterThanOrEqual(100)
  // `~`: Redis drops whole nodes, of 100 entries here.
  expect(length).toBeLessThan(300)
})

test('a full list holds the pages up until somebody takes items, and says so', async () => {
  const { page, key, stats, warn } = pipelineTo({ itemsMax: 3 })
  let isDone = false
  const writing = page('a', ...[1, 2, 3, 4, 5]).then(() => {
    isDone = true
  })
  await eventually(() => expect(warn).toHaveBeenCalledOnce())
  expect(warn.mock.calls[0]![1]).toBe(
    `the list ${key} holds 3 items (REDIS_ITEMS_MAX) and nobody takes them; the crawl waits`,
  )
  expect(await entries(key)).toEqual(['1', '2', '3'])
  expect(isDone).toBe(false)
  await server.command('LPOP', key, 2)
  await writing
  expect(await entries(key)).toEqual(['3', '4', '5'])
  expect(stats.get('redis_items/wait_count')).toBe(1)
  expect(stats.get('redis_items/written_count')).toBe(5)
})

test('a Redis at its maxmemory is waited for as well', async () => {
  await using full = await startRedis({ maxmemory: '1gb' })
  const { page, key, warn } = pipelineTo({ url: full.url })
  await full.command('CONFIG', 'SET', 'maxmemory', '1')
  const writing = page('a', { n: 1 })
  await eventually(() => expect(warn).toHaveBeenCalledOnce())
  expect(warn.mock.calls[0]![1]).toContain('has reached its maxmemory')
  await full.command('CONFIG', 'SET', 'maxmemory', '1gb')
  await writing
  expect(await full.command('LRANGE', key, 0, -1)).toEqual(['{"n":1}'])
})

test('a lost reply may write items twice, never not at all', async () => {
  await using proxy = await startTcpProxy({ target: server.url })
  const { page, key } = pipelineTo({ url: proxy.url, idField: '_id' })
  await page('warm', {})
  const cut = proxy.cutReplyOf(([name]) => /^EVAL/.test(name!))
  await page('a', { n: 1 }, { n: 2 })
  expect(cut.count).toBe(1)
  const ids = (await entries(key)).map((json) => (JSON.parse(json) as { _id: string })._id)
  expect(ids).toEqual(['warm/0', 'a/0', 'a/1', 'a/0', 'a/1'])
})

test('an item without a JSON form is lost alone', async () => {
  const { pipeline, page, key } = pipelineTo()
  const lost = pipeline.processItem({ n: 1n }, { id: 'a/0', response: null })
  const good = page('b', { n: 1 })
  await expect(lost).rejects.toThrow(TypeError)
  await good
  expect(await entries(key)).toEqual(['{"n":1}'])
})

test('a key that holds something else is found before anything is fetched', async () => {
  const { pipeline, key } = pipelineTo({ as: 'stream' })
  await server.command('RPUSH', key, 'x')
  await expect(pipeline.openSpider()).rejects.toMatchObject({ code: 'WL_OUTPUT_UNWRITABLE' })
  await server.command('DEL', key)
  await pipeline.openSpider()
})

test('what no waiting can cure fails the output', async () => {
  await server.command('ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '+@all', '-rpush')
  const { page } = pipelineTo({ url: server.url.replace('redis://', 'redis://reader:secret@') })
  await expect(page('a', { n: 1 })).rejects.toMatchObject({ code: 'WL_OUTPUT_FAILED' })
})

test('closed while it waits, it tells no page that an item is written or lost, as the page is to run again, and the log how many wait', async () => {
  const { pipeline, page, key, warn, stats } = pipelineTo({ itemsMax: 1 })
  const settled = vi.fn()
  page('a', 1, 2).then(settled, settled)
  await eventually(() => expect(warn).toHaveBeenCalledOnce())
  pipeline.closeSpider()
  expect(warn.mock.lastCall![1]).toMatch(
    `items that were not written: 1, as the list ${key} holds 1 items (REDIS_ITEMS_MAX) and nobody takes them. The pages that brought them do not count as done`,
  )
  expect(stats.get('redis_items/unwritten_count')).toBe(1)
  await server.command('DEL', key)
  // Longer than it waits before it looks again.
  const later = performance.now() + 600
  await eventually(() => expect(performance.now()).toBeGreaterThan(later))
  expect(settled).not.toHaveBeenCalled()
  expect(await entries(key)).toEqual([])
})

test('closed while an answer is under way, it does not say that the items are not there', async () => {
  await using proxy = await startTcpProxy({ target: server.url })
  const { pipeline, page, key, warn } = pipelineTo({ url: proxy.url })
  await page('warm', {})
  proxy.judgeBy(([command]) => (/^EVAL/.test(command!) ? { holdReplyMs: 3_600_000 } : 'forward'))
  page('a', 1).catch(() => {})
  await eventually(async () => expect(await entries(key)).toHaveLength(2))
  pipeline.closeSpider()
  expect(warn.mock.lastCall![1]).toContain(
    `items that may not have been written: 1, as the items’ Redis has not answered yet what was sent for ${key}.`,
  )
})
