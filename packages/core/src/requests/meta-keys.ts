import type { JsonValue } from '@webloom/url'
import type { BrowserOptions } from '../browser/browser-options.ts'
import type { JsonObject } from './json.ts'

/**
 * The keys of `meta` that mean something to the framework. Those of Scrapy have Scrapy's names. Any other key is yours: it
 * travels with the request and comes back as `response.meta`. docs/meta.md lists the same.
 */
export interface MetaKeys {
  /** A host outside of `allowedDomains` may be fetched. */
  allow_offsite?: boolean
  /** True: what this answer's time says of its host is left out of AutoThrottle's delay. */
  autothrottle_dont_adjust_delay?: boolean
  /** The local address that the connection goes out from; or `[address, port]`, as in Scrapy. */
  bindaddress?: string | [string, number]
  /**
   * The page is rendered by a browser before the callback gets it (`@webloom/browser`): true, or how. `auto`: where the crawl has
   * found that this changes what callbacks yield of such pages; they then run twice for some of them.
   */
  browser?: boolean | 'auto' | BrowserOptions
  /** Which cookie jar the request uses: a session of its own for each name. */
  cookiejar?: string | number
  /** True: the request's depth is 0, as if it were a start request. */
  depth_reset?: boolean
  /** Seconds until the request may be met again (DUPEFILTER_CLASS=redis-key), in place of DUPEFILTER_TTL. */
  dedupTtl?: number
  /** True: the page is neither taken from the HTTP cache nor kept in it. */
  dont_cache?: boolean
  /** True: no cookies of the jar are sent, and none of the answer are kept. */
  dont_merge_cookies?: boolean
  /** True: robots.txt is not asked for this request. */
  dont_obey_robotstxt?: boolean
  /** True: the callback gets redirects themselves. */
  dont_redirect?: boolean
  /** True: what fails is not tried again. */
  dont_retry?: boolean
  /** False: a body that ended too early is handed on as it is. In place of DOWNLOAD_FAIL_ON_DATALOSS. */
  download_fail_on_dataloss?: boolean
  /** The handler that fetches it, by its name in DOWNLOAD_HANDLERS, in place of that of the URL's scheme. */
  download_handler?: string
  /** Most bytes of the body, in place of DOWNLOAD_MAXSIZE. */
  download_maxsize?: number
  /** The line that the request waits in, in place of its host's: delays and concurrency are those of that line. */
  download_slot?: string
  /** Seconds, in place of DOWNLOAD_TIMEOUT. */
  download_timeout?: number
  /** Bodies above so many bytes are logged with a warning, in place of DOWNLOAD_WARNSIZE. */
  download_warnsize?: number
  /** Level of the log line when the tries are used up, in place of RETRY_GIVE_UP_LOG_LEVEL. */
  give_up_log_level?: string
  /** True: the callback gets answers with any status. */
  handle_httpstatus_all?: boolean
  /** Statuses beyond 2xx that the callback wants to see. */
  handle_httpstatus_list?: number[]
  /** The domain that user and password are for; null: whatever host the request goes to. */
  http_auth_domain?: string | null
  /** Password for HTTP basic authentication. */
  http_pass?: string
  /** User for HTTP basic authentication. */
  http_user?: string
  /** Tries after the first, in place of RETRY_TIMES. */
  max_retry_times?: number
  /** Added to the priority of a retry, in place of RETRY_PRIORITY_ADJUST. */
  priority_adjust?: number
  /** The proxy, `http://user:password@host:port`; null: none, whatever the settings say. */
  proxy?: string | null
  /** How many more redirects are followed, in place of REDIRECT_MAX_TIMES; counted down. */
  redirect_ttl?: number
  /** What the Referer header holds, in place of REFERRER_POLICY. */
  referrer_policy?: string
  /** Seconds that a start URL from Redis is to wait. */
  seed_delay?: number
  /** True: the URL is sent as it is written, and not made safe. */
  verbatim_url?: boolean
}

/** Keys that the framework writes, for callbacks to read. */
export interface MetaKeysRead {
  /** How far from a start request the page lies. */
  depth?: number
  /** Seconds from the request's start to its answer. */
  download_latency?: number
  /** How often the request was tried again because its host could not be reached or asked to wait. */
  host_retry_times?: number
  /** The text of the link that a rule of a CrawlSpider followed. */
  link_text?: string
  /** With METRICS_TIMES when the request was found (`Date.now()`); gone when it is sent. */
  queued_at?: number
  /** Why each redirect was followed: a status, or `meta refresh`. */
  redirect_reasons?: JsonValue[]
  /** How many redirects led here. */
  redirect_times?: number
  /** The URLs that redirected, the first one first. */
  redirect_urls?: string[]
  /** How often the request was tried again. */
  retry_times?: number
  /** With TRACES the page on which the request was found, as W3C's Trace Context writes it. */
  traceparent?: string
  /** The site's robots.txt allowed the request until then (`Date.now()`); the request waits for its host's delay. */
  robotstxt_allowed_until?: number
  /** The number of the rule of a CrawlSpider that found the link. */
  rule?: number
  /** What the pages before this one brought, where they differ by their query only (TRAP_CHAIN_MAX). */
  trap_chain?: JsonValue
}

/** `meta` as an author writes it: the keys above are known to the editor, any other is JSON of one's own. */
export type RequestMeta = (MetaKeys & MetaKeysRead & { [key: string]: JsonValue }) | JsonObject
