/**
 * What a visit has to bring, so that pages together are visited as often as there are visits for.
 *
 * Each page has an interval, and all of them together ask for so many visits an hour. Are these more than there are, the price rises by a
 * little, and pages that are looked at from then on get longer intervals; are they fewer, it falls. Steps are small, as the sum follows
 * late: a page's interval is made anew only when it is visited.
 */

// A sum that is twice as high as wanted moves the price by 3.5 % a step.
const GAIN = 0.05
const STEP_MAX = 1.2

/** Returns the price for a crawl of which nothing is known: pages are visited as in a crawl whose rate is that of its visits. */
export function firstPrice(meanHours: number): number {
  return meanHours / 8
}

/**
 * @param asked how many visits an hour the intervals of all pages ask for
 * @param wanted how many there are to be
 */
export function movedPrice(price: number, asked: number, wanted: number): number {
  if (asked <= 0 || wanted <= 0) return price
  return price * Math.min(STEP_MAX, Math.max(1 / STEP_MAX, (asked / wanted) ** GAIN))
}
