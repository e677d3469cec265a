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

import { CloseSpider, type DupeFilterDescription, type Request, SettingsError } from '@webloom/core'
import { bitsKey, bitsKeys, countBits, growBits } from './bit-strings.ts'
import { bloomOffsets, digestOf, nativeBlock, nativeOffsets } from './bloom-offsets.ts'
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
  type CountedLayer,
  errorOf,
  fillOf,
  recordOf,
  refuseOthers,
  type StoredParameters,
  storedParameters,
} from './bloom-record.ts'
import { countAtFill } from './bloom-theory.ts'
import { RedisDupeFilter, type RedisDupeFilterOptions, type StoreQuestion } from './redis-dupefilter.ts'
import { RedisScript } from './redis-script.ts'

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
}

/** Bits looked up in one call. Setting one takes four values, and Lua's `unpack` fails near 8 000. */
const BITS_AT_ONCE_MAX = 1900
const OPEN = new RedisScript('bloom-open.lua')
const ADD_LAYER = new RedisScript('bloom-add-layer.lua')
/** Fingerprinters whose digits are those of a SHA-1, and need not be hashed again. */
const SHA1_FINGERPRINTERS: readonly string[] = ['scrapy', 'scrapy-redis', 'scrapy-2.6']
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
  #warnedOf = new Set<string>()

  constructor(options: RedisBloomDupeFilterOptions) {
    const parameters = bloomParameters(options)
    const { mode } = parameters
    super(options, ['bloom-store.lua', 'bloom-record.lua', 'bloom-unmark.lua'], DEFAULT_FINGERPRINTER[mode])
    this.#parameters = parameters
    this.#onFull = options.onFull ?? 'warn'
    this.#isSha1 = SHA1_FINGERPRINTERS.includes(this.fingerprinter.name)
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
    }
  }

  async has(request: Request): Promise<boolean> {
    const { args = [], keys = [], members, header } = this.question([this.fingerprinter.fingerprint(request)])
    if (header === undefined) return false
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
    const groups: Group[] = layers.flatMap((layer, number) =>
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
        oldError: errorOf(layers.slice(0, -1)),
        groups: groups.map(({ layer, who }) => ({
          k: layers[layer]!.hashes,
          top: layer === layers.length - 1,
          ...(who && { who }),
        })),
      },
      args: groups.map(({ offsets }) => `[${offsets.slice(1)}]`),
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
    if (!hasBits && this.#record.layers.some(({ inserted }) => inserted > 0)) await this.#beginAgain()
    else if (hasBits && mode !== 'native') await this.#countForeign(found === 'made')
    try {
      for (const number of this.#record.layers.keys()) await this.#grow(number)
    } catch (error) {
      // What did not fit takes no room from others. Bits that somebody else set are never deleted.
      if (found === 'made' && !hasBits) await this.clear()
      throw error
    }
    this.#look(this.#record)
  }

  protected async clearStore(): Promise<void> {
    const { layers } = await this.#readRecord()
    const { mode, layer } = this.#parameters
    const keys = bitsKeys(this.keys.main, mode, layers.length > 0 ? layers : [layer])
    // One at a time, for without a hash tag liuxingming's blocks are in different slots.
    for (const key of keys) await this.redis.unlink(key)
    await this.redis.unlink(this.keys.record)
    this.#warnedOf = new Set()
    this.#record = { layers: [], lost: 0 }
    this.#getsReady = undefined
  }

  /** Before a question: the layers are known, the newest has room, its strings are long enough. */
  protected override async prepare(): Promise<void> {
    if (this.#record.layers.length === 0) this.#getsReady ??= this.openStore()
    if (this.#getsReady) {
      try {
        await this.#getsReady
      } finally {
        this.#getsReady = undefined
      }
    }
    const newest = this.#record.layers.at(-1)
    if (newest && this.#onFull === 'stop' && newest.inserted >= newest.capacity) {
      this.logger.error(
        { key: this.keys.main, capacity: newest.capacity, inserted: newest.inserted },
        'the Bloom filter is full: more requests would be lost than BLOOMFILTER_ERROR_RATE allows. The crawl ends, as BLOOMFILTER_ON_FULL is stop; begin a larger one with BLOOMFILTER_CAPACITY, or let it grow',
      )
      throw new CloseSpider('dupefilter_full')
    }
  }

  protected override told([inserted, set, lost]: readonly unknown[]): void {
    const layers = [...this.#record.layers]
    const newest = layers.pop()
    if (newest === undefined || inserted === undefined) return
    layers.push({ ...newest, inserted: Number(inserted), set: Number(set) })
    this.#record = { layers, lost: Number(lost) }
    this.#look(this.#record)
  }

  /** Somebody has added a layer, cleared the filter, or emptied Redis. */
  protected override async mayAskAgain(error: unknown): Promise<boolean> {
    if (!(error instanceof Error) || !error.message.includes('LAYERS')) return false
    await this.openStore()
    return true
  }

  #look({ layers }: BloomRecord): void {
    const newest = layers.at(-1)
    if (newest === undefined) return
    const { inserted, capacity, errorRate } = newest
    if (inserted < capacity && fillOf(newest) < 0.5) return
    const fields = {
      key: this.keys.main,
      inserted,
      capacity,
      fillRatio: fillOf(newest),
      errorNow: errorOf(layers),
    }
    if (fillOf(newest) >= 0.5 && this.#firstTime(`half ${layers.length}`)) {
      this.logger.warn(fields, 'half of the Bloom filter’s bits are set; from here its errors grow fast')
    }
    if (inserted < capacity) return
    if (this.#onFull === 'grow') this.#growSoon(newest, layers.length)
    else if (this.#firstTime(`full ${layers.length}`)) {
      this.logger.warn(
        fields,
        `the Bloom filter has reached its capacity: an error of ${errorRate}, and more from here on. See describe() for the pages lost; BLOOMFILTER_ON_FULL=grow adds layers`,
      )
    }
  }

  #firstTime(what: string): boolean {
    if (this.#warnedOf.has(what)) return false
    this.#warnedOf.add(what)
    return true
  }

  #growSoon(last: BloomLayer, number: number): void {
    if (this.#getsReady) return
    this.#getsReady = this.#addLayer(last, number)
    // It is the next question that fails with it.
    this.#getsReady.catch(() => {})
  }

  async #addLayer(last: BloomLayer, number: number): Promise<void> {
    const layer = nextLayer(last)
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

  #grow(number: number): Promise<void> {
    return this.#growLayer(this.#record.layers[number]!, number)
  }

  async #growLayer(layer: BloomLayer, number: number): Promise<void> {
    for (let block = 0; block < layer.blocks; block++) {
      const key = bitsKey(this.keys.main, this.#parameters.mode, number, block)
      try {
        await growBits(this.redis, key, layer.bits)
      } catch (error) {
        if (!(error instanceof Error) || !error.message.includes('OOM')) throw error
        const mebibytes = Math.ceil(sizeOf(layer).bits / 8 / 2 ** 20)
        throw new Error(
          `Redis has no room for a Bloom filter of ${mebibytes} MiB at ${this.keys.main}: its maxmemory is reached. Raise maxmemory, or make the filter smaller (BLOOMFILTER_BIT, BLOOMFILTER_CAPACITY, BLOOMFILTER_ERROR_RATE)`,
          { cause: error },
        )
      }
    }
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
    for (const key of bitsKeys(this.keys.main, this.#parameters.mode, [layer])) {
      set += await countBits(this.redis, key)
    }
    const size = sizeOf(layer)
    const inserted = isNew ? countAtFill(size, set / size.bits) : layer.inserted
    await this.redis.hset(this.keys.record, 'set:0', set, 'inserted:0', inserted)
    this.#record = { ...this.#record, layers: [{ ...layer, set, inserted }] }
  }
}

/** Members whose bits are in the same string. */
interface Group {
  readonly key: string
  readonly layer: number
  /** As JSON strings, each with a comma before it. */
  readonly offsets: string
  /** Their indexes, counted from 1; undefined when these are all, in order. */
  readonly who?: readonly number[]
}

function nativeGroups(
  main: string,
  number: number,
  layer: CountedLayer,
  digests: readonly string[],
): Group[] {
  const { bits, hashes, blocks } = layer
  if (blocks === 1) {
    let offsets = ''
    for (const digest of digests) offsets += listed(nativeOffsets(digest, bits, hashes))
    return [{ key: bitsKey(main, 'native', number, 0), layer: number, offsets }]
  }
  return byBlock(
    digests.map((digest) => ({
      block: nativeBlock(digest, blocks),
      offsets: listed(nativeOffsets(digest, bits, hashes)),
    })),
  ).map(({ block, ...group }) => ({ key: bitsKey(main, 'native', number, block), layer: number, ...group }))
}

function compatGroups(
  main: string,
  compat: Exclude<BloomParameters['mode'], 'native'>,
  layer: CountedLayer,
  fingerprints: readonly string[],
): Group[] {
  const options = {
    compat,
    bit: Math.log2(layer.bits),
    hashNumber: layer.hashes,
    blockNum: layer.blocks,
  }
  return byBlock(
    fingerprints.map((fingerprint) => {
      const { block = 0, offsets } = bloomOffsets(fingerprint, options)
      return { block, offsets: listed(offsets) }
    }),
  ).map(({ block, ...group }) => ({ key: bitsKey(main, compat, 0, block), layer: 0, ...group }))
}

/** As strings: Redis 7.0 takes 0.3 µs to print a number for its own command. */
function listed(offsets: readonly number[]): string {
  let text = ''
  for (const offset of offsets) text += `,"${offset}"`
  return text
}

function byBlock(
  places: readonly { block: number; offsets: string }[],
): { block: number; offsets: string; who: number[] }[] {
  const groups = new Map<number, { block: number; offsets: string; who: number[] }>()
  for (const [n, { block, offsets }] of places.entries()) {
    const group = groups.get(block)
    if (group) {
      group.offsets += offsets
      group.who.push(n + 1)
    } else groups.set(block, { block, offsets, who: [n + 1] })
  }
  return [...groups.values()]
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
