import { TIMER_SECONDS_MAX } from '../../waiting/deadline.ts'
import type { UsedSetting } from '../setting-row.ts'

/** What a crawl tells about itself. */
export const LOG_SETTINGS = [
  {
    name: 'LOG_ENABLED',
    type: 'bool',
    default: true,
    since: 'scrapy',
    summary: 'Writes a log.',
  },
  {
    name: 'LOG_LEVEL',
    type: 'enum',
    choices: ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'],
    synonyms: { WARN: 'WARNING', FATAL: 'CRITICAL' },
    default: 'INFO',
    since: 'scrapy',
    summary:
      'Lowest level that is written. It is not DEBUG as in Scrapy, whose line for each page and item hides the rest.',
  },
  {
    name: 'LOG_FORMAT',
    type: 'enum',
    choices: ['auto', 'pretty', 'json'],
    default: 'auto',
    since: 'scrapy',
    summary: 'auto: pretty on a terminal, else one JSON object a line. (In Scrapy: a template of the line.)',
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
    summary: 'Appends to LOG_FILE. false: empties the file at the start.',
  },
  {
    name: 'LOGSTATS_INTERVAL',
    type: 'float',
    unit: 's',
    default: 60,
    min: 0,
    max: TIMER_SECONDS_MAX,
    since: 'scrapy',
    summary: 'Time between two log lines with the pages and items so far. 0: no such lines.',
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
    summary: 'Shows all counters of this process at the end.',
  },
  {
    name: 'METRICS_PORT',
    type: 'int',
    default: 0,
    min: 0,
    max: 65_535,
    since: 'webloom',
    summary:
      'Port of this process’s `/metrics`, for Prometheus. The n-th process of `worker --processes` has METRICS_PORT + n. Needs `@webloom/dashboard`. 0: none.',
  },
  {
    name: 'METRICS_HOST',
    type: 'string',
    default: '127.0.0.1',
    since: 'webloom',
    summary: 'Address that METRICS_PORT listens on. Whoever reaches it can read the figures.',
  },
  {
    name: 'METRICS_TIMES',
    type: 'bool',
    default: false,
    since: 'webloom',
    summary:
      'Counts how long requests wait in the queue and how long downloads and callbacks take, as the stats `queue_time/*`, `download_time/*` and `callback_time/*`.',
  },
  {
    name: 'TRACES',
    type: 'float',
    default: 0,
    min: 0,
    max: 1,
    since: 'webloom',
    summary:
      'Share of the pages that get an OpenTelemetry trace: 0.001 is one in a thousand. Needs `@opentelemetry/api`, and an SDK that sends the traces. 0: none.',
  },
] as const satisfies readonly UsedSetting[]
