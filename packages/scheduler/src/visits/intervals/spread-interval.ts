/**
 * Spreads pages over their time, so that those of a first crawl do not come due at once: a crawl of an hour would otherwise ask a site for
 * all of its pages in the same hour of each day.
 */

/** Of the interval, how far a later visit may move. */
const LATER_SHARE = 0.1

/**
 * @param phase a number in [0, 1) that is always the same for a page, such as one made from its fingerprint
 * @param isFirst true for the interval after a page's first visit
 * @returns a moved interval, never longer than the given one: from half of it at the first visit, and from nine tenths later
 */
export function spreadInterval(hours: number, phase: number, isFirst: boolean): number {
  return hours * (1 - phase * (isFirst ? 0.5 : LATER_SHARE))
}
