import { MemoryStatsCollector, noRedis, Request, Settings, Signals, silentLogger } from '@webloom/core'
import { expect, test } from 'vitest'
import { createSpider, Spider } from '../spider.ts'
import { RedisSpider, seedOptionsOf } from './redis-spider.ts'

class Quotes extends RedisSpider {
  override name = 'quotes'
}

function settingsOf(written: Record<string, unknown> = {}): Settings {
  return Settings.fromLayers({ config: written })
}

function attached<T extends RedisSpider>(spider: T, settings = settingsOf()): T {
  const crawler = {
    settings,
    stats: new MemoryStatsCollector(),
    signals: new Signals(() => {}),
    logger: silentLogger,
    spider,
    redis: noRedis,
    close() {},
  }
  Spider.attach(spider, { crawler, logger: silentLogger })
  return spider
}

const urlsOf = async (spider: RedisSpider, data: string) =>
  (await seedOptionsOf(spider, settingsOf()).makeRequests(data)).map(({ url }) => url)

test('without fields of its own it reads scrapy-redis’s key, in batches of what is crawled at once, and stays', () => {
  expect(seedOptionsOf(new Quotes(), settingsOf({ CONCURRENT_REQUESTS: 24 }))).toMatchObject({
    key: 'quotes:start_urls',
    batchSize: 24,
    maxIdleTimeMs: Number.POSITIVE_INFINITY,
  })
})

test('settings change that, and fields of the spider change it again', () => {
  const settings = settingsOf({
    CRAWL_ID: 'may',
    REDIS_START_URLS_KEY: 'seeds of %(name)s',
    REDIS_START_URLS_BATCH_SIZE: 5,
    MAX_IDLE_TIME_BEFORE_CLOSE: 1.5,
  })
  expect(seedOptionsOf(new Quotes(), settings)).toMatchObject({
    key: 'seeds of quotes:may',
    batchSize: 5,
    maxIdleTimeMs: 1500,
  })
  class Own extends Quotes {
    override redisKey = 'mine:%(spider)s'
    override redisBatchSize = 7
    override maxIdleTime = 60
  }
  expect(seedOptionsOf(new Own(), settings)).toMatchObject({
    key: 'mine:quotes:may',
    batchSize: 7,
    maxIdleTimeMs: 60_000,
  })
})

test('-a gives them as well', () => {
  const spider = createSpider(Quotes, { redisKey: 'other', redisBatchSize: '3' }) as Quotes
  expect(seedOptionsOf(spider, settingsOf())).toMatchObject({ key: 'other', batchSize: 3 })
})

test.each([
  [{ redisKey: ['hi', 'lo'] }, 'redisKey of spider quotes is ["hi","lo"]'],
  [{ redisKey: ' ' }, 'expected a Redis key'],
  [
    { redisKey: '%(site)s:urls' },
    'redisKey of spider quotes is "%(site)s:urls", and nothing stands for %(site)s; a key has %(spider)s or %(name)s',
  ],
  [{ redisBatchSize: 0 }, 'redisBatchSize of spider quotes is 0; expected an integer from 1'],
  [{ maxIdleTime: -1 }, 'maxIdleTime of spider quotes is -1'],
])('%o is refused', (fields, reason) => {
  const spider = Object.assign(new Quotes(), fields)
  expect(() => seedOptionsOf(spider, settingsOf())).toThrow(reason)
})

test.each([
  ['redis_key', 'redisKey'],
  ['redis_batch_size', 'redisBatchSize'],
  ['max_idle_time', 'maxIdleTime'],
  ['make_request_from_data', 'makeRequestFromData'],
])('%s is scrapy-redis’s name, and here it is called %s', (written, meant) => {
  class Snake extends Quotes {
    constructor() {
      super()
      Reflect.set(this, written, 'x')
    }
  }
  expect(() => createSpider(Snake)).toThrow(`here it is called ${meant}`)
})

test('SEEDS_FORMAT says how messages are read', async () => {
  const data = '{"url":"https://example.com/","q":"loom"}'
  await expect(seedOptionsOf(attached(new Quotes()), settingsOf()).makeRequests(data)).rejects.toThrow(
    'no field "q"',
  )
  expect(await urlsOf(attached(new Quotes(), settingsOf({ SEEDS_FORMAT: 'scrapy-redis' })), data)).toEqual([
    'https://example.com/?q=loom',
  ])
})

test('makeRequestFromData may answer one request, several, nothing, now or later', async () => {
  const made = (n: number) => new Request(`https://example.com/${n}`)
  const outputs: [() => unknown, string[]][] = [
    [() => made(1), ['https://example.com/1']],
    [() => null, []],
    [() => undefined, []],
    [async () => made(1), ['https://example.com/1']],
    [() => [made(1), null, made(2)], ['https://example.com/1', 'https://example.com/2']],
    [async () => [made(3)], ['https://example.com/3']],
    [
      function* () {
        yield made(4)
      },
      ['https://example.com/4'],
    ],
    [
      async function* () {
        yield made(5)
        yield made(6)
      },
      ['https://example.com/5', 'https://example.com/6'],
    ],
  ]
  for (const [make, expected] of outputs) {
    const spider = Object.assign(new Quotes(), { makeRequestFromData: make as () => Request })
    expect(await urlsOf(spider, 'x')).toEqual(expected)
  }
})

test('a URL in place of a request, and requests without end, are refused', async () => {
  const wrong = Object.assign(new Quotes(), {
    makeRequestFromData: (() => 'https://example.com/') as unknown as () => Request,
  })
  await expect(urlsOf(wrong, 'x')).rejects.toThrow('made a string; expected a Request')
  const endless = Object.assign(new Quotes(), {
    *makeRequestFromData() {
      for (let n = 0; ; n++) yield new Request(`https://example.com/${n}`)
    },
  })
  await expect(urlsOf(endless, 'x')).rejects.toThrow('more than 10000 requests')
})
