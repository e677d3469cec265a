import {
  type Awaitable,
  checkKeyPattern,
  crawlKey,
  crawlNameOf,
  Request,
  type Settings,
  SettingsError,
  WebloomError,
} from '@webloom/core'
import { requestFromSeed } from '../seeds/seed-request.ts'
import { FRAMEWORK_CLASS, Spider } from '../spider.ts'

/** What a message may be made into. An empty result makes the message invalid. */
export type SeedOutput = Awaitable<
  Request | null | undefined | Iterable<Request | null> | AsyncIterable<Request | null>
>

/** The fields of a spider that takes seeds. */
export interface RedisSeeds {
  /** Key of the start URLs. `%(name)s` in it stands for the spider with its CRAWL_ID. Default REDIS_START_URLS_KEY. */
  redisKey?: string
  /** How many messages are taken at a time. Default REDIS_START_URLS_BATCH_SIZE, else CONCURRENT_REQUESTS. */
  redisBatchSize?: number
  /** Seconds without work after which the crawl ends. Default MAX_IDLE_TIME_BEFORE_CLOSE; 0: never. */
  maxIdleTime?: number
  /**
   * Returns what one message asks for: one request or several, or nothing. By default a message is a URL, or JSON as
   * SEEDS_FORMAT says. When the method throws, or returns nothing, the message goes to the `…:invalid` list with the
   * reason. A message that is handed out again is passed to the method again, which must then make the same requests.
   */
  makeRequestFromData(data: string): SeedOutput
}

/** A spider that takes seeds: a `RedisSpider` or `RedisCrawlSpider`. */
export type SeededSpider = Spider & RedisSeeds

/**
 * A spider whose start URLs come from a Redis list, set or sorted set, and that waits for more when it has crawled them.
 * `webloom seed <name> <url…>` adds some, and so does any program that feeds scrapy-redis.
 */
export class RedisSpider extends Spider implements RedisSeeds {
  static override readonly [FRAMEWORK_CLASS]: true = true
  redisKey?: string
  redisBatchSize?: number
  maxIdleTime?: number

  makeRequestFromData(data: string): SeedOutput {
    return requestFromSeed(data, {
      format: this.settings.get('SEEDS_FORMAT'),
      trusted: this.settings.getBool('SEEDS_TRUSTED'),
      spider: this,
    })
  }
}

/**
 * Returns whether a spider takes seeds, even when its class comes from another copy of the package: a project may have its
 * own webloom beside the one whose command runs.
 */
export function isRedisSpider(spider: Spider): spider is SeededSpider {
  if (spider instanceof RedisSpider) return true
  for (let base: object | null = spider; base; base = Object.getPrototypeOf(base)) {
    const isOurs = /^Redis(?:Crawl)?Spider$/.test(base.constructor?.name ?? '')
    if (isOurs && Object.hasOwn(base, 'makeRequestFromData')) return true
  }
  return false
}

/** What a source of seeds must know of its spider. */
export interface SeedOptions {
  readonly key: string
  readonly batchSize: number
  /** Milliseconds without work after which the crawl ends. Infinity: it waits for seeds for ever. */
  readonly maxIdleTimeMs: number
  readonly makeRequests: (data: string) => Promise<Request[]>
}

/**
 * Returns the options of the spider's fields and, where it has none, of the settings. Throws `SettingsError` for a wrong
 * field.
 */
export function seedOptionsOf(spider: SeededSpider, settings: Settings): SeedOptions {
  const { redisKey, redisBatchSize, maxIdleTime } = spider
  const pattern = redisKey ?? settings.getString('REDIS_START_URLS_KEY')
  if (typeof pattern !== 'string' || pattern.trim() === '') {
    throw new SettingsError([
      `redisKey of spider ${spider.name} is ${JSON.stringify(pattern)}; expected a Redis key`,
    ])
  }
  checkKeyPattern(
    pattern,
    redisKey === undefined ? 'REDIS_START_URLS_KEY' : `redisKey of spider ${spider.name}`,
  )
  const batchSize =
    numberIn(spider, 'redisBatchSize', redisBatchSize, 1) ??
    settings.get('REDIS_START_URLS_BATCH_SIZE') ??
    settings.getInt('CONCURRENT_REQUESTS')
  const idleS =
    numberIn(spider, 'maxIdleTime', maxIdleTime, 0) ?? settings.getFloat('MAX_IDLE_TIME_BEFORE_CLOSE')
  return {
    key: crawlKey(pattern, crawlNameOf(settings, spider.name)),
    // CONCURRENT_REQUESTS may be 0, which means no bound.
    batchSize: batchSize || BATCH_SIZE_MAX,
    maxIdleTimeMs: idleS === 0 ? Number.POSITIVE_INFINITY : idleS * 1000,
    makeRequests: (data) => requestsOf(spider, data),
  }
}

const BATCH_SIZE_MAX = 1000
/** A message that makes more requests is a mistake or an attack; a sitemap of 50 000 URLs is work for a callback. */
const MAX_REQUESTS_PER_MESSAGE = 10_000

/** Reads a field as a number: `-a redisBatchSize=10` arrives as text. */
function numberIn(
  spider: SeededSpider,
  name: string,
  value: number | undefined,
  least: number,
): number | undefined {
  if (value === undefined || value === null) return undefined
  const number = Number(value)
  if (number >= least && (name !== 'redisBatchSize' || Number.isInteger(number))) return number
  throw new SettingsError([
    `${name} of spider ${spider.name} is ${JSON.stringify(value)}; expected ${least === 1 ? 'an integer from 1' : 'seconds, from 0'}`,
  ])
}

async function requestsOf(spider: SeededSpider, data: string): Promise<Request[]> {
  const requests: Request[] = []
  for await (const request of asStream(await spider.makeRequestFromData(data))) {
    if (request === null || request === undefined) continue
    if (!(request instanceof Request)) {
      throw new WebloomError(
        'WL_YIELD_INVALID',
        `makeRequestFromData made a ${typeof request}; expected a Request, several, or null`,
      )
    }
    requests.push(request)
    if (requests.length > MAX_REQUESTS_PER_MESSAGE) {
      throw new WebloomError('WL_YIELD_INVALID', `it makes more than ${MAX_REQUESTS_PER_MESSAGE} requests`)
    }
  }
  return requests
}

function asStream(made: Awaited<SeedOutput>): Iterable<unknown> | AsyncIterable<unknown> {
  if (typeof made !== 'object' || made === null) return [made]
  return Symbol.iterator in made || Symbol.asyncIterator in made ? made : [made]
}
