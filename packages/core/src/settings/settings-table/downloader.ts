import { TIMER_SECONDS_MAX } from '../../waiting/deadline.ts'
import type { UsedSetting } from '../setting-row.ts'

/** How a request becomes a response. */
export const DOWNLOADER_SETTINGS = [
  {
    name: 'USER_AGENT',
    type: 'string',
    default: 'webloom (+https://www.npmjs.com/package/webloom)',
    since: 'scrapy',
    summary:
      'User-Agent of requests that have none of their own. Say who you are and where you can be reached.',
  },
  {
    name: 'DEFAULT_REQUEST_HEADERS',
    type: 'dict',
    default: {
      Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
      'Accept-Language': 'en',
    },
    since: 'scrapy',
    summary: 'Headers for requests that have no header of that name.',
  },
  {
    name: 'DOWNLOAD_HANDLERS',
    type: 'dict',
    default: {},
    since: 'scrapy',
    summary:
      'Download handlers, by URL scheme or by a name for `meta.download_handler`, beside the built-in http, https, data and file: `{"ftp": "./ftp.ts#Ftp"}`. null removes one.',
  },
  {
    name: 'FILE_URLS_ALLOWED',
    type: 'list',
    default: [],
    since: 'webloom',
    summary:
      'Folders and files that `file:` URLs may name, as absolute paths or relative to the working folder. Links of pages may then name them, too. Empty: none.',
  },
  {
    name: 'DOWNLOADER_MIDDLEWARES',
    type: 'components',
    default: [],
    since: 'scrapy',
    summary:
      'Downloader middlewares beside the built-in ones: `[["./mine.ts#Mine", 550]]`; null disables one.',
  },
  {
    name: 'DOWNLOADER_STATS',
    type: 'bool',
    default: true,
    since: 'scrapy',
    summary: 'Counts requests, responses, bytes and failures under `downloader/`.',
  },
  {
    name: 'DOWNLOAD_TIMEOUT',
    type: 'float',
    unit: 's',
    default: 180,
    min: 0.001,
    max: TIMER_SECONDS_MAX,
    since: 'scrapy',
    summary: 'Longest time for one download, from the connection to the last byte.',
  },
  {
    name: 'DOWNLOAD_MAXSIZE',
    type: 'int',
    unit: 'bytes',
    // 2 ** 25, 32 MiB. With 16 requests in flight Scrapy's 1 GiB would let a hostile site fill any machine.
    default: 33_554_432,
    min: 0,
    since: 'scrapy',
    summary:
      'Larger bodies, compressed or decompressed, are cut off and dropped (Scrapy: 1 GiB). 0: no limit.',
  },
  {
    name: 'DOWNLOAD_WARNSIZE',
    type: 'int',
    unit: 'bytes',
    // 2 ** 23, 8 MiB: a quarter of DOWNLOAD_MAXSIZE.
    default: 8_388_608,
    min: 0,
    since: 'scrapy',
    summary: 'Larger bodies are logged with a warning (Scrapy: 32 MiB). 0: never.',
  },
  {
    name: 'DOWNLOAD_FAIL_ON_DATALOSS',
    type: 'bool',
    default: true,
    since: 'scrapy',
    summary:
      'A body shorter than announced counts as a failure and is retried. false: it is passed on with the flag `dataloss`.',
  },
  {
    name: 'DOWNLOAD_VERIFY_CERTIFICATES',
    type: 'bool',
    default: false,
    since: 'scrapy',
    summary:
      'Refuses servers whose TLS certificate is not valid. false by default, as in Scrapy, because many sites have a bad certificate.',
  },
  {
    name: 'COMPRESSION_ENABLED',
    type: 'bool',
    default: true,
    since: 'scrapy',
    summary: 'Asks for gzip, deflate, br and zstd, and decodes them.',
  },
  {
    name: 'RETRY_ENABLED',
    type: 'bool',
    default: true,
    since: 'scrapy',
    summary: 'Retries requests that failed for a reason that may pass.',
  },
  {
    name: 'RETRY_TIMES',
    type: 'int',
    unit: 'tries',
    default: 2,
    min: 0,
    since: 'scrapy',
    summary: 'Retries after the first try.',
  },
  {
    name: 'RETRY_HTTP_CODES',
    type: 'list',
    of: 'int',
    default: [500, 502, 503, 504, 522, 524, 408, 429],
    min: 100,
    max: 999,
    since: 'scrapy',
    summary: 'Statuses that are retried.',
  },
  {
    name: 'RETRY_EXCEPTIONS',
    type: 'list',
    default: [
      'CannotResolveHostError',
      'DownloadConnectionRefusedError',
      'DownloadFailedError',
      'DownloadTimeoutError',
      'ResponseDataLossError',
    ],
    since: 'scrapy',
    summary:
      'Download failures that are retried, by the names that `downloader/exception_type_count/` shows.',
  },
  {
    name: 'RETRY_PRIORITY_ADJUST',
    type: 'int',
    default: -1,
    since: 'scrapy',
    summary: 'Added to the priority of a request that is retried.',
  },
  {
    name: 'RETRY_GIVE_UP_LOG_LEVEL',
    type: 'enum',
    choices: ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'],
    synonyms: { WARN: 'WARNING', FATAL: 'CRITICAL' },
    default: 'ERROR',
    since: 'scrapy',
    summary: 'Level of the log line for a request that was given up.',
  },
  {
    name: 'RETRY_BACKOFF',
    type: 'float',
    unit: 's',
    default: 1,
    min: 0,
    since: 'webloom',
    summary:
      'Wait before the second try, doubled before each further one. Each wait is shortened at random by up to a half. 0: no wait, as in Scrapy.',
  },
  {
    name: 'RETRY_BACKOFF_MAX',
    type: 'float',
    unit: 's',
    default: 60,
    min: 0,
    since: 'webloom',
    summary: 'The longest wait before a retry if the server asks for none.',
  },
  {
    name: 'RETRY_AFTER_MAX',
    type: 'float',
    unit: 's',
    default: 300,
    min: 0,
    since: 'webloom',
    summary: 'The longest wait that a Retry-After header can ask for.',
  },
  {
    name: 'REDIRECT_ENABLED',
    type: 'bool',
    default: true,
    since: 'scrapy',
    summary: 'Follows redirects.',
  },
  {
    name: 'REDIRECT_MAX_TIMES',
    type: 'int',
    unit: 'redirects',
    default: 20,
    min: 0,
    since: 'scrapy',
    summary: 'Redirects in a row before a request is dropped.',
  },
  {
    name: 'REDIRECT_PRIORITY_ADJUST',
    type: 'int',
    default: 2,
    since: 'scrapy',
    summary: 'Added to the priority of a request that was redirected.',
  },
] as const satisfies readonly UsedSetting[]

/** Pages that a browser renders: what `@webloom/browser` reads. */
export const BROWSER_SETTINGS = [
  {
    name: 'BROWSER_EXECUTABLE',
    type: 'string',
    default: null,
    nullable: true,
    since: 'webloom',
    summary:
      'The Chromium or Chrome that renders pages with `meta.browser`; null: the first of chromium-headless-shell, chromium, chromium-browser, google-chrome in PATH.',
  },
  {
    name: 'BROWSER_CDP_URL',
    type: 'string',
    default: null,
    nullable: true,
    secret: true,
    since: 'webloom',
    summary:
      'A browser that runs elsewhere, by its DevTools address (`http://127.0.0.1:9222`, `ws://…`), in place of one that each worker starts.',
  },
  {
    name: 'BROWSER_CDP_TRUSTED',
    type: 'bool',
    default: false,
    since: 'webloom',
    summary:
      'True: the browser of BROWSER_CDP_URL is used although it does not take our proxy, so that nothing keeps its pages out of its network.',
  },
  {
    name: 'BROWSER_EGRESS_HOST',
    type: 'string',
    default: '127.0.0.1',
    since: 'webloom',
    summary:
      'The address of this machine at which a browser finds our proxy. For BROWSER_CDP_URL on another machine: one that it can reach.',
  },
  {
    name: 'BROWSER_SANDBOX',
    type: 'bool',
    default: true,
    since: 'webloom',
    summary:
      'False: Chromium runs without its sandbox, as root and most containers need it. A page that breaks Chromium has then the rights of the worker.',
  },
  {
    name: 'BROWSER_PAGES',
    type: 'int',
    unit: 'pages',
    default: null,
    nullable: true,
    min: 1,
    max: 256,
    since: 'webloom',
    summary: 'Pages that a worker renders at once; null: two for each core.',
  },
  {
    name: 'BROWSER_RETIRE_AFTER',
    type: 'int',
    unit: 'pages',
    default: 500,
    min: 0,
    since: 'webloom',
    summary: 'A browser that has rendered so many pages is replaced, once its last ones are done. 0: never.',
  },
  {
    name: 'BROWSER_MEMORY_MB',
    type: 'int',
    unit: 'MiB',
    default: 2048,
    min: 0,
    since: 'webloom',
    summary:
      'A browser that takes more, its processes together, is replaced; at twice as much it is killed (Linux). 0: never.',
  },
  {
    name: 'BROWSER_MAXSIZE',
    type: 'int',
    unit: 'bytes',
    // 2 ** 26: a heavy page has 10 MB, one with a film any number.
    default: 67_108_864,
    min: 0,
    since: 'webloom',
    summary:
      'A page that loads more, or sends more, all of it together, is cut off and dropped. 0: no limit.',
  },
] as const satisfies readonly UsedSetting[]
