import {
  type Crawler,
  filterFingerprinterOf,
  fingerprinterShown,
  type Logger,
  type Request,
  silentLogger,
} from '@webloom/core'
import { type Asked, askedAbout } from '../asking/asked.ts'
import { digestOf } from '../asking/digest.ts'
import { type BloomDescription, bloomDescription } from '../bloom/bloom-description.ts'
import { BloomFullness, type BloomOnFull, refuseGrowing } from '../bloom/bloom-fullness.ts'
import { errorOf, lostPerRecorded } from '../bloom/bloom-record.ts'
import type { BloomLayer, BloomOptions } from '../bloom-sizing/bloom-parameters.ts'
import { nativeBloomOptionsOf, refusePartition } from '../bloom-sizing/bloom-settings.ts'
import { ProcessDupeFilter, type ProcessDupeFilterOptions } from '../process/process-dupefilter.ts'
import { BloomCounters } from './bloom-counters.ts'
import { CANNOT_GROW, countingParameters } from './counting-places.ts'

/** The options of a `counting-bloom` filter in this process. */
export interface MemoryCountingBloomDupeFilterOptions
  extends ProcessDupeFilterOptions,
    Omit<BloomOptions, 'compat'> {
  /** Default `warn`; a counting filter cannot grow. `stop` ends the crawl with `dupefilter_full`. */
  readonly onFull?: BloomOnFull
  /** Warns when the filter is half full, and when it is full. Default: no warnings. */
  readonly logger?: Logger
}

/** `counting-bloom` without Redis: a Bloom filter in this process that can forget a request. */
export class MemoryCountingBloomDupeFilter extends ProcessDupeFilter {
  readonly #layer: BloomLayer
  readonly #fullness: BloomFullness
  readonly #isSha1: boolean
  #counters: BloomCounters | undefined
  #lost = 0

  constructor(options: MemoryCountingBloomDupeFilterOptions = {}) {
    super(options)
    this.#layer = countingParameters(options).layer
    const { onFull = 'warn', logger = silentLogger } = options
    refuseGrowing(onFull, CANNOT_GROW)
    this.#fullness = new BloomFullness(onFull, logger, { filter: 'counting-bloom' })
    this.#isSha1 = this.fingerprinter.hashBytes === 20
  }

  static fromCrawler({ settings, stats, logger }: Crawler): MemoryCountingBloomDupeFilter {
    refusePartition(settings, 'counting-bloom')
    return new this({
      ...nativeBloomOptionsOf(settings, 'counting-bloom'),
      fingerprinter: filterFingerprinterOf(settings, 'scrapy', stats),
      onFull: settings.get('BLOOMFILTER_ON_FULL'),
      logger,
    })
  }

  override async open(): Promise<void> {
    this.#counters ??= new BloomCounters(this.#layer)
  }

  async describe(): Promise<BloomDescription> {
    return bloomDescription(
      { layers: this.#counted(), lost: this.#lost },
      { name: 'counting-bloom', ...fingerprinterShown(this.fingerprinter), hashes: this.#layer.hashes },
    )
  }

  /** Takes a request out. Only for one that was told "new": any other would take counts from other requests. */
  async forget(request: Request): Promise<void> {
    const asked = askedAbout(request, this.fingerprinter)
    if (!this.isRecorded(asked)) return
    this.#open().remove(this.#digestOf(asked))
    this.letGo(asked)
  }

  protected override prepare(): void {
    this.#fullness.stopWhenFull(this.#counted())
  }

  protected isRecorded(asked: Asked): boolean {
    return this.#open().has(this.#digestOf(asked))
  }

  protected record(asked: Asked): void {
    this.#lost += lostPerRecorded(errorOf(this.#counted()))
    this.#open().add(this.#digestOf(asked))
    this.#fullness.warn(this.#counted())
  }

  protected forgetAll(): void {
    this.#counters = new BloomCounters(this.#layer)
    this.#lost = 0
    this.#fullness.reset()
  }

  #open(): BloomCounters {
    if (!this.#counters) throw new Error('open() comes first')
    return this.#counters
  }

  #counted() {
    return this.#counters ? [this.#counters.counted] : []
  }

  #digestOf({ fingerprint }: Asked): string {
    return digestOf(fingerprint, this.#isSha1)
  }
}
