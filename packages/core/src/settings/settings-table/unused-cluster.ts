import type { UnusedSettings } from '../setting-row.ts'

/**
 * Names of scrapy-redis, of its Bloom forks and of our own that this release does not act on: setting one gives a
 * warning with the reason. Type and default are those it had there, or those it will have here.
 */
export const UNUSED_CLUSTER_SETTINGS = [
  {
    since: 'scrapy-redis',
    because:
      'only the dupefilter is on Redis in this release; queue, seeds, items and stats are in one process.',
    rows: [
      { name: 'REDIS_ITEMS_KEY', type: 'string', default: '%(spider)s:items' },
      { name: 'REDIS_START_URLS_KEY', type: 'string', default: '%(name)s:start_urls' },
      { name: 'REDIS_START_URLS_AS_SET', type: 'bool', default: false },
      { name: 'REDIS_START_URLS_AS_ZSET', type: 'bool', default: false },
      { name: 'REDIS_START_URLS_BATCH_SIZE', type: 'int', nullable: true, default: null, min: 1 },
      { name: 'REDIS_KEY_CHECK_INTERVAL', type: 'float', unit: 's', nullable: true, default: null, min: 0 },
      { name: 'MAX_IDLE_TIME_BEFORE_CLOSE', type: 'float', unit: 's', default: 0, min: 0 },
      { name: 'SCHEDULER_IDLE_BEFORE_CLOSE', type: 'float', unit: 's', default: 0, min: 0 },
      { name: 'SCHEDULER_QUEUE_KEY', type: 'string', default: '%(spider)s:requests' },
      { name: 'STATS_KEY', type: 'string', default: '%(spider)s:stats' },
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
    because: 'Python pickles can be neither written nor read here; requests travel as JSON.',
    rows: [{ name: 'SCHEDULER_SERIALIZER', type: 'component', nullable: true, default: null }],
  },
  {
    since: 'scrapy-redis',
    because: 'scrapy-redis never reads it either; DUPEFILTER_CLASS chooses the filter.',
    rows: [{ name: 'SCHEDULER_DUPEFILTER_CLASS', type: 'component', nullable: true, default: null }],
  },
  {
    since: 'scrapy-redis-bloomfilter',
    because: 'the request queue is not on Redis in this release, and so not shared under a name.',
    rows: [{ name: 'REDIS_QUEUE_NAME', type: 'string', nullable: true, default: null }],
  },
  {
    since: 'webloom',
    because:
      'only the dupefilter is on Redis in this release; the crawl runs in one process with its queue in memory.',
    rows: [
      { name: 'CRAWL_ID', type: 'string', nullable: true, default: null },
      { name: 'QUEUE_MODE', type: 'enum', choices: ['turns', 'job'], default: 'turns' },
      { name: 'QUEUE_REDIS_URL', type: 'string', secret: true, nullable: true, default: null },
      { name: 'SEEDS_REDIS_URL', type: 'string', secret: true, nullable: true, default: null },
      { name: 'ITEMS_REDIS_URL', type: 'string', secret: true, nullable: true, default: null },
      { name: 'REDIS_HIGH_WATER', type: 'float', unit: 'of maxmemory', default: 0.85, min: 0, max: 1 },
      { name: 'QUARANTINE_AFTER', type: 'int', unit: 'lost workers', default: 3, min: 1 },
      { name: 'SEEDS_FORMAT', type: 'enum', choices: ['webloom', 'scrapy-redis'], default: 'webloom' },
      { name: 'SEEDS_TRUSTED', type: 'bool', default: false },
      { name: 'DUPEFILTER_RELEASE_ON_FAILURE', type: 'bool', default: false },
      { name: 'DUPEFILTER_TTL', type: 'float', unit: 's', nullable: true, default: null, min: 0 },
      {
        name: 'DUPEFILTER_DIGEST',
        type: 'enum',
        choices: ['fingerprint', 'url', 'md5', 'sha1', 'sha256', 'sha512'],
        default: 'fingerprint',
      },
      {
        name: 'BLOOMFILTER_PARTITION_BY',
        type: 'enum',
        choices: ['fingerprint', 'host'],
        default: 'fingerprint',
      },
    ],
  },
  {
    since: 'webloom',
    because: "fingerprints use Scrapy's canonical URLs only in this release.",
    rows: [{ name: 'CANONICALIZER', type: 'enum', choices: ['scrapy', 'normalize-url'], default: 'scrapy' }],
  },
  {
    since: 'webloom',
    because: 'this release paces by host with DOWNLOAD_DELAY and DOWNLOAD_SLOTS only.',
    rows: [
      { name: 'CRAWL_DELAY', type: 'enum', choices: ['obey', 'cap', 'ignore'], default: 'obey' },
      { name: 'RETRY_AFTER_MAX', type: 'float', unit: 's', default: 300, min: 0 },
      { name: 'POLITENESS_GROUP_BY', type: 'enum', choices: ['host', 'domain', 'ip'], default: 'host' },
    ],
  },
] as const satisfies readonly UnusedSettings[]
