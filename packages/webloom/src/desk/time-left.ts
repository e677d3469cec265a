/** How long a crawl still takes, as far as that can be known. */

import type { TimeLeft } from '@webloom/core'
import { durationInWords } from '../terminal/figures.ts'
import type { StatusFigures } from './crawl-limit.ts'

export function timeLeftOf(seen: StatusFigures): TimeLeft {
  const { state, paused } = seen
  const unknown = (words: string): TimeLeft => ({ atLeastMs: null, atThisRateMs: null, words })
  if (state === 'finished') return { atLeastMs: 0, atThisRateMs: 0, words: 'none' }
  if (state !== 'running') return unknown('not known: it does not run')
  const longest = longestLine(seen)
  const bound = longest
    ? `${durationInWords(longest.leastMs / 1000)} at least: the delay of ${longest.host} allows no more`
    : undefined
  const atThisRateMs = paused ? null : atThisRate(seen)
  if (atThisRateMs === null)
    return {
      atLeastMs: longest?.leastMs ?? null,
      atThisRateMs,
      words: bound ?? 'not known: no pages are fetched at the moment',
    }
  const links = seen.start.ended ? 'new links make it more' : 'start() goes on, and new links make it more'
  const atRate = durationInWords(atThisRateMs / 1000)
  const known = { atLeastMs: longest?.leastMs ?? null, atThisRateMs }
  // All that is queued by the rate of all hosts says nothing of the slowest one.
  if (longest && atThisRateMs < longest.leastMs) return { ...known, words: `${bound}; ${links}` }
  const rate = `${atRate} for what is queued, at this rate; ${links}`
  return { ...known, words: bound === undefined ? rate : `${rate}. ${bound}` }
}

function atThisRate({ counts, pagesPerMinute }: StatusFigures): number | null {
  if (pagesPerMinute === 0) return null
  const left = counts.waiting + counts.delayed + counts.leased
  return Math.round((left / pagesPerMinute) * 60_000)
}

/** Of the hosts that workers hold, the one that takes longest; what has passed since they said so is not left any more. */
function longestLine({ workers, readAt }: StatusFigures): { host: string; leastMs: number } | undefined {
  const lines = workers
    .filter(({ lost }) => !lost)
    .map(({ longestHost, longestMs, seenAt }) => ({
      host: longestHost,
      leastMs: longestMs - Math.max(0, Date.parse(readAt) - Date.parse(seenAt)),
    }))
  const longest = lines.sort((a, b) => b.leastMs - a.leastMs)[0]
  return longest && longest.leastMs > 0 ? longest : undefined
}
