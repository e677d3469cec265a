import { CloseSpider, type Logger, SettingsError } from '@webloom/core'
import { type BloomWarning, type CountedLayer, errorOf, fillOf, isFull, warningsOf } from './bloom-record.ts'

/** BLOOMFILTER_ON_FULL: what happens when more requests come than the wanted error allows. */
export type BloomOnFull = 'grow' | 'warn' | 'stop'

/** Watches a Bloom filter's capacity: warns once at each stage, or ends the crawl. */
export class BloomFullness {
  /** BLOOMFILTER_ON_FULL. */
  readonly onFull: BloomOnFull
  readonly #where: object
  readonly #logger: Logger
  readonly #warnedOf = new Set<BloomWarning['stage']>()

  /** @param where fields that log lines carry beside the filter's figures */
  constructor(onFull: BloomOnFull, logger: Logger, where: object) {
    this.onFull = onFull
    this.#logger = logger
    this.#where = where
  }

  /** Logs each stage that the newest layer has reached, once. */
  warn(layers: readonly CountedLayer[]): void {
    for (const { stage, text } of warningsOf(layers, this.onFull === 'grow')) {
      if (this.#warnedOf.has(stage)) continue
      this.#warnedOf.add(stage)
      const newest = layers.at(-1)!
      const { inserted, capacity } = newest
      const figures = { inserted, capacity, fillRatio: fillOf(newest), errorNow: errorOf(layers) }
      this.#logger.warn({ ...this.#where, ...figures }, text)
    }
  }

  /** Throws CloseSpider for a full filter that may neither grow nor exceed its error. */
  stopWhenFull(layers: readonly CountedLayer[]): void {
    if (this.onFull !== 'stop' || !isFull(layers)) return
    const { capacity, inserted } = layers.at(-1)!
    this.#logger.error(
      { ...this.#where, capacity, inserted },
      'the Bloom filter is full: more requests would be lost than BLOOMFILTER_ERROR_RATE allows. The crawl ends, because BLOOMFILTER_ON_FULL is stop. Begin a new filter with a larger BLOOMFILTER_CAPACITY, or set BLOOMFILTER_ON_FULL=grow',
    )
    throw new CloseSpider('dupefilter_full')
  }

  /** Called when the filter is empty again. */
  reset(): void {
    this.#warnedOf.clear()
  }
}

export function refuseGrowing(onFull: BloomOnFull, reason: string): void {
  if (onFull !== 'grow') return
  throw new SettingsError([`BLOOMFILTER_ON_FULL is grow, but ${reason}`])
}
