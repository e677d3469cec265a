import { describe, expect, test } from 'vitest'
import { readValue } from './setting-value.ts'
import { settingRow } from './settings-table.ts'

function read(name: string, raw: unknown): unknown {
  const reading = readValue(settingRow(name)!, raw)
  return 'value' in reading ? reading.value : new Error(reading.expected)
}

const refused = expect.any(Error)

describe('from text, as the environment and -s give it', () => {
  test.each([
    ['true', true],
    ['True', true],
    ['1', true],
    ['2', true],
    ['false', false],
    ['False', false],
    ['0', false],
    ['yes', refused],
    ['on', refused],
    ['', refused],
  ])('bool %j', (text, value) => expect(read('RETRY_ENABLED', text)).toEqual(value))

  test.each([
    ['16', 16],
    [' 16 ', 16],
    ['1e3', 1000],
    ['1_000', 1000],
    ['0', refused],
    ['-1', refused],
    ['1.5', refused],
    ['0x10', refused],
    ['', refused],
    ['Infinity', refused],
    ['1e400', refused],
  ])('whole number %j', (text, value) => expect(read('CONCURRENT_REQUESTS', text)).toEqual(value))

  test.each([
    ['0.25', 0.25],
    ['.5', 0.5],
    ['1.', 1],
    ['1e-6', 1e-6],
    ['1,5', refused],
    ['NaN', refused],
  ])('number %j', (text, value) => expect(read('DOWNLOAD_DELAY', text)).toEqual(value))

  test.each([
    ['500,503', [500, 503]],
    ['[500, 503]', [500, 503]],
    ['', []],
    ['500,x', refused],
    ['99', refused],
    ['[500', refused],
  ])('list of numbers %j', (text, value) => expect(read('RETRY_HTTP_CODES', text)).toEqual(value))

  test.each([
    ['Cookie, Accept', ['Cookie', 'Accept']],
    ['["a,b"]', ['a,b']],
    ['[1]', refused],
  ])('list of texts %j', (text, value) => expect(read('FINGERPRINT_INCLUDE_HEADERS', text)).toEqual(value))

  test.each([
    ['{"a.jsonl": {}}', { 'a.jsonl': {} }],
    ['', {}],
    ['[]', refused],
    ['a.jsonl', refused],
  ])('object %j', (text, value) => expect(read('FEEDS', text)).toEqual(value))

  test.each([
    ['title,author', ['title', 'author']],
    ['{"title": "Titel"}', { title: 'Titel' }],
    ['null', null],
    ['', null],
  ])('list or object %j', (text, value) => expect(read('FEED_EXPORT_FIELDS', text)).toEqual(value))

  test.each([
    ['debug', 'DEBUG'],
    ['Warning', 'WARNING'],
    ['warn', 'WARNING'],
    ['toString', refused],
    ['loud', refused],
  ])('one of several %j', (text, value) => expect(read('LOG_LEVEL', text)).toEqual(value))

  test.each([
    ['x.log', 'x.log'],
    ['', null],
    ['None', null],
  ])('text or null %j', (text, value) => expect(read('LOG_FILE', text)).toEqual(value))

  test.each([
    ['[["./a.ts#A", 300]]', [['./a.ts#A', 300]]],
    [
      '{"./a.ts#A": 300, "retry": null}',
      [
        ['./a.ts#A', 300],
        ['retry', null],
      ],
    ],
    ['', []],
    ['./a.ts#A', refused],
    ['[["./a.ts#A"]]', refused],
    ['[["./a.ts#A", "first"]]', refused],
    ['[[7, 300]]', refused],
  ])('components %j', (text, value) => expect(read('ITEM_PIPELINES', text)).toEqual(value))

  test('JSON that is none is quoted with its fault', () => {
    const { message } = read('FEEDS', '{bad}') as Error
    expect(message).toMatch(/this is not JSON: .*at position 1/)
  })
})

describe('from code', () => {
  test.each([
    ['RETRY_ENABLED', 1, true],
    ['RETRY_ENABLED', null, refused],
    ['CONCURRENT_REQUESTS', 16.5, refused],
    ['CONCURRENT_REQUESTS', true, refused],
    ['DOWNLOAD_DELAY', Number.NaN, refused],
    ['FEED_EXPORT_INDENT', 11, refused],
    ['USER_AGENT', 7, refused],
    ['FEEDS', new Map(), refused],
    ['RETRY_HTTP_CODES', 500, refused],
    ['RETRY_HTTP_CODES', ['500'], [500]],
    ['ITEM_PIPELINES', null, refused],
    ['LOG_LEVEL', 10, refused],
  ])('%s %j', (name, raw, value) => expect(read(name, raw)).toEqual(value))
})

describe('components', () => {
  test("the originals' dotted paths are understood", () => {
    expect(read('DUPEFILTER_CLASS', 'scrapy.dupefilters.RFPDupeFilter')).toBe('memory')
    expect(read('SCHEDULER_QUEUE_CLASS', 'scrapy_redis.queue.SpiderStack')).toBe('lifo')
    expect(read('SCHEDULER_QUEUE_CLASS', 'SpiderQueue')).toBe('fifo')
  })

  test('a name, a file or a function; other names are refused where all are known', () => {
    const own = () => 'same'
    expect(read('FINGERPRINTER', 'scrapy-2.6')).toBe('scrapy-2.6')
    expect(read('FINGERPRINTER', './mine.ts#fingerprint')).toBe('./mine.ts#fingerprint')
    expect(read('FINGERPRINTER', own)).toBe(own)
    expect(read('FINGERPRINTER', 'scrappy')).toEqual(refused)
    expect(read('DUPEFILTER_CLASS', '')).toBeNull()
    expect(read('STATS_CLASS', '')).toEqual(refused)
  })

  test.each([
    ['FINGERPRINTER', 'auto, scrapy, scrapy-redis, scrapy-2.6, a function, or ./file.ts#Export'],
    ['FEED_URI_PARAMS', 'a function, or ./file.ts#Export'],
    ['STATS_CLASS', 'memory, a class or function, or ./file.ts#Export'],
  ])('%s says what it takes', (name, expected) => {
    const said = read(name, 7) as Error
    expect(said.message.startsWith(expected)).toBe(true)
  })
})

test.each([
  ['RECRAWL_INTERVAL', '24h', 'a number of hours ≥ 0.0002. It is in hours: for 24h write 24'],
  ['RECRAWL_INTERVAL', '7 days', 'a number of hours ≥ 0.0002. It is in hours: for 7 days write 168'],
  ['RECRAWL_INTERVAL', '1ms', 'a number of hours ≥ 0.0002'],
  ['RECRAWL_INTERVAL', '24 times', 'a number of hours ≥ 0.0002'],
  ['CLOSESPIDER_TIMEOUT', '5m', expect.stringMatching(/\. It is in seconds: for 5m write 300$/)],
  ['DOWNLOAD_DELAY', '250ms', expect.stringMatching(/\. It is in seconds: for 250ms write 0.25$/)],
  ['DOWNLOAD_MAXSIZE', '10MB', expect.stringMatching(/\. It is in bytes: for 10MB write 10485760$/)],
  ['MEMUSAGE_LIMIT_MB', '2GiB', expect.stringMatching(/\. It is in MiB: for 2GiB write 2048$/)],
  ['CONCURRENT_REQUESTS', '16m', expect.not.stringContaining('write')],
])('%s=%s: who writes a unit is told the number that it takes', (name, written, expected) => {
  expect(readValue(settingRow(name)!, written)).toEqual({ expected })
})
