import type { DelayedRequest, StoredRequest, WaitingLine } from './request-store.ts'

/** A host in the queue: what waits for it, and where it stands. */
export class HostLine<Held extends StoredRequest, Delayed extends DelayedRequest> {
  readonly slot: string
  readonly waiting: WaitingLine<Held, Delayed>
  /** Handed out from this line and not yet ended. */
  inFlight = 0
  /** Raised whenever the line is put into a ring or heap of the queue: older entries of it there are void. */
  ticket = 0
  /** The priority under which it stands in the ring of lines that may go; undefined when it stands in none. */
  readyPriority: number | undefined

  constructor(slot: string, waiting: WaitingLine<Held, Delayed>) {
    this.slot = slot
    this.waiting = waiting
  }
}
