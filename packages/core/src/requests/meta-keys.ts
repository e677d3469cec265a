import type { JsonValue } from '@webloom/url'
import type { BrowserOptions } from '../browser/browser-options.ts'
import type { JsonObject } from './json.ts'

/**
 * The keys of `meta` that mean something to the framework. Those of Scrapy have Scrapy's names. Any other key is yours: it
 * travels with the request and comes back as `response.meta`. docs/meta.md lists the same.
 */
export interface MetaKeys {
  /** True: the request may go to a host outside of `allowedDomains`. */
  allow_offsite?: boolean
  /** True: AutoThrottle ignores how long this request's answer takes. */
  autothrottle_dont_adjust_delay?: boolean
  /** The address of this machine from which the connection is made; or `[address, port]`, as in Scrapy. */
  bindaddress?: string | [string, number]
  /**
   * The page is rendered by a browser before the callback gets it (`@webloom/browser`): true, or how. `auto`: where the crawl has
   * found that this changes what callbacks yield of such pages; they then run twice for some of them.
   */
  browser?: boolean | 'auto' | BrowserOptions
  /** The name of the cookie jar that the request uses. Each name is a session of its own. */
  cookiejar?: string | number
  /** True: the request's depth is 0, as if it were a start request. */
  depth_reset?: boolean
  /** Seconds until the request counts as new again (DUPEFILTER_CLASS=redis-key), in place of DUPEFILTER_TTL. */
  dedupTtl?: number
  /** True: the page is neither taken from the HTTP cache nor kept in it. */
  dont_cache?: boolean
  /** True: no cookies of the jar are sent, and no cookies of the answer are kept. */
  dont_merge_cookies?: boolean
  /** True: robots.txt is ignored for this request. */
  dont_obey_robotstxt?: boolean
  /** True: redirects are not followed; the callback gets the redirect itself. */
  dont_redirect?: boolean
  /** True: the request is not retried. */
  dont_retry?: boolean
  /** False: a body that ended too early is handed on as it is; in place of DOWNLOAD_FAIL_ON_DATALOSS. */
  download_fail_on_dataloss?: boolean
  /** The handler that fetches the request, by its name in DOWNLOAD_HANDLERS, in place of the one of the URL's scheme. */
  download_handler?: string
  /** Most bytes of the body, in place of DOWNLOAD_MAXSIZE. */
  download_maxsize?: number
  /** The slot in whose line the request waits, in place of its host's. Delay and concurrency are those of that slot. */
  download_slot?: string
  /** Seconds, in place of DOWNLOAD_TIMEOUT. */
  download_timeout?: number
  /** A larger body is logged with a warning; in bytes, in place of DOWNLOAD_WARNSIZE. */
  download_warnsize?: number
  /** Level of the log line when the retries are used up, in place of RETRY_GIVE_UP_LOG_LEVEL. */
  give_up_log_level?: string
  /** True: the callback gets answers with any status. */
  handle_httpstatus_all?: boolean
  /** Statuses other than 2xx with which the response reaches the callback. */
  handle_httpstatus_list?: number[]
  /** The domain that gets user and password; null: any host that the request goes to. */
  http_auth_domain?: string | null
  /** Password for HTTP basic authentication. */
  http_pass?: string
  /** User for HTTP basic authentication. */
  http_user?: string
  /** Retries after the first try, in place of RETRY_TIMES. */
  max_retry_times?: number
  /** Added to the priority of a retry, in place of RETRY_PRIORITY_ADJUST. */
  priority_adjust?: number
  /** The proxy, `http://user:password@host:port`; null: none, whatever the settings say. */
  proxy?: string | null
  /** False: with RECRAWL, the page is not visited again. */
  recrawl?: boolean
  /** How many more redirects are followed, in place of REDIRECT_MAX_TIMES; each redirect lowers it by one. */
  redirect_ttl?: number
  /** The policy for the Referer header, in place of REFERRER_POLICY. */
  referrer_policy?: string
  /** Seconds that a start URL from Redis waits before it is crawled. */
  seed_delay?: number
  /** True: the URL is sent exactly as written, without being made safe. */
  verbatim_url?: boolean
}

/** Keys that the framework writes, for callbacks to read. */
export interface MetaKeysRead {
  /** How many links lie between a start request and this one. */
  depth?: number
  /** Seconds from the request's start to its answer. */
  download_latency?: number
  /** How often the request was retried because its host could not be reached or asked to wait. */
  host_retry_times?: number
  /** With RECRAWL: the last visit of the page, packed. Callbacks read `response.previousVisit`. */
  last_visit?: string
  /** The text of the link that a rule of a CrawlSpider followed. */
  link_text?: string
  /** With METRICS_TIMES: when the request was found (`Date.now()`). Removed when the request is sent. */
  queued_at?: number
  /** Why each redirect was followed: a status, or `meta refresh`. */
  redirect_reasons?: JsonValue[]
  /** How many redirects led here. */
  redirect_times?: number
  /** The URLs that redirected, the first one first. */
  redirect_urls?: string[]
  /** How often the request was retried. */
  retry_times?: number
  /** With TRACES: the page on which the request was found, in the form of W3C's Trace Context. */
  traceparent?: string
  /** Until when (`Date.now()`) the answer of the site's robots.txt counts, while the request waits for its host's delay. */
  robotstxt_allowed_until?: number
  /** The number of the rule of a CrawlSpider that found the link. */
  rule?: number
  /** What the pages before this one yielded, if they differ from it only in their query (TRAP_CHAIN_MAX). */
  trap_chain?: JsonValue
  /** How often the request was sent again as its server had most probably not read it. */
  unread_times?: number
  /** With RECRAWL: which lease of this process the request belongs to. */
  visit_lease?: number
}

/**
 * Whether a key belongs to one visit of its page: with RECRAWL the next visit begins without it. What differs from page to page makes
 * each page that waits for its hour longer by its whole text. A key that is added above is decided on here.
 */
export const OF_ONE_VISIT: Readonly<Record<keyof MetaKeys | keyof MetaKeysRead, boolean>> = {
  allow_offsite: false,
  autothrottle_dont_adjust_delay: false,
  bindaddress: false,
  browser: false,
  cookiejar: false,
  depth_reset: false,
  dedupTtl: false,
  dont_cache: false,
  dont_merge_cookies: false,
  dont_obey_robotstxt: false,
  dont_redirect: false,
  dont_retry: false,
  download_fail_on_dataloss: false,
  download_handler: false,
  download_maxsize: false,
  download_slot: false,
  download_timeout: false,
  download_warnsize: false,
  give_up_log_level: false,
  handle_httpstatus_all: false,
  handle_httpstatus_list: false,
  http_auth_domain: false,
  http_pass: false,
  http_user: false,
  max_retry_times: false,
  priority_adjust: false,
  proxy: false,
  recrawl: false,
  redirect_ttl: true,
  referrer_policy: false,
  seed_delay: true,
  verbatim_url: false,

  depth: false,
  download_latency: true,
  host_retry_times: true,
  last_visit: true,
  link_text: false,
  queued_at: true,
  redirect_reasons: true,
  redirect_times: true,
  redirect_urls: true,
  retry_times: true,
  traceparent: true,
  robotstxt_allowed_until: true,
  rule: false,
  // Where it has steps.
  trap_chain: false,
  unread_times: true,
  visit_lease: true,
}

/** `meta` as an author writes it: the keys above are known to the editor, any other is JSON of one's own. */
export type RequestMeta = (MetaKeys & MetaKeysRead & { [key: string]: JsonValue }) | JsonObject
