import type { DelayedRequest, StoredRequest, WaitingLine } from './request-store.ts'

/** The line of one slot: the requests that wait in it, and its place in the queue. */
export class HostLine<Held extends StoredRequest, Delayed extends DelayedRequest> {
  readonly slot: string
  readonly waiting: WaitingLine<Held, Delayed>
  /** How many requests of this line are handed out and have not ended. */
  inFlight = 0
  /** Raised each time the line is put into a ring or heap of the queue. Entries with an older ticket are void. */
  ticket = 0
  /** Priority of the ring in which the line stands ready; undefined when it stands in none. */
  readyPriority: number | undefined

  constructor(slot: string, waiting: WaitingLine<Held, Delayed>) {
    this.slot = slot
    this.waiting = waiting
  }
}
