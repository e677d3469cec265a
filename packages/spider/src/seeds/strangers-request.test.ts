import { globSync, readFileSync } from 'node:fs'
import { methodNamed } from '@webloom/core'
import { describe, expect, test } from 'vitest'
import { RedisCrawlSpider } from '../spiders/redis-crawl-spider.ts'
import { RedisSpider } from '../spiders/redis-spider.ts'
import { requestFromSeed } from './seed-request.ts'
import { mayStrangerSet } from './strangers-request.ts'

const seed = (fields: object) => JSON.stringify({ url: 'https://example.com/', ...fields })

describe('methods that start URLs may name', () => {
  class Base extends RedisSpider {
    parseShared() {}
  }
  class Quotes extends Base {
    override name = 'quotes'
    override *parse() {}
    parseQuote() {}
    failed() {}
    override closed() {}
    override *start() {}
    override makeRequestFromData(data: string) {
      return super.makeRequestFromData(data)
    }
    parseLater = () => {}
    get parseSecret(): () => void {
      throw new Error('a getter was run')
    }
  }
  class Rules extends RedisCrawlSpider {
    override name = 'rules'
    parseItem() {}
    override parseStartUrl() {
      return undefined
    }
  }
  const [quotes, rules] = [new Quotes(), new Rules()]

  test('are those that the spider’s own classes define', () => {
    for (const callback of ['parse', 'parseQuote', 'parseShared'])
      expect(requestFromSeed(seed({ callback, errback: 'failed' }), { spider: quotes }).callback).toBe(
        callback,
      )
    for (const callback of ['parse', 'parseItem'])
      expect(requestFromSeed(seed({ callback }), { spider: rules }).callback).toBe(callback)
  })

  test.each([
    ...['constructor', 'closed', 'start', 'makeRequestFromData', 'parseLater', 'parseSecret', 'settings'],
    ...['valueOf', 'toString', 'hasOwnProperty', '__defineGetter__', '__proto__', '', 'parsequote'],
  ])('not %s', (name) => {
    for (const role of ['callback', 'errback'])
      expect(() => requestFromSeed(seed({ [role]: name }), { spider: quotes })).toThrow(
        /of spider quotes that start URLs from Redis may name; they may name parse, /,
      )
  })

  test('nor what rules are made of', () => {
    for (const callback of ['parseByRule', 'parseWithRules', 'parseStartUrl', 'processResults'])
      expect(() => requestFromSeed(seed({ callback }), { spider: rules })).toThrow(
        'may name parse, parseItem',
      )
  })

  test('those who are trusted may name any method', () => {
    const request = requestFromSeed(seed({ callback: 'parseByRule' }), { spider: rules, trusted: true })
    expect(request.callback).toBe('parseByRule')
  })
})

test('what every object has is nobody’s callback, and no getter is run to look for one', () => {
  class Own extends RedisSpider {
    override name = 'own'
    get parseSecret(): () => void {
      throw new Error('a getter was run')
    }
    parseLater = () => {}
  }
  const spider = new Own()
  for (const name of ['valueOf', 'constructor', '__proto__', '__defineGetter__', 'parseSecret', 'settings'])
    expect(() => methodNamed(spider, name, 'callback')).toThrow('is not a method of spider own')
  expect(methodNamed(spider, 'parseLater', 'callback')).toBe(spider.parseLater)
})

describe('meta that start URLs may give', () => {
  test.each([
    { category: 'books', link_text: 'more', seed_id: 7, _id: 'a' },
    { depth: 3, retry_times: 0, dont_retry: true, dont_redirect: true, dont_cache: true },
    { handle_httpstatus_list: [404], handle_httpstatus_all: true, dont_merge_cookies: true },
    { seed_delay: 5 },
  ])('%j lifts no bound', (meta) => {
    for (const format of ['webloom', 'scrapy-redis'] as const)
      expect(requestFromSeed(seed({ meta }), { format }).meta).toEqual(meta)
  })

  test.each([
    { proxy: 'http://10.0.0.1:6379' },
    { proxy: null },
    { bindaddress: '10.0.0.1' },
    { depth: -1000 },
    { depth: 'a' },
    { retry_times: -1e9 },
    { max_retry_times: 1e9 },
    { host_retry_times: -1 },
    { redirect_times: -1e9 },
    { redirect_ttl: 1e9 },
    { priority_adjust: 0.5 },
    { cookiejar: 'admin' },
    { download_timeout: 1e9 },
    { download_maxsize: 0 },
    { download_slot: 'mine' },
    { download_of_tomorrow: 1 },
    { dont_obey_robotstxt: true },
    { robotstxt_allowed_until: 4e12 },
    { allow_offsite: true },
    { autothrottle_dont_adjust_delay: true },
    { http_user: 'a', http_pass: 'b', http_auth_domain: null },
    { verbatim_url: true },
    { referrer_policy: 'unsafe-url' },
    { dedupTtl: 0.001 },
    { depth_reset: true },
    { trap_chain: {} },
  ])('%j could, and is for those who are trusted', (meta) => {
    for (const format of ['webloom', 'scrapy-redis'] as const) {
      expect(() => requestFromSeed(seed({ meta }), { format })).toThrow(
        new RegExp(`meta\\.${Object.keys(meta)[0]} .*SEEDS_TRUSTED=true`),
      )
      expect(requestFromSeed(seed({ meta }), { format, trusted: true }).meta).toEqual(meta)
    }
  })

  test('a delay is a number of seconds for everybody', () => {
    for (const seed_delay of [-1, 1e300, 'a', null])
      expect(() => requestFromSeed(seed({ meta: { seed_delay } }), { trusted: true })).toThrow('delay is')
  })

  test('a key called __proto__ is one like any other', () => {
    const { meta } = requestFromSeed('{"url":"https://example.com/","meta":{"__proto__":{"proxy":"x"}}}')
    expect(meta.proxy).toBeUndefined()
    expect(Object.keys(meta)).toEqual(['__proto__'])
  })

  // What is read here and lifts no bound. A key that is new needs a decision: here, or in `strangers-request.ts`.
  const NO_BOUND = ['rule', 'link_text', 'redirect_urls', 'redirect_reasons', 'download_latency']

  test('whatever key of meta is read anywhere has been decided about', () => {
    const sources = globSync('packages/*/src/**/*.ts', { cwd: new URL('../../../..', import.meta.url) })
    const texts = sources
      .filter((path) => !/\.(test|bench)\.ts$|contract|testkit|file-cache-storage/.test(path))
      .map((path) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8'))
    const read = new Set(texts.flatMap(metaKeysIn))
    expect(read.size).toBeGreaterThan(35)
    const undecided = [...read].filter((key) => mayStrangerSet(key, 1e9) && mayStrangerSet(key, true))
    const harmless = ['dont_redirect', 'dont_retry', 'dont_cache', 'dont_merge_cookies', 'seed_delay']
    const known = [...harmless, ...NO_BOUND, 'handle_httpstatus_all', 'handle_httpstatus_list']
    expect(undecided.filter((key) => !known.includes(key))).toEqual([])
  })
})

function metaKeysIn(text: string): string[] {
  const named = text.matchAll(
    /(?<!import\.|docs\/)\bmeta\??\.(\w+)|(?:numberOf|booleanOf)\(request, '(\w+)'/g,
  )
  const unpacked = text.matchAll(/const \{([^}]*)\} = (?:request\.)?meta\b/g)
  return [
    ...[...named].map(([, key, alsoKey]) => (key ?? alsoKey)!),
    ...[...unpacked]
      .flatMap(([, keys]) => keys!.split(',').map((key) => key.split(':')[0]!.trim()))
      .filter((key) => !key.startsWith('...')),
  ]
}

test('a header for the proxy is for those who are trusted', () => {
  const message = seed({ headers: { 'Proxy-Authorization': 'Basic eDp5' } })
  expect(() => requestFromSeed(message)).toThrow('SEEDS_TRUSTED')
  expect(requestFromSeed(message, { trusted: true }).headers.has('proxy-authorization')).toBe(true)
})
