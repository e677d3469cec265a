/**
 * Hands out the requests of all shards of a worker: its callers wait for any of them, and a suspect of one shard runs alone among the
 * requests of all.
 */

import type { Dispatching } from '../buckets/request-handout.ts'
import type { BucketLease } from '../frontier/held-turn.ts'
import {
  type ItemDispatcher,
  LeaseDispatcher,
  type LeaseDispatcherOptions,
} from '../leasing/lease-dispatcher.ts'

type ShardOptions = LeaseDispatcherOptions<BucketLease>

interface Shard {
  readonly hasSources: () => boolean
  readonly onDemand: (() => void)[]
}

export class SharedDispatcher {
  readonly #dispatcher: LeaseDispatcher<BucketLease>
  readonly #shards: Shard[] = []
  readonly #shardOf = new WeakMap<BucketLease, ShardOptions>()
  /** The shard that is served first the next time. */
  #first = 0

  /** @param waitMsMax how long a caller waits for requests */
  constructor(waitMsMax: number) {
    this.#dispatcher = new LeaseDispatcher({
      waitMsMax,
      beginAlone: async (lease) => this.#shardOf.get(lease)?.beginAlone(lease),
      endAlone: async (lease) => this.#shardOf.get(lease)?.endAlone(lease),
    })
    this.#dispatcher.onDemand(() => this.#serve())
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
  ): ItemDispatcher<BucketLease> {
    const all = this.#dispatcher
    const shard: Shard = { hasSources, onDemand: [] }
    this.#shards.push(shard)
    const shareOf = () => this.#shareOf(shard)
    const view: ItemDispatcher<BucketLease> = {
      get demand() {
        return shareOf()
      },
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

  /** A shard that always has something must not be the first each time. */
  #serve(): void {
    const count = this.#shards.length
    const first = this.#first++ % Math.max(1, count)
    for (let n = 0; n < count; n++) for (const serve of this.#shards[(first + n) % count]!.onDemand) serve()
  }
}
