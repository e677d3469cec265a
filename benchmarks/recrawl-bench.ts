/**
 * How fresh copies of pages are under several schedules, by virtual time: 10 000 pages that change at rates from hourly to never, a visit
 * of each in three days on average (a third of a daily crawl), ninety days.
 *
 *     node --conditions=webloom-source benchmarks/recrawl-bench.ts [--pages 10000] [--only fast] [--days 90] [--mean 3] [--seed 1] [--dated]
 *
 * `--only`: webs with this in their name. `--mean`: days in which there are as many visits as pages. `--dated`: pages say when they changed.
 */

import { parseArgs } from 'node:util'
import { freshnessUnder, type Schedule } from './recrawl/changing-pages.ts'
import {
  adaptive,
  adaptiveByRuns,
  approximated,
  estimated,
  growing,
  knowing,
  type ScheduleOptions,
  uniform,
} from './recrawl/schedules.ts'
import { ratesOf, WEBS } from './recrawl/webs.ts'

const DAY = 24

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '10000' },
    only: { type: 'string', default: '' },
    days: { type: 'string', default: '90' },
    mean: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    dated: { type: 'boolean', default: false },
  },
})
const pages = Number(values.pages)
const options: ScheduleOptions = {
  pages,
  meanHours: Number(values.mean) * DAY,
  minHours: 1,
  maxHours: 60 * DAY,
}

for (const [web, kinds] of Object.entries(WEBS)) {
  if (!web.includes(values.only)) continue
  const rates = ratesOf(kinds, pages)
  const visited = {
    rates,
    meanHours: options.meanHours,
    hours: Number(values.days) * DAY,
    seed: Number(values.seed),
    isDated: values.dated,
  }
  const sized = { ...options, pages: rates.length }
  const schedules: Schedule[] = [
    uniform(sized),
    growing(sized),
    estimated(sized),
    approximated(sized),
    adaptive(sized),
    adaptiveByRuns(sized),
    knowing(sized, rates),
  ]
  console.log(`${web}${values.dated ? ', changes dated' : ''}`)
  const measured = schedules.map((schedule) => ({
    ...freshnessUnder(schedule, visited),
    name: schedule.name,
  }))
  for (const { name, mean, learned, onFastest } of measured) {
    const { mean: uniformMean, learned: uniformLearned } = measured[0]!
    console.log(
      `  ${name.padEnd(36)} ${mean.toFixed(3)}  × ${(mean / uniformMean).toFixed(3)}; second half × ${(learned / uniformLearned).toFixed(3)}; hourly pages took ${(100 * onFastest).toFixed(0)} % of the visits`,
    )
  }
}
