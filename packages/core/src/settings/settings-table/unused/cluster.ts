import type { UnusedSettings } from '../../setting-row.ts'

/**
 * Names of scrapy-redis and its Bloom forks that this release does not act on: setting one gives a warning with the reason.
 * Type and default are those it had there.
 */
export const UNUSED_CLUSTER_SETTINGS = [
  {
    since: 'scrapy-redis',
    because: 'a RedisSpider looks for seeds all the time, and takes them ahead.',
    rows: [
      { name: 'REDIS_KEY_CHECK_INTERVAL', type: 'float', unit: 's', nullable: true, default: null, min: 0 },
    ],
  },
  {
    since: 'scrapy-redis',
    because: 'what goes to Redis is always UTF-8, and items are JSON.',
    rows: [
      { name: 'REDIS_ENCODING', type: 'string', default: 'utf-8' },
      { name: 'REDIS_DECODE_RESPONSES', type: 'bool', default: false },
      { name: 'REDIS_ITEMS_SERIALIZER', type: 'component', nullable: true, default: null },
    ],
  },
  {
    since: 'scrapy-redis',
    because: 'scrapy-redis never reads it either; DUPEFILTER_CLASS chooses the filter.',
    rows: [{ name: 'SCHEDULER_DUPEFILTER_CLASS', type: 'component', nullable: true, default: null }],
  },
  {
    since: 'scrapy-redis-bloomfilter',
    because: 'two spiders that share a queue would get each other’s callbacks; CRAWL_ID tells crawls apart.',
    rows: [{ name: 'REDIS_QUEUE_NAME', type: 'string', nullable: true, default: null }],
  },
] as const satisfies readonly UnusedSettings[]
