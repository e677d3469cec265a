/**
 * `npm run soak`: adaptive schedules beside equal visits, in the webs of docs/decisions/visits.md, by virtual time. The moments at which
 * pages change follow from the seed, so each run finds the same figures.
 */

import { describe, expect, test } from 'vitest'
import { freshnessUnder, type Schedule } from '../../benchmarks/recrawl/changing-pages.ts'
import {
  adaptive,
  adaptiveByRuns,
  type ScheduleOptions,
  uniform,
} from '../../benchmarks/recrawl/schedules.ts'
import { ratesOf, WEBS } from '../../benchmarks/recrawl/webs.ts'

const PAGES = 1000
const SEED = 1
/** A visit of each page in three days. */
const MEAN_HOURS = 72
const HOURS = 90 * 24
/** What the page of decisions promises: never more than 1 % below equal visits. */
const NEVER_BELOW = 0.99

/** What each web gains at the least: a hundredth less than these thousand pages gain. */
const GAINS: Readonly<Record<string, readonly [plain: number, dated: number]>> = {
  'as many of each': [1.028, 1.058],
  'lists and articles': [1.07, 1.118],
  'mostly fast': [1.022, 1.13],
  'mostly still': [1.025, 1.026],
  'half a day to a week': [NEVER_BELOW, NEVER_BELOW],
  'all alike': [NEVER_BELOW, NEVER_BELOW],
}

describe.each(Object.entries(WEBS))('%s', (web, kinds) => {
  test.each([false, true])(
    'mean freshness is not below that of equal visits, changes dated: %s',
    (isDated) => {
      const rates = ratesOf(kinds, PAGES)
      const options = { pages: rates.length, meanHours: MEAN_HOURS, minHours: 1, maxHours: 60 * 24 }
      const meanOf = (schedule: (options: ScheduleOptions) => Schedule) =>
        freshnessUnder(schedule(options), { rates, meanHours: MEAN_HOURS, hours: HOURS, seed: SEED, isDated })
          .mean
      const equal = meanOf(uniform)
      const gains = [adaptive, adaptiveByRuns].map((schedule) => meanOf(schedule) / equal)
      console.log(
        `${web}${isDated ? ', dated' : ''}: ${gains.map((gain) => gain.toFixed(3)).join(', by daily runs ')}`,
      )
      for (const gain of gains) expect(gain).toBeGreaterThan(GAINS[web]![isDated ? 1 : 0])
    },
  )
})
