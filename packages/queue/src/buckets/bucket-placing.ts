import type { QueuedRequest, QueueOrder, Request, RetryWhen } from '@webloom/core'
import type { Retried } from '../failures/redis-failures.ts'
import type { Placed } from '../frontier/turn-protocol.ts'
import { type PackedTries, packRequest } from '../leasing/packed-request.ts'
import type { HostSlots } from '../politeness/host-slots.ts'
import { slotKey } from '../politeness/slot-key.ts'
import type { DueGroup, Pushed, RetriedGroup } from './scripts/placed-lines.ts'

/** In no line: the line is looked up when the doubt is over. */
const IN_DOUBT = { bucket: '', slot: '', priority: 0 } as const

interface BucketPlacingOptions {
  readonly order: QueueOrder
  readonly slots: HostSlots
  readonly boostOf?: (slot: string) => number
  readonly addressOf: (slot: string, asker: string) => string
}

/** Says which line a request belongs to, and how a slot is named in keys and job ids. */
export class BucketPlacing {
  readonly #order: QueueOrder
  readonly #slots: HostSlots
  readonly #boostOf: (slot: string) => number
  readonly #addressOf: (slot: string, asker: string) => string

  /**
   * @param options `boostOf`: by how much requests of a slot are more urgent than they say; default: not at all. `addressOf`: where
   * they go in the name of an asker: to a bucket, or to one of another shard
   */
  constructor({ order, slots, boostOf = () => 0, addressOf }: BucketPlacingOptions) {
    this.#order = order
    this.#slots = slots
    this.#boostOf = boostOf
    this.#addressOf = addressOf
  }

  /** Returns requests by line, each line's in order; those in doubt are in a group of their own. */
  groups(batch: readonly QueuedRequest[], asker: string): Placed[] {
    return this.pushed(batch, () => asker).map(({ place, bucket, slot, priority, requests }) => ({
      place,
      bucket,
      slot,
      priority,
      texts: requests.map(({ text }) => text),
    }))
  }

  /** Returns the same with their ids, or with what else identifies them. */
  pushed<Queued extends QueuedRequest>(
    batch: readonly Queued[],
    askerOf: (queued: Queued) => string,
    idOf: (queued: Queued) => string = ({ id }) => id,
  ): Pushed[] {
    const lines = new Map<string, Pushed & { requests: { id: string; text: string }[] }>()
    for (const queued of batch) {
      const place = queued.inDoubt ? 'doubt' : 'end'
      const line = queued.inDoubt ? IN_DOUBT : this.#lineOf(queued.request, askerOf(queued))
      const { bucket, slot, priority } = line
      const name = `${place}:${priority}:${slot}:${bucket}`
      const known = lines.get(name) ?? { place, bucket, slot, priority, requests: [] }
      lines.set(name, known)
      known.requests.push({ id: idOf(queued), text: packRequest(queued) })
    }
    return [...lines.values()]
  }

  /** Returns failed requests by line, each line's in order. */
  retried(batch: readonly Retried[]): RetriedGroup[] {
    const lines = new Map<string, RetriedGroup & { requests: { id: string; key: string; text: string }[] }>()
    for (const { id, request, key } of batch) {
      const line = this.#lineOf(request, `${id}/${key}`)
      const name = `${line.priority}:${line.slot}:${line.bucket}`
      const known = lines.get(name) ?? { ...line, requests: [] }
      lines.set(name, known)
      known.requests.push({ id, key, text: packRequest({ id, request }) })
    }
    return [...lines.values()]
  }

  /** Returns pages that are due by line, with the names by which their visits are known. */
  due(batch: readonly (QueuedRequest & { readonly name: Buffer })[]): DueGroup[] {
    const lines = new Map<string, DueGroup & { requests: { name: Buffer; text: string }[] }>()
    for (const { name, ...queued } of batch) {
      const line = this.#lineOf(queued.request, queued.id)
      const lineName = `${line.priority}:${line.slot}:${line.bucket}`
      const known = lines.get(lineName) ?? { ...line, requests: [] }
      lines.set(lineName, known)
      known.requests.push({ name, text: packRequest(queued) })
    }
    return [...lines.values()]
  }

  /**
   * Returns the place of one request, changed or to be held back. In another shard, where its slot may be by now, that is the end of
   * its line.
   */
  one(
    queued: QueuedRequest,
    { tries, when, asker }: { tries: Partial<PackedTries>; when: RetryWhen; asker: string },
  ): Placed {
    const line = this.#lineOf(queued.request, asker)
    const isHere = line.bucket.startsWith('#')
    return {
      ...line,
      place: !isHere ? 'again' : when === 'first' ? 'head' : when > 0 ? Math.ceil(when) : 'again',
      texts: [packRequest(queued, tries)],
    }
  }

  #lineOf(request: Request, asker: string): { bucket: string; slot: string; priority: number } {
    const name = this.#slots.slotOf(request)
    const slot = slotKey(name)
    const priority = (this.#order === 'priority' ? request.priority : 0) + this.#boostOf(name)
    return { slot, bucket: this.#addressOf(slot, asker), priority }
  }
}
