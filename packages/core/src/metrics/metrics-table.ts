/**
 * The metrics that are made of a crawl's stats, for Prometheus: each names the stats that it is the sum of. A stat that has a
 * metric has one, so nothing is counted twice.
 *
 * How many series a crawl has is known before it begins: no label has a host, a URL or a name of the user's in it. Each label has
 * a list of values, and whatever is not in it counts as `other`. `SERIES_PER_CRAWL_MAX` is the bound, and a test holds it.
 *
 * To add a stat: a line here, and its row in docs/stats.md; a test compares them. What happens seldom is a `webloom_events_total`.
 */

import type { DownloadFailureKind } from '../errors/errors.ts'
import type { ProtectionReason } from '../errors/protection-reason.ts'
import type { FailureReason } from '../ports/failure-ledger.ts'
import { MONITOR_NAMES } from './monitor-names.ts'

/** Every series of one crawl: those of this table, and what is read besides (`docs/operate.md`). */
export const SERIES_PER_CRAWL_MAX = 400

/** A stat, or all stats of a beginning: `downloader/response_status_count/<status>`. */
export interface MetricSource {
  readonly stat: string
  /** The label's value for this stat. Absent for a `<…>`: then it is what stands there, if `values` has it. */
  readonly value?: string
}

/** A counter that is the sum of stats. Those of a label are one series for each value. */
export interface StatMetric {
  /** Ends with `_total`, and has its unit before that. */
  readonly name: string
  readonly help: string
  readonly label?: string
  /** What the label may be, beside `other`. Absent: what the sources say. */
  readonly values?: readonly string[]
  readonly from: readonly MetricSource[]
}

/** Values of a label that are not in its list. */
export const OTHER_VALUE = 'other'

// What sites answer with. Others count by their first digit.
const STATUSES =
  '200 201 202 203 204 206 301 302 303 304 307 308 400 401 402 403 404 405 406 408 410 422 429 451 500 502 503 504 520 521 522 523 524 525 526 530'.split(
    ' ',
  )
const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx']

// Records and not lists: the compiler finds one that is missing.
const KINDS: Record<DownloadFailureKind, true> = {
  CannotResolveHostError: true,
  DownloadConnectionRefusedError: true,
  DownloadFailedError: true,
  DownloadTimeoutError: true,
  ResponseDataLossError: true,
  DownloadTooLargeError: true,
  DownloadCertificateError: true,
  ResponseDecodeError: true,
  UnsupportedURLSchemeError: true,
}

const FAILURES: Record<Exclude<FailureReason, 'quarantined'>, true> = {
  download: true,
  status: true,
  host: true,
  robots: true,
  callback: true,
  middleware: true,
}

const PROTECTIONS: Record<ProtectionReason, true> = {
  metadata_address: true,
  loopback_address: true,
  private_address: true,
  link_local_address: true,
  shared_address: true,
  multicast_address: true,
  unspecified_address: true,
  reserved_address: true,
  file_url: true,
  deadline: true,
  slow_headers: true,
  slow_body: true,
  body_size: true,
  header_size: true,
  header_count: true,
  interim_answers: true,
  data_loss: true,
  bad_http: true,
  bad_tls: true,
  bad_certificate: true,
  decompressed_size: true,
  decompression_ratio: true,
  encoding_chain: true,
  bad_encoding: true,
  location_length: true,
  binary_page: true,
  page_nodes: true,
  page_links: true,
}

export const STAT_METRICS: readonly StatMetric[] = [
  total('webloom_requests_total', 'Requests sent to sites.', 'downloader/request_count'),
  total('webloom_request_bytes_total', 'Bytes of requests, with their headers.', 'downloader/request_bytes'),
  {
    name: 'webloom_responses_total',
    help: 'Responses of sites by status. Rare ones count as 2xx, 4xx and so on.',
    label: 'status',
    values: [...STATUSES, ...STATUS_CLASSES],
    from: [{ stat: 'downloader/response_status_count/<status>' }],
  },
  total(
    'webloom_response_bytes_total',
    'Bytes of responses as received, with their headers.',
    'downloader/response_bytes',
  ),
  total('webloom_pages_total', 'Responses that callbacks were to have.', 'response_received_count'),
  {
    name: 'webloom_download_errors_total',
    help: 'Tries that brought no response, by kind.',
    label: 'kind',
    values: Object.keys(KINDS),
    from: [{ stat: 'downloader/exception_type_count/<kind>' }],
  },
  total('webloom_retries_total', 'Requests that were tried again.', 'retry/count'),
  total(
    'webloom_retries_exhausted_total',
    'Requests that were not tried again, as RETRY_TIMES was reached.',
    'retry/max_reached',
  ),
  {
    name: 'webloom_failed_total',
    help: 'Requests that were given up, by reason.',
    label: 'reason',
    values: Object.keys(FAILURES),
    from: [{ stat: 'failed/reason_count/<reason>' }],
  },
  {
    name: 'webloom_monitor_alerts_total',
    help: 'What monitors have found in this run, by monitor.',
    label: 'monitor',
    values: MONITOR_NAMES,
    from: [{ stat: 'monitors/alert_count/<monitor>' }],
  },
  {
    name: 'webloom_monitor_notifications_total',
    help: 'Messages about that, by what became of them.',
    label: 'outcome',
    values: ['sent', 'lost'],
    from: [{ stat: 'monitors/notification_count/<outcome>' }],
  },
  {
    name: 'webloom_protection_total',
    help: 'Downloads that a bound of the protection against a hostile web has ended, by reason.',
    label: 'reason',
    values: Object.keys(PROTECTIONS),
    from: [{ stat: 'downloader/protection/<reason>' }],
  },
  {
    name: 'webloom_skipped_total',
    help: 'Links and responses that were passed over, by reason.',
    label: 'reason',
    from: [
      { stat: 'dupefilter/filtered', value: 'met_before' },
      { stat: 'offsite/filtered', value: 'offsite' },
      { stat: 'robotstxt/forbidden', value: 'robots' },
      { stat: 'robotstxt/given_up', value: 'robots' },
      { stat: 'depth/request_ignored_count', value: 'depth' },
      { stat: 'trap/<reason>', value: 'trap' },
      { stat: 'urllength/request_ignored_count', value: 'long_url' },
      { stat: 'httperror/response_ignored_count', value: 'status' },
      { stat: 'host_backoff/dropped', value: 'host_given_up' },
      { stat: 'budgets/dropped', value: 'budget' },
      { stat: 'httpcache/ignore', value: 'not_cached' },
      { stat: 'redirect/max_times_reached', value: 'redirects' },
      { stat: 'redirect/to_itself', value: 'redirects_to_itself' },
      { stat: 'spider_output/refused_count', value: 'not_a_request' },
      { stat: 'spider_output/invalid_count', value: 'not_a_request' },
      { stat: 'start/invalid_url_count', value: 'not_a_request' },
      { stat: 'sitemap/invalid_url_count', value: 'not_a_request' },
      { stat: 'scheduler/no_fingerprint_count', value: 'not_a_request' },
      { stat: 'seeds/invalid', value: 'not_a_request' },
    ],
  },
  total('webloom_items_total', 'Items that were written.', 'item_scraped_count'),
  total('webloom_items_dropped_total', 'Items that a pipeline dropped.', 'item_dropped_count'),
  {
    name: 'webloom_items_lost_total',
    help: 'Items that were lost, by where.',
    label: 'where',
    from: [
      { stat: 'item_error_count', value: 'pipeline' },
      { stat: 'item_unwritable_count', value: 'no_output' },
      { stat: 'feedexport/unserializable_count', value: 'feed' },
    ],
  },
  total('webloom_spider_exceptions_total', 'Errors that callbacks threw.', 'spider_exceptions/count'),
  {
    name: 'webloom_log_messages_total',
    help: 'Lines of the log, by level.',
    label: 'level',
    values: ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'],
    from: [{ stat: 'log_count/<level>' }],
  },
  total('webloom_enqueued_total', 'Requests that were queued.', 'scheduler/enqueued'),
  total('webloom_dequeued_total', 'Requests that were taken from the queue.', 'scheduler/dequeued'),
  {
    name: 'webloom_http_cache_total',
    help: 'What the HTTP cache did, by result.',
    label: 'result',
    values: ['hit', 'miss', 'store', 'ignore', 'firsthand', 'invalidate', 'revalidate', 'uncacheable'],
    from: [{ stat: 'httpcache/<result>' }],
  },
  total('webloom_files_total', 'Files of items that were fetched or known.', 'file_count'),
  total('webloom_files_failed_total', 'Files of items that could not be downloaded.', 'file_error_count'),
  {
    name: 'webloom_events_total',
    help: 'What happens seldom, by its stat (docs/stats.md).',
    label: 'event',
    from: [
      ...events('start/', 'yielded_count'),
      ...events('spider_output/', 'yielded_count'),
      ...events('csv/', 'invalid_row_count'),
      ...events('browser/', 'pages', 'rendered_again', 'starts', 'killed', 'requests', 'bytes'),
      ...events('browser/', 'blocked', 'refused', 'popups', 'cookies_refused', 'unfinished'),
      ...events('browser/auto/', 'http', 'rendered', 'probes', 'undecided', 'store_error'),
      ...events('robotstxt/', 'request_count', 'response_count', 'waited', 'forgotten', 'shared_forgotten'),
      ...events('robotstxt/', 'store_error_count'),
      ...events('cookies/', 'refused', 'too_large', 'too_many', 'evicted', 'jars_evicted', 'store_error'),
      ...events('proxy/', 'successes', 'failures', 'banned', 'all_banned'),
      ...events('httpcache/', 'retrieve_error', 'store_error', 'errorrecovery'),
      ...events('httpcompression/', 'response_count', 'response_bytes'),
      ...events('redirect/', 'not_followed'),
      ...events('retry/', 'host_count'),
      ...events('downloader/', 'unread_count'),
      ...events('budgets/', 'waited', 'unanswered'),
      ...events('host_backoff/', 'pauses'),
      ...events('failed/', 'trimmed'),
      ...events('scheduler/', 'redelivered', 'stalled', 'refused'),
      ...events('scheduler/', 'high_water_waits', 'postponed'),
      ...events('dupefilter/', 'in_doubt', 'taken_over', 'told_again', 'emptied', 'forgotten'),
      ...events('dupefilter/', 'not_forgotten', 'full_hosts', 'cache_hits', 'cache_emptied'),
      ...events('fingerprint/', 'not_normalized'),
      ...events('seeds/', 'taken', 'redelivered', 'acknowledged', 'delayed'),
      ...events('scraper/', 'callback_output_max_reached'),
      ...events('spider_exceptions/', 'unhandledRejection', 'uncaughtException'),
      ...events('feedexport/', 'written_count'),
      ...events('sql_items/', 'written_count', 'wait_count', 'unwritten_count'),
      ...events('redis_items/', 'written_count', 'wait_count', 'unwritten_count'),
      ...events('log_count/', 'unwritten'),
      ...events('offsite/', 'domains'),
      ...events(
        'recrawl/',
        'due_count',
        'item_page_count',
        'first_count',
        'changed_count',
        'unchanged_count',
        'not_modified_count',
      ),
      ...events(
        'recrawl/',
        'failed_count',
        'unreadable_count',
        'no_callback_count',
        'moved_count',
        'unknown_count',
        'gone_count',
        'gone_error_count',
        'items_unchanged_count',
      ),
      ...events(
        'recrawl/',
        'start_known_count',
        'lying_hosts',
        'led_back_count',
        'lastmod_sooner_count',
        'lastmod_later_count',
      ),
    ],
  },
]

/** Stats that are not counter of this table, each with the reason. A `<…>` stands for anything. */
export const NO_METRIC: Readonly<Record<string, string>> = {
  'downloader/request_method_count/<method>': 'in webloom_requests_total',
  'downloader/response_count': 'the sum of webloom_responses_total',
  'downloader/exception_count': 'the sum of webloom_download_errors_total',
  'downloader/given_up/<failure>': 'in webloom_failed_total',
  'failed/count': 'the sum of webloom_failed_total',
  'retry/reason_count/<reason>': 'in webloom_retries_total',
  'httperror/response_ignored_status_count/<status>': 'in webloom_skipped_total',
  'browser/retired/<reason>': 'in the events browser/starts',
  'robotstxt/exception_count/<kind>': 'rare, and in the log',
  'robotstxt/response_status_count/<status>': 'in the events robotstxt/response_count',
  'request_depth_count/<depth>': 'as many as a crawl is deep',
  request_depth_max: 'the largest of all, not a sum',
  'item_dropped_reasons_count/<class>': 'in webloom_items_dropped_total',
  'monitors/pages/<field>': 'a text',
  'monitors/log_count/<level>': 'in webloom_log_messages_total',
  'item_field_count/<field>': 'as many as an item has fields',
  'file_status_count/<status>': 'in webloom_files_total',
  'spider_exceptions/<class>': 'in webloom_spider_exceptions_total',
  'feedexport/<outcome>/<storage>': 'counted at the end alone',
  'memusage/<what>': 'webloom_worker_resident_memory_bytes is the present one',
  'start/failed': 'true or false',
  'download_time/<part>': 'the histogram webloom_download_seconds',
  'callback_time/<part>': 'the histogram webloom_callback_seconds',
  start_time: 'webloom_run_begin_timestamp_seconds',
  finish_time: 'webloom_run_end_timestamp_seconds',
  finish_reason: 'a text',
  elapsed_time_seconds: 'known at the end alone',
  responses_per_minute: 'a rate of webloom_pages_total',
  items_per_minute: 'a rate of webloom_items_total',
}

function total(name: string, help: string, stat: string): StatMetric {
  return { name, help, from: [{ stat }] }
}

function events(beginning: string, ...names: readonly string[]): MetricSource[] {
  return names.map((name) => ({ stat: `${beginning}${name}`, value: `${beginning}${name}` }))
}
