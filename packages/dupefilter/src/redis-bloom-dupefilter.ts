/**
 * A Bloom filter in plain Redis strings: no module is needed, and none is used.
 *
 *     <key>                   bits of layer 0, block 0: 2 ** BLOOMFILTER_BIT of them, or as many as a capacity needs
 *     {<key>}:bits:<l>:<b>    further blocks (a string holds 2 ** 32 bits) and layers (a filter that grows)
 *     {<key>}:record          parameters, layers, how many were inserted, bits set, pages lost
 *     {<key>}:pending …       owners, as in every filter
 *
 * All bits of a request are in one block of each layer. They are looked up one by one, up to the first that is not set,
 * and only what is new is written, with one BITFIELD: pages link mostly to what is known, and every write goes to
 * replicas and the append-only file. `docs/decisions/dupefilter-bloom-on-redis.md` has the measurements.
 *
 * The filter forgets nothing, and takes some new requests for seen ones. `describe` says how many that will have been.
 */

import {
  CloseSpider,
  type DupeFilterDescription,
  type Request,
  SettingsError,
  WebloomError,
} from '@webloom/core'
import { bitsKey, countBits, growBits, layerKeys, missingBytes, roomFor } from './bit-strings.ts'
import { compatGroups, nativeGroups } from './bloom-groups.ts'
import { digestOf } from './bloom-offsets.ts'
import {
  type BloomLayer,
  type BloomOptions,
  type BloomParameters,
  bloomParameters,
  nextLayer,
  sizeOf,
} from './bloom-parameters.ts'
import {
  type BloomRecord,
  type BloomWarning,
  errorOf,
  fillOf,
  isFull,
  recordOf,
  refuseOthers,
  type StoredParameters,
  storedParameters,
  warningsOf,
} from './bloom-record.ts'
import { countAtFill } from './bloom-theory.ts'
import {
  isOutOfMemory,
  RedisDupeFilter,
  type RedisDupeFilterOptions,
  type StoreQuestion,
} from './redis-dupefilter.ts'
import { luaScript } from './redis-script.ts'

/** BLOOMFILTER_ON_FULL: what happens when more requests come than the error asked for allows. */
export type BloomOnFull = 'grow' | 'warn' | 'stop'

export interface RedisBloomDupeFilterOptions extends RedisDupeFilterOptions, BloomOptions {
  /** Default warn. `grow` adds a layer; `stop` ends the crawl with `dupefilter_full`. */
  readonly onFull?: BloomOnFull
}

export interface BloomDescription extends DupeFilterDescription {
  /** How many requests bring the error to the one asked for. */
  readonly capacity: number
  readonly inserted: number
  /** Of the newest layer's bits, the share that is set. */
  readonly fillRatio: number
  /** How likely a new request is taken for a seen one now, by theory. */
  readonly errorNow: number
  /** How many pages were taken for seen ones so far, by theory. */
  readonly pagesLost: number
  /** Of all layers. */
  readonly bits: number
  /** Of the first layer. */
  readonly hashes: number
  readonly layers: number
  /** What its owner should know: half of the bits are set, the capacity is reached. */
  readonly warnings: readonly string[]
}

/** Bits looked up in one call: Redis serves nobody else for about 2 ms. */
const BITS_AT_ONCE_MAX = 1900
const OPEN = luaScript('bloom-open.lua')
const ADD_LAYER = luaScript('bloom-add-layer.lua')
const DEFAULT_FINGERPRINTER = {
  native: 'scrapy',
  germey: 'scrapy-redis',
  liuxingming: 'scrapy',
  'liuxingming-demo': 'scrapy-2.6',
} as const

/** A Bloom filter on a plain Redis: a few bytes a request, at a chance to take a new request for a seen one. */
export class RedisBloomDupeFilter extends RedisDupeFilter {
  readonly #parameters: BloomParameters
  readonly #onFull: BloomOnFull
  readonly #isSha1: boolean
  #record: BloomRecord = { layers: [], lost: 0 }
  #getsReady: Promise<void> | undefined
  #warnedOf = new Set<BloomWarning['stage']>()

  constructor(options: RedisBloomDupeFilterOptions) {
    const parameters = bloomParameters(options)
    const { mode } = parameters
    super(
      options,
      ['bloom-store.lua', 'bloom-set-bits.lua', 'bloom-record.lua', 'bloom-unmark.lua'],
      DEFAULT_FINGERPRINTER[mode],
    )
    this.#parameters = parameters
    this.#onFull = options.onFull ?? 'warn'
    // The digits of a SHA-1 need not be hashed again.
    this.#isSha1 = this.fingerprinter.hashBytes === 20
    if (this.#onFull === 'grow' && mode !== 'native') {
      throw new SettingsError([
        `BLOOMFILTER_ON_FULL is grow, but a filter with BLOOMFILTER_COMPAT=${mode} cannot grow: the Python crawlers that share it would not see the new layer`,
      ])
    }
  }

  protected get askAtOnceMax(): number {
    const hashes = this.#record.layers.map((layer) => layer.hashes)
    return Math.min(500, Math.floor(BITS_AT_ONCE_MAX / Math.max(this.#parameters.layer.hashes, ...hashes)))
  }

  async describe(): Promise<BloomDescription> {
    const { layers, lost } = await this.#readRecord()
    const inserted = layers.reduce((sum, layer) => sum + layer.inserted, 0)
    return {
      name: 'redis-bloom',
      fingerprinter: this.fingerprinter.name,
      count: inserted,
      owners: true,
      capacity: layers.reduce((sum, { capacity }) => sum + capacity, 0),
      inserted,
      fillRatio: layers.length === 0 ? 0 : fillOf(layers.at(-1)!),
      errorNow: errorOf(layers),
      pagesLost: lost,
      bits: layers.reduce((sum, layer) => sum + sizeOf(layer).bits, 0),
      hashes: this.#parameters.layer.hashes,
      layers: layers.length,
      warnings: warningsOf(layers, this.#onFull === 'grow').map(({ text }) => text),
    }
  }

  async has(request: Request): Promise<boolean> {
    // Somebody may have added a layer.
    this.#record = await this.#readRecord()
    const { args = [], keys = [], members } = this.question([this.fingerprinter.fingerprint(request)])
    for (const [group, key] of keys.entries()) {
      const offsets = JSON.parse(String(args[group])) as string[]
      const bits = await this.redis.call(
        'BITFIELD_RO',
        key,
        ...offsets.flatMap((offset) => ['GET', 'u1', offset]),
      )
      if (Array.isArray(bits) && bits.every((bit) => bit === 1)) {
        // A note that gives it to nobody: un-marked.
        return (await this.redis.hget(this.keys.pending, String(members[0]))) !== ''
      }
    }
    return false
  }

  protected question(fingerprints: readonly string[]): StoreQuestion {
    const { mode } = this.#parameters
    const { layers } = this.#record
    const newest = layers.at(-1) ?? { ...this.#parameters.layer, inserted: 0, set: 0 }
    const digests = fingerprints.map((fingerprint) => digestOf(fingerprint, this.#isSha1))
    const groups = layers.flatMap((layer, number) =>
      mode === 'native'
        ? nativeGroups(this.keys.main, number, layer, digests)
        : compatGroups(this.keys.main, mode, layer, fingerprints),
    )
    // Newest first: most of what is known was met lately, and what is found needs no further look.
    groups.reverse()
    return {
      // 128 bits tell as much as the filter knows.
      members: digests.map((digest) => digest.slice(0, 32)),
      keys: groups.map(({ key }) => key),
      header: {
        layers: layers.length,
        bits: sizeOf(newest).bits,
        hashes: newest.hashes,
        ...(this.#onFull !== 'warn' && { capacity: newest.capacity }),
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

  protected async openStore(): Promise<void> {
    const { main, record } = this.keys
    const { mode, layer } = this.#parameters
    const first = bitsKey(main, mode, 0, 0)
    await this.#refuseOtherTypes(first)
    const own = storedParameters(this.#parameters, this.fingerprinter.name)
    const adopts = mode === 'native' ? '0' : '1'
    const reply = (await OPEN.run(
      this.redis,
      [first, record],
      [JSON.stringify(own), JSON.stringify(layer), adopts],
    )) as [string, number, ...string[]]
    const [found, hasBits, ...fields] = reply
    if (found === 'foreign') throw foreignBits(first)
    const stored = fieldsOf(fields)
    refuseOthers(main, JSON.parse(stored.get('parameters')!) as StoredParameters, own)
    this.#record = recordOf(stored)
    if (await this.#hasLostBits()) await this.#beginAgain()
    else if (mode !== 'native') await this.#countForeign(found === 'made')
    try {
      for (const [number, one] of this.#record.layers.entries()) await this.#growLayer(one, number)
    } catch (error) {
      if (found === 'made' && !hasBits) await this.#withdraw(error)
      throw error
    }
    if (this.#onFull === 'grow' && isFull(this.#record)) await this.#addLayer()
    this.#warn()
  }

  protected override async storeKeys(): Promise<readonly string[]> {
    const { layers } = await this.#readRecord()
    return (layers.length > 0 ? layers : [this.#parameters.layer]).flatMap((layer, number) =>
      this.#layerKeys(layer, number),
    )
  }

  protected override cleared(): void {
    this.#warnedOf = new Set()
    this.#record = { layers: [], lost: 0 }
    this.#getsReady = undefined
  }

  /** Before a question: the layers are known, and their strings long enough. */
  protected override async prepare(): Promise<void> {
    if (this.#record.layers.length === 0) await this.#getReady()
    this.#stopWhenFull()
  }

  protected override told([inserted, set, lost]: readonly unknown[]): void {
    const layers = [...this.#record.layers]
    const newest = layers.pop()
    if (newest === undefined || inserted === undefined) return
    layers.push({ ...newest, inserted: Number(inserted), set: Number(set) })
    this.#record = { layers, lost: Number(lost) }
    this.#warn()
  }

  /** The newest layer is full, or somebody has added one, cleared the filter, or emptied Redis. */
  protected override async mayAskAgain(error: unknown): Promise<boolean> {
    if (!(error instanceof Error) || !error.message.includes('LAYERS')) return false
    await this.#getReady()
    this.#stopWhenFull()
    return true
  }

  /** Many questions may find at once that the filter is not ready for them; one of them sees to it. */
  async #getReady(): Promise<void> {
    this.#getsReady ??= this.openStore().finally(() => {
      this.#getsReady = undefined
    })
    await this.#getsReady
  }

  #stopWhenFull(): void {
    if (this.#onFull !== 'stop' || !isFull(this.#record)) return
    const { capacity, inserted } = this.#record.layers.at(-1)!
    this.logger.error(
      { key: this.keys.main, capacity, inserted },
      'the Bloom filter is full: more requests would be lost than BLOOMFILTER_ERROR_RATE allows. The crawl ends, as BLOOMFILTER_ON_FULL is stop; begin a larger one with BLOOMFILTER_CAPACITY, or let it grow',
    )
    throw new CloseSpider('dupefilter_full')
  }

  #warn(): void {
    const { layers } = this.#record
    for (const { stage, text } of warningsOf(layers, this.#onFull === 'grow')) {
      if (this.#warnedOf.has(stage)) continue
      this.#warnedOf.add(stage)
      const { inserted, capacity } = layers.at(-1)!
      const fields = { inserted, capacity, fillRatio: fillOf(layers.at(-1)!), errorNow: errorOf(layers) }
      this.logger.warn({ key: this.keys.main, ...fields }, text)
    }
  }

  async #addLayer(): Promise<void> {
    const { layers } = this.#record
    const number = layers.length
    const layer = nextLayer(layers.at(-1)!)
    await this.#growLayer(layer, number)
    const added = await ADD_LAYER.run(this.redis, [this.keys.record], [number, JSON.stringify(layer)])
    this.#record = await this.#readRecord()
    if (added === 1) {
      const { capacity, errorRate } = layer
      this.logger.info(
        { key: this.keys.main, layer: number, capacity, errorRate },
        'the Bloom filter was full and has a further layer',
      )
    }
  }

  async #growLayer(layer: BloomLayer, number: number): Promise<void> {
    const keys = this.#layerKeys(layer, number)
    const missing = await missingBytes(this.redis, keys, layer.bits)
    if (missing > 0 && missing > (await roomFor(this.redis))) throw this.#noRoom(layer)
    try {
      for (const key of keys) await growBits(this.redis, key, layer.bits)
    } catch (error) {
      throw isOutOfMemory(error) ? this.#noRoom(layer, error) : error
    }
  }

  #layerKeys(layer: BloomLayer, number: number): string[] {
    return layerKeys(this.keys.main, this.#parameters.mode, layer, number)
  }

  #noRoom(layer: BloomLayer, cause?: unknown): WebloomError {
    const mebibytes = Math.ceil(sizeOf(layer).bits / 8 / 2 ** 20)
    return new WebloomError(
      'WL_DUPEFILTER_FULL',
      `Redis has no room for a Bloom filter of ${mebibytes} MiB at ${this.keys.main}. Raise its maxmemory, or make the filter smaller (BLOOMFILTER_BIT, BLOOMFILTER_CAPACITY, BLOOMFILTER_ERROR_RATE)`,
      cause === undefined ? {} : { cause },
    )
  }

  /** What was made just now and does not fit takes no room from others. What somebody has recorded since stays. */
  async #withdraw(error: unknown): Promise<void> {
    if (!(error instanceof WebloomError) || error.code !== 'WL_DUPEFILTER_FULL') return
    const { layers } = await this.#readRecord()
    if (layers.some(({ inserted }) => inserted > 0)) return
    await this.redis.unlink(...(await this.storeKeys()), this.keys.record)
    this.cleared()
  }

  async #readRecord(): Promise<BloomRecord> {
    return recordOf(new Map(Object.entries(await this.redis.hgetall(this.keys.record))))
  }

  async #refuseOtherTypes(key: string): Promise<void> {
    const type = await this.redis.type(key)
    if (type === 'string' || type === 'none') return
    throw new SettingsError([
      type === 'set'
        ? `DUPEFILTER_CLASS is redis-bloom, but the key ${key} holds a set, as redis-set and scrapy-redis do; set DUPEFILTER_CLASS=redis-set, or another SCHEDULER_DUPEFILTER_KEY`
        : `SCHEDULER_DUPEFILTER_KEY is ${key}, a key that holds a ${type}; redis-bloom needs a string or a key that is not used yet`,
    ])
  }

  /** Whether there is a layer whose requests are counted, and none of whose strings is there. */
  async #hasLostBits(): Promise<boolean> {
    for (const [number, layer] of this.#record.layers.entries()) {
      if (layer.inserted === 0) continue
      const keys = this.#layerKeys(layer, number)
      const found = await Promise.all(keys.map((key) => this.redis.exists(key)))
      if (!found.includes(1)) return true
    }
    return false
  }

  /** The record counts what the bits no longer have: they were deleted, or evicted by maxmemory-policy. */
  async #beginAgain(): Promise<void> {
    this.logger.warn(
      { key: this.keys.main },
      'the Bloom filter’s bits are gone from Redis (deleted, or evicted: maxmemory-policy must be noeviction); it begins anew',
    )
    const counts = this.#record.layers.flatMap((_layer, n) => [`inserted:${n}`, `set:${n}`])
    await this.redis.hdel(this.keys.record, ...counts, 'lost')
    this.#record = await this.#readRecord()
  }

  /** Python crawlers set bits without counting. How many requests there are follows from the bits. */
  async #countForeign(isNew: boolean): Promise<void> {
    const layer = this.#record.layers[0]!
    let set = 0
    for (const key of this.#layerKeys(layer, 0)) set += await countBits(this.redis, key)
    const size = sizeOf(layer)
    const inserted = isNew ? countAtFill(size, set / size.bits) : layer.inserted
    await this.redis.hset(this.keys.record, { 'set:0': set, ...(isNew && { 'inserted:0': inserted }) })
    this.#record = { ...this.#record, layers: [{ ...layer, set, inserted }] }
  }
}

function fieldsOf(flat: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>()
  for (let n = 0; n + 1 < flat.length; n += 2) fields.set(flat[n]!, flat[n + 1]!)
  return fields
}

function foreignBits(key: string): SettingsError {
  return new SettingsError([
    `the key ${key} holds bits that are not of this filter's making (no record beside them). If a Python crawler set them, set BLOOMFILTER_COMPAT to germey (scrapy-redis-bloomfilter), liuxingming or liuxingming-demo; otherwise choose another SCHEDULER_DUPEFILTER_KEY, or delete the key`,
  ])
}
