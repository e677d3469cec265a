/**
 * Hands out the requests of all shards of a worker: its callers wait for any of them, and a suspect of one shard runs alone among the
 * requests of all.
 *
 * What callers wait for is taken from one shard, if that has as much, and the next time from the next one: scripts are as full then as those
 * of a crawl with one queue. A shard reserves what it is just taking, so that others do not take it, too.
 */

import type { ProtocolTimes } from '@webloom/core'
import type { DispatcherPart, Dispatching } from '../buckets/request-handout.ts'
import type { BucketLease } from '../frontier/held-turn.ts'
import { LeaseDispatcher, type LeaseDispatcherOptions } from '../leasing/lease-dispatcher.ts'

type ShardOptions = LeaseDispatcherOptions<BucketLease>

interface Shard {
  readonly hasSources: () => boolean
  readonly onDemand: (() => void)[]
  reserved: number
}

export class SharedDispatcher {
  readonly #dispatcher: LeaseDispatcher<BucketLease>
  readonly #shards: Shard[] = []
  readonly #shardOf = new WeakMap<BucketLease, ShardOptions>()
  /** The shard that is served first the next time. */
  #first = 0
  /** How many requests shards are just taking. */
  #reserved = 0
  #willServe = false

  constructor({ leaseWaitMaxMs, suspectPatienceMs }: ProtocolTimes['engine']) {
    this.#dispatcher = new LeaseDispatcher({
      waitMsMax: leaseWaitMaxMs,
      patienceMs: suspectPatienceMs,
      beginAlone: async (lease) => this.#shardOf.get(lease)?.beginAlone(lease),
      endAlone: async (lease) => this.#shardOf.get(lease)?.endAlone(lease),
      onAlone: (lease, words) => this.#shardOf.get(lease)?.onAlone?.(lease, words),
    })
    this.#dispatcher.onDemand(() => this.#serveSoon())
  }

  /** Whether callers wait for more than shards are just taking. */
  get isShort(): boolean {
    return this.#dispatcher.demand > this.#reserved
  }

  take(
    max: number,
    signal: AbortSignal | undefined,
    isEmpty: () => Promise<boolean>,
  ): Promise<BucketLease[]> {
    return this.#dispatcher.take(max, signal, isEmpty)
  }

  /**
   * Makes a shard's view of it.
   *
   * @param onPut called with each request that may be handed out
   */
  of(onPut: (lease: BucketLease) => void): Dispatching {
    return (options, hasSources) => this.#view(options, hasSources, onPut)
  }

  #view(
    options: ShardOptions,
    hasSources: () => boolean,
    onPut: (lease: BucketLease) => void,
  ): DispatcherPart {
    const all = this.#dispatcher
    const shard: Shard = { hasSources, onDemand: [], reserved: 0 }
    this.#shards.push(shard)
    const shareOf = () => this.#shareOf(shard)
    const unreservedBy = () => this.#unreservedBy(shard)
    const view: DispatcherPart = {
      get demand() {
        return shareOf()
      },
      // Of all shards together: they run alone among the requests of all.
      get suspects() {
        return all.suspects
      },
      get wanted() {
        return all.demand
      },
      get unreserved() {
        return unreservedBy()
      },
      reserve: (count) => this.#reserve(shard, count),
      put: (lease) => {
        this.#shardOf.set(lease, options)
        onPut(lease)
        all.put(lease)
      },
      remove: (lease) => all.remove(lease),
      ended: (lease) => all.ended(lease),
      take: (max, signal, isEmpty) => all.take(max, signal, isEmpty),
      onDemand: (listener) => void shard.onDemand.push(listener),
      recheck: () => all.recheck(),
      close: () => all.close(),
    }
    return view
  }

  /** Each shard that has something takes its part of what is wanted: all that is wanted from each would be too much. */
  #shareOf(shard: Shard): number {
    const { demand } = this.#dispatcher
    if (demand === 0) return 0
    const others = this.#shards.filter((other) => other !== shard && other.hasSources()).length
    return Math.ceil(demand / (1 + others))
  }

  #unreservedBy(shard: Shard): number {
    const { demand } = this.#dispatcher
    if (demand === 0) return 0
    return Math.max(0, demand - this.#reserved + shard.reserved)
  }

  /** The shard after the one that takes is the first the next time. What that has not brought, others are asked for. */
  #reserve(shard: Shard, count: number): void {
    if (count === shard.reserved) return
    this.#reserved += count - shard.reserved
    shard.reserved = count
    if (count > 0) this.#first = this.#shards.indexOf(shard) + 1
    else if (this.isShort) this.#serve()
  }

  /** Places that become free in one turn of the event loop are filled together: each hand-out of a shard is noted with a message. */
  #serveSoon(): void {
    if (this.#willServe) return
    this.#willServe = true
    setImmediate(() => {
      this.#willServe = false
      if (this.#dispatcher.demand > 0) this.#serve()
    })
  }

  #serve(): void {
    const count = this.#shards.length
    const first = this.#first
    for (let n = 0; n < count; n++) for (const serve of this.#shards[(first + n) % count]!.onDemand) serve()
  }
}
