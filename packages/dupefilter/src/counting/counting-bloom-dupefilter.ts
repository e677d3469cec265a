/**
 * A counting Bloom filter on Redis: four bits for each place instead of one, so that a request can be taken out again.
 *
 *     <key>                   counters of block 0, as u4 of BITFIELD; {<key>}:bits:0:<b> for further blocks
 *     {<key>}:record          parameters and counts, as of every Bloom filter; how often each worker has forgotten
 *
 * What keeps the counters right:
 *
 * - Only a new request counts up; a request that is seen again does not. Two hashes of a request at one place count once.
 * - A counter at 15 may stand for more, and stays there for good: that costs a little error, and never forgets another
 *   request.
 * - `forget` counts down only what is recorded now, and a script that was sent twice counts down once. It is for requests
 *   that were told "new". A request that was never recorded and looks seen by chance (the filter's error) takes counts from
 *   others, which may then be fetched twice; nothing is lost by that.
 * - A link that its asker no longer yields is un-marked as in a plain Bloom filter: it stays counted once, and the next
 *   asker is told "new".
 */

import type { Crawler, Request } from '@webloom/core'
import { type Asked, askedAbout } from '../asking/asked.ts'
import { digestOf } from '../asking/digest.ts'
import { layerKeys, MAX_BITS_PER_CALL } from '../bloom/bit-strings.ts'
import { refuseGrowing } from '../bloom/bloom-fullness.ts'
import { RecordedBloomDupeFilter, type RecordedBloomOptions } from '../bloom/recorded-bloom-dupefilter.ts'
import { type BloomLayer, sizeOf } from '../bloom-sizing/bloom-parameters.ts'
import { nativeBloomOptionsOf, refusePartition, shareOf } from '../bloom-sizing/bloom-settings.ts'
import type { StoreQuestion } from '../redis/redis-dupefilter-options.ts'
import { bloomKeyOf, redisFilterOptionsOf } from '../redis/redis-filter-settings.ts'
import { CANNOT_GROW, countingParameters, countingPlaces } from './counting-places.ts'

/** The options of a `counting-bloom` filter on Redis. */
export type CountingBloomDupeFilterOptions = Omit<RecordedBloomOptions, 'compat'>

/** A Bloom filter on Redis that can forget a request, with four times the memory. */
export class CountingBloomDupeFilter extends RecordedBloomDupeFilter {
  readonly #isSha1: boolean

  constructor(options: CountingBloomDupeFilterOptions) {
    super(options, {
      name: 'counting-bloom',
      layout: 'counters',
      parameters: countingParameters(options),
      algorithm: 'scrapy',
      storeFiles: ['counting/store.lua', 'counting/record.lua', 'counting/erase.lua', 'bloom/unmark.lua'],
      bitsEach: 4,
    })
    this.#isSha1 = this.fingerprinter.hashBytes === 20
    refuseGrowing(this.fullness.onFull, CANNOT_GROW)
  }

  /** Makes the filter that the settings ask for, on the crawl's connection. */
  static fromCrawler(crawler: Crawler): CountingBloomDupeFilter {
    const { settings } = crawler
    refusePartition(settings, 'counting-bloom')
    return new this({
      ...redisFilterOptionsOf(crawler, 'scrapy'),
      ...shareOf(nativeBloomOptionsOf(settings, 'counting-bloom'), crawler.shard),
      key: bloomKeyOf(crawler),
      onFull: settings.get('BLOOMFILTER_ON_FULL'),
    })
  }

  protected override get maxRequestsPerCall(): number {
    return Math.min(500, Math.floor(MAX_BITS_PER_CALL / this.#layer.hashes))
  }

  async has(request: Request): Promise<boolean> {
    this.record = await this.readRecord()
    const digest = this.#digestOf(askedAbout(request, this.fingerprinter))
    const { block, places } = countingPlaces(digest, this.#layer)
    const gets = places.flatMap((place) => ['GET', 'u4', `#${place}`])
    const counters = await this.redis.call('BITFIELD_RO', this.#blocks[block]!, ...gets)
    if (!Array.isArray(counters) || counters.includes(0)) return false
    // An empty note: un-marked, so it belongs to no asker.
    return (await this.redis.hget(this.keys.pending, memberOf(digest))) !== ''
  }

  /** Takes a request out. Only for one that was told "new"; see above. */
  async forget(request: Request): Promise<void> {
    await this.erase(request)
  }

  protected question(asked: readonly Asked[]): StoreQuestion {
    const layer = this.#layer
    const digests = asked.map((one) => this.#digestOf(one))
    const at = digests.map((digest) => {
      const { block, places } = countingPlaces(digest, layer)
      return [block + 1, ...places.map((place) => `#${place}`)]
    })
    return {
      members: digests.map(memberOf),
      keys: this.#blocks,
      header: {
        bits: sizeOf(layer).bits,
        hashes: layer.hashes,
        ...(this.fullness.onFull === 'stop' && { capacity: layer.capacity }),
      },
      args: [JSON.stringify(at)],
    }
  }

  protected strings(layer: BloomLayer, number: number): string[] {
    return layerKeys(this.keys.main, 'native', layer, number)
  }

  get #blocks(): string[] {
    return this.strings(this.#layer, 0)
  }

  /** The layer that the filter was begun with. */
  get #layer(): BloomLayer {
    return this.record.layers[0] ?? this.parameters.layer
  }

  #digestOf({ fingerprint }: Asked): string {
    return digestOf(fingerprint, this.#isSha1)
  }
}

/** 128 bits tell as much as the filter knows. */
function memberOf(digest: string): string {
  return digest.slice(0, 32)
}
