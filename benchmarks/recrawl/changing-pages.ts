/**
 * Pages that change at random moments, each at a rate that is known here and not to the schedule, and visits of them in virtual time: so
 * many an hour, and no more. What is due first is visited first; where nothing is due, what is due next.
 *
 * The moments at which a page changes are the same for each schedule.
 */

import type { VisitShown } from '../../packages/scheduler/src/visits/intervals/change-evidence.ts'
import { randomStream } from '../../packages/testkit/src/graph/random.ts'

/** When pages are visited again. */
export interface Schedule {
  readonly name: string
  /** Called with each visit; without `shown` for the first. Returns hours until the next. */
  nextHours(page: number, shown: VisitShown | undefined): number
}

export interface VisitedPages {
  /** Changes an hour, of each page. */
  readonly rates: readonly number[]
  /** Hours in which as many visits may be made as there are pages. */
  readonly meanHours: number
  readonly hours: number
  readonly seed: number
  /** True when pages tell when they changed last. */
  readonly isDated: boolean
}

export interface Freshness {
  /** Share of the time in which the copy of a page was as the page, mean of all pages, once each had been visited. */
  readonly mean: number
  /** The same in the second half, when the schedule has learned. */
  readonly learned: number
  /** Share of the visits that went to pages that change at least every two hours. */
  readonly onFastest: number
}

// "Faster than anyone can follow", where a page gets a visit in days.
const FASTEST_HOURS = 2

export function freshnessUnder(schedule: Schedule, pages: VisitedPages): Freshness {
  const { rates, meanHours, hours, seed, isDated } = pages
  const changes = rates.map((rate, page) => new Changes(rate, randomStream(seed, page)))
  const lastVisit = new Float64Array(rates.length).fill(-1)
  const due = new DueHeap(rates.length)
  const chance = randomStream(seed, rates.length)
  for (const page of rates.keys()) due.push(page, chance() * meanHours)
  const whole = new FreshHours(meanHours, hours)
  const half = new FreshHours(hours / 2, hours)
  const visitHours = meanHours / rates.length
  let [now, visits, onFastest] = [0, 0, 0]
  while (now < hours) {
    const { page, at } = due.first()
    const since = lastVisit[page]!
    if (since < 0 && at > now) {
      now += visitHours * Math.ceil((at - now) / visitHours) // the first crawl takes its time
      continue
    }
    due.pop()
    let shown: VisitShown | undefined
    if (since >= 0) {
      const firstChange = changes[page]!.next
      whole.add(since, Math.min(firstChange, now))
      half.add(since, Math.min(firstChange, now))
      const changedAt = changes[page]!.until(now)
      const ago = isDated && changedAt !== undefined ? { changedHoursAgo: now - changedAt } : {}
      shown = { hours: now - since, changed: changedAt !== undefined, ...ago }
    } else changes[page]!.until(now)
    lastVisit[page] = now
    visits++
    if (rates[page]! >= 1 / FASTEST_HOURS) onFastest++
    due.push(page, now + schedule.nextHours(page, shown))
    now += visitHours
  }
  rates.forEach((_, page) => {
    if (lastVisit[page]! < 0) return
    whole.add(lastVisit[page]!, changes[page]!.next)
    half.add(lastVisit[page]!, changes[page]!.next)
  })
  return {
    mean: whole.hours / (rates.length * (hours - meanHours)),
    learned: half.hours / (rates.length * (hours / 2)),
    onFastest: onFastest / visits,
  }
}

/** The moments at which one page changes. */
class Changes {
  next: number
  readonly #rate: number
  readonly #chance: () => number

  constructor(rate: number, chance: () => number) {
    this.#rate = rate
    this.#chance = chance
    this.next = this.#after(0)
  }

  /** Returns when it changed last up to that hour, of the changes that were not told yet. */
  until(hour: number): number | undefined {
    let last: number | undefined
    while (this.next <= hour) {
      last = this.next
      this.next = this.#after(this.next)
    }
    return last
  }

  #after(hour: number): number {
    return this.#rate === 0 ? Number.POSITIVE_INFINITY : hour - Math.log(1 - this.#chance()) / this.#rate
  }
}

class FreshHours {
  hours = 0
  readonly #from: number
  readonly #to: number

  constructor(from: number, to: number) {
    this.#from = from
    this.#to = to
  }

  add(from: number, to: number): void {
    this.hours += Math.max(0, Math.min(to, this.#to) - Math.max(from, this.#from))
  }
}

/** Pages by when they are due. */
class DueHeap {
  readonly #pages: number[] = []
  readonly #at: Float64Array

  constructor(pages: number) {
    this.#at = new Float64Array(pages)
  }

  first(): { readonly page: number; readonly at: number } {
    const page = this.#pages[0]!
    return { page, at: this.#at[page]! }
  }

  push(page: number, at: number): void {
    this.#at[page] = at
    const pages = this.#pages
    let place = pages.push(page) - 1
    while (place > 0) {
      const above = (place - 1) >> 1
      if (this.#at[pages[above]!]! <= at) break
      pages[place] = pages[above]!
      place = above
    }
    pages[place] = page
  }

  pop(): void {
    const pages = this.#pages
    const page = pages.pop()!
    if (pages.length === 0) return
    let place = 0
    for (;;) {
      let below = 2 * place + 1
      if (below >= pages.length) break
      if (below + 1 < pages.length && this.#at[pages[below + 1]!]! < this.#at[pages[below]!]!) below++
      if (this.#at[pages[below]!]! >= this.#at[page]!) break
      pages[place] = pages[below]!
      place = below
    }
    pages[place] = page
  }
}
