import type { QueueOrder } from '@webloom/core'
import { MemoryFailures } from '../failures/memory-failures.ts'
import { ByPriority } from '../structures/by-priority.ts'
import { Deque } from '../structures/deque.ts'
import type { RequestStore, StoredBefore, StoredRequest, WaitingLine } from './request-store.ts'

/** What was taken once knows in which order: put back, it stands among its like as before. */
export interface MemoryStored extends StoredRequest {
  readonly taken?: number
}

export interface MemoryDelayed {
  readonly slot: string
  readonly stored: StoredRequest
}

/** Requests in this process: nothing survives its end, and no step can fail half way. */
export class MemoryRequestStore implements RequestStore<MemoryStored, MemoryDelayed> {
  readonly name = 'memory'
  readonly unreadable = 0
  readonly failures = new MemoryFailures()
  readonly #order: QueueOrder

  constructor(order: QueueOrder) {
    this.#order = order
  }

  open(): StoredBefore<MemoryStored, MemoryDelayed> {
    return { lines: [], delayed: [], inDoubt: [] }
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

  addInDoubt(queued: StoredRequest): MemoryStored {
    return queued
  }

  handedOn(): void {}
}

/** The waiting requests of one host, in the order of SCHEDULER_QUEUE_CLASS. */
class MemoryLine implements WaitingLine<MemoryStored, MemoryDelayed> {
  readonly #order: QueueOrder
  // fifo and lifo keep everything under priority 0.
  readonly #buckets = new ByPriority<Deque<MemoryStored>>()
  #taken = 0
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

  requeue({ taken = 0, ...held }: MemoryStored, changed: StoredRequest = held): void {
    const bucket = this.#bucket(changed)
    const earlier: MemoryStored[] = []
    let next = this.#next(bucket)
    for (; next && (next.taken ?? Number.POSITIVE_INFINITY) < taken; next = this.#next(bucket)) {
      earlier.push(next)
    }
    if (next) this.#goesNext(bucket, next)
    for (const one of [...earlier, { ...changed, taken }].reverse()) this.#goesNext(bucket, one)
    this.length++
  }

  take(): MemoryStored | undefined {
    const bucket = this.#buckets.first
    if (!bucket) return undefined
    const stored = this.#next(bucket)
    this.length--
    if (bucket.length === 0) this.#buckets.dropHighest()
    return stored && { ...stored, taken: stored.taken ?? ++this.#taken }
  }

  #next(bucket: Deque<MemoryStored>): MemoryStored | undefined {
    return this.#order === 'lifo' ? bucket.pop() : bucket.shift()
  }

  #goesNext(bucket: Deque<MemoryStored>, stored: MemoryStored): void {
    if (this.#order === 'lifo') bucket.push(stored)
    else bucket.unshift(stored)
  }

  #bucket({ request }: StoredRequest): Deque<MemoryStored> {
    return this.#buckets.of(this.#order === 'priority' ? request.priority : 0, () => new Deque())
  }
}
