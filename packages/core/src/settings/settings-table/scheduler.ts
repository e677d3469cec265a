import type { UsedSetting } from '../setting-row.ts'

/** The built-in dupefilters, as DUPEFILTER_CLASS names them. */
export const DUPEFILTER_NAMES = [
  'memory',
  'memory-bloom',
  'redis-set',
  'redis-key',
  'redis-bloom',
  'counting-bloom',
  'splittable-bloom',
  'none',
] as const

export type DupeFilterName = (typeof DUPEFILTER_NAMES)[number]

/** Which requests are new, and which goes next. */
export const SCHEDULER_SETTINGS = [
  {
    name: 'SCHEDULER',
    type: 'component',
    nullable: true,
    synonyms: {
      'scrapy.core.scheduler.Scheduler': 'scrapy',
      'scrapy_redis.scheduler.Scheduler': 'scrapy-redis',
      'scrapy_redis_bloomfilter.scheduler.Scheduler': 'scrapy-redis',
    },
    default: null,
    since: 'scrapy',
    summary:
      'Only checked: if it names scrapy-redis’s scheduler and the crawl is not on Redis, a warning says so. REDIS_URL is what puts a crawl on Redis.',
  },
  {
    name: 'DUPEFILTER_CLASS',
    type: 'component',
    nullable: true,
    synonyms: {
      'scrapy.dupefilters.BaseDupeFilter': 'none',
      'scrapy.dupefilters.RFPDupeFilter': 'memory',
      'scrapy_redis.dupefilter.RFPDupeFilter': 'redis-set',
      'scrapy_redis_bloomfilter.dupefilter.RFPDupeFilter': 'redis-bloom',
    },
    default: null,
    since: 'scrapy',
    summary: `Remembers which requests were seen: ${DUPEFILTER_NAMES.map((name) => `\`${name}\``).join(', ')}, or \`./file.ts#Export\`. null: \`redis-set\` with Redis, else \`memory\`.`,
  },
  {
    name: 'DUPEFILTER_DEBUG',
    type: 'bool',
    default: false,
    since: 'scrapy',
    summary: 'Logs every request dropped as a duplicate, not only the first.',
  },
  {
    name: 'DUPEFILTER_RELEASE_ON_FAILURE',
    type: 'bool',
    default: false,
    since: 'webloom',
    summary:
      'Forgets a page that could not be fetched after all retries, so that the next link to it has it fetched again. For filters that can forget.',
  },
  {
    name: 'FINGERPRINTER',
    type: 'component',
    isFunction: true,
    choices: ['auto', 'scrapy', 'scrapy-redis', 'scrapy-2.6'],
    default: 'auto',
    since: 'webloom',
    summary:
      'Decides which requests are equal. `auto`: the one that fits the dupefilter; or a name, a function, `./file.ts#Export`.',
  },
  {
    name: 'FINGERPRINT_INCLUDE_HEADERS',
    type: 'list',
    default: [],
    since: 'webloom',
    summary: 'Headers that are part of the fingerprint: requests that differ in one of them are different.',
  },
  {
    name: 'FINGERPRINT_KEEP_FRAGMENTS',
    type: 'bool',
    default: false,
    since: 'webloom',
    summary: 'Treats URLs that differ only after the # as different pages.',
  },
  {
    name: 'DUPEFILTER_DIGEST',
    type: 'enum',
    choices: ['fingerprint', 'url', 'md5', 'sha1', 'sha256', 'sha512'],
    default: 'fingerprint',
    since: 'webloom',
    summary:
      'What the dupefilter stores of a request: its `fingerprint`, its canonical `url`, or a hash of that URL. All but `fingerprint` ignore method and body: all POSTs to one URL are then the same request.',
  },
  {
    name: 'URL_RULES',
    type: 'enum',
    choices: ['w3lib-2.5', 'w3lib-2.4'],
    default: 'w3lib-2.5',
    since: 'webloom',
    summary:
      'The rules by which URLs are made safe and compared. To share a filter with a Python crawler, choose the version of its w3lib. A filter or JOBDIR that was begun with other rules keeps them.',
  },
  {
    name: 'CANONICALIZER',
    type: 'enum',
    choices: ['scrapy', 'normalize-url'],
    default: 'scrapy',
    since: 'webloom',
    summary:
      'Decides which URLs are equal: Scrapy’s rules, or the npm library normalize-url. The URL that is fetched stays as it is.',
  },
  {
    name: 'NORMALIZE_URL_OPTIONS',
    type: 'dict',
    default: {},
    since: 'webloom',
    summary:
      'Options of normalize-url, such as `{"removeQueryParameters": ["sid", "/^utm_/i"]}`. Other than in the library, `stripWWW`, `removeTrailingSlash` and `stripAuthentication` are off: a server may redirect one form of the URL to the other, which would be dropped as seen.',
  },
  {
    name: 'JOBDIR',
    type: 'string',
    nullable: true,
    default: null,
    since: 'scrapy',
    summary:
      'Folder that keeps queue and seen requests, so that a stopped or killed crawl can be resumed. null: in memory.',
  },
  {
    name: 'FAILED_MAX',
    type: 'int',
    unit: 'requests',
    default: 10_000,
    min: 0,
    since: 'webloom',
    summary:
      'How many requests that were given up are kept for `webloom failed`. When there are more, the oldest of the most common signature are removed. 0: none is kept.',
  },
  {
    name: 'SCHEDULER_QUEUE_CLASS',
    type: 'enum',
    choices: ['priority', 'fifo', 'lifo'],
    synonyms: {
      'scrapy_redis.queue.PriorityQueue': 'priority',
      'scrapy_redis.queue.FifoQueue': 'fifo',
      'scrapy_redis.queue.LifoQueue': 'lifo',
      'scrapy_redis.queue.SpiderPriorityQueue': 'priority',
      'scrapy_redis.queue.SpiderQueue': 'fifo',
      'scrapy_redis.queue.SpiderStack': 'lifo',
      'scrapy_redis.queue.SpiderSimpleQueue': 'fifo',
      SpiderPriorityQueue: 'priority',
      SpiderQueue: 'fifo',
      SpiderStack: 'lifo',
      SpiderSimpleQueue: 'fifo',
    },
    default: 'priority',
    since: 'scrapy-redis',
    summary: 'Which waiting request of a host goes next: highest priority, oldest, or newest.',
  },
] as const satisfies readonly UsedSetting[]
