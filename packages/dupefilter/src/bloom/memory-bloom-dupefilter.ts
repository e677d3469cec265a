import {
  type Crawler,
  filterFingerprinterOf,
  fingerprinterShown,
  type Logger,
  silentLogger,
} from '@webloom/core'
import type { Asked } from '../asking/asked.ts'
import { digestOf } from '../asking/digest.ts'
import {
  type BloomLayer,
  type BloomOptions,
  bloomParameters,
  nextLayer,
} from '../bloom-sizing/bloom-parameters.ts'
import { nativeBloomOptionsOf } from '../bloom-sizing/bloom-settings.ts'
import { ProcessDupeFilter, type ProcessDupeFilterOptions } from '../process/process-dupefilter.ts'
import { BloomBits } from './bloom-bits.ts'
import { type BloomDescription, bloomDescription } from './bloom-description.ts'
import { BloomFullness, type BloomOnFull } from './bloom-fullness.ts'
import { type CountedLayer, errorOf, isFull, lostPerRecorded } from './bloom-record.ts'

/** The options of a `memory-bloom` filter. */
export interface MemoryBloomDupeFilterOptions extends ProcessDupeFilterOptions, Omit<BloomOptions, 'compat'> {
  /** Default warn. `grow` adds a layer; `stop` ends the crawl with `dupefilter_full`. */
  readonly onFull?: BloomOnFull
  /** Warns when the filter is half full, and when it is full. Default: no warnings. */
  readonly logger?: Logger
}

/** A Bloom filter in this process: `redis-bloom` with the same bits, for a crawl without Redis. */
export class MemoryBloomDupeFilter extends ProcessDupeFilter {
  readonly #first: BloomLayer
  readonly #fullness: BloomFullness
  readonly #isSha1: boolean
  #layers: BloomBits[] = []
  #lost = 0

  constructor(options: MemoryBloomDupeFilterOptions = {}) {
    super(options)
    this.#first = bloomParameters(options).layer
    this.#fullness = new BloomFullness(options.onFull ?? 'warn', options.logger ?? silentLogger, {
      filter: 'memory-bloom',
    })
    this.#isSha1 = this.fingerprinter.hashBytes === 20
  }

  static fromCrawler({ settings, stats, logger }: Crawler): MemoryBloomDupeFilter {
    return new this({
      ...nativeBloomOptionsOf(settings, 'memory-bloom'),
      fingerprinter: filterFingerprinterOf(settings, 'scrapy', stats),
      onFull: settings.get('BLOOMFILTER_ON_FULL'),
      logger,
    })
  }

  override async open(): Promise<void> {
    if (this.#layers.length === 0) this.#layers = [new BloomBits(this.#first)]
  }

  async describe(): Promise<BloomDescription> {
    return bloomDescription(
      { layers: this.#counted(), lost: this.#lost },
      {
        name: 'memory-bloom',
        ...fingerprinterShown(this.fingerprinter),
        hashes: this.#first.hashes,
        grows: this.#fullness.onFull === 'grow',
      },
    )
  }

  protected override prepare(): void {
    this.#fullness.stopWhenFull(this.#counted())
  }

  protected isRecorded(asked: Asked): boolean {
    const digest = this.#digestOf(asked)
    return this.#layers.some((layer) => layer.has(digest))
  }

  protected record(asked: Asked): void {
    const before = this.#counted()
    this.#lost += lostPerRecorded(errorOf(before))
    if (this.#fullness.onFull === 'grow' && isFull(before))
      this.#layers.push(new BloomBits(nextLayer(before.at(-1)!)))
    this.#layers.at(-1)!.add(this.#digestOf(asked))
    this.#fullness.warn(this.#counted())
  }

  protected forgetAll(): void {
    this.#layers = [new BloomBits(this.#first)]
    this.#lost = 0
    this.#fullness.reset()
  }

  #counted(): CountedLayer[] {
    return this.#layers.map(({ counted }) => counted)
  }

  #digestOf({ fingerprint }: Asked): string {
    return digestOf(fingerprint, this.#isSha1)
  }
}
