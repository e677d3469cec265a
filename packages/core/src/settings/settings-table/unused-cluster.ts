import type { UnusedSettings } from '../setting-row.ts'

/**
 * Names of scrapy-redis, of its Bloom forks and of our own that this release does not act on: setting one gives a
 * warning with the reason. Type and default are those it had there, or those it will have here.
 */
export const UNUSED_CLUSTER_SETTINGS = [
  {
    since: 'scrapy-redis',
    because:
      'there is no Redis in this release; the crawl runs in one process, and other workers do not share it.',
    rows: [
      { name: 'REDIS_URL', type: 'string', secret: true, nullable: true, default: null },
      { name: 'REDIS_HOST', type: 'string', nullable: true, default: null },
      { name: 'REDIS_PORT', type: 'int', default: 6379, min: 1, max: 65_535 },
      { name: 'REDIS_DB', type: 'int', default: 0, min: 0 },
      { name: 'REDIS_PARAMS', type: 'dict', secret: true, default: {} },
      { name: 'REDIS_ITEMS_KEY', type: 'string', default: '%(spider)s:items' },
      { name: 'REDIS_START_URLS_KEY', type: 'string', default: '%(name)s:start_urls' },
      { name: 'REDIS_START_URLS_AS_SET', type: 'bool', default: false },
      { name: 'REDIS_START_URLS_AS_ZSET', type: 'bool', default: false },
      { name: 'REDIS_START_URLS_BATCH_SIZE', type: 'int', nullable: true, default: null, min: 1 },
      { name: 'REDIS_KEY_CHECK_INTERVAL', type: 'float', unit: 's', nullable: true, default: null, min: 0 },
      { name: 'MAX_IDLE_TIME_BEFORE_CLOSE', type: 'float', unit: 's', default: 0, min: 0 },
      { name: 'SCHEDULER_DUPEFILTER_KEY', type: 'string', default: '%(spider)s:dupefilter' },
      { name: 'SCHEDULER_FLUSH_ON_START', type: 'bool', default: false },
      { name: 'SCHEDULER_IDLE_BEFORE_CLOSE', type: 'float', unit: 's', default: 0, min: 0 },
      { name: 'SCHEDULER_PERSIST', type: 'bool', default: false },
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
    because:
      'there is no Redis in this release, and so no Bloom filter on it; requests met are kept in memory.',
    rows: [
      { name: 'BLOOMFILTER_BIT', type: 'int', default: 30, min: 1, max: 40 },
      { name: 'BLOOMFILTER_HASH_NUMBER', type: 'int', unit: 'hashes', default: 6, min: 1 },
      {
        name: 'HASH_NUMBER',
        type: 'int',
        unit: 'hashes',
        default: 6,
        min: 1,
        aliasOf: 'BLOOMFILTER_HASH_NUMBER',
      },
      {
        name: 'DUPEFILTER_KEY',
        type: 'string',
        default: '%(spider)s:dupefilter',
        aliasOf: 'SCHEDULER_DUPEFILTER_KEY',
      },
      { name: 'FILTER_URL', type: 'string', secret: true, nullable: true, default: null },
      { name: 'FILTER_HOST', type: 'string', nullable: true, default: null },
      { name: 'FILTER_PORT', type: 'int', default: 6379, min: 1, max: 65_535 },
      { name: 'FILTER_DB', type: 'int', default: 0, min: 0 },
      { name: 'REDIS_QUEUE_NAME', type: 'string', nullable: true, default: null },
    ],
  },
  {
    since: 'webloom',
    because:
      'there is no Redis in this release; the crawl runs in one process with its queue and filter in memory.',
    rows: [
      { name: 'CRAWL_ID', type: 'string', nullable: true, default: null },
      { name: 'QUEUE_MODE', type: 'enum', choices: ['turns', 'job'], default: 'turns' },
      { name: 'QUEUE_REDIS_URL', type: 'string', secret: true, nullable: true, default: null },
      { name: 'DUPEFILTER_REDIS_URL', type: 'list', secret: true, default: [] },
      { name: 'SEEDS_REDIS_URL', type: 'string', secret: true, nullable: true, default: null },
      { name: 'ITEMS_REDIS_URL', type: 'string', secret: true, nullable: true, default: null },
      { name: 'REDIS_HIGH_WATER', type: 'float', unit: 'of maxmemory', default: 0.85, min: 0, max: 1 },
      { name: 'REDIS_START_TIMEOUT', type: 'float', unit: 's', default: 15, min: 0 },
      { name: 'QUARANTINE_AFTER', type: 'int', unit: 'lost workers', default: 3, min: 1 },
      { name: 'SEEDS_FORMAT', type: 'enum', choices: ['webloom', 'scrapy-redis'], default: 'webloom' },
      { name: 'SEEDS_TRUSTED', type: 'bool', default: false },
      { name: 'DUPEFILTER_PENDING_STALE', type: 'float', unit: 's', default: 10, min: 0 },
      { name: 'DUPEFILTER_CACHE_SIZE', type: 'int', unit: 'fingerprints', default: 0, min: 0 },
      { name: 'DUPEFILTER_RELEASE_ON_FAILURE', type: 'bool', default: false },
      { name: 'DUPEFILTER_TTL', type: 'float', unit: 's', nullable: true, default: null, min: 0 },
      {
        name: 'DUPEFILTER_DIGEST',
        type: 'enum',
        choices: ['fingerprint', 'url', 'md5', 'sha1', 'sha256', 'sha512'],
        default: 'fingerprint',
      },
      { name: 'BLOOMFILTER_BLOCK_NUM', type: 'int', unit: 'blocks', nullable: true, default: null, min: 1 },
      { name: 'BLOOMFILTER_CAPACITY', type: 'int', unit: 'requests', nullable: true, default: null, min: 1 },
      {
        name: 'BLOOMFILTER_COMPAT',
        type: 'enum',
        choices: ['native', 'germey', 'liuxingming', 'liuxingming-demo'],
        default: 'native',
      },
      { name: 'BLOOMFILTER_ERROR_RATE', type: 'float', default: 1e-6, min: 0, max: 1 },
      { name: 'BLOOMFILTER_ON_FULL', type: 'enum', choices: ['grow', 'warn', 'stop'], default: 'warn' },
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
