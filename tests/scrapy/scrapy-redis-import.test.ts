/** Requests between a Python crawl and one of ours, by way of a real Redis: taken over, written back, and never in silence. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFingerprinter, encodeScrapyRequest } from '@webloom/core'
import {
  type FakeWeb,
  IN_FULL,
  type RedisServer,
  startFakeWeb,
  startRedis,
  type TempDir,
  tempDir,
} from '@webloom/testkit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { crawl, Request, type Response, type SettingsInput, Spider } from 'webloom'
import {
  crawlFrontier,
  crawlRedisKeys,
  JobDir,
  MemoryHostClock,
  reopenCrawl,
  ScrapyRedisQueue,
} from '../../packages/queue/src/index.ts'
import { withCrawlFromOutside } from '../../packages/webloom/src/assembly/crawl-from-outside.ts'
import { withQueueAndFilter } from '../../packages/webloom/src/assembly/redis-crawl-store.ts'
import { CallbackNames } from '../../packages/webloom/src/transfer/callback-names.ts'
import { type CrawlTarget, withCrawlTarget } from '../../packages/webloom/src/transfer/crawl-target.ts'
import { ScrapyImport } from '../../packages/webloom/src/transfer/scrapy-import.ts'
import { listening } from '../crawls/listening.ts'

const KEY = 'quotes:requests'
// Made by running Scrapy's Request.to_dict and Python's pickle.
const pickles = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../packages/core/testdata/scrapy-redis-pickles.json'), 'utf8'),
) as Record<'requests' | 'refused', Record<string, Record<string, string>>>
const recorded = (kind: 'requests' | 'refused', name: string, protocol = '5') =>
  Buffer.from(pickles[kind][name]![protocol]!, 'base64')

let redis: RedisServer
let web: FakeWeb
let folder: TempDir
beforeAll(async () => {
  redis = await startRedis()
  web = await startFakeWeb({ seed: 12, pagesPerHost: 30 })
  folder = await tempDir()
})
afterAll(() => Promise.all([redis.stop(), web.close(), folder.remove()]))
beforeEach(() => redis.command('FLUSHALL'))

class Quotes extends Spider {
  override name = 'quotes'
  override startUrls = [...web.seeds]
  override *parse(response: Response): Generator<unknown> {
    yield* this.parseItem(response)
  }
  *parseItem(response: Response): Generator<unknown> {
    yield { url: response.url }
    for (const request of response.followAll()) yield request.replace({ callback: 'parseItem' })
  }
  failed(): void {}
}

const config = (settings: SettingsInput) => ({
  path: folder.join('webloom.config.ts'),
  folder: folder.path,
  spiders: [],
  settings: { REDIS_URL: redis.url, ...settings },
})

/** As a Python worker pushes it. */
const pickled = (path: string, init: object = {}) =>
  encodeScrapyRequest(new Request(`http://a.test/${path}`, { callback: 'parse_item', ...init }), {
    nameOf: (name) => name,
  })

async function fill(type: 'zset' | 'list', entries: readonly Buffer[]): Promise<void> {
  const client = new Redis(redis.url)
  const queue = new ScrapyRedisQueue({ redis: client, key: KEY })
  await queue.push(
    type,
    entries.map((data) => ({ data, priority: 0 })),
  )
  client.disconnect()
}

/** One run of the import; with `die`, until that moment of its second step. */
async function imported(settings: SettingsInput, die?: 'pushed' | 'removed'): Promise<ScrapyImport> {
  return withCrawlTarget(Quotes, {}, config(settings), async (target) => {
    const client = new Redis(redis.url)
    const queue = new ScrapyRedisQueue({ redis: client, key: KEY })
    const importing = new ScrapyImport({
      queue,
      type: (await queue.type())!,
      target: die ? dying(target, queue, die) : target,
      names: new CallbackNames(target.crawler.spider),
      entriesPerStep: 40,
      onProgress: () => {},
    })
    try {
      await importing.look()
      await target.adopt({ startEnded: true })
      await importing.move()
    } catch (error) {
      if ((error as Error).message !== 'killed') throw error
    } finally {
      client.disconnect()
    }
    return importing
  })
}

function dying(target: CrawlTarget, queue: ScrapyRedisQueue, moment: 'pushed' | 'removed'): CrawlTarget {
  let steps = 0
  const killed = () => Promise.reject(new Error('killed'))
  if (moment === 'removed') {
    const remove = queue.remove.bind(queue)
    queue.remove = async (...args) => {
      const removed = await remove(...args)
      return ++steps === 2 ? killed() : removed
    }
    return target
  }
  return {
    ...target,
    async push(batch, asker) {
      await target.push(batch, asker)
      if (++steps === 2) await killed()
    },
  }
}

async function waitingPaths(settings: SettingsInput): Promise<string[]> {
  const paths: string[] = []
  if (settings.JOBDIR) {
    const clock = new MemoryHostClock({ pace: { delayMs: 0, concurrency: 0, randomize: false } })
    const jobDir = new JobDir({ folder: String(settings.JOBDIR), spiderName: 'quotes', clock })
    jobDir.openFrontier()
    for await (const { request } of jobDir.frontier()) paths.push(request!.url.slice('http://a.test/'.length))
    await jobDir.record.close()
    return paths
  }
  const client = new Redis(redis.url)
  const keys = crawlRedisKeys({ spider: 'quotes', crawlId: null })
  for await (const { request } of crawlFrontier({ redis: client, keys }))
    paths.push(request!.url.slice('http://a.test/'.length))
  client.disconnect()
  return paths
}

describe('webloom import scrapy-redis', () => {
  const places: [string, () => SettingsInput][] = [
    ['on Redis', () => ({})],
    ['on Redis, a job a request', () => ({ QUEUE_MODE: 'job' })],
    ['in a JOBDIR', () => ({ JOBDIR: folder.join(`job-${Math.random()}`) })],
  ]
  const all = places.flatMap(([place, settings]) =>
    (['zset', 'list'] as const).flatMap((type) =>
      (['pushed', 'removed'] as const).map((die) => [type, place, die, settings] as const),
    ),
  )
  // Each place with each type, and cut off at each moment. How a step is told apart does not hang on what the crawl's jobs are.
  const isTelling = ([type, place, die]: (typeof all)[number]) => {
    if (place.includes('job a request')) return type === 'zset' && die === 'pushed'
    const isRemoved = (type === 'zset') === (place === 'on Redis')
    return die === (isRemoved ? 'removed' : 'pushed')
  }
  const cases = IN_FULL ? all : all.filter(isTelling)
  test.each(cases)(
    'a %s to a crawl %s: cut off when a step was %s, and run again, each is there once',
    async (type, _place, die, settingsOf) => {
      const settings = settingsOf()
      const paths = Array.from({ length: 100 }, (_, n) => `${n}`)
      const entries = paths.map((path, n) => pickled(path, { dontFilter: n % 3 === 0 }))
      // What a list holds twice are two requests.
      const again =
        type === 'list'
          ? [pickled('again', { dontFilter: true }), pickled('again', { dontFilter: true })]
          : []
      const refused = [recorded('refused', 'a command'), recorded('refused', 'a date', '2')]
      await fill(type, [...entries.slice(0, 50), ...refused, ...again, ...entries.slice(50)])
      await imported(settings, die)
      expect(await redis.command('EXISTS', `{${KEY}}:import`)).toBe(1)
      const second = await imported(settings)
      expect([second.bad, second.raced]).toEqual([2, 0])
      const expected = [...paths, ...again.map(() => 'again')]
      expect((await waitingPaths(settings)).toSorted()).toEqual(expected.toSorted())
      // What cannot be taken over stays, and nothing else.
      const left = await redis.command(
        ...((type === 'zset' ? ['ZCARD', KEY] : ['LLEN', KEY]) as ['ZCARD', string]),
      )
      expect(left).toBe(2)
      expect(await redis.command('EXISTS', `{${KEY}}:import`)).toBe(0)
    },
  )

  test('every part of a recorded request arrives, with the names of our methods', async () => {
    await fill(
      'list',
      ['2', '3', '4', '5'].map((protocol) => recorded('requests', 'full', protocol)),
    )
    await imported({})
    const client = new Redis(redis.url)
    const found: Request[] = []
    for await (const { request } of crawlFrontier({
      redis: client,
      keys: crawlRedisKeys({ spider: 'quotes', crawlId: null }),
    }))
      found.push(request!)
    client.disconnect()
    expect(found).toHaveLength(4)
    for (const request of found)
      expect(request).toMatchObject({ method: 'PUT', callback: 'parseItem', errback: 'failed', priority: -7 })
  })

  test('what an import notes in the filter goes with its run, and leaves what was seen', async () => {
    const settings = { SCHEDULER_PERSIST: true, DOWNLOAD_DELAY: 0 }
    await fill(
      'zset',
      web.seeds.map((url) => encodeScrapyRequest(new Request(url), { nameOf: (name) => name })),
    )
    await imported(settings)
    const askers = (await redis.command('HKEYS', '{quotes:dupefilter}:owners')) as string[]
    expect(askers.length).toBeGreaterThan(0)
    class Leaves extends Quotes {
      override *parse(): Generator<unknown> {}
    }
    const { finishReason } = await crawl(Leaves, { settings: { REDIS_URL: redis.url, ...settings } })
    expect(finishReason).toBe('finished')
    expect(await redis.command('SCARD', 'quotes:dupefilter')).toBe(web.seeds.length)
    expect(await redis.command('KEYS', '{quotes:dupefilter}:*')).toEqual(['{quotes:dupefilter}:record'])
  })

  test('a method that the spider lacks is named, with how many want it, and nothing is moved', async () => {
    await fill('zset', [
      pickled('1', { callback: 'parse_author' }),
      pickled('2'),
      pickled('3', { callback: 'parse_author' }),
    ])
    await expect(imported({})).rejects.toThrow(
      /no method for parse_author \(2 requests\): nothing was moved.*--callback parse_author=/,
    )
    expect(await redis.command('ZCARD', KEY)).toBe(3)
    expect(await waitingPaths({})).toEqual([])
  })
})

describe('a crawl beside the queue of a half-done Python crawl', () => {
  test('says so, does not call itself finished and deletes nothing; imported, it goes on to the end', async () => {
    const settings = { REDIS_URL: redis.url }
    // The Python crawl has met all pages, and half of them wait.
    const urls = [...web.reachable()].filter((url) => !web.seeds.includes(url))
    const waiting = urls.filter((_url, n) => n % 2 === 0)
    await fill(
      'zset',
      waiting.map((url) => encodeScrapyRequest(new Request(url), { nameOf: (name) => name })),
    )
    const { fingerprint } = createFingerprinter({ algorithm: 'scrapy-redis' })
    const met = urls.map((url) => fingerprint(new Request(url)))
    await redis.command('SADD', 'quotes:dupefilter', ...met)
    const before = web.hits.length
    const { logger, warnings } = listening()
    const first = await crawl(Quotes, { settings, logger })
    expect(first.finishReason).toBe('requests_left')
    expect(warnings).toContainEqual(
      expect.stringMatching(
        /^\d+ requests of scrapy-redis wait in quotes:requests.*webloom import scrapy-redis quotes/,
      ),
    )
    expect(await redis.command('SCARD', 'quotes:dupefilter')).toBeGreaterThanOrEqual(urls.length)
    expect(await redis.command('ZCARD', KEY)).toBe(waiting.length)
    await imported({})
    const second = await crawl(Quotes, { settings, logger })
    expect(second.finishReason).toBe('finished')
    const asked = web.hits.slice(before).map(({ url }) => url)
    expect(asked.toSorted()).toEqual([...waiting, ...web.seeds].toSorted())
  })
})

/** As `webloom quarantine retry` gives a crawl requests that has ended. */
async function queuedAgain(path: string): Promise<void> {
  await withCrawlFromOutside(Quotes, {}, config({}), async (outside) => {
    await reopenCrawl(outside)
    await withQueueAndFilter(outside, async (queue) => {
      await queue.push([{ id: path, request: new Request(`${web.seeds[0]}?${path}`) }], `retry/${path}`)
    })
  })
}

test('a filter is not said to have lost its data where a crawl only stopped, or where its end has emptied it', async () => {
  const settings = { REDIS_URL: redis.url }
  class Leaves extends Quotes {
    override *parse(): Generator<unknown> {}
  }
  const { logger, warnings } = listening()
  await fill('zset', [pickled('1')])
  expect((await crawl(Leaves, { settings, logger })).finishReason).toBe('requests_left')
  await queuedAgain('stopped')
  await redis.command('DEL', KEY)
  const ends = await crawl(Leaves, { settings, logger })
  expect([ends.finishReason, await redis.command('EXISTS', 'quotes:dupefilter')]).toEqual(['finished', 0])
  await queuedAgain('finished')
  const { finishReason } = await crawl(Leaves, { settings, logger })
  expect(finishReason).toBe('finished')
  expect(warnings.filter((text) => text.includes('was found empty'))).toEqual([])
})
