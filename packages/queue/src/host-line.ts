import type { QueuedRequest, QueueOrder } from '@webloom/core'
import { Deque } from './deque.ts'

/** The requests of one host that wait their turn, in the order of SCHEDULER_QUEUE_CLASS. */
export class HostLine {
  readonly slot: string
  readonly #order: QueueOrder
  // fifo and lifo keep everything under priority 0.
  readonly #byPriority = new Map<number, Deque<QueuedRequest>>()
  /** Priorities with something waiting, highest first. */
  #priorities: number[] = []
  #length = 0
  /** Handed out from this line and not yet ended. */
  inFlight = 0
  /** Raised whenever the line is put into a ring or heap of the queue: older entries of it there are void. */
  ticket = 0
  /** The priority under which it stands in the ring of lines that may go; undefined when it stands in none. */
  readyPriority: number | undefined

  constructor(slot: string, order: QueueOrder) {
    this.slot = slot
    this.#order = order
  }

  get length(): number {
    return this.#length
  }

  /** Priority of the request that goes next; 0 for an empty line. */
  get headPriority(): number {
    return this.#priorities[0] ?? 0
  }

  add(queued: QueuedRequest): void {
    this.#bucket(queued).push(queued)
    this.#length++
  }

  /** Back to where it was taken from: it goes next among its equals. */
  putBack(queued: QueuedRequest): void {
    if (this.#order === 'lifo') this.#bucket(queued).push(queued)
    else this.#bucket(queued).unshift(queued)
    this.#length++
  }

  take(): QueuedRequest | undefined {
    const priority = this.#priorities[0]
    if (priority === undefined) return undefined
    const bucket = this.#byPriority.get(priority)!
    const queued = this.#order === 'lifo' ? bucket.pop() : bucket.shift()
    this.#length--
    if (bucket.length === 0) {
      this.#byPriority.delete(priority)
      this.#priorities.shift()
    }
    return queued
  }

  #bucket(queued: QueuedRequest): Deque<QueuedRequest> {
    const priority = this.#order === 'priority' ? queued.request.priority : 0
    const known = this.#byPriority.get(priority)
    if (known) return known
    const bucket = new Deque<QueuedRequest>()
    this.#byPriority.set(priority, bucket)
    const lower = this.#priorities.findIndex((other) => other < priority)
    this.#priorities.splice(lower < 0 ? this.#priorities.length : lower, 0, priority)
    return bucket
  }
}
