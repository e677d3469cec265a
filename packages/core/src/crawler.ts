import type { Logger } from './logger.ts'
import type { FetchOptions } from './ports/downloader.ts'
import type { StartHosts } from './ports/start-hosts.ts'
import type { ProtocolTimes } from './protocol-times.ts'
import type { Request } from './request.ts'
import type { Response, ResponseInit } from './response.ts'
import type { Settings } from './settings/settings.ts'
import type { Signals } from './signals.ts'
import type { StatsCollector } from './stats.ts'

/** What components may know of a spider. The class itself lives in the spider package. */
export interface SpiderLike {
  readonly name: string
  /** Hosts whose pages, with their subdomains, may be fetched; absent or empty allows all. */
  readonly allowedDomains?: readonly string[]
  /** Statuses beyond 2xx that callbacks want to see. */
  readonly handleHttpstatusList?: readonly number[]
}

/** What a running crawl hands to its components. */
export interface Crawler {
  readonly settings: Settings
  readonly stats: StatsCollector
  readonly signals: Signals
  readonly logger: Logger
  readonly spider: SpiderLike
  /** Makes a response of the class that callbacks expect, with its selectors; absent: core's own. */
  readonly createResponse?: (url: string, init: ResponseInit) => Response
  /** The crawl's other workers; absent in a crawl of one process. */
  readonly others?: OtherWorkers
  /** The hosts of the crawl's own start requests; absent where requests have no start, as in tests. */
  readonly startHosts?: StartHosts
  /**
   * Fetches a request past the queue and the dupefilter, by the crawl's own downloader and at its host's pace; its answer
   * goes to nobody but the caller. Absent where there is no crawl, as in tests.
   */
  readonly fetch?: (request: Request, options: FetchOptions) => Promise<Response>
  /** How long its parts wait for each other; absent: PROTOCOL_TIMES. */
  readonly times?: ProtocolTimes
  /** Asks the crawl to end with this `finish_reason` once what is in flight is done. The first reason wins. */
  close(reason: string): void
}

/** What this worker knows of the others, about a second late from the first question on. */
export interface OtherWorkers {
  /** What they have counted under that key, those included that have left. */
  stat(key: string): number
  /** Milliseconds since the crawl began or was resumed, whoever did so. */
  runningMs(): number
}

/**
 * How a component is made: its constructor takes values, and `fromCrawler` reads the settings for it, so that a test
 * never needs a crawler. A class without `fromCrawler` is made by `new Class()`.
 * `fromCrawler` throws `NotConfigured` when the settings do not ask for the component.
 */
export interface ComponentClass<T> {
  new (...args: never[]): T
  fromCrawler?(crawler: Crawler): T
}
