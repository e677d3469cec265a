import { CompactRequest, CompactRequests, type QueueOrder, type Request } from '@webloom/core'
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
  readonly #compact = new CompactRequests()

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
    return new MemoryLine(this.#order, this.#compact)
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

/** A request as it waits. What was handed out before, and comes back, is not made compact again. */
type Waiting = CompactRequest | MemoryStored

/** The waiting requests of one host, in the order of SCHEDULER_QUEUE_CLASS. */
class MemoryLine implements WaitingLine<MemoryStored, MemoryDelayed> {
  readonly #order: QueueOrder
  readonly #compact: CompactRequests
  // In a broad crawl most hosts have one request waiting, for which no list is made.
  #only: Waiting | undefined
  #onlyPriority = 0
  #more: ByPriority<Deque<Waiting>> | undefined
  #taken = 0
  length = 0

  constructor(order: QueueOrder, compact: CompactRequests) {
    this.#order = order
    this.#compact = compact
  }

  get headPriority(): number {
    return this.#only ? this.#onlyPriority : (this.#more?.highest ?? 0)
  }

  add(stored: StoredRequest): void {
    const { attempt, redelivered, request } = stored
    const isNew = attempt === undefined && redelivered === undefined
    const waiting = isNew ? this.#compact.of(stored) : stored
    if (this.length === 0) {
      this.#only = waiting
      this.#onlyPriority = this.#priorityOf(request)
    } else this.#bucket(this.#priorityOf(request)).push(waiting)
    this.length++
  }

  join({ stored }: MemoryDelayed): void {
    this.add(stored)
  }

  requeue({ taken = 0, ...held }: MemoryStored, changed: StoredRequest = held): void {
    const bucket = this.#bucket(this.#priorityOf(changed.request))
    const earlier: Waiting[] = []
    let next = this.#next(bucket)
    for (; next && takenAt(next) < taken; next = this.#next(bucket)) earlier.push(next)
    if (next) this.#goesNext(bucket, next)
    for (const one of [...earlier, { ...changed, taken }].reverse()) this.#goesNext(bucket, one)
    this.length++
  }

  take(): MemoryStored | undefined {
    const waiting = this.#takeNext()
    if (!waiting) return undefined
    this.length--
    const stored: MemoryStored = waiting instanceof CompactRequest ? waiting.unpacked() : waiting
    return { ...stored, taken: stored.taken ?? ++this.#taken }
  }

  #takeNext(): Waiting | undefined {
    const only = this.#only
    this.#only = undefined
    if (only) return only
    const bucket = this.#more?.first
    if (!this.#more || !bucket) return undefined
    const next = this.#next(bucket)
    if (bucket.length === 0) this.#more.dropHighest()
    if (this.#more.first === undefined) this.#more = undefined
    return next
  }

  #next(bucket: Deque<Waiting>): Waiting | undefined {
    return this.#order === 'lifo' ? bucket.pop() : bucket.shift()
  }

  #goesNext(bucket: Deque<Waiting>, waiting: Waiting): void {
    if (this.#order === 'lifo') bucket.push(waiting)
    else bucket.unshift(waiting)
  }

  /** fifo and lifo keep everything under priority 0. */
  #priorityOf({ priority }: Request): number {
    return this.#order === 'priority' ? priority : 0
  }

  #bucket(priority: number): Deque<Waiting> {
    this.#more ??= new ByPriority()
    const only = this.#only
    if (only) {
      this.#only = undefined
      this.#more.of(this.#onlyPriority, () => new Deque()).push(only)
    }
    return this.#more.of(priority, () => new Deque())
  }
}

function takenAt(waiting: Waiting): number {
  return waiting instanceof CompactRequest
    ? Number.POSITIVE_INFINITY
    : (waiting.taken ?? Number.POSITIVE_INFINITY)
}
