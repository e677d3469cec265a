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
  readonly #kept: KeptRequests

  /** @param wholeMax how many requests are kept as they are; those beyond are made compact */
  constructor(order: QueueOrder, wholeMax = WHOLE_MAX) {
    this.#order = order
    this.#kept = new KeptRequests(wholeMax)
  }

  open(): StoredBefore<MemoryStored, MemoryDelayed> {
    return { lines: [], delayed: [], inDoubt: [] }
  }

  close(): void {}

  clear(): void {
    this.#kept.clear()
  }

  atomically<T>(step: () => T): T {
    return step()
  }

  line(): MemoryLine {
    return new MemoryLine(this.#order, this.#kept)
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

/** A request as it waits. */
type Waiting = CompactRequest | MemoryStored

// 2 ** 14: some 10 MB.
const WHOLE_MAX = 16_384

/**
 * The requests that wait in all lines: so many as they are, which costs no time, and those beyond compact, in a third of the memory.
 */
class KeptRequests {
  readonly #wholeMax: number
  readonly #compact = new CompactRequests()
  #whole = 0

  constructor(wholeMax: number) {
    this.#wholeMax = wholeMax
  }

  /** Returns the request as it is to wait. */
  added(stored: StoredRequest): Waiting {
    const { attempt, redelivered } = stored
    const isNew = attempt === undefined && redelivered === undefined
    return isNew && this.#whole >= this.#wholeMax ? this.#compact.of(stored) : this.whole(stored)
  }

  /** Returns the request as it is: what was handed out before, and comes back, is not made compact again. */
  whole(stored: MemoryStored): MemoryStored {
    this.#whole++
    return stored
  }

  /** Returns a request that has waited. */
  taken(waiting: Waiting): MemoryStored {
    if (waiting instanceof CompactRequest) return waiting.unpacked()
    this.#whole--
    return waiting
  }

  clear(): void {
    this.#whole = 0
  }
}

/** The waiting requests of one host, in the order of SCHEDULER_QUEUE_CLASS. */
class MemoryLine implements WaitingLine<MemoryStored, MemoryDelayed> {
  readonly #order: QueueOrder
  readonly #kept: KeptRequests
  // In a broad crawl most hosts have one request waiting, for which no list is made.
  #only: Waiting | undefined
  #onlyPriority = 0
  #more: ByPriority<Deque<Waiting>> | undefined
  #taken = 0
  length = 0

  constructor(order: QueueOrder, kept: KeptRequests) {
    this.#order = order
    this.#kept = kept
  }

  get headPriority(): number {
    return this.#only ? this.#onlyPriority : (this.#more?.highest ?? 0)
  }

  add(stored: StoredRequest): void {
    const waiting = this.#kept.added(stored)
    const priority = this.#priorityOf(stored.request)
    if (this.length === 0) {
      this.#only = waiting
      this.#onlyPriority = priority
    } else this.#bucket(priority).push(waiting)
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
    const back = this.#kept.whole({ ...changed, taken })
    for (const one of [...earlier, back].reverse()) this.#goesNext(bucket, one)
    this.length++
  }

  take(): MemoryStored | undefined {
    const waiting = this.#takeNext()
    if (!waiting) return undefined
    this.length--
    const stored = this.#kept.taken(waiting)
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
