/**
 * Every error the framework raises on purpose, named by what happens next.
 *
 * To add one: a row in `ERROR_CODES`, a row in `docs/errors.md` (a test compares the two, both ways), and, when callers
 * must tell it apart by type, a class below (`InvalidUrl` is in `@webloom/url`). Messages give the value, the expectation
 * and the way out.
 */

import { WebloomError as CodedError } from '@webloom/url'
import type { ProtectionReason } from './protection-reason.ts'

/** What each code means for the crawl. The text is the "what happens next" column of `docs/errors.md`. */
export const ERROR_CODES = {
  WL_SETTINGS_INVALID: 'the crawl does not start; every problem is listed at once',
  WL_USAGE: 'the command does not start; the message says which argument is wrong',
  WL_NODE_TOO_OLD: 'the command does not start; the message says how to get a Node that works',
  WL_SPIDER_NOT_FOUND: 'the command does not start; known spiders are listed',
  WL_SPIDER_LOAD: 'the command does not start; the message names file, line and cause',
  WL_SPIDER_ARGUMENT: 'the crawl does not start; fields of that spider are suggested',
  WL_SPIDER_NOT_READY: 'the call throws; settings, crawler and logger exist from start() on',
  WL_COMPONENT_LOAD: 'the crawl does not start; the component and the setting that names it are shown',
  WL_COMPONENT_ANSWER:
    'a component of your own returned an answer that cannot be used: a dupefilter’s ends the crawl as internal_error, an exporter’s loses the item to its output; the message names component, answer and what was expected',
  WL_NOT_CONFIGURED: 'the component is left out and the crawl goes on without it',
  WL_JOBDIR_LOCKED: 'the crawl does not start; the message names the process that has the folder',
  WL_OUTPUT_UNWRITABLE:
    'the crawl does not start, so that no page is fetched for an output that cannot be written',
  WL_OUTPUT_FAILED:
    'the crawl is stopped with finish_reason output_failed; what was written stays, unless somebody removed the file',
  WL_URL_INVALID:
    'the request is not made; an entry of startUrls or a link of the page is left out, `new Request` throws',
  WL_REQUEST_INVALID:
    'the request is not made; this is logged and counted under spider_exceptions, and all else that is yielded goes on',
  WL_REQUEST_VERSION: 'the request is rejected, and goes to a worker that knows its version',
  WL_CALLBACK_UNKNOWN: 'the request is refused where it is yielded, or rejected if it comes from the queue',
  WL_YIELD_INVALID: 'the value is dropped, logged and counted; the callback goes on',
  WL_HEADER_INVALID: 'the request is not made',
  WL_SELECTOR_INVALID: 'the callback throws at the selector; its page is counted under spider_exceptions',
  WL_FORM_NOT_FOUND:
    'the callback throws at the call that asks for the form; its page is counted under spider_exceptions',
  WL_MIDDLEWARE_MISUSE:
    'the request fails with this error; the message names the middleware, download handler or method',
  WL_IGNORE_REQUEST: 'the request is dropped without an error; its errback is called',
  WL_NOT_IN_CACHE:
    'in a replay: the request was not recorded, and is dropped without an error; its errback is called',
  WL_HTTP_ERROR: 'the response is not given to the callback; the errback is called',
  WL_DROP_ITEM: 'the item is dropped and counted by reason',
  WL_CLOSE_SPIDER: 'the crawl finishes what is in flight and ends with the given reason',
  WL_DOWNLOAD_TIMEOUT: 'the request is retried, then its errback is called',
  WL_DOWNLOAD_FAILED: 'the request is retried, then its errback is called',
  WL_DOWNLOAD_TOO_LARGE: 'the download is cut and the request is dropped; its errback is called',
  WL_DOWNLOAD_CERTIFICATE:
    'nothing is sent and the request is dropped, not retried; its errback is called (DOWNLOAD_VERIFY_CERTIFICATES)',
  WL_DOWNLOAD_DATA_LOSS: 'the request is retried, then its errback is called (DOWNLOAD_FAIL_ON_DATALOSS)',
  WL_DOWNLOAD_DECODE: 'the response is not given to the callback; the errback is called',
  WL_ADDRESS_REFUSED: 'nothing is sent and the request is dropped, not retried; its errback is called',
  WL_HOST_GIVEN_UP: 'nothing is sent and the request is dropped; its errback is called (HOST_FAILURES_MAX)',
  WL_ROBOTS_GIVEN_UP:
    'nothing is sent and the request is dropped; its errback is called (ROBOTSTXT_WHEN_GIVEN_UP)',
  WL_BUDGET_SPENT: 'nothing is sent and the request is dropped; its errback is called (BUDGETS)',
  WL_SCHEME_UNSUPPORTED: 'the request is dropped; its errback is called',
  WL_REDIS_UNREACHABLE: 'the crawl does not start; exit code 3, so that a supervisor may start it again',
  WL_REDIS_REFUSED:
    'the command does not start, or ends where Redis refused it; the message has the line that gives the right, or names the setting with the password',
  WL_REDIS_AWAY:
    'nothing is lost: the step is tried again until Redis, which is restarting, failing over or busy, can do it',
  WL_REDIS_FULL: 'nothing is lost: the step is tried again until Redis, which is at its maxmemory, has room',
  WL_QUEUE_FULL: 'nothing is lost: the requests are queued when the queue’s Redis has room again',
  WL_DUPEFILTER_FULL:
    'Redis has no room for the bits of a Bloom filter: nothing is recorded and no link is dropped; the crawl does not start, or waits until there is room',
  WL_IMPORT_REFUSED: 'the entry stays where it is and is counted; the others are taken over',
  WL_CRAWL_FORMAT:
    'the command does not start; the crawl on Redis is that of another release, and stays as it is',
  WL_CRAWL_LOST:
    'the command does not start: what was queued of the crawl is gone from its Redis; the message has the lines that begin it anew',
  WL_LEASE_LOST: 'the work on this request stops and its result is refused; another worker has it',
} as const

/** The codes of the table above (docs/errors.md): stable, so that programs may compare them. */
export type ErrorCode = keyof typeof ERROR_CODES

/** The base of all errors below. `code` is stable; `message` is for people and may change. */
export type WebloomError = CodedError<ErrorCode>

/** The base of all errors below, with the codes of the table. The class itself is in `@webloom/url`. */
export const WebloomError: {
  new (code: ErrorCode, message: string, options?: { cause?: unknown }): WebloomError
  readonly prototype: WebloomError
} = CodedError

/** Thrown when settings are wrong. `problems` holds all of them, so that they can be corrected at once. */
export class SettingsError extends WebloomError {
  /** A sentence for each setting that is wrong. */
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    const head = problems.length === 1 ? 'A setting is wrong:' : `${problems.length} settings are wrong:`
    super('WL_SETTINGS_INVALID', `${head}\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

/** Thrown when a command, spider argument, file or component cannot be used; no page has been fetched. The CLI exits with 2. */
export class UsageError extends WebloomError {}

/** Thrown by a component's `fromCrawler` when the settings do not ask for the component. */
export class NotConfigured extends WebloomError {
  constructor(message = 'not configured') {
    super('WL_NOT_CONFIGURED', message)
  }
}

/** Thrown by a downloader middleware or spider middleware to drop a request or response without an error. */
export class IgnoreRequest extends WebloomError {
  constructor(message = 'ignored', code: ErrorCode = 'WL_IGNORE_REQUEST') {
    super(code, message)
  }
}

/** Thrown by an item pipeline: the item goes no further and is counted under `item_dropped_reasons_count/<name>`. */
export class DropItem extends WebloomError {
  /** Level of the log line; DEFAULT_DROPITEM_LOG_LEVEL when absent. */
  readonly logLevel: string | undefined

  constructor(message = 'dropped', logLevel?: string) {
    super('WL_DROP_ITEM', message)
    this.logLevel = logLevel
  }
}

/**
 * Thrown by a callback, `start()` or a pipeline's `openSpider`: the crawl ends with `reason` as its `finish_reason`. Thrown by a
 * download handler, which cannot work at all: the request goes back to the queue, too, for a crawl that goes on later.
 */
export class CloseSpider extends WebloomError {
  /** The crawl's `finish_reason`. */
  readonly reason: string

  constructor(reason = 'cancelled', { message, cause }: { message?: string; cause?: unknown } = {}) {
    super('WL_CLOSE_SPIDER', message ?? `the spider asked to close: ${reason}`, { cause })
    this.reason = reason
  }
}

/** How a download failed; RETRY_EXCEPTIONS says which kinds are retried. The names are those of Scrapy's exceptions. */
export type DownloadFailureKind =
  | 'CannotResolveHostError'
  | 'DownloadConnectionRefusedError'
  | 'DownloadFailedError'
  | 'DownloadTimeoutError'
  | 'ResponseDataLossError'
  | 'DownloadTooLargeError'
  | 'DownloadCertificateError'
  | 'ResponseDecodeError'
  | 'UnsupportedURLSchemeError'

const CODE_OF_KIND: Record<DownloadFailureKind, ErrorCode> = {
  CannotResolveHostError: 'WL_DOWNLOAD_FAILED',
  DownloadConnectionRefusedError: 'WL_DOWNLOAD_FAILED',
  DownloadFailedError: 'WL_DOWNLOAD_FAILED',
  DownloadTimeoutError: 'WL_DOWNLOAD_TIMEOUT',
  ResponseDataLossError: 'WL_DOWNLOAD_DATA_LOSS',
  DownloadTooLargeError: 'WL_DOWNLOAD_TOO_LARGE',
  DownloadCertificateError: 'WL_DOWNLOAD_CERTIFICATE',
  ResponseDecodeError: 'WL_DOWNLOAD_DECODE',
  UnsupportedURLSchemeError: 'WL_SCHEME_UNSUPPORTED',
}

/** Thrown when a request got no response. `kind` is counted as `downloader/exception_type_count/<kind>`. */
export class DownloadError extends WebloomError {
  /** Scrapy's name for the failure; RETRY_EXCEPTIONS names those that are retried. */
  readonly kind: DownloadFailureKind
  /** Counted as `downloader/protection/<reason>`. Absent when no protection is the cause. */
  readonly reason: ProtectionReason | undefined
  /** What the message says behind the name of the request, for a message about another one. Absent when it begins otherwise. */
  readonly detail: string | undefined
  /** `proxy`: the request went to a proxy, and the page's own server may be well. */
  readonly via: 'proxy' | undefined
  /** True: the server has most probably not read the request. Its connection had been used before, and was closed as the request left. */
  readonly unread: boolean

  constructor(
    kind: DownloadFailureKind,
    message: string,
    {
      reason,
      detail,
      via,
      unread = false,
      ...options
    }: {
      cause?: unknown
      reason?: ProtectionReason
      detail?: string
      via?: 'proxy' | undefined
      unread?: boolean
    } = {},
  ) {
    super(CODE_OF_KIND[kind], message, options)
    this.kind = kind
    this.reason = reason
    this.detail = detail
    this.via = via
    this.unread = unread
  }
}
