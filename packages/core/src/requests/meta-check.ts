/** Checks what authors write into `meta`: the values of known keys, and misspelt keys. */

import { editDistance, valueShown } from '@webloom/url'
import { browserOptionsProblem } from '../browser/browser-options-check.ts'
import { WebloomError } from '../errors/errors.ts'
import type { MetaKeys, MetaKeysRead } from './meta-keys.ts'
import type { Request } from './request.ts'

interface Kind {
  readonly expected: string
  readonly is: (value: unknown) => boolean
  /** Says what is wrong, where `expected` could not say it. */
  readonly problem?: (value: unknown) => string | undefined
}

const kind = (expected: string, is: (value: unknown) => boolean): Kind => ({ expected, is })

const isFlag = (value: unknown) => typeof value === 'boolean'
const isText = (value: unknown) => typeof value === 'string'
const isAmount = (value: unknown) => typeof value === 'number' && value >= 0

const FLAG = kind('true or false', isFlag)
// The readers of these accept what Python takes for true.
const FLAG_OR_BIT = kind('true or false', (value) => isFlag(value) || value === 0 || value === 1)
const TEXT = kind('a string', isText)
const NUMBER = kind('a number', (value) => typeof value === 'number')
const SECONDS = kind('a number of seconds', isAmount)
const BYTES = kind('a number of bytes', isAmount)
const LEVEL = kind(
  'DEBUG, INFO, WARNING, ERROR or CRITICAL',
  (value) => isText(value) && LEVELS.test(`${value}`),
)
const LEVELS = /^(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)$/i
const STATUSES = kind(
  'a list of statuses, such as [404, 410]',
  (value) => Array.isArray(value) && value.every(Number.isInteger),
)
/** The key's reader itself checks the value. */
const READERS_OWN = kind('', () => true)

const OF_AUTHORS: Readonly<Record<keyof MetaKeys, Kind>> = {
  allow_offsite: FLAG,
  autothrottle_dont_adjust_delay: FLAG,
  bindaddress: READERS_OWN,
  browser: {
    expected: '',
    is: (value) => browserOptionsProblem(value) === undefined,
    problem: browserOptionsProblem,
  },
  cookiejar: kind('a string or a number', (value) => /^(?:string|number|boolean)$/.test(typeof value)),
  depth_reset: FLAG,
  dedupTtl: READERS_OWN,
  dont_cache: FLAG_OR_BIT,
  dont_merge_cookies: FLAG_OR_BIT,
  dont_obey_robotstxt: FLAG,
  dont_redirect: FLAG_OR_BIT,
  dont_retry: FLAG_OR_BIT,
  download_fail_on_dataloss: FLAG,
  download_handler: READERS_OWN,
  download_maxsize: BYTES,
  download_slot: TEXT,
  download_timeout: SECONDS,
  download_warnsize: BYTES,
  give_up_log_level: LEVEL,
  handle_httpstatus_all: FLAG,
  handle_httpstatus_list: STATUSES,
  http_auth_domain: TEXT,
  http_pass: TEXT,
  http_user: TEXT,
  max_retry_times: NUMBER,
  priority_adjust: NUMBER,
  proxy: TEXT,
  recrawl: FLAG,
  redirect_ttl: NUMBER,
  referrer_policy: TEXT,
  seed_delay: READERS_OWN,
  verbatim_url: FLAG,
}

/** The framework writes these keys. A callback that passes a page's meta on passes them, too. */
const OF_FRAMEWORK: Readonly<Record<keyof MetaKeysRead, Kind>> = {
  depth: READERS_OWN,
  download_latency: READERS_OWN,
  host_retry_times: READERS_OWN,
  last_visit: READERS_OWN,
  link_text: READERS_OWN,
  queued_at: READERS_OWN,
  redirect_reasons: READERS_OWN,
  redirect_times: READERS_OWN,
  redirect_urls: READERS_OWN,
  retry_times: READERS_OWN,
  robotstxt_allowed_until: READERS_OWN,
  rule: READERS_OWN,
  traceparent: READERS_OWN,
  trap_chain: READERS_OWN,
  unread_times: READERS_OWN,
  visit_lease: READERS_OWN,
}

const KINDS: ReadonlyMap<string, Kind> = new Map(Object.entries({ ...OF_AUTHORS, ...OF_FRAMEWORK }))
const NAMES = Object.keys(OF_AUTHORS)

/**
 * Throws WL_REQUEST_INVALID when a known key has a value that its reader cannot use. null and undefined count as no value.
 *
 * @param onUnknown called for each key that means nothing here: the author's own, or a misspelt one
 */
export function checkMeta(request: Request, onUnknown: (key: string) => void): void {
  const { meta } = request
  for (const key in meta) {
    const known = KINDS.get(key)
    const value: unknown = meta[key]
    if (known === undefined) onUnknown(key)
    else if (value !== null && value !== undefined && !known.is(value))
      throw new WebloomError(
        'WL_REQUEST_INVALID',
        `meta.${key} of ${request} ${known.problem?.(value) ?? `is ${valueShown(value)}; expected ${known.expected}`}`,
      )
  }
}

/**
 * Returns the key that the author may have meant; undefined when the name is like none. It must be nearer than with
 * settings, as keys of one's own are allowed here.
 */
export function metaKeyMeant(written: string): string | undefined {
  const slipsMax = written.length > 8 ? 2 : 1
  const slips = (name: string) => editDistance(written.toLowerCase(), name.toLowerCase())
  return NAMES.find((name) => slips(name) <= slipsMax)
}
