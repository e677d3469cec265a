/**
 * Brings to a shard what this worker has written for it, from its memory. What gathers for a shard goes with one script. A delivery that
 * fails is left to whoever tends the outboxes.
 */

import type { Logger } from '@webloom/core'
import type { ShardChanges } from '../frontier/turn-protocol.ts'
import type { Delivery } from '../shards/outbox-entry.ts'

/** How long entries for one shard gather: while a worker waits for requests, and while all have enough to do. */
const GATHER_SHORT_MS = 5
const GATHER_MS = 100
/** So often it is looked whether a worker waits by now. */
const LOOKS_EVERY_MS = 25
/** A script with more is sent in parts, so that its server serves others in between. */
const MAX_ENTRIES_PER_SCRIPT = 500
/** For a shard that does not answer no more (characters) are kept here: they are in the outbox. */
const KEPT_SIZE_MAX = 4_000_000

export interface OutboxDeliveryOptions {
  readonly logger: Logger
  /** Whether this worker wants requests that nobody is just taking, or another one has nothing to do: these entries may be among them. */
  readonly isShort: () => boolean
  /** Applies deliveries in a shard. Resolves to what that has changed there, and to how many entries are lost for good. */
  readonly apply: (
    shard: string,
    deliveries: readonly Delivery[],
  ) => Promise<ShardChanges & { readonly lost: number }>
  /** Called when a shard has got requests. */
  readonly onChanges: (shard: string, changes: ShardChanges) => void
}

export class OutboxDelivery {
  readonly #options: OutboxDeliveryOptions
  readonly #gathered = new Map<string, Delivery[]>()
  readonly #delivering = new Set<Promise<void>>()
  /** By shard: the size of what has gathered, or is on its way. */
  readonly #kept = new Map<string, number>()

  constructor(options: OutboxDeliveryOptions) {
    this.#options = options
  }

  /** Delivers soon, with what else comes for the same shards. */
  gather(deliveries: ReadonlyMap<string, readonly Delivery[]>): void {
    for (const [shard, some] of deliveries) {
      const kept = this.#kept.get(shard) ?? 0
      if (kept > KEPT_SIZE_MAX) continue
      this.#kept.set(shard, kept + sizeOf(some))
      const gathered = this.#gathered.get(shard)
      if (gathered) gathered.push(...some)
      else {
        this.#gathered.set(shard, [...some])
        if (this.#options.isShort()) setTimeout(() => this.#flush(shard), GATHER_SHORT_MS)
        else this.#flushLater(shard, GATHER_MS)
      }
    }
  }

  /** Delivers now. Resolves when it is done, or has failed. */
  deliver(shard: string, deliveries: readonly Delivery[]): Promise<void> {
    const delivering = this.#deliver(shard, deliveries).finally(() => this.#delivering.delete(delivering))
    this.#delivering.add(delivering)
    return delivering
  }

  /** Resolves when all that has gathered is delivered, or has failed. */
  async drained(): Promise<void> {
    for (const shard of [...this.#gathered.keys()]) this.#flush(shard)
    await Promise.all(this.#delivering)
  }

  #flushLater(shard: string, leftMs: number): void {
    setTimeout(() => {
      const left = leftMs - LOOKS_EVERY_MS
      if (left > 0 && !this.#options.isShort()) this.#flushLater(shard, left)
      else this.#flush(shard)
    }, LOOKS_EVERY_MS)
  }

  #flush(shard: string): void {
    const gathered = this.#gathered.get(shard)
    this.#gathered.delete(shard)
    if (!gathered) return
    const size = sizeOf(gathered)
    void this.deliver(shard, gathered).then(() => this.#kept.set(shard, this.#kept.get(shard)! - size))
  }

  async #deliver(shard: string, deliveries: readonly Delivery[]): Promise<void> {
    const { apply, onChanges, logger } = this.#options
    try {
      for (const part of partsOf(deliveries)) {
        const { lost, ...changes } = await apply(shard, part)
        if (lost > 0) logger.warn({ shard, links: lost }, LOST)
        onChanges(shard, changes)
      }
    } catch (error) {
      logger.debug(
        { err: error, shard },
        'links for another shard are not delivered now; they are sent again',
      )
    }
  }
}

const LOST =
  'a shard of the crawl has lost links that were known to it, longer ago than they are kept for that; they are not fetched unless another page has them. Replicas that lag, or a disk that is written late, may be the reason: min-replicas-max-lag 1, appendfsync everysec'

function sizeOf(deliveries: readonly Delivery[]): number {
  let size = 0
  for (const { entries } of deliveries) for (const entry of entries) size += entry.length
  return size
}

function* partsOf(deliveries: readonly Delivery[]): Generator<Delivery[]> {
  let part: Delivery[] = []
  let size = 0
  for (const one of deliveries) {
    if (size > 0 && size + one.entries.length > MAX_ENTRIES_PER_SCRIPT) {
      yield part
      part = []
      size = 0
    }
    part.push(one)
    size += one.entries.length
  }
  if (size > 0) yield part
}
