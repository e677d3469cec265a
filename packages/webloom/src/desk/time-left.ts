/** How long a crawl still takes, as far as that can be known. */

import type { TimeLeft } from '@webloom/core'
import { durationInWords } from '../terminal/figures.ts'
import type { StatusFigures } from './crawl-limit.ts'

export function timeLeftOf(seen: StatusFigures): TimeLeft {
  const { state, counts, pagesPerMinute, start, paused } = seen
  const left = counts.waiting + counts.delayed + counts.leased
  const unknown = (words: string): TimeLeft => ({ atLeastMs: null, atThisRateMs: null, words })
  if (state === 'finished') return { atLeastMs: 0, atThisRateMs: 0, words: 'none' }
  if (state !== 'running') return unknown('not known: it does not run')
  if (paused || pagesPerMinute === 0) return unknown('not known: no pages are fetched at the moment')
  const atThisRateMs = Math.round((left / pagesPerMinute) * 60_000)
  const links = start.ended ? 'new links make it more' : 'start() goes on, and new links make it more'
  return {
    atLeastMs: null,
    atThisRateMs,
    words: `${durationInWords(atThisRateMs / 1000)} for what is queued, at this rate; ${links}`,
  }
}
