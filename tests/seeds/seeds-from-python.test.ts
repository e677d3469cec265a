/** What a Python producer of scrapy-redis puts into Redis arrives as the requests that Python would have made of it. */

import { once } from 'node:events'
import { connect } from 'node:net'
import { MemoryStatsCollector, noRedis, type Seed, Settings, Signals, silentLogger } from '@webloom/core'
import { RedisSeedSource } from '@webloom/queue'
import { RedisSpider, Spider, seedOptionsOf } from '@webloom/spider'
import { startRedis } from '@webloom/testkit'
import { Redis } from 'ioredis'
import { expect, test, vi } from 'vitest'

/**
 * The bytes that redis-py 8.1.0 sends for
 *
 *     r.lpush('quotes:start_urls', 'https://quotes.toscrape.com/tag/größe/')
 *     r.lpush('quotes:start_urls', json.dumps({'url': 'https://quotes.toscrape.com/login', 'method': 'post',
 *                                              'meta': {'job': 'läuft'}, 'user': 'x', 'tags': ['a', 'b c']}))
 *     r.rpush('quotes:start_urls', b'\xff\xfe')
 */
const FROM_PYTHON = Buffer.from(
  '*3\r\n$5\r\nLPUSH\r\n$17\r\nquotes:start_urls\r\n$40\r\nhttps://quotes.toscrape.com/tag/gr\xc3\xb6\xc3\x9fe/\r\n' +
    '*3\r\n$5\r\nLPUSH\r\n$17\r\nquotes:start_urls\r\n$128\r\n{"url": "https://quotes.toscrape.com/login", "method": "post", "meta": {"job": "l\\u00e4uft"}, "user": "x", "tags": ["a", "b c"]}\r\n' +
    '*3\r\n$5\r\nRPUSH\r\n$17\r\nquotes:start_urls\r\n$2\r\n\xff\xfe\r\n',
  'latin1',
)

class Quotes extends RedisSpider {
  override name = 'quotes'
}

test('URLs, JSON with form data and broken bytes of a Python producer', async () => {
  await using server = await startRedis()
  const socket = connect(server.port, server.host)
  socket.write(FROM_PYTHON)
  let replies = ''
  while (!/^:1\r\n:2\r\n:3\r\n$/.test(replies)) replies += (await once(socket, 'data'))[0]
  socket.destroy()

  const settings = Settings.fromLayers({ config: { SEEDS_FORMAT: 'scrapy-redis' } })
  const spider = new Quotes()
  const stats = new MemoryStatsCollector()
  const crawler = {
    settings,
    stats,
    signals: new Signals(() => {}),
    logger: silentLogger,
    spider,
    redis: noRedis,
    close() {},
  }
  Spider.attach(spider, { crawler, logger: silentLogger })
  const { key, batchSize, makeRequests } = seedOptionsOf(spider, settings)
  const redis = new Redis(server.url)
  const source = new RedisSeedSource({
    redis,
    key,
    batchSize,
    workerId: 'test:1:x',
    makeRequests,
    redisRunId: async () => 'run',
    settled: async () => {},
    logger: silentLogger,
    stats,
    ripeMs: 100,
  })
  await source.open()
  try {
    // LPUSH puts it first, as with scrapy-redis.
    const [login, page] = (await source.next(batchSize)) as [Seed, Seed]
    expect(page.request.url).toBe('https://quotes.toscrape.com/tag/gr%C3%B6%C3%9Fe/')
    expect(login.request).toMatchObject({ url: 'https://quotes.toscrape.com/login', method: 'POST' })
    expect(Buffer.from(login.request.body).toString()).toBe('user=x&tags=a&tags=b+c')
    expect(login.request.headers.get('content-type')).toBe('application/x-www-form-urlencoded')
    expect(login.request.meta).toEqual({ job: 'läuft' })
    expect([login, page].every(({ request }) => request.dontFilter)).toBe(true)
    for (const seed of [login, page]) await source.acknowledge(seed)
    await vi.waitFor(async () => expect(await source.pending()).toBe(0))
    const [invalid] = (await server.command('LRANGE', `${key}:invalid`, 0, -1)) as [string]
    expect(JSON.parse(invalid)).toMatchObject({ base64: '//4=', reason: 'it is not UTF-8' })
  } finally {
    await source.close()
    redis.disconnect()
  }
})
