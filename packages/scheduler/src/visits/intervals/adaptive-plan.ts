import type { ChangeEvidence } from '@webloom/core'
import { NO_EVIDENCE } from './change-evidence.ts'
import { EVEN_SHARES, fitted, type RateShares, ratesOf } from './rate-mix.ts'
import { type IntervalBounds, worthyInterval } from './visit-interval.ts'
import { firstPrice, movedPrice } from './visit-price.ts'

export interface AdaptivePlanOptions extends IntervalBounds {
  /** How often pages are visited on average: the plan asks for no more visits than one of each page in so many hours. */
  readonly meanHours: number
}

/** What a plan has learned. */
export interface PlanState {
  /** What a visit has to bring, in hours of a fresh copy. */
  readonly price: number
  readonly mix: RateShares
}

/** How often the pages of a crawl change, and what a visit has to bring: what pages need to know of each other. */
export class AdaptivePlan {
  readonly #bounds: IntervalBounds
  readonly #meanHours: number
  #mix: RateShares = EVEN_SHARES
  #price: number

  constructor({ meanHours, ...bounds }: AdaptivePlanOptions) {
    this.#meanHours = meanHours
    this.#bounds = bounds
    this.#price = firstPrice(meanHours)
  }

  /** What has been learned so far. */
  get state(): PlanState {
    return { price: this.#price, mix: this.#mix }
  }

  /** Takes over what an earlier run, or another worker, has learned. */
  goOnWith({ price, mix }: PlanState): void {
    this.#price = price
    this.#mix = mix
  }

  /** Returns after how many hours a page is visited again. */
  intervalHours(evidence: ChangeEvidence = NO_EVIDENCE): number {
    return worthyInterval(ratesOf(evidence, this.#mix), this.#price, this.#bounds)
  }

  /**
   * Called some fifty times in the time in which each page is visited once: more often it would overshoot.
   *
   * @param asked how many visits an hour the intervals of all pages ask for
   */
  balance(pages: number, asked: number): void {
    this.#price = movedPrice(this.#price, asked, pages / this.#meanHours)
  }

  /** Learns how often pages change from a fair sample of them. */
  learn(sample: readonly ChangeEvidence[]): void {
    this.#mix = fitted(this.#mix, sample)
  }
}
