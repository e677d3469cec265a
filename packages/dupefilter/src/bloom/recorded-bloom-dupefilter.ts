/**
 * What all Bloom filters on Redis share: a record beside the bits, with their parameters and counts.
 *
 * A worker keeps a copy of the record, which each answer brings up to date. A question that was made for another state (the
 * filter was cleared, or has a further layer) is refused by its script with WEBLOOM_LAYERS. The worker opens the filter again
 * and then asks again.
 */

import {
  type FingerprintAlgorithm,
  fingerprinterNote,
  fingerprinterShown,
  type ScriptRefusal,
  WebloomError,
} from '@webloom/core'
import type { BloomLayer, BloomOptions, BloomParameters } from '../bloom-sizing/bloom-parameters.ts'
import { RedisDupeFilter } from '../redis/redis-dupefilter.ts'
import type { RedisDupeFilterOptions } from '../redis/redis-dupefilter-options.ts'
import { type BloomDescription, bloomDescription } from './bloom-description.ts'
import { BloomFullness, type BloomOnFull } from './bloom-fullness.ts'
import { bloomNote, makeRoom, openBloom, readRecord } from './bloom-opening.ts'
import { type BloomLayout, type BloomRecord, storedParameters } from './bloom-record.ts'

/** The options of a Bloom filter on Redis. */
export interface RecordedBloomOptions extends RedisDupeFilterOptions, BloomOptions {
  /** Default warn. `grow` adds a layer; `stop` ends the crawl with `dupefilter_full`. */
  readonly onFull?: BloomOnFull
}

/** The properties of a kind of Bloom filter. */
export interface BloomKind {
  /** The name in DUPEFILTER_CLASS. */
  readonly name: string
  /** The layout of the bits. Absent: one bit for each place. */
  readonly layout?: BloomLayout
  /** The size. */
  readonly parameters: BloomParameters
  /** The fingerprint algorithm, unless the settings name another one. */
  readonly algorithm: FingerprintAlgorithm
  /** The Lua files in `lua/` that read and write its strings. */
  readonly storeFiles: readonly string[]
  /** Bits of a place in a string. */
  readonly bitsEach: 1 | 4
}

/** A Bloom filter on Redis with a record beside its bits: `redis-bloom` and `counting-bloom` extend it. */
export abstract class RecordedBloomDupeFilter extends RedisDupeFilter {
  protected readonly kind: BloomKind
  protected readonly parameters: BloomParameters
  protected readonly fullness: BloomFullness
  protected record: BloomRecord = { layers: [], lost: 0 }
  #getsReady: Promise<void> | undefined

  constructor(options: RecordedBloomOptions, kind: BloomKind) {
    super(options, kind.storeFiles, kind.algorithm)
    this.kind = kind
    this.parameters = kind.parameters
    this.fullness = new BloomFullness(options.onFull ?? 'warn', this.logger, { key: this.keys.main })
  }

  /** Returns the strings that hold a layer. The first layer always has one. */
  protected abstract strings(layer: BloomLayer, number: number): string[]
  /** Called when the record was read: counts bits that other crawlers have set, and adds a layer to a full filter. */
  protected async goOn(_isNew: boolean): Promise<void> {}

  async describe(): Promise<BloomDescription> {
    await this.followNote()
    const record = await this.readRecord()
    return bloomDescription(record, {
      name: this.kind.name,
      ...fingerprinterShown(this.fingerprinter),
      hashes: (record.layers[0] ?? this.parameters.layer).hashes,
      grows: this.fullness.onFull === 'grow',
    })
  }

  protected override note(): Promise<string | null> {
    return bloomNote(this.redis, this.keys)
  }

  protected readRecord(): Promise<BloomRecord> {
    return readRecord(this.redis, this.keys)
  }

  protected async openStore(): Promise<void> {
    const { kind, parameters, keys } = this
    const { layer, mode, older } = parameters
    const note = fingerprinterNote(this.fingerprinter)
    const { record, isNew, hadBits } = await openBloom(this.redis, {
      filter: kind.name,
      keys,
      typed: this.typed,
      first: this.strings(layer, 0)[0]!,
      parameters: storedParameters(parameters, note, kind.layout),
      layer,
      ...(older && { older: [storedParameters({ mode, layer: older }, note, kind.layout)] }),
      adopts: mode !== 'native',
    })
    this.record = record
    if (await this.#hasLostBits()) await this.#beginAgain()
    await this.goOn(isNew)
    try {
      for (const [number, one] of this.record.layers.entries()) await this.makeRoomFor(one, number)
    } catch (error) {
      if (isNew && !hadBits) await this.#withdraw(error)
      throw error
    }
    this.fullness.warn(this.record.layers)
  }

  /** Throws WL_DUPEFILTER_FULL when Redis has no room for the layer. */
  protected async makeRoomFor(layer: BloomLayer, number: number): Promise<void> {
    await makeRoom(this.redis, this.strings(layer, number), layer.bits * this.kind.bitsEach, this.keys.main)
  }

  protected override async storeKeys(): Promise<readonly string[]> {
    const { layers } = await this.readRecord()
    return (layers.length > 0 ? layers : [this.parameters.layer]).flatMap((layer, number) =>
      this.strings(layer, number),
    )
  }

  protected override cleared(): void {
    this.fullness.reset()
    this.record = { layers: [], lost: 0 }
    this.#getsReady = undefined
  }

  /** Prepares a question: the layers are known, and their strings long enough. */
  protected override async prepare(): Promise<void> {
    if (this.record.layers.length === 0) await this.#getReady()
    this.fullness.stopWhenFull(this.record.layers)
  }

  protected override told([inserted, set, lost]: readonly unknown[]): void {
    const layers = [...this.record.layers]
    const newest = layers.pop()
    if (newest === undefined || inserted === undefined) return
    layers.push({ ...newest, inserted: Number(inserted), set: Number(set) })
    this.record = { layers, lost: Number(lost) }
    this.fullness.warn(layers)
  }

  /** Handles LAYERS: the newest layer is full, or another client has added one, cleared the filter, or emptied Redis. */
  protected override async mayAskAgain({ code }: ScriptRefusal): Promise<boolean> {
    if (code !== 'LAYERS') return false
    await this.#getReady()
    this.fullness.stopWhenFull(this.record.layers)
    return true
  }

  /** Opens the filter again. Many questions may find at once that it is not ready; one of them opens it for all. */
  async #getReady(): Promise<void> {
    this.#getsReady ??= this.openStore().finally(() => {
      this.#getsReady = undefined
    })
    await this.#getsReady
  }

  /**
   * Removes what was made just now and does not fit, so that it takes no room from others. What others have recorded since
   * stays.
   */
  async #withdraw(error: unknown): Promise<void> {
    if (!(error instanceof WebloomError) || error.code !== 'WL_DUPEFILTER_FULL') return
    const { layers } = await this.readRecord()
    if (layers.some(({ inserted }) => inserted > 0)) return
    await this.redis.unlink(...(await this.storeKeys()), this.keys.record)
    this.cleared()
  }

  /** Resolves to whether a layer counts requests but has none of its strings. */
  async #hasLostBits(): Promise<boolean> {
    for (const [number, layer] of this.record.layers.entries()) {
      if (layer.inserted === 0) continue
      const found = await Promise.all(this.strings(layer, number).map((key) => this.redis.exists(key)))
      if (!found.includes(1)) return true
    }
    return false
  }

  /** Begins anew when the record counts requests whose bits were deleted, or evicted by maxmemory-policy. */
  async #beginAgain(): Promise<void> {
    this.logger.warn(
      { key: this.keys.main },
      'the Bloom filter’s bits are gone from Redis (deleted, or evicted: maxmemory-policy must be noeviction); it begins anew',
    )
    const counts = this.record.layers.flatMap((_layer, n) => [`inserted:${n}`, `set:${n}`])
    await this.redis.hdel(this.keys.record, ...counts, 'lost')
    this.record = await this.readRecord()
  }
}
