/**
 * When a page is worth its next visit.
 *
 * A crawl has so many visits a day, and wants as many of its copies as possible to be as the pages are. Cho and Garcia-Molina have shown
 * what that asks for: the last visit of each page must bring the same. A visit of a page after `hours`, instead of a little later, brings
 *
 *     (1 − e^(−r) − r · e^(−r)) / rate      with r = rate · hours
 *
 * hours of a fresh copy. It grows with the hours, up to 1 / rate: a page that changes every minute gives back a minute, whenever it is
 * visited. So there is a *price*, in hours of a fresh copy, that a visit has to bring, and pages that change faster than anyone can follow
 * never bring it: they are visited as seldom as is allowed. How high the price is follows from how many visits there are (`VisitPrice`).
 *
 * Of a page the rate is not known, only how likely each is: what a visit brings is the mean over them.
 */

import { RATES, type RateShares } from './rate-mix.ts'

/** Between which gaps a page is visited. */
export interface IntervalBounds {
  readonly minHours: number
  readonly maxHours: number
}

// Each halves the ratio of the bounds: a year to an hour within some minutes.
const HALVINGS = 18

/** Returns how many hours of a fresh copy a visit after so many hours brings. */
export function visitWorth(rates: RateShares, hours: number): number {
  let worth = 0
  for (let n = 0; n < RATES.length; n++) worth += rates[n]! * worthAt(RATES[n]!, hours)
  return worth
}

function worthAt(rate: number, hours: number): number {
  const r = rate * hours
  // The exact form loses its digits there.
  const share = r < 1e-4 ? (r * r) / 2 : 1 - Math.exp(-r) * (1 + r)
  return share / rate
}

/** Returns after how many hours a visit is worth its price. */
export function worthyInterval(
  rates: RateShares,
  price: number,
  { minHours, maxHours }: IntervalBounds,
): number {
  if (visitWorth(rates, maxHours) <= price) return maxHours
  if (visitWorth(rates, minHours) >= price) return minHours
  let [low, high] = [minHours, maxHours]
  for (let n = 0; n < HALVINGS; n++) {
    const middle = Math.sqrt(low * high)
    if (visitWorth(rates, middle) < price) low = middle
    else high = middle
  }
  return Math.sqrt(low * high)
}
