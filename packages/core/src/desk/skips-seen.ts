/** What a crawl passed over, by reason: links and requests that were dropped, and what was dropped of responses. */

import type { StatValue } from '../crawl/stats.ts'

export interface SkipSeen {
  /** Short, and the same in every release: `met before`, `trap`. */
  readonly reason: string
  readonly count: number
  /** What that is, in a sentence. */
  readonly words: string
  /** The stats that are its parts, those that counted something alone: `trap/chain`. */
  readonly stats: readonly { readonly stat: string; readonly count: number }[]
}

interface SkipReason {
  readonly reason: string
  readonly words: string
  /** Whole names, or the beginnings of several, with `/` at their end. */
  readonly stats: readonly string[]
}

const GIVEN_UP = 'downloader/given_up/'

const REASONS: readonly SkipReason[] = [
  {
    reason: 'met before',
    words: 'links whose page the crawl has seen before',
    stats: ['dupefilter/filtered'],
  },
  { reason: 'offsite', words: 'links that lead out of allowedDomains', stats: ['offsite/filtered'] },
  {
    reason: 'robots.txt',
    words: 'pages that their site forbids, or whose robots.txt could not be fetched',
    stats: ['robotstxt/forbidden', 'robotstxt/given_up'],
  },
  { reason: 'depth', words: 'links deeper than DEPTH_LIMIT', stats: ['depth/request_ignored_count'] },
  { reason: 'trap', words: 'links that look like a spider trap: they would never end', stats: ['trap/'] },
  {
    reason: 'long URL',
    words: 'links longer than URLLENGTH_LIMIT',
    stats: ['urllength/request_ignored_count'],
  },
  {
    reason: 'protection',
    words: 'downloads that a bound ended: too large, too slow, or an address that is not public',
    stats: ['downloader/protection/'],
  },
  {
    reason: 'status',
    words: 'responses with a status that the spider does not take (HTTPERROR_ALLOWED_CODES)',
    stats: ['httperror/response_ignored_status_count/'],
  },
  {
    reason: 'host given up',
    words: 'requests to hosts that failed HOST_FAILURES_MAX times',
    stats: ['host_backoff/dropped'],
  },
  {
    reason: 'budget',
    words: 'requests to hosts whose budget was spent (BUDGETS)',
    stats: ['budgets/dropped'],
  },
  {
    reason: 'not cached',
    words: 'pages that the HTTP cache does not have (HTTPCACHE_IGNORE_MISSING)',
    stats: ['httpcache/ignore'],
  },
  {
    reason: 'redirects',
    words: 'requests that were redirected too often',
    stats: ['redirect/max_times_reached'],
  },
  {
    reason: 'redirects to itself',
    words: 'pages that redirect to themselves, so that nothing comes of them',
    stats: ['redirect/to_itself'],
  },
  {
    reason: 'no response',
    words: 'requests that brought no response in the end, but for those that a bound ended',
    stats: [GIVEN_UP],
  },
  {
    reason: 'not a request',
    words: 'what a spider yielded and nothing could be made of',
    stats: [
      'spider_output/refused_count',
      'spider_output/invalid_count',
      'start/invalid_url_count',
      'sitemap/invalid_url_count',
      'scheduler/no_fingerprint_count',
      'seeds/invalid',
    ],
  },
  { reason: 'items dropped', words: 'items that a pipeline dropped', stats: ['item_dropped_reasons_count/'] },
]

/** Returns all reasons, also those that nothing was passed over for; in the order of the list, not by count. */
export function skipsOf(stats: Readonly<Record<string, StatValue>>): SkipSeen[] {
  const names = Object.keys(stats)
  return REASONS.map(({ reason, words, stats: meant }) => {
    const parts = meant
      .flatMap((stat) => (stat.endsWith('/') ? names.filter((name) => name.startsWith(stat)) : [stat]))
      .filter((stat) => !isOfBound(stat, stats))
      .map((stat) => ({ stat, count: Number(stats[stat] ?? 0) }))
      .filter(({ count }) => count > 0)
    return { reason, words, stats: parts, count: parts.reduce((sum, { count }) => sum + count, 0) }
  })
}

/** What a bound ended is counted where it ended, and once more when it was given up. */
function isOfBound(stat: string, stats: Readonly<Record<string, StatValue>>): boolean {
  const [given, why] = [stat.slice(0, GIVEN_UP.length), stat.slice(GIVEN_UP.length)]
  return given === GIVEN_UP && `downloader/protection/${why}` in stats
}
