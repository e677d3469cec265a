/** Small probabilities, for what is no chance any more. */

/** Returns how probable it is that at most `have` of so many items have what each of them has with that probability. */
export function chanceOf(have: number, items: number, probability: number): number {
  return 10 ** logChanceOf(have, items, probability)
}

/** Its logarithm to base 10, also of what is too small for a number. */
export function logChanceOf(have: number, items: number, probability: number): number {
  if (have >= items * probability) return 0
  if (probability >= 1) return Number.NEGATIVE_INFINITY
  const logTerm =
    logFactorial(items) -
    logFactorial(have) -
    logFactorial(items - have) +
    have * Math.log(probability) +
    (items - have) * Math.log(1 - probability)
  let term = 1
  let sum = 0
  // Below the middle each term is smaller than the one before, by a factor that falls.
  for (let n = have; n >= 0 && term > sum * 1e-6; n--) {
    sum += term
    term *= (n * (1 - probability)) / ((items - n + 1) * probability)
  }
  return Math.min(0, (logTerm + Math.log(sum)) / Math.LN10)
}

/** Stirling's series; exact to nine digits. */
function logFactorial(n: number): number {
  if (n < 2) return 0
  return n * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI * n) + 1 / (12 * n) - 1 / (360 * n ** 3)
}
