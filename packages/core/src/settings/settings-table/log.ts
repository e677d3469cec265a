import type { UsedSetting } from '../setting-row.ts'

/** What a crawl tells about itself. */
export const LOG_SETTINGS = [
  {
    name: 'LOG_ENABLED',
    type: 'bool',
    default: true,
    since: 'scrapy',
    summary: 'Writes a log at all.',
  },
  {
    name: 'LOG_LEVEL',
    type: 'enum',
    choices: ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'],
    synonyms: { WARN: 'WARNING', FATAL: 'CRITICAL' },
    default: 'INFO',
    since: 'scrapy',
    summary:
      'Least level that is written. Not DEBUG as in Scrapy: its line for each page and item hides the rest.',
  },
  {
    name: 'LOG_FORMAT',
    type: 'enum',
    choices: ['auto', 'pretty', 'json'],
    default: 'auto',
    since: 'scrapy',
    summary: 'auto: pretty on a terminal, else JSON, a line each. (In Scrapy a template of the line.)',
  },
  {
    name: 'LOG_COLOR',
    type: 'bool',
    default: true,
    since: 'scrapy',
    summary: 'Colours log lines on a terminal. NO_COLOR in the environment turns them off everywhere.',
  },
  {
    name: 'LOG_FILE',
    type: 'string',
    nullable: true,
    default: null,
    since: 'scrapy',
    summary: 'File for the log. null: standard error.',
  },
  {
    name: 'LOG_FILE_APPEND',
    type: 'bool',
    default: true,
    since: 'scrapy',
    summary: 'Appends to LOG_FILE; off: empties it at start.',
  },
  {
    name: 'LOGSTATS_INTERVAL',
    type: 'float',
    unit: 's',
    default: 60,
    min: 0,
    max: 2_147_483,
    since: 'scrapy',
    summary: 'Time between two lines with pages and items so far. 0: no such lines.',
  },
  {
    name: 'STATS_CLASS',
    type: 'component',
    choices: ['memory'],
    synonyms: { 'scrapy.statscollectors.MemoryStatsCollector': 'memory' },
    default: 'memory',
    since: 'scrapy',
    summary: 'Keeps the counters: `memory`, or `./file.ts#Export`.',
  },
  {
    name: 'STATS_DUMP',
    type: 'bool',
    default: true,
    since: 'scrapy',
    summary: 'Shows all counters at the end.',
  },
  {
    name: 'METRICS_PORT',
    type: 'int',
    default: 0,
    min: 0,
    max: 65_535,
    since: 'webloom',
    summary:
      'Port of `/metrics` of this process, for Prometheus; of `worker --processes` the n-th has METRICS_PORT + n. Needs `@webloom/dashboard`. 0: none.',
  },
  {
    name: 'METRICS_HOST',
    type: 'string',
    default: '127.0.0.1',
    since: 'webloom',
    summary: 'Address that METRICS_PORT listens on. All who reach it can read the figures.',
  },
  {
    name: 'METRICS_TIMES',
    type: 'bool',
    default: false,
    since: 'webloom',
    summary:
      'Counts how long requests wait in the queue, and downloads and callbacks take, as the stats `queue_time/*`, `download_time/*` and `callback_time/*`.',
  },
  {
    name: 'TRACES',
    type: 'float',
    default: 0,
    min: 0,
    max: 1,
    since: 'webloom',
    summary:
      'Share of the pages that have a trace of OpenTelemetry: 0.001 is one in a thousand. Needs `@opentelemetry/api` and an SDK, without which nothing is sent. 0: none.',
  },
] as const satisfies readonly UsedSetting[]
