/**
 * How often the pages of a crawl change: shares of pages by rate. It is what is believed of a page before anything is known of it, and
 * what doubtful evidence is weighed with.
 *
 * Without it, the few visits that a page gets tell too little: five visits of which three found a change fit pages that change daily and
 * weekly alike, and a schedule that follows such chance is worse than one that visits all pages alike. With it a crawl whose pages are all
 * alike learns just that.
 */

import type { ChangeEvidence } from '@webloom/core'
import { logLikelihood } from './change-evidence.ts'

// From twice an hour to once a year, each a bit more than twice as slow as the one before.
const FASTEST_HOURS = 0.5
const SLOWEST_HOURS = 365 * 24
const STEPS = 13

/** Changes an hour, the fastest first. */
export const RATES: readonly number[] = Array.from(
  { length: STEPS + 1 },
  (_, n) => 1 / (FASTEST_HOURS * (SLOWEST_HOURS / FASTEST_HOURS) ** (n / STEPS)),
)

/** Shares that sum up to 1, one for each of `RATES`. */
export type RateShares = readonly number[]

/** Nothing is known: as many pages of each rate. */
export const EVEN_SHARES: RateShares = RATES.map(() => 1 / RATES.length)

// Fewer pages tell more of chance than of the crawl.
const PAGES_MIN = 50
// No rate is ruled out: a page of another kind may be found tomorrow.
const SHARE_MIN = 1e-4
// How far a look at some pages moves what was believed.
const STEP = 0.5

/** Returns how likely each rate is for a page, by its evidence and by what is known of the crawl's pages. */
export function ratesOf(evidence: ChangeEvidence, mix: RateShares): RateShares {
  const logs = RATES.map((rate, n) => logLikelihood(evidence, rate) + Math.log(mix[n]!))
  const most = Math.max(...logs)
  return summingToOne(logs.map((log) => Math.exp(log - most)))
}

/**
 * Returns the mix that some pages show; the same mix for too few of them. The pages have to be a fair sample of all: pages that are visited
 * often are seen more often, and change more often.
 */
export function fitted(mix: RateShares, sample: readonly ChangeEvidence[]): RateShares {
  if (sample.length < PAGES_MIN) return mix
  const sums = RATES.map(() => 0)
  for (const evidence of sample)
    ratesOf(evidence, mix).forEach((share, n) => {
      sums[n]! += share
    })
  return summingToOne(
    mix.map((share, n) => Math.max(SHARE_MIN, share + STEP * (sums[n]! / sample.length - share))),
  )
}

function summingToOne(weights: readonly number[]): RateShares {
  const sum = weights.reduce((a, b) => a + b, 0)
  return weights.map((weight) => weight / sum)
}
