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

const DAY = 24

/** Kinds of pages: hours between two changes, and how many parts of the pages are of that kind. */
const WEBS: Readonly<Record<string, readonly (readonly [hours: number, parts: number])[]>> = {
  'as many of each': pagesOf(
    [1, 1],
    [6, 1],
    [DAY, 1],
    [7 * DAY, 1],
    [30 * DAY, 1],
    [Number.POSITIVE_INFINITY, 1],
  ),
  'lists and articles': pagesOf([1, 5], [4 * DAY, 5]),
  'mostly fast': pagesOf([1, 3], [6, 3], [DAY, 2], [7 * DAY, 1], [30 * DAY, 1]),
  'mostly still': pagesOf(
    [1, 2],
    [6, 3],
    [DAY, 10],
    [7 * DAY, 20],
    [30 * DAY, 30],
    [Number.POSITIVE_INFINITY, 35],
  ),
  'half a day to a week': pagesOf([DAY / 2, 1], [DAY, 1], [2 * DAY, 1], [4 * DAY, 1], [8 * DAY, 1]),
  'all alike': pagesOf([3 * DAY, 1]),
}

function pagesOf(...kinds: (readonly [number, number])[]): readonly (readonly [number, number])[] {
  return kinds
}

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
  const parts = kinds.reduce((sum, [, part]) => sum + part, 0)
  const rates = kinds.flatMap(([hours, part]) =>
    Array<number>(Math.round((pages * part) / parts)).fill(1 / hours),
  )
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
