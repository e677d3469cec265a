/**
 * A small Bloom filter for each host, or domain, in a string of its own: BLOOMFILTER_PARTITION_BY.
 *
 *     {<key>}:host:<part>     2 ** BLOOMFILTER_BIT bits: the requests of a host, of a domain, or of those with a number
 *     {<key>}:hosts           hash: part → "<inserted> <bits set>"
 *     {<key>}:record          parameters, and what the parts are; counts over all hosts, how many are full, which is the fullest
 *
 * A filter that an earlier release has begun goes on with its own size and parts: those were hosts with their ports.
 *
 * The bits of a request are anywhere in its string, so each host takes all of its bytes from its first request on.
 */

import {
  type Crawler,
  fingerprinterNote,
  fingerprinterShown,
  type Request,
  type ScriptRefusal,
} from '@webloom/core'
import { type Asked, askedAbout } from '../asking/asked.ts'
import { digestOf } from '../asking/digest.ts'
import { nativeOffsets } from '../bloom-sizing/bloom-offsets.ts'
import type { BloomLayer, BloomParameters } from '../bloom-sizing/bloom-parameters.ts'
import {
  type BloomPartitionOptions,
  type PartitionNote,
  partitionNote,
  partOf,
} from '../bloom-sizing/bloom-partition.ts'
import { nativeBloomOptionsOf, partitionOptionsOf, shareOf } from '../bloom-sizing/bloom-settings.ts'
import { hostParameters } from '../bloom-sizing/host-parameters.ts'
import { companionKey } from '../redis/filter-keys.ts'
import { RedisDupeFilter } from '../redis/redis-dupefilter.ts'
import type { StoreQuestion } from '../redis/redis-dupefilter-options.ts'
import { bloomKeyOf, redisFilterOptionsOf } from '../redis/redis-filter-settings.ts'
import { MAX_BITS_PER_CALL } from './bit-strings.ts'
import { openBloom, readParameters, readRecord } from './bloom-opening.ts'
import { type StoredParameters, storedParameters } from './bloom-record.ts'
import {
  FullHosts,
  type HostBloomDescription,
  type HostCounts,
  hostDescription,
  refuseAllButWarning,
} from './host-parts.ts'
import type { RecordedBloomOptions } from './recorded-bloom-dupefilter.ts'

/** What a `RedisHostBloomDupeFilter` is made of. */
export type RedisHostBloomDupeFilterOptions = Omit<RecordedBloomOptions, 'compat'> & BloomPartitionOptions

const STORE_FILES = [
  'bloom/store.lua',
  'bloom/set-bits.lua',
  'bloom/host-count.lua',
  'bloom/host-record.lua',
  'bloom/unmark.lua',
]
/** Strings deleted with one command. */
const MAX_KEYS_PER_DELETE = 500

/** `redis-bloom` with a small Bloom filter for each host or domain: BLOOMFILTER_PARTITION_BY. */
export class RedisHostBloomDupeFilter extends RedisDupeFilter {
  readonly #parameters: BloomParameters
  readonly #ownPartition: PartitionNote
  /** The layer of the record. */
  #layer: BloomLayer
  #partition: PartitionNote | undefined
  readonly #isSha1: boolean
  readonly #hostsKey: string
  readonly #fullHosts: FullHosts

  constructor(options: RedisHostBloomDupeFilterOptions) {
    const parameters = hostParameters(options)
    const ownPartition = partitionNote(options)
    super(options, STORE_FILES, 'scrapy')
    refuseAllButWarning(options.onFull ?? 'warn', options.partitionBy)
    this.#parameters = parameters
    this.#layer = parameters.layer
    this.#ownPartition = ownPartition
    this.#partition = ownPartition
    this.#isSha1 = this.fingerprinter.hashBytes === 20
    this.#hostsKey = companionKey(this.keys.main, 'hosts')
    this.#fullHosts = new FullHosts(parameters.layer, options.stats, this.logger)
  }

  /** Makes the filter that the settings ask for, on the crawl's connection. */
  static fromCrawler(crawler: Crawler): RedisHostBloomDupeFilter {
    const { settings } = crawler
    const size = nativeBloomOptionsOf(settings, 'one of many (BLOOMFILTER_PARTITION_BY)')
    return new this({
      ...redisFilterOptionsOf(crawler, 'scrapy'),
      ...(crawler.shard?.hasOwnKeys ? size : shareOf(size, crawler.shard)),
      ...partitionOptionsOf(settings),
      key: bloomKeyOf(crawler),
      onFull: settings.get('BLOOMFILTER_ON_FULL'),
    })
  }

  /** A host's filter is in one part, so that it is as large as without parts, and a page's own links are one question. */
  override partTextOf(request: Request): string {
    return this.part.shard?.hasOwnKeys ? partOf(request, this.#partition) : super.partTextOf(request)
  }

  protected override get maxRequestsPerCall(): number {
    return Math.min(500, Math.floor(MAX_BITS_PER_CALL / this.#layer.hashes))
  }

  async describe(): Promise<HostBloomDescription> {
    await this.followNote()
    return hostDescription(this.#layer, await this.#counts(), {
      name: 'redis-bloom',
      ...fingerprinterShown(this.fingerprinter),
    })
  }

  async has(request: Request): Promise<boolean> {
    await this.note()
    const digest = digestOf(askedAbout(request, this.fingerprinter).fingerprint, this.#isSha1)
    const gets = this.#offsets(digest).flatMap((bit) => ['GET', 'u1', bit])
    const bits = await this.redis.call(
      'BITFIELD_RO',
      this.#stringOf(partOf(request, this.#partition)),
      ...gets,
    )
    if (!Array.isArray(bits) || bits.includes(0)) return false
    // An empty note: un-marked, so it belongs to no asker.
    return (await this.redis.hget(this.keys.pending, memberOf(digest))) !== ''
  }

  /** Deletes the hosts' strings first: when the list of hosts is gone, nothing tells their keys. */
  override async clear(): Promise<void> {
    const some = async () =>
      [...((await this.redis.hrandfield(this.#hostsKey, MAX_KEYS_PER_DELETE)) ?? [])].map(String)
    for (let hosts = await some(); hosts.length > 0; hosts = await some()) {
      await this.redis.unlink(hosts.map((host) => this.#stringOf(host)))
      await this.redis.hdel(this.#hostsKey, ...hosts)
    }
    await super.clear()
  }

  /** Computes the bytes, instead of asking Redis about each of thousands of strings. */
  override async memoryBytes(): Promise<number> {
    const host = await this.redis.hrandfield(this.#hostsKey)
    const each =
      host === null ? 0 : Number((await this.redis.memory('USAGE', this.#stringOf(String(host)))) ?? 0)
    return ((await super.memoryBytes()) ?? 0) + each * (await this.redis.hlen(this.#hostsKey))
  }

  protected question(asked: readonly Asked[]): StoreQuestion {
    const { bits, hashes, capacity } = this.#layer
    const digests = asked.map(({ fingerprint }) => digestOf(fingerprint, this.#isSha1))
    const hosts = new Map<string, number[]>()
    for (const [n, { request }] of asked.entries()) {
      const host = partOf(request, this.#partition)
      hosts.set(host, [...(hosts.get(host) ?? []), n])
    }
    const groups = [...hosts]
    return {
      members: digests.map(memberOf),
      keys: [...groups.map(([host]) => this.#stringOf(host)), this.#hostsKey],
      header: {
        layers: 1,
        bits,
        hashes,
        room: capacity,
        groups: groups.map(([host, at]) => ({ host, k: hashes, who: at.map((n) => n + 1) })),
      },
      args: groups.map(([, at]) => JSON.stringify(at.flatMap((n) => this.#offsets(digests[n]!).map(String)))),
    }
  }

  protected async openStore(): Promise<void> {
    const { layer, older = layer } = this.#parameters
    const own = this.#ownPartition
    const { parameters, record } = await openBloom(this.redis, {
      filter: 'redis-bloom',
      keys: this.keys,
      typed: this.typed,
      first: this.keys.main,
      parameters: this.#stored(layer, own),
      layer,
      older: [
        this.#stored(older, own),
        ...(own === 'hostname' ? [this.#stored(layer), this.#stored(older)] : []),
      ],
    })
    this.#follow(parameters, record.layers[0])
  }

  protected override async note(): Promise<string | null> {
    const stored = await readParameters(this.redis, this.keys)
    if (stored?.layout !== 'hosts') return stored?.fingerprinter ?? null
    this.#follow(stored, (await readRecord(this.redis, this.keys)).layers[0])
    return stored.fingerprinter
  }

  /** Takes the parameters that the stored filter was begun with. */
  #follow({ partition }: StoredParameters, layer: BloomLayer = this.#parameters.layer): void {
    this.#layer = layer
    this.#partition = partition
  }

  #stored(layer: BloomLayer, partition?: PartitionNote): StoredParameters {
    const note = fingerprinterNote(this.fingerprinter)
    return {
      ...storedParameters({ mode: 'native', layer }, note, 'hosts'),
      ...(partition && { partition }),
    }
  }

  /** Handles a filter that another client has cleared, or a Redis that was emptied. */
  protected override async mayAskAgain({ code }: ScriptRefusal): Promise<boolean> {
    if (code !== 'LAYERS') return false
    await this.openStore()
    return true
  }

  protected override told(filled: readonly unknown[]): void {
    this.#fullHosts.add(filled.map(String))
  }

  protected override async storeKeys(): Promise<readonly string[]> {
    return [this.keys.main, this.#hostsKey]
  }

  async #counts(): Promise<HostCounts> {
    const [fields, hosts] = await Promise.all([
      this.redis.hgetall(this.keys.record),
      this.redis.hlen(this.#hostsKey),
    ])
    const [, set, count, host] = /^(\d+) (\d+) (.*)$/.exec(fields.fullest ?? '') ?? []
    return {
      count: Number(fields['inserted:0'] ?? 0),
      hosts,
      fullHosts: Number(fields.full ?? 0),
      pagesLost: Number(fields.lost ?? 0),
      ...(host !== undefined && { fullest: { host, count: Number(count), set: Number(set) } }),
    }
  }

  #stringOf(host: string): string {
    return companionKey(this.keys.main, `host:${host}`)
  }

  #offsets(digest: string): number[] {
    return nativeOffsets(digest, this.#layer.bits, this.#layer.hashes)
  }
}

/** 128 bits tell as much as the filter knows. */
function memberOf(digest: string): string {
  return digest.slice(0, 32)
}
