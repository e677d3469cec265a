import type { HostPace, QueuedRequest, QueueOrder, Request, RetryWhen } from '@webloom/core'
import { type PackedMarks, packRequest } from '../leasing/packed-request.ts'
import type { HostSlots } from '../politeness/host-slots.ts'
import type { Placed, Pushed } from './turn-scripts.ts'

/** More lanes than workers are of no use, nor more lanes than a host may have requests in flight. */
const LANES_MAX = 16

/** In no line: the line is looked up when the doubt is over. */
const IN_DOUBT = { place: 'doubt', host: '', priority: 0, lanes: 0 } as const

export interface TurnPlacingOptions {
  readonly order: QueueOrder
  readonly slots: HostSlots
  readonly pace: (slot: string) => HostPace
}

/** Says which line a request belongs to, and how a host is named in keys and job ids. */
export class TurnPlacing {
  readonly #options: TurnPlacingOptions
  /** How many workers the crawl has, as last heard of. */
  workers = 1

  constructor(options: TurnPlacingOptions) {
    this.#options = options
  }

  /** Returns requests by line, each line's in order; those in doubt are in a group of their own. */
  groups(batch: readonly QueuedRequest[]): Placed[] {
    return this.pushed(batch).map(({ requests, ...line }) => ({
      ...line,
      texts: requests.map(({ text }) => text),
    }))
  }

  /** Returns the same with their ids, or with what else identifies them. */
  pushed<Queued extends QueuedRequest>(
    batch: readonly Queued[],
    idOf: (queued: Queued) => string = ({ id }) => id,
  ): Pushed[] {
    const lines = new Map<string, Pushed & { requests: { id: string; text: string }[] }>()
    for (const queued of batch) {
      const line = queued.inDoubt ? IN_DOUBT : { ...this.#lineOf(queued.request), place: 'end' as const }
      const name = `${line.place}:${line.priority}:${line.host}`
      const known = lines.get(name) ?? { ...line, requests: [] }
      lines.set(name, known)
      known.requests.push({ id: idOf(queued), text: packRequest(queued) })
    }
    return [...lines.values()]
  }

  /** Returns the place of one request, changed or to be held back. */
  one(queued: QueuedRequest, marks: Partial<PackedMarks>, when: RetryWhen): Placed {
    return {
      ...this.#lineOf(queued.request),
      place: when === 'first' ? 'head' : when > 0 ? Math.ceil(when) : 'end',
      texts: [packRequest(queued, marks)],
    }
  }

  #lineOf(request: Request): { host: string; priority: number; lanes: number } {
    const slot = this.#options.slots.slotOf(request)
    return {
      host: hostName(slot),
      priority: this.#options.order === 'priority' ? request.priority : 0,
      lanes: this.#lanes(slot),
    }
  }

  #lanes(slot: string): number {
    const { delayMs, concurrency } = this.#options.pace(slot)
    if (delayMs > 0) return 1
    return Math.max(1, Math.min(this.workers, LANES_MAX, concurrency > 0 ? concurrency : LANES_MAX))
  }
}

/** Returns a slot's name in keys and job ids, which may hold no colon. */
function hostName(slot: string): string {
  return encodeURIComponent(slot.toWellFormed())
}
