/**
 * A Bloom filter that splits where it is full: its error stays below the one asked for, however many requests come.
 *
 *                      which of c leaves?              first locating hash
 *          ┌───────────┬──────┴──────┬───────────┐
 *          0           1             2           3     leaves: Bloom filters of m bits, for at most u requests each
 *                  ┌───┴───┐                           next locating hash: a leaf past u has been split
 *                 1.0     1.1
 *
 * A request is looked up in one leaf, so the error is that leaf's, and the look-up costs the same however large the filter
 * has become. To be split, a leaf must know its members: it keeps 64 bits of each (`marks`), which is twice as much as its
 * Bloom filter takes at 1e-6. Leaves that cannot be split further keep no marks.
 *
 *     {<key>}:leaf:<leaf>     bits                       {<key>}:tree      inner nodes, and those that are being split
 *     {<key>}:marks:<leaf>    8 bytes a request          {<key>}:leaves    counts of each leaf
 *     {<key>}:record          parameters, and `tree`: which it is, as another one grows after `clear`
 *
 * While a leaf is split (`splittable-splitting.ts`) it is asked together with its child, at twice the error at most. Workers
 * keep a copy of the tree. A question for a node that is not a leaf any more is answered WEBLOOM_MOVED, and asked again with the
 * present tree.
 */

import {
  type Crawler,
  fingerprinterNote,
  fingerprinterShown,
  type Request,
  type ScriptRefusal,
  SettingsError,
} from '@webloom/core'
import { type Asked, askedAbout } from '../asking/asked.ts'
import { digestOf } from '../asking/digest.ts'
import { MAX_BITS_PER_CALL } from '../bloom/bit-strings.ts'
import type { BloomOnFull } from '../bloom/bloom-fullness.ts'
import { bloomNote, openBloom } from '../bloom/bloom-opening.ts'
import { storedParameters } from '../bloom/bloom-record.ts'
import { nativeBloomOptionsOf, refusePartition, shareOf } from '../bloom-sizing/bloom-settings.ts'
import { RedisDupeFilter } from '../redis/redis-dupefilter.ts'
import type { RedisDupeFilterOptions, StoreQuestion } from '../redis/redis-dupefilter-options.ts'
import { bloomKeyOf, redisFilterOptionsOf } from '../redis/redis-filter-settings.ts'
import { type SplittableDescription, splittableDescription } from './splittable-description.ts'
import { type SplittableKeys, splittableKeys } from './splittable-keys.ts'
import { leafOffsets, leafQuestion } from './splittable-leaves.ts'
import {
  type SplittableOptions,
  type SplittableParameters,
  splittableParameters,
} from './splittable-parameters.ts'
import { LeafSplitting } from './splittable-splitting.ts'
import { childrenOf, depthOf, LeafTree, markOf, parentOf, placeOf } from './splittable-tree.ts'

/** The options of a `splittable-bloom` filter. */
export interface SplittableBloomDupeFilterOptions extends RedisDupeFilterOptions, SplittableOptions {
  /** BLOOMFILTER_ON_FULL. This filter always grows, so `stop` is refused. */
  readonly onFull?: BloomOnFull
  /** After how many silent milliseconds of a worker that splits a leaf another one goes on. Default 5000. */
  readonly splitLeaseMs?: number
}

const STORE_FILES = [
  'bloom/store.lua',
  'splittable/leaves.lua',
  'bloom/set-bits.lua',
  'splittable/put.lua',
  'splittable/record.lua',
  'bloom/unmark.lua',
]

/** A Bloom filter on a plain Redis that keeps its error however many requests come, at 25 to 32 bytes each. */
export class SplittableBloomDupeFilter extends RedisDupeFilter {
  readonly #parameters: SplittableParameters
  readonly #leafKeys: SplittableKeys
  readonly #splitting: LeafSplitting
  readonly #isSha1: boolean
  #tree = new LeafTree('', {})
  #hasWarned = false

  constructor(options: SplittableBloomDupeFilterOptions) {
    const parameters = splittableParameters(options)
    super(options, STORE_FILES, 'scrapy')
    if (options.onFull === 'stop') {
      throw new SettingsError([
        'BLOOMFILTER_ON_FULL is stop, and DUPEFILTER_CLASS is splittable-bloom, which is never full: unset it, or use redis-bloom',
      ])
    }
    this.#parameters = parameters
    this.#isSha1 = this.fingerprinter.hashBytes === 20
    this.#leafKeys = splittableKeys(this.keys)
    const { redis, keys: filterKeys, logger } = this
    const lease = options.splitLeaseMs === undefined ? {} : { leaseMs: options.splitLeaseMs }
    this.#splitting = new LeafSplitting({
      ...{ redis, filterKeys, parameters, keys: this.#leafKeys, logger },
      onRipe: (leaves) => this.told(leaves),
      ...lease,
    })
  }

  /** Makes the filter that the settings ask for, on the crawl's connection. */
  static fromCrawler(crawler: Crawler): SplittableBloomDupeFilter {
    const { settings } = crawler
    refusePartition(settings, 'splittable-bloom')
    const { bit, blockNum, ...size } = nativeBloomOptionsOf(settings, 'splittable-bloom')
    if (bit !== undefined || blockNum !== undefined) {
      throw new SettingsError([
        'BLOOMFILTER_BIT or BLOOMFILTER_BLOCK_NUM is set, and DUPEFILTER_CLASS is splittable-bloom, which has as many leaves as it needs: set BLOOMFILTER_CAPACITY to how many requests are expected, and BLOOMFILTER_LEAF_BIT for the size of a leaf',
      ])
    }
    return new this({
      ...redisFilterOptionsOf(crawler, 'scrapy'),
      ...shareOf(size, crawler.shard),
      leafBit: settings.getInt('BLOOMFILTER_LEAF_BIT'),
      splitsMax: settings.getInt('BLOOMFILTER_SPLITS_MAX'),
      key: bloomKeyOf(crawler),
      onFull: settings.get('BLOOMFILTER_ON_FULL'),
    })
  }

  /** Each try may find other leaves split, when many of them reach their limit at the same time. */
  protected override get triesMax(): number {
    return 50
  }

  protected override get maxRequestsPerCall(): number {
    return Math.min(500, Math.floor(MAX_BITS_PER_CALL / this.#parameters.size.hashes))
  }

  override async open(): Promise<void> {
    this.#splitting.open()
    await super.open()
  }

  override async close(): Promise<void> {
    await super.close()
    await this.#splitting.close()
  }

  async describe(): Promise<SplittableDescription> {
    await this.followNote()
    const [tree, fields, counts] = await Promise.all([
      this.#readTree(),
      this.redis.hgetall(this.keys.record),
      this.redis.hgetall(this.#leafKeys.leaves),
    ])
    const leaves = new Map<string, { inserted: number; set: number }>()
    for (const [leaf, text] of Object.entries(counts)) {
      const [inserted, set] = text.split(' ').map(Number)
      leaves.set(leaf, { inserted: inserted!, set: set! })
    }
    const totals = { count: Number(fields['inserted:0'] ?? 0), pagesLost: Number(fields.lost ?? 0) }
    return splittableDescription(
      this.#parameters,
      tree,
      { ...totals, leaves },
      fingerprinterShown(this.fingerprinter),
    )
  }

  async has(request: Request): Promise<boolean> {
    const tree = await this.#readTree()
    const mark = this.#markOf(askedAbout(request, this.fingerprinter))
    const place = placeOf(mark)
    const { leaf, frozen = leaf } = tree.way(place, this.#parameters.leaves)
    const gets = leafOffsets(place, this.#parameters).flatMap((offset) => ['GET', 'u1', offset])
    for (const node of [frozen, leaf]) {
      const bits = await this.redis.call('BITFIELD_RO', this.#leafKeys.bits(node), ...gets)
      // An empty note: un-marked, so it belongs to no asker.
      if (Array.isArray(bits) && !bits.includes(0))
        return (await this.redis.hget(this.keys.pending, mark)) !== ''
    }
    return false
  }

  protected question(asked: readonly Asked[]): StoreQuestion {
    const surroundings = { keys: this.#leafKeys, parameters: this.#parameters }
    return leafQuestion(
      surroundings,
      this.#tree,
      asked.map((one) => this.#markOf(one)),
    )
  }

  protected async openStore(): Promise<void> {
    const { size, errorRate, room, leaves, splitsMax } = this.#parameters
    const layer = { ...size, blocks: leaves, errorRate, capacity: room }
    const parameters = storedParameters(
      { mode: 'native', layer },
      fingerprinterNote(this.fingerprinter),
      'leaves',
    )
    await openBloom(this.redis, {
      filter: 'splittable-bloom',
      keys: this.keys,
      typed: this.typed,
      first: this.keys.main,
      parameters: { ...parameters, splits: splitsMax },
      layer,
    })
    await this.#loadTree()
  }

  protected override note(): Promise<string | null> {
    return bloomNote(this.redis, this.keys)
  }

  protected override async mayAskAgain({ code, detail }: ScriptRefusal): Promise<boolean> {
    if (code === 'FULL') await this.#makeRoomIn(detail.split(','))
    // Another client has cleared the filter, or emptied Redis.
    else if (code === 'LAYERS') await this.openStore()
    else if (code === 'MOVED') await this.#loadTree()
    else return false
    return true
  }

  protected override told(ripe: readonly unknown[]): void {
    for (const leaf of ripe.map(String)) {
      if (depthOf(leaf) >= this.#parameters.splitsMax) this.#warnOf(leaf)
      // When this fails, a full leaf is split before it is asked again.
      else
        this.#makeRoomIn([leaf]).catch((err: unknown) =>
          this.logger.debug({ err, leaf }, 'a leaf is not split yet'),
        )
    }
  }

  #warnOf(leaf: string): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    const { splitsMax, room } = this.#parameters
    this.logger.warn(
      { key: this.keys.main, leaf, capacityPerLeaf: room, splitsMax },
      'a leaf of the filter is full and cannot be split any more (BLOOMFILTER_SPLITS_MAX): its error passes BLOOMFILTER_ERROR_RATE from here on',
    )
  }

  protected override async storeKeys(): Promise<readonly string[]> {
    const { tree, leaves, bits, marks } = this.#leafKeys
    const { inner, frozen } = await this.#readTree()
    const first = Array.from({ length: this.#parameters.leaves }, (_, n) => String(n))
    const nodes = [...first, ...[...inner, ...frozen].flatMap(childrenOf)].filter((node) => !inner.has(node))
    return [this.keys.main, tree, leaves, ...nodes.flatMap((node) => [bits(node), marks(node)])]
  }

  protected override cleared(): void {
    this.#tree = new LeafTree('', {})
    this.#hasWarned = false
  }

  async #makeRoomIn(leaves: readonly string[]): Promise<void> {
    for (const leaf of leaves) {
      const parent = parentOf(leaf)
      // A child is split only when it has got everything from its parent.
      if (parent !== undefined && this.#tree.frozen.has(parent)) await this.#splitting.untilSplit(parent)
      await this.#splitting.begin(leaf)
    }
    this.#tree = await this.#readTree()
  }

  async #loadTree(): Promise<void> {
    this.#tree = await this.#readTree()
    for (const leaf of this.#tree.frozen) this.#splitting.goOn(leaf)
  }

  /**
   * Reads the tree, its id first: if the tree changes in between, a question with the old id shows that another one has
   * grown.
   */
  async #readTree(): Promise<LeafTree> {
    const [id, nodes] = await Promise.all([
      this.redis.hget(this.keys.record, 'tree'),
      this.redis.hgetall(this.#leafKeys.tree),
    ])
    return new LeafTree(id ?? '', nodes)
  }

  #markOf({ fingerprint }: Asked): Buffer {
    return markOf(digestOf(fingerprint, this.#isSha1))
  }
}
