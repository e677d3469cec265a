/** Which pages were not crawled, and why: what the stats of many components say, in one list. */

import type { StatValue } from '@webloom/core'
import { grouped } from '../terminal/figures.ts'

/** Why pages were left out, and how many. */
export interface SkippedPages {
  readonly reason: string
  readonly count: number
}

const REASON_OF_KEY: Readonly<Record<string, string>> = {
  'dupefilter/filtered': 'met before',
  'offsite/filtered': 'offsite',
  'robotstxt/forbidden': 'robots.txt',
  'robotstxt/given_up': 'robots.txt not reachable',
  'depth/request_ignored_count': 'too deep',
  'urllength/request_ignored_count': 'URL too long',
  'redirect/max_times_reached': 'too many redirects',
  'host_backoff/dropped': 'host given up',
  'budgets/dropped': 'budget spent',
  'httpcache/ignore': 'not in the HTTP cache',
  'downloader/protection/file_url': 'file: URL not allowed',
}

/** Keys that end with the reason, and how it is put into words. */
const FAMILIES: Readonly<Record<string, (last: string) => string>> = {
  'httperror/response_ignored_status_count/': (status) => `HTTP ${status}`,
  'trap/': (trap) => `trap: ${trap.replaceAll('_', ' ')}`,
  'downloader/given_up/': (failure) => failure.replaceAll('_', ' '),
}

/** The most frequent first. */
export function skippedPages(stats: Readonly<Record<string, StatValue>>): SkippedPages[] {
  return Object.entries(stats)
    .flatMap(([key, count]) => {
      const reason = reasonOf(key)
      return reason !== undefined && typeof count === 'number' && count > 0 ? [{ reason, count }] : []
    })
    .sort((a, b) => b.count - a.count)
}

/** `120 offsite, 14 robots.txt`; empty when nothing was skipped. */
export function skippedText(stats: Readonly<Record<string, StatValue>>): string {
  return skippedPages(stats)
    .map(({ reason, count }) => `${grouped(count)} ${reason}`)
    .join(', ')
}

function reasonOf(key: string): string | undefined {
  if (Object.hasOwn(REASON_OF_KEY, key)) return REASON_OF_KEY[key]
  const family = Object.keys(FAMILIES).find((prefix) => key.startsWith(prefix))
  return family && FAMILIES[family]!(key.slice(family.length))
}
