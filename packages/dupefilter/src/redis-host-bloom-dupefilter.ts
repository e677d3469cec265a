/**
 * A small Bloom filter for each host, in a string of its own: BLOOMFILTER_PARTITION_BY=host.
 *
 *     {<key>}:host:<host>     2 ** BLOOMFILTER_BIT bits: the host's requests
 *     {<key>}:hosts           hash: host → "<inserted> <bits set>"
 *     {<key>}:record          parameters; counts over all hosts, how many are full, which is the fullest
 *
 * Its bits are anywhere in a string, so each host takes all of its bytes from its first request on.
 */

import { fingerprinterNote, fingerprinterShown, type Request } from '@webloom/core'
import { type Asked, askedAbout } from './asked.ts'
import { BITS_AT_ONCE_MAX } from './bit-strings.ts'
import { digestOf, nativeOffsets } from './bloom-offsets.ts'
import { bloomNote, openBloom } from './bloom-opening.ts'
import type { BloomLayer } from './bloom-parameters.ts'
import { storedParameters } from './bloom-record.ts'
import { companionKey } from './filter-keys.ts'
import {
  FullHosts,
  type HostBloomDescription,
  type HostCounts,
  hostDescription,
  hostLayer,
  hostOf,
  refuseAllButWarning,
} from './host-parts.ts'
import type { RecordedBloomOptions } from './recorded-bloom-dupefilter.ts'
import { RedisDupeFilter } from './redis-dupefilter.ts'
import type { StoreQuestion } from './redis-dupefilter-options.ts'

export type RedisHostBloomDupeFilterOptions = Omit<RecordedBloomOptions, 'compat'>

const STORE_FILES = [
  'bloom-store.lua',
  'bloom-set-bits.lua',
  'host-count.lua',
  'host-record.lua',
  'bloom-unmark.lua',
]
/** Strings deleted with one command. */
const DELETED_AT_ONCE = 500

export class RedisHostBloomDupeFilter extends RedisDupeFilter {
  readonly #layer: BloomLayer
  readonly #isSha1: boolean
  readonly #hostsKey: string
  readonly #fullHosts: FullHosts

  constructor(options: RedisHostBloomDupeFilterOptions) {
    const layer = hostLayer(options)
    super(options, STORE_FILES, 'scrapy')
    refuseAllButWarning(options.onFull ?? 'warn')
    this.#layer = layer
    this.#isSha1 = this.fingerprinter.hashBytes === 20
    this.#hostsKey = companionKey(this.keys.main, 'hosts')
    this.#fullHosts = new FullHosts(layer, options.stats, this.logger)
  }

  protected get askAtOnceMax(): number {
    return Math.min(500, Math.floor(BITS_AT_ONCE_MAX / this.#layer.hashes))
  }

  async describe(): Promise<HostBloomDescription> {
    await this.followNote()
    return hostDescription(this.#layer, await this.#counts(), {
      name: 'redis-bloom',
      ...fingerprinterShown(this.fingerprinter),
    })
  }

  async has(request: Request): Promise<boolean> {
    const digest = digestOf(askedAbout(request, this.fingerprinter).fingerprint, this.#isSha1)
    const gets = this.#offsets(digest).flatMap((bit) => ['GET', 'u1', bit])
    const bits = await this.redis.call('BITFIELD_RO', this.#stringOf(hostOf(request)), ...gets)
    if (!Array.isArray(bits) || bits.includes(0)) return false
    // A note that gives it to nobody: un-marked.
    return (await this.redis.hget(this.keys.pending, memberOf(digest))) !== ''
  }

  /** The hosts' strings first: once the list of hosts is gone, nobody knows them. */
  override async clear(): Promise<void> {
    const some = async () =>
      [...((await this.redis.hrandfield(this.#hostsKey, DELETED_AT_ONCE)) ?? [])].map(String)
    for (let hosts = await some(); hosts.length > 0; hosts = await some()) {
      await this.redis.unlink(hosts.map((host) => this.#stringOf(host)))
      await this.redis.hdel(this.#hostsKey, ...hosts)
    }
    await super.clear()
  }

  /** Without asking for each of thousands of strings. */
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
      const host = hostOf(request)
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
    await openBloom(this.redis, {
      filter: 'redis-bloom',
      keys: this.keys,
      first: this.keys.main,
      parameters: storedParameters(
        { mode: 'native', layer: this.#layer },
        fingerprinterNote(this.fingerprinter),
        'hosts',
      ),
      layer: this.#layer,
    })
  }

  protected override note(): Promise<string | null> {
    return bloomNote(this.redis, this.keys)
  }

  /** Somebody has cleared the filter, or emptied Redis. */
  protected override async mayAskAgain(error: unknown): Promise<boolean> {
    if (!(error instanceof Error) || !error.message.includes('LAYERS')) return false
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
