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
      'Checked, and nothing else: with scrapy-redis’s the crawl is expected to be on Redis, and a warning says when it is not. What puts it there is REDIS_URL.',
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
    summary: `Remembers which requests were met: ${DUPEFILTER_NAMES.map((name) => `\`${name}\``).join(', ')}, or \`./file.ts#Export\`. null: \`redis-set\` with Redis, else \`memory\`.`,
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
      'A page that could not be fetched, after all retries, is forgotten: the next link to it has it fetched. For filters that can forget.',
  },
  {
    name: 'FINGERPRINTER',
    type: 'component',
    choices: ['auto', 'scrapy', 'scrapy-redis', 'scrapy-2.6'],
    default: 'auto',
    since: 'webloom',
    summary:
      'What makes two requests equal: `auto` fits the dupefilter; or a name, a function, `./file.ts#Export`.',
  },
  {
    name: 'FINGERPRINT_INCLUDE_HEADERS',
    type: 'list',
    default: [],
    since: 'webloom',
    summary: 'Headers by which requests to one URL differ.',
  },
  {
    name: 'FINGERPRINT_KEEP_FRAGMENTS',
    type: 'bool',
    default: false,
    since: 'webloom',
    summary: 'URLs that differ only after the # are different pages.',
  },
  {
    name: 'DUPEFILTER_DIGEST',
    type: 'enum',
    choices: ['fingerprint', 'url', 'md5', 'sha1', 'sha256', 'sha512'],
    default: 'fingerprint',
    since: 'webloom',
    summary:
      'What the dupefilter remembers a request by: its `fingerprint`, its canonical `url`, or a hash of that URL. All but the first leave out method and body: POSTs to one URL are then the same request.',
  },
  {
    name: 'URL_RULES',
    type: 'enum',
    choices: ['w3lib-2.5', 'w3lib-2.4'],
    default: 'w3lib-2.5',
    since: 'webloom',
    summary:
      'Whose rules make URLs safe and compare them: those of the w3lib that a Python crawler has, which shares its filter. A filter or JOBDIR that was begun with other rules keeps them.',
  },
  {
    name: 'CANONICALIZER',
    type: 'enum',
    choices: ['scrapy', 'normalize-url'],
    default: 'scrapy',
    since: 'webloom',
    summary:
      'Which URLs are equal: by Scrapy’s rules, or by the npm library normalize-url. The URL that is fetched stays as it is.',
  },
  {
    name: 'NORMALIZE_URL_OPTIONS',
    type: 'dict',
    default: {},
    since: 'webloom',
    summary:
      'Options of that library, as `{"removeQueryParameters": ["sid", "/^utm_/i"]}`. Unlike there `stripWWW`, `removeTrailingSlash` and `stripAuthentication` are off, as a server may redirect the one to the other, which would be dropped as met.',
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
      'How many requests that were given up are kept, for `webloom failed`. Then the oldest of the most common signature go. 0: none is kept.',
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
