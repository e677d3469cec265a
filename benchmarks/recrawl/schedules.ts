/** Schedules beside each other: ours, what others do, and one that is told what no crawl can know. */

import type { ChangeEvidence } from '@webloom/core'
import { AdaptivePlan } from '../../packages/scheduler/src/visits/intervals/adaptive-plan.ts'
import { NO_EVIDENCE, withVisit } from '../../packages/scheduler/src/visits/intervals/change-evidence.ts'
import { BALANCES_PER_ROUND, makeSteps } from '../../packages/scheduler/src/visits/visit-planner.ts'
import type { Schedule } from './changing-pages.ts'

export interface ScheduleOptions {
  readonly pages: number
  readonly meanHours: number
  readonly minHours: number
  readonly maxHours: number
}

/** Each page as often as any other: RECRAWL=fixed. */
export function uniform({ meanHours }: ScheduleOptions): Schedule {
  return { name: 'uniform', nextHours: () => meanHours }
}

/** StormCrawler's rule: longer by half after no change, half way to the shortest after a change. */
export function growing({ pages, meanHours, minHours, maxHours }: ScheduleOptions): Schedule {
  const hours = new Float64Array(pages).fill(meanHours)
  return {
    name: 'StormCrawler’s rule',
    nextHours(page, shown) {
      const last = hours[page]!
      if (shown) hours[page] = shown.changed ? 0.5 * (last + minHours) : Math.min(maxHours, 1.5 * last)
      return hours[page]!
    },
  }
}

/** RECRAWL=adaptive. */
export function adaptive(options: ScheduleOptions): Schedule {
  const plan = new AdaptivePlan(options)
  const evidence = new Array<ChangeEvidence | undefined>(options.pages)
  const shares = new VisitsAsked(options.pages)
  return {
    name: 'adaptive',
    nextHours(page, shown) {
      const hours = plan.intervalHours(noted(evidence, page, shown))
      const { visits, known: pagesKnown, asked } = shares.add(page, hours)
      if (visits % Math.ceil(options.pages / 50) === 0) plan.balance(pagesKnown, asked)
      if (visits % Math.ceil(options.pages / 10) === 0) plan.learn(sampleOf(evidence, visits))
      return hours
    },
  }
}

/** What the visits of a page have shown, this one included. */
function noted(
  evidence: (ChangeEvidence | undefined)[],
  page: number,
  shown: Parameters<Schedule['nextHours']>[1],
): ChangeEvidence {
  const known = evidence[page]
  const now = known && shown ? withVisit(known, shown) : NO_EVIDENCE
  evidence[page] = now
  return now
}

/** RECRAWL=adaptive by a run a day: a plan that is new each day, goes on with what the one before has noted, and is moved once. */
export function adaptiveByRuns(options: ScheduleOptions): Schedule {
  const evidence = new Array<ChangeEvidence | undefined>(options.pages)
  const shares = new VisitsAsked(options.pages)
  const visitsADay = Math.ceil((options.pages * 24) / options.meanHours)
  let plan = new AdaptivePlan(options)
  return {
    name: 'adaptive, a run a day',
    nextHours(page, shown) {
      const hours = plan.intervalHours(noted(evidence, page, shown))
      const { visits, known: pages, asked } = shares.add(page, hours)
      if (visits % visitsADay === 0) {
        const { state } = plan
        plan = new AdaptivePlan(options)
        plan.goOnWith(state)
        const due = Math.floor((BALANCES_PER_ROUND * 24) / options.meanHours)
        const sample = sampleOf(evidence, visits).map((of) => ({ evidence: of }))
        makeSteps(plan, { due, sample, pages, perHour: asked })
      }
      return hours
    },
  }
}

function sampleOf(evidence: readonly (ChangeEvidence | undefined)[], offset: number): ChangeEvidence[] {
  const step = Math.ceil(evidence.length / 1000)
  return evidence.filter(
    (of, page): of is ChangeEvidence =>
      of !== undefined && of !== NO_EVIDENCE && (page + offset) % step === 0,
  )
}

/** Cho and Garcia-Molina’s estimator with its bias taken out, at the best intervals for what it says. */
export function estimated(options: ScheduleOptions): Schedule {
  const [visits, changes, hours] = [0, 1, 2].map(() => new Float64Array(options.pages))
  return byRate('Cho and Garcia-Molina’s estimator', options, (page, shown) => {
    if (shown) {
      visits![page]!++
      hours![page]! += shown.hours
      if (shown.changed) changes![page]!++
    }
    const n = visits![page]!
    if (n === 0) return 1 / options.meanHours
    return (-Math.log((n - changes![page]! + 0.5) / (n + 0.5)) * n) / hours![page]!
  })
}

/** Avrachenkov, Patil and Thoppe’s estimator by stochastic approximation, at the best intervals for what it says. */
export function approximated(options: ScheduleOptions): Schedule {
  const rates = new Float64Array(options.pages).fill(1 / options.meanHours)
  const visits = new Float64Array(options.pages)
  return byRate('Avrachenkov’s estimator', options, (page, shown) => {
    if (shown) {
      const step = (++visits[page]! + 1) ** -0.75
      const found = shown.changed ? rates[page]! + 1 / shown.hours : 0
      rates[page] = Math.max(1e-7, rates[page]! + step * (found - rates[page]!))
    }
    return rates[page]!
  })
}

/** The best that any schedule can do: it knows each page’s rate. */
export function knowing(options: ScheduleOptions, rates: readonly number[]): Schedule {
  const kinds = [...new Set(rates)]
  const counts = kinds.map((kind) => rates.filter((rate) => rate === kind).length)
  const price = priceFor(kinds, counts, options)
  const hours = new Map(kinds.map((kind) => [kind, bestHours(kind, price, options)]))
  return { name: 'rates known', nextHours: (page) => hours.get(rates[page]!)! }
}

/** Intervals by an estimated rate; how high the price is follows from a table of how many pages have which. */
function byRate(
  name: string,
  options: ScheduleOptions,
  rateOf: (page: number, shown: Parameters<Schedule['nextHours']>[1]) => number,
): Schedule {
  const steps = Array.from({ length: 64 }, (_, n) => 4 * (1 / 40_000) ** (n / 63))
  const counts = steps.map(() => 0)
  const stepOf = new Int16Array(options.pages).fill(-1)
  let [visits, hours] = [0, steps]
  return {
    name,
    nextHours(page, shown) {
      const near = Math.round((Math.log(rateOf(page, shown) / 4) / Math.log(1 / 40_000)) * 63)
      const step = Number.isFinite(near) ? Math.max(0, Math.min(63, near)) : 63
      if (stepOf[page]! >= 0) counts[stepOf[page]!]!--
      counts[step]!++
      stepOf[page] = step
      if (visits++ % Math.ceil(options.pages / 20) === 0) {
        const price = priceFor(steps, counts, options)
        hours = steps.map((rate) => bestHours(rate, price, options))
      }
      return hours[step]!
    },
  }
}

function priceFor(rates: readonly number[], counts: readonly number[], options: ScheduleOptions): number {
  const visits = counts.reduce((a, b) => a + b, 0) / options.meanHours
  let [low, high] = [1e-9, 1e6]
  for (let n = 0; n < 60; n++) {
    const price = Math.sqrt(low * high)
    const asked = rates.reduce(
      (sum, rate, i) => sum + (counts[i]! && counts[i]! / bestHours(rate, price, options)),
      0,
    )
    if (asked > visits) low = price
    else high = price
  }
  return Math.sqrt(low * high)
}

function bestHours(rate: number, price: number, { minHours, maxHours }: ScheduleOptions): number {
  if (rate <= 0 || price * rate >= 1) return maxHours
  let [low, high] = [0, 60]
  for (let n = 0; n < 50; n++) {
    const r = (low + high) / 2
    if (1 - Math.exp(-r) * (1 + r) < price * rate) low = r
    else high = r
  }
  return Math.max(minHours, Math.min(maxHours, low / rate))
}

/** How many visits an hour the intervals of all pages ask for. */
class VisitsAsked {
  readonly #rates: Float64Array
  #visits = 0
  #known = 0
  #asked = 0

  constructor(pages: number) {
    this.#rates = new Float64Array(pages)
  }

  add(
    page: number,
    hours: number,
  ): { readonly visits: number; readonly known: number; readonly asked: number } {
    if (this.#rates[page] === 0) this.#known++
    this.#asked += 1 / hours - this.#rates[page]!
    this.#rates[page] = 1 / hours
    return { visits: ++this.#visits, known: this.#known, asked: this.#asked }
  }
}
