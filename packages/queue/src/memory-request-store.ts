import type { QueueOrder } from '@webloom/core'
import { ByPriority } from './by-priority.ts'
import { Deque } from './deque.ts'
import type { RequestStore, StoredBefore, StoredRequest, WaitingLine } from './request-store.ts'

export interface MemoryDelayed {
  readonly slot: string
  readonly stored: StoredRequest
}

/** Requests in this process: nothing survives its end, and no step can fail half way. */
export class MemoryRequestStore implements RequestStore<StoredRequest, MemoryDelayed> {
  readonly name = 'memory'
  readonly unreadable = 0
  readonly #order: QueueOrder

  constructor(order: QueueOrder) {
    this.#order = order
  }

  open(): StoredBefore<StoredRequest, MemoryDelayed> {
    return { lines: [], delayed: [] }
  }

  close(): void {}

  clear(): void {}

  atomically<T>(step: () => T): T {
    return step()
  }

  line(): MemoryLine {
    return new MemoryLine(this.#order)
  }

  done(): void {}

  delay(_held: StoredRequest, changed: StoredRequest, slot: string): MemoryDelayed {
    return { slot, stored: changed }
  }

  handedOn(): void {}
}

/** The waiting requests of one host, in the order of SCHEDULER_QUEUE_CLASS. */
class MemoryLine implements WaitingLine<StoredRequest, MemoryDelayed> {
  readonly #order: QueueOrder
  // fifo and lifo keep everything under priority 0.
  readonly #buckets = new ByPriority<Deque<StoredRequest>>()
  length = 0

  constructor(order: QueueOrder) {
    this.#order = order
  }

  get headPriority(): number {
    return this.#buckets.highest ?? 0
  }

  add(stored: StoredRequest): void {
    this.#bucket(stored).push(stored)
    this.length++
  }

  join({ stored }: MemoryDelayed): void {
    this.add(stored)
  }

  putBack(held: StoredRequest): void {
    if (this.#order === 'lifo') this.#bucket(held).push(held)
    else this.#bucket(held).unshift(held)
    this.length++
  }

  take(): StoredRequest | undefined {
    const bucket = this.#buckets.first
    if (!bucket) return undefined
    const stored = this.#order === 'lifo' ? bucket.pop() : bucket.shift()
    this.length--
    if (bucket.length === 0) this.#buckets.dropHighest()
    return stored
  }

  #bucket({ request }: StoredRequest): Deque<StoredRequest> {
    return this.#buckets.of(this.#order === 'priority' ? request.priority : 0, () => new Deque())
  }
}
