import type { UnusedSettings } from '../../setting-row.ts'

/**
 * Scrapy's names that this release does not act on: setting one gives a warning with the reason.
 * Type and default are Scrapy's; where that is a Python class, null.
 */
export const UNUSED_SCRAPY_SETTINGS = [
  {
    since: 'scrapy',
    because: 'robots.txt is read by the rules of RFC 9309, and its parser cannot be exchanged.',
    rows: [{ name: 'ROBOTSTXT_PARSER', type: 'component', nullable: true, default: null }],
  },
  {
    since: 'scrapy',
    because: 'HTTPCACHE_STORAGE=sqlite has taken the place of the dbm files.',
    rows: [{ name: 'HTTPCACHE_DBM_MODULE', type: 'string', default: 'dbm' }],
  },
  {
    since: 'scrapy',
    because: 'policies are those of the Referrer Policy standard; REFERRER_POLICY chooses one.',
    rows: [{ name: 'REFERRER_POLICIES', type: 'dict', default: {} }],
  },
  {
    since: 'scrapy',
    because:
      'FTP is not built in; DOWNLOAD_HANDLERS takes a handler of your own. The downloader around them is ours.',
    rows: [
      { name: 'DOWNLOADER', type: 'component', nullable: true, default: null },
      { name: 'FTP_PASSIVE_MODE', type: 'bool', default: true },
      { name: 'FTP_PASSWORD', type: 'string', secret: true, default: 'guest' },
      { name: 'FTP_USER', type: 'string', default: 'anonymous' },
    ],
  },
  {
    since: 'scrapy',
    because: 'frames of HTTP/2 have the size that Node gives them, 16 KiB.',
    rows: [{ name: 'HTTP2_MAX_FRAME_SIZE', type: 'int', unit: 'bytes', default: 16_384, min: 1 }],
  },
  {
    since: 'scrapy',
    because: 'TLS is Node’s.',
    rows: [
      { name: 'DOWNLOADER_CLIENTCONTEXTFACTORY', type: 'component', nullable: true, default: null },
      { name: 'DOWNLOADER_CLIENT_TLS_VERBOSE_LOGGING', type: 'bool', default: false },
    ],
  },
  {
    since: 'scrapy',
    because:
      'the built-in components are fixed; the setting without _BASE adds components and disables built-in ones.',
    rows: [
      { name: 'DOWNLOADER_MIDDLEWARES_BASE', type: 'components', default: [] },
      { name: 'DOWNLOAD_HANDLERS_BASE', type: 'dict', default: {} },
      { name: 'EXTENSIONS_BASE', type: 'components', default: [] },
      { name: 'FEED_EXPORTERS_BASE', type: 'dict', default: {} },
      { name: 'FEED_STORAGES_BASE', type: 'dict', default: {} },
      { name: 'ITEM_PIPELINES_BASE', type: 'components', default: [] },
      { name: 'SPIDER_MIDDLEWARES_BASE', type: 'components', default: [] },
    ],
  },
  {
    since: 'scrapy',
    because: 'feeds go to files, standard output and S3, or to a storage of your own (FEED_STORAGES).',
    rows: [
      { name: 'FEED_STORAGE_FTP_ACTIVE', type: 'bool', default: false },
      { name: 'FEED_STORAGE_GCS_ACL', type: 'string', default: '' },
      { name: 'AWS_MAX_POOL_CONNECTIONS', type: 'int', nullable: true, default: null, min: 1 },
      { name: 'AWS_USE_SSL', type: 'bool', nullable: true, default: null },
      { name: 'AWS_VERIFY', type: 'bool', nullable: true, default: null },
      { name: 'GCS_PROJECT_ID', type: 'string', nullable: true, default: null },
    ],
  },
  {
    since: 'scrapy',
    because: 'output is always UTF-8.',
    rows: [
      { name: 'FEED_EXPORT_ENCODING', type: 'string', nullable: true, default: null },
      { name: 'LOG_ENCODING', type: 'string', default: 'utf-8' },
    ],
  },
  {
    since: 'scrapy',
    because: 'FEEDS has taken the place of these two, in Scrapy as here.',
    rows: [
      { name: 'FEED_URI', type: 'string', nullable: true, default: null },
      { name: 'FEED_FORMAT', type: 'string', default: 'jsonlines' },
    ],
  },
  {
    since: 'scrapy',
    because:
      'the pipeline `files` keeps files in a folder; it treats images as files and does not convert them.',
    rows: [
      { name: 'FILES_STORE_GCS_ACL', type: 'string', default: '' },
      { name: 'FILES_STORE_S3_ACL', type: 'string', default: 'private' },
      { name: 'IMAGES_EXPIRES', type: 'int', unit: 'days', default: 90, min: 0 },
      { name: 'IMAGES_MIN_HEIGHT', type: 'int', unit: 'pixels', default: 0, min: 0 },
      { name: 'IMAGES_MIN_WIDTH', type: 'int', unit: 'pixels', default: 0, min: 0 },
      { name: 'IMAGES_RESULT_FIELD', type: 'string', default: 'images' },
      { name: 'IMAGES_STORE', type: 'string', nullable: true, default: null },
      { name: 'IMAGES_STORE_GCS_ACL', type: 'string', default: '' },
      { name: 'IMAGES_STORE_S3_ACL', type: 'string', default: 'private' },
      { name: 'IMAGES_THUMBS', type: 'dict', default: {} },
      { name: 'IMAGES_URLS_FIELD', type: 'string', default: 'image_urls' },
    ],
  },
  {
    since: 'scrapy',
    because: 'items are plain objects; there is no item class, and one way through the pipelines.',
    rows: [
      { name: 'DEFAULT_ITEM_CLASS', type: 'component', nullable: true, default: null },
      { name: 'ITEM_PROCESSOR', type: 'component', nullable: true, default: null },
    ],
  },
  {
    since: 'scrapy',
    because:
      'SCHEDULER_QUEUE_CLASS chooses the order; requests wait by host and priority, not in queues of this kind.',
    rows: [
      { name: 'SCHEDULER_DISK_QUEUE', type: 'component', nullable: true, default: null },
      { name: 'SCHEDULER_MEMORY_QUEUE', type: 'component', nullable: true, default: null },
      { name: 'SCHEDULER_PRIORITY_QUEUE', type: 'component', nullable: true, default: null },
      { name: 'SCHEDULER_START_DISK_QUEUE', type: 'component', nullable: true, default: null },
      { name: 'SCHEDULER_START_MEMORY_QUEUE', type: 'component', nullable: true, default: null },
    ],
  },
  {
    since: 'scrapy',
    because: 'each request that cannot be queued is logged in any case, with the reason.',
    rows: [{ name: 'SCHEDULER_DEBUG', type: 'bool', default: false }],
  },
  {
    since: 'scrapy',
    because: 'FINGERPRINTER chooses the fingerprint.',
    rows: [
      { name: 'REQUEST_FINGERPRINTER_CLASS', type: 'component', nullable: true, default: null },
      { name: 'REQUEST_FINGERPRINTER_IMPLEMENTATION', type: 'string', default: '2.7' },
    ],
  },
  {
    since: 'scrapy',
    because: 'monitors tell what they find: MONITOR_MAIL_TO.',
    rows: [
      { name: 'MEMUSAGE_NOTIFY_MAIL', type: 'list', default: [] },
      { name: 'STATSMAILER_RCPTS', type: 'list', default: [] },
    ],
  },
  {
    since: 'scrapy',
    because:
      'a running crawl has no console; `webloom status`, `pause`, `resume` and `stop` watch and steer a crawl on Redis, signals any other.',
    rows: [
      { name: 'REMOTE_CONTROL_ENABLED', type: 'bool', default: true },
      { name: 'REMOTE_CONTROL_JOBS_DIR', type: 'string', nullable: true, default: null },
      { name: 'REMOTE_CONTROL_OUTPUT_MAX_BYTES', type: 'int', unit: 'bytes', default: 65_536, min: 0 },
      { name: 'REMOTE_CONTROL_TIMEOUT_DEFAULT', type: 'float', unit: 's', default: 30, min: 0 },
      { name: 'REMOTE_CONTROL_TIMEOUT_MAX', type: 'float', unit: 's', default: 600, min: 0 },
      { name: 'REMOTE_CONTROL_TRACEBACK_MAX_BYTES', type: 'int', unit: 'bytes', default: 16_384, min: 0 },
      { name: 'TELNETCONSOLE_ENABLED', type: 'bool', default: true },
      { name: 'TELNETCONSOLE_HOST', type: 'string', default: '127.0.0.1' },
      { name: 'TELNETCONSOLE_PASSWORD', type: 'string', secret: true, nullable: true, default: null },
      { name: 'TELNETCONSOLE_PORT', type: 'list', of: 'int', default: [6023, 6073] },
      { name: 'TELNETCONSOLE_USERNAME', type: 'string', default: 'scrapy' },
    ],
  },
  {
    since: 'scrapy',
    because: 'only LOG_FORMAT, LOG_LEVEL and LOG_COLOR change log lines.',
    rows: [
      { name: 'LOG_DATEFORMAT', type: 'string', default: '%Y-%m-%d %H:%M:%S' },
      { name: 'LOG_INSTALL_ROOT_HANDLER', type: 'bool', default: true },
      { name: 'LOG_FORMATTER', type: 'component', nullable: true, default: null },
      { name: 'LOG_SHORT_NAMES', type: 'bool', default: false },
      { name: 'LOG_STDOUT', type: 'bool', default: false },
      { name: 'LOG_VERSIONS', type: 'list', default: [] },
    ],
  },
  {
    since: 'scrapy',
    because:
      'this extension is not in this release; LOGSTATS_INTERVAL and the counters at the end show the progress.',
    rows: [
      { name: 'MEMDEBUG_ENABLED', type: 'bool', default: false },
      { name: 'PERIODIC_LOG_DELTA', type: 'dict', nullable: true, default: null },
      { name: 'PERIODIC_LOG_STATS', type: 'dict', nullable: true, default: null },
      { name: 'PERIODIC_LOG_TIMING_ENABLED', type: 'bool', default: false },
    ],
  },
  {
    since: 'scrapy',
    because: 'nothing warns of meta that is copied from one request to the next.',
    rows: [{ name: 'META_COPY_WARN_SKIP_KEYS', type: 'list', default: [] }],
  },
  {
    since: 'scrapy',
    because:
      'contracts are a field of the spider, `static contracts`, which `webloom check` runs; there are no classes of contracts.',
    rows: [
      { name: 'SPIDER_CONTRACTS', type: 'components', default: [] },
      { name: 'SPIDER_CONTRACTS_BASE', type: 'components', default: [] },
    ],
  },
  {
    since: 'scrapy',
    because:
      'the folder of the spiders is `spiders` in webloom.config.ts; a spider’s file may be named instead.',
    rows: [
      { name: 'SPIDER_MODULES', type: 'list', default: [] },
      { name: 'NEWSPIDER_MODULE', type: 'string', default: '' },
      { name: 'SPIDER_LOADER_WARN_ONLY', type: 'bool', default: false },
    ],
  },
  {
    since: 'scrapy',
    because: 'a project has no name of its own; logs and outputs carry that of the spider.',
    rows: [{ name: 'BOT_NAME', type: 'string', default: 'scrapybot' }],
  },
  {
    since: 'scrapy',
    because: 'commands, templates and add-ons of a project are not loaded in this release.',
    rows: [
      { name: 'ADDONS', type: 'components', default: [] },
      { name: 'COMMANDS_MODULE', type: 'string', default: '' },
      { name: 'EDITOR', type: 'string', default: 'vi' },
      { name: 'TEMPLATES_DIR', type: 'string', default: '' },
    ],
  },
  {
    since: 'scrapy',
    because: 'it configures Python or Twisted, and neither is here.',
    rows: [
      { name: 'ASYNCIO_EVENT_LOOP', type: 'string', nullable: true, default: null },
      { name: 'FORCE_CRAWLER_PROCESS', type: 'bool', default: false },
      { name: 'REACTOR_THREADPOOL_MAXSIZE', type: 'int', default: 10, min: 1 },
      { name: 'TWISTED_DNS_RESOLVER', type: 'component', nullable: true, default: null },
      { name: 'TWISTED_REACTOR', type: 'string', nullable: true, default: null },
      { name: 'TWISTED_REACTOR_ENABLED', type: 'bool', default: true },
      { name: 'WARN_ON_GENERATOR_RETURN_VALUE', type: 'bool', default: true },
    ],
  },
  {
    since: 'scrapy',
    because:
      'Scrapy itself has deprecated or dropped it; with POLITENESS_GROUP_BY=ip, CONCURRENT_REQUESTS_PER_DOMAIN counts for addresses.',
    rows: [{ name: 'CONCURRENT_REQUESTS_PER_IP', type: 'int', default: 0, min: 0 }],
  },
  {
    since: 'scrapy',
    because: 'Scrapy itself has deprecated or dropped it.',
    rows: [{ name: 'AJAXCRAWL_ENABLED', type: 'bool', default: false }],
  },
] as const satisfies readonly UnusedSettings[]
