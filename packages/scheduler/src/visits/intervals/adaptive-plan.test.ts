import { describe, expect, test } from 'vitest'
import { AdaptivePlan } from './adaptive-plan.ts'
import { NO_EVIDENCE, type VisitShown, withVisit } from './change-evidence.ts'
import { EVEN_SHARES, fitted, RATES, ratesOf } from './rate-mix.ts'
import { spreadInterval } from './spread-interval.ts'
import { failedMaxHours, hoursAfterFailure, hoursAfterGone } from './troubled-interval.ts'
import { visitWorth, worthyInterval } from './visit-interval.ts'
import { movedPrice } from './visit-price.ts'

const BOUNDS = { minHours: 1, maxHours: 1440 }
const TROUBLES = { meanHours: 24, maxHours: 1440, failedMaxHours: 168 }
const evidenceOf = (...visits: VisitShown[]) => visits.reduce(withVisit, NO_EVIDENCE)
const only = (n: number) => RATES.map((_, i) => (i === n ? 1 : 0))

describe('when a page is worth a visit', () => {
  test('the longer after the last visit, the more a visit brings, and never more than the page keeps', () => {
    for (const [n, rate] of RATES.entries()) {
      const worths = [1, 2, 24, 240, 24_000].map((hours) => visitWorth(only(n), hours))
      expect(worths).toEqual([...worths].sort((a, b) => a - b))
      expect(worths.at(-1)).toBeLessThanOrEqual(1 / rate)
    }
  })

  test('a page that changes faster than a visit pays for is visited as seldom as is allowed', () => {
    expect(worthyInterval(only(0), 2, BOUNDS)).toBe(1440)
  })

  test('a page that changes seldom is visited seldom, one in between most often', () => {
    const hours = RATES.map((_, n) => worthyInterval(only(n), 2, BOUNDS))
    const shortest = hours.indexOf(Math.min(...hours))
    expect(shortest).toBeGreaterThan(0)
    expect(hours.slice(shortest)).toEqual([...hours.slice(shortest)].sort((a, b) => a - b))
  })

  test('a visit at its interval brings its price', () => {
    const rates = ratesOf(
      evidenceOf({ hours: 24, changed: true }, { hours: 24, changed: false }),
      EVEN_SHARES,
    )
    const hours = worthyInterval(rates, 5, BOUNDS)
    expect(visitWorth(rates, hours)).toBeCloseTo(5, 1)
  })
})

describe('what a crawl knows of its pages together', () => {
  test('pages that are all alike are known to be so, and single visits mislead nobody', () => {
    const sample = Array.from({ length: 200 }, (_, n) =>
      evidenceOf(...Array.from({ length: 5 }, (_, visit) => ({ hours: 72, changed: (n + visit) % 3 !== 0 }))),
    )
    let mix = EVEN_SHARES
    for (let n = 0; n < 30; n++) mix = fitted(mix, sample)
    const near = RATES.map((rate, n) => (rate > 1 / 200 && rate < 1 / 20 ? mix[n]! : 0))
    expect(near.reduce((a, b) => a + b)).toBeGreaterThan(0.95)
  })

  test('few pages teach nothing', () => {
    expect(fitted(EVEN_SHARES, Array(10).fill(NO_EVIDENCE))).toBe(EVEN_SHARES)
  })

  test('the price rises while pages ask for more visits than there are, and falls while they ask for fewer', () => {
    expect(movedPrice(10, 200, 100)).toBeGreaterThan(10)
    expect(movedPrice(10, 50, 100)).toBeLessThan(10)
    expect(movedPrice(10, 0, 100)).toBe(10)
  })

  test('a plan gives longer intervals once pages have asked for too many visits', () => {
    const plan = new AdaptivePlan({ ...BOUNDS, meanHours: 72 })
    const before = plan.intervalHours()
    for (let n = 0; n < 20; n++) plan.balance(1000, 100)
    expect(plan.intervalHours()).toBeGreaterThan(before)
  })
})

describe('pages apart', () => {
  test('a page that cannot be fetched is tried after two hours, then after twice as long', () => {
    const hours = [1, 2, 3, 30].map((failures) => hoursAfterFailure(failures, TROUBLES))
    expect(hours).toEqual([2, 4, 8, 168])
  })

  test('issue 22: a page that fails waits no longer than the interval with fixed, and a week with adaptive', () => {
    const hours = { meanHours: 24, maxHours: 1440 }
    expect([failedMaxHours('fixed', hours), failedMaxHours('adaptive', hours)]).toEqual([24, 168])
    expect(failedMaxHours('adaptive', { ...hours, maxHours: 48 })).toBe(48)
  })

  test('one answer that a page is gone is asked about again soon, the second is believed', () => {
    expect([1, 2, 3].map((answers) => hoursAfterGone(answers, TROUBLES))).toEqual([2, 24, 48])
  })

  test('the pages of a first crawl come due over half of the interval, later ones stay near theirs', () => {
    expect([0, 0.5, 1].map((phase) => spreadInterval(24, phase, true))).toEqual([24, 18, 12])
    expect([0, 0.5].map((phase) => spreadInterval(20, phase, false))).toEqual([20, 19])
  })
})
