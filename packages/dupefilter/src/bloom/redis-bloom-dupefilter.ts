/**
 * A Bloom filter in plain Redis strings: no module is needed, and none is used.
 *
 *     <key>                   bits of layer 0, block 0: 2 ** BLOOMFILTER_BIT of them, or as many as a capacity needs
 *     {<key>}:bits:<l>:<b>    further blocks (a string holds 2 ** 32 bits) and layers (a filter that grows)
 *     {<key>}:record          parameters, layers, how many were inserted, bits set, pages lost
 *     {<key>}:pending …       askers, as in every filter
 *
 * All bits of a request are in one block of each layer. They are looked up one by one, up to the first that is not set, and
 * only new requests are written, with one BITFIELD: pages link mostly to known pages, and every write goes to replicas and
 * the append-only file. `docs/decisions/dupefilter-bloom-on-redis.md` has the measurements.
 *
 * The filter forgets nothing, and takes some new requests for seen ones. `describe` tells how many that will have been.
 */

import { type Crawler, type Request, SettingsError } from '@webloom/core'
import { type Asked, askedAbout } from '../asking/asked.ts'
import { digestOf } from '../asking/digest.ts'
import { type BloomLayer, bloomParameters, nextLayer, sizeOf } from '../bloom-sizing/bloom-parameters.ts'
import { bloomOptionsOf, shareOf } from '../bloom-sizing/bloom-settings.ts'
import { compatStanding } from '../bloom-sizing/compat-error.ts'
import type { StoreQuestion } from '../redis/redis-dupefilter-options.ts'
import { bloomKeyOf, redisFilterOptionsOf } from '../redis/redis-filter-settings.ts'
import { luaScript } from '../redis/redis-script.ts'
import { countBits, layerKeys, MAX_BITS_PER_CALL } from './bit-strings.ts'
import { refuseGrowing } from './bloom-fullness.ts'
import { compatGroups, nativeGroups } from './bloom-groups.ts'
import { errorOf, excessOf, isFull } from './bloom-record.ts'
import { RecordedBloomDupeFilter, type RecordedBloomOptions } from './recorded-bloom-dupefilter.ts'

/** The options of a `redis-bloom` filter. */
export type RedisBloomDupeFilterOptions = RecordedBloomOptions

const ADD_LAYER = luaScript('bloom/add-layer.lua')
const STORE_FILES = ['bloom/store.lua', 'bloom/set-bits.lua', 'bloom/record.lua', 'bloom/unmark.lua']
const DEFAULT_FINGERPRINTER = {
  native: 'scrapy',
  germey: 'scrapy-redis',
  liuxingming: 'scrapy',
  'liuxingming-demo': 'scrapy-2.6',
} as const

/** A Bloom filter on a plain Redis: a few bytes for each request, but some new requests are taken for seen ones. */
export class RedisBloomDupeFilter extends RecordedBloomDupeFilter {
  readonly #isSha1: boolean

  constructor(options: RedisBloomDupeFilterOptions) {
    const parameters = bloomParameters(options)
    const { mode } = parameters
    super(options, {
      name: 'redis-bloom',
      parameters,
      algorithm: DEFAULT_FINGERPRINTER[mode],
      storeFiles: STORE_FILES,
      bitsEach: 1,
    })
    // The digits of a SHA-1 need not be hashed again.
    this.#isSha1 = this.fingerprinter.hashBytes === 20
    if (mode !== 'native') {
      refuseGrowing(
        this.fullness.onFull,
        `a filter with BLOOMFILTER_COMPAT=${mode} cannot grow: the Python crawlers that share it would not see the new layer`,
      )
    }
  }

  /** Makes the filter that the settings ask for, on the crawl's connection. */
  static fromCrawler(crawler: Crawler): RedisBloomDupeFilter {
    const { settings } = crawler
    const compat = settings.get('BLOOMFILTER_COMPAT')
    if (compat === 'liuxingming-demo' && settings.get('DUPEFILTER_DIGEST') === 'url') {
      throw new SettingsError([
        'DUPEFILTER_DIGEST is url, and BLOOMFILTER_COMPAT is liuxingming-demo, which takes the number of the block from the first hex digits: use fingerprint, md5 or another hash, or BLOOMFILTER_COMPAT=liuxingming',
      ])
    }
    return new this({
      ...redisFilterOptionsOf(crawler, DEFAULT_FINGERPRINTER[compat]),
      ...shareOf(bloomOptionsOf(settings), crawler.shard),
      compat,
      key: bloomKeyOf(crawler),
      onFull: settings.get('BLOOMFILTER_ON_FULL'),
    })
  }

  protected override get maxRequestsPerCall(): number {
    const hashes = this.record.layers.map((layer) => layer.hashes)
    return Math.min(500, Math.floor(MAX_BITS_PER_CALL / Math.max(this.parameters.layer.hashes, ...hashes)))
  }

  async has(request: Request): Promise<boolean> {
    // Another worker may have added a layer.
    this.record = await this.readRecord()
    const { args = [], keys = [], members } = this.question([askedAbout(request, this.fingerprinter)])
    for (const [group, key] of keys.entries()) {
      const offsets = JSON.parse(String(args[group])) as string[]
      const bits = await this.redis.call(
        'BITFIELD_RO',
        key,
        ...offsets.flatMap((offset) => ['GET', 'u1', offset]),
      )
      if (Array.isArray(bits) && bits.every((bit) => bit === 1)) {
        // An empty note: un-marked, so it belongs to no asker.
        return (await this.redis.hget(this.keys.pending, String(members[0]))) !== ''
      }
    }
    return false
  }

  protected question(asked: readonly Asked[]): StoreQuestion {
    const fingerprints = asked.map(({ fingerprint }) => fingerprint)
    const { mode } = this.parameters
    const { layers } = this.record
    const newest = layers.at(-1) ?? { ...this.parameters.layer, inserted: 0, set: 0 }
    const digests = fingerprints.map((fingerprint) => digestOf(fingerprint, this.#isSha1))
    const groups = layers.flatMap((layer, number) =>
      mode === 'native'
        ? nativeGroups(this.keys.main, number, layer, digests)
        : compatGroups(this.keys.main, mode, layer, fingerprints),
    )
    // Newest layer first: most known requests were seen lately, and a request that is found needs no further look.
    groups.reverse()
    return {
      // 128 bits tell as much as the filter knows.
      members: digests.map((digest) => digest.slice(0, 32)),
      keys: groups.map(({ key }) => key),
      header: {
        layers: layers.length,
        bits: sizeOf(newest).bits,
        hashes: newest.hashes,
        ...(newest.compat && { excess: excessOf(newest) }),
        ...(this.fullness.onFull !== 'warn' && { capacity: newest.capacity }),
        oldError: errorOf(layers.slice(0, -1)),
        groups: groups.map(({ layer, who }) => ({
          k: layers[layer]!.hashes,
          top: layer === layers.length - 1,
          ...(who && { who }),
        })),
      },
      args: groups.map(({ offsets }) => offsets),
    }
  }

  protected strings(layer: BloomLayer, number: number): string[] {
    return layerKeys(this.keys.main, this.parameters.mode, layer, number)
  }

  protected override async goOn(isNew: boolean): Promise<void> {
    if (this.parameters.mode !== 'native') await this.#countForeign(isNew)
    if (this.fullness.onFull === 'grow' && isFull(this.record.layers)) await this.#addLayer()
  }

  async #addLayer(): Promise<void> {
    const { layers } = this.record
    const number = layers.length
    const layer = nextLayer(layers.at(-1)!)
    await this.makeRoomFor(layer, number)
    const added = await ADD_LAYER.run(this.redis, [this.keys.record], [number, JSON.stringify(layer)])
    this.record = await this.readRecord()
    if (added === 1) {
      const { capacity, errorRate } = layer
      this.logger.info(
        { key: this.keys.main, layer: number, capacity, errorRate },
        'the Bloom filter was full; it has a new layer',
      )
    }
  }

  /** Counts requests of Python crawlers, which set bits without counting: their number follows from the bits. */
  async #countForeign(isNew: boolean): Promise<void> {
    const layer = this.record.layers[0]!
    let set = 0
    for (const key of this.strings(layer, 0)) set += await countBits(this.redis, key)
    const size = sizeOf(layer)
    const inserted = isNew ? this.#countAt(layer, set / size.bits) : layer.inserted
    await this.redis.hset(this.keys.record, { 'set:0': set, ...(isNew && { 'inserted:0': inserted }) })
    this.record = { ...this.record, layers: [{ ...layer, set, inserted }] }
  }

  #countAt(layer: BloomLayer, fill: number): number {
    const { mode } = this.parameters
    if (mode === 'native' || fill === 0) return 0
    const { load } = compatStanding(mode, layer.bits, layer.hashes, Math.min(fill, 1 - 1 / layer.bits))
    return Math.round(load * sizeOf(layer).bits)
  }
}
