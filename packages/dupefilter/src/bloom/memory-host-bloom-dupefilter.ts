import {
  type Crawler,
  filterFingerprinterOf,
  fingerprinterShown,
  type Logger,
  type StatsCollector,
  silentLogger,
} from '@webloom/core'
import type { Asked } from '../asking/asked.ts'
import { digestOf } from '../asking/digest.ts'
import type { BloomLayer, BloomOptions } from '../bloom-sizing/bloom-parameters.ts'
import {
  type BloomPartitionOptions,
  type PartitionNote,
  partitionNote,
  partOf,
} from '../bloom-sizing/bloom-partition.ts'
import { nativeBloomOptionsOf, partitionOptionsOf } from '../bloom-sizing/bloom-settings.ts'
import { hostParameters } from '../bloom-sizing/host-parameters.ts'
import { ProcessDupeFilter, type ProcessDupeFilterOptions } from '../process/process-dupefilter.ts'
import { BloomBits } from './bloom-bits.ts'
import type { BloomOnFull } from './bloom-fullness.ts'
import { errorOf, isFull, lostPerRecorded } from './bloom-record.ts'
import { FullHosts, type HostBloomDescription, hostDescription, refuseAllButWarning } from './host-parts.ts'

/** What a `MemoryHostBloomDupeFilter` is made of. */
export interface MemoryHostBloomDupeFilterOptions
  extends ProcessDupeFilterOptions,
    BloomPartitionOptions,
    Omit<BloomOptions, 'compat'> {
  /** Only `warn`, the default, is possible. */
  readonly onFull?: BloomOnFull
  /** Counts `dupefilter/full_hosts`. */
  readonly stats?: Pick<StatsCollector, 'inc'>
  /** Told when the first filter is full. Default: nobody. */
  readonly logger?: Logger
}

/** `memory-bloom` with a small Bloom filter for each host or domain: BLOOMFILTER_PARTITION_BY. */
export class MemoryHostBloomDupeFilter extends ProcessDupeFilter {
  readonly #layer: BloomLayer
  readonly #partition: PartitionNote
  readonly #isSha1: boolean
  readonly #fullHosts: FullHosts
  readonly #parts = new Map<string, BloomBits>()
  #lost = 0

  constructor(options: MemoryHostBloomDupeFilterOptions = {}) {
    super(options)
    refuseAllButWarning(options.onFull ?? 'warn', options.partitionBy)
    this.#layer = hostParameters(options).layer
    this.#partition = partitionNote(options)
    this.#isSha1 = this.fingerprinter.hashBytes === 20
    this.#fullHosts = new FullHosts(this.#layer, options.stats, options.logger ?? silentLogger)
  }

  static fromCrawler({ settings, stats, logger }: Crawler): MemoryHostBloomDupeFilter {
    return new this({
      ...nativeBloomOptionsOf(settings, 'memory-bloom'),
      ...partitionOptionsOf(settings),
      fingerprinter: filterFingerprinterOf(settings, 'scrapy', stats),
      onFull: settings.get('BLOOMFILTER_ON_FULL'),
      stats,
      logger,
    })
  }

  async describe(): Promise<HostBloomDescription> {
    const parts = [...this.#parts].map(([host, { counted }]) => ({ host, ...counted }))
    const fullest = parts.reduce<(typeof parts)[number] | undefined>(
      (most, part) => (most && most.set >= part.set ? most : part),
      undefined,
    )
    const counts = {
      count: parts.reduce((sum, { inserted }) => sum + inserted, 0),
      hosts: parts.length,
      fullHosts: parts.filter((part) => isFull([part])).length,
      pagesLost: this.#lost,
      ...(fullest && { fullest: { host: fullest.host, count: fullest.inserted, set: fullest.set } }),
    }
    return hostDescription(this.#layer, counts, {
      name: 'memory-bloom',
      ...fingerprinterShown(this.fingerprinter),
    })
  }

  protected isRecorded(asked: Asked): boolean {
    return this.#parts.get(partOf(asked.request, this.#partition))?.has(this.#digestOf(asked)) ?? false
  }

  protected record(asked: Asked): void {
    const host = partOf(asked.request, this.#partition)
    const part = this.#parts.get(host) ?? new BloomBits(this.#layer)
    this.#parts.set(host, part)
    const before = part.counted
    this.#lost += lostPerRecorded(errorOf([before]))
    part.add(this.#digestOf(asked))
    if (!isFull([before]) && isFull([part.counted])) this.#fullHosts.add([host])
  }

  protected forgetAll(): void {
    this.#parts.clear()
    this.#lost = 0
  }

  #digestOf({ fingerprint }: Asked): string {
    return digestOf(fingerprint, this.#isSha1)
  }
}
