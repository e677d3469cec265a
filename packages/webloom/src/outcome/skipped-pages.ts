/** Which pages were not crawled, and why: the skips of a crawl, each in the two or three words of a line in the terminal. */

import { type StatValue, skipsOf } from '@webloom/core'
import { grouped } from '../terminal/figures.ts'

/** Why pages were left out, and how many. */
export interface SkippedPages {
  readonly reason: string
  readonly count: number
}

const NO_PAGES: readonly string[] = ['not a request', 'items dropped']

/** What a part of a skip is called, where its reason alone would not say it. */
const PARTS: readonly (readonly [stat: string, words: (last: string) => string])[] = [
  ['robotstxt/given_up', () => 'robots.txt not reachable'],
  ['depth/request_ignored_count', () => 'too deep'],
  ['urllength/request_ignored_count', () => 'URL too long'],
  ['redirect/max_times_reached', () => 'too many redirects'],
  ['budgets/dropped', () => 'budget spent'],
  ['httpcache/ignore', () => 'not in the HTTP cache'],
  ['downloader/protection/file_url', () => 'file: URL not allowed'],
  ['downloader/protection/', spaced],
  ['downloader/given_up/', spaced],
  ['httperror/response_ignored_status_count/', (status) => `HTTP ${status}`],
  ['trap/', (trap) => `trap: ${spaced(trap)}`],
]

/** The most frequent first. */
export function skippedPages(stats: Readonly<Record<string, StatValue>>): SkippedPages[] {
  return skipsOf(stats)
    .filter(({ reason }) => !NO_PAGES.includes(reason))
    .flatMap(({ reason, stats: parts }) =>
      parts.map(({ stat, count }) => ({ reason: wordsOf(stat) ?? reason, count })),
    )
    .sort((a, b) => b.count - a.count)
}

/** `120 offsite, 14 robots.txt`; empty when nothing was skipped. */
export function skippedText(stats: Readonly<Record<string, StatValue>>): string {
  return skippedPages(stats)
    .map(({ reason, count }) => `${grouped(count)} ${reason}`)
    .join(', ')
}

function wordsOf(stat: string): string | undefined {
  const part = PARTS.find(([beginning]) => stat.startsWith(beginning))
  return part?.[1](stat.slice(part[0].length))
}

function spaced(name: string): string {
  return name.replaceAll('_', ' ')
}
