import { LEASE_WAIT_MS_MAX, type Lease } from '@webloom/core'
import { Alarm } from '../structures/alarm.ts'
import { type WaitingCaller, WaitingCallers } from '../structures/waiting-callers.ts'

/** A caller of `lease` that waits. */
interface Waiter extends WaitingCaller {
  readonly max: number
  readonly answer: (leases: Lease[]) => void
}

export interface LeaseWaitersOptions {
  /** Returns up to so many requests that may go now. */
  readonly take: (max: number) => Lease[]
  /** Returns true when no request can come any more. */
  readonly isEmpty: () => boolean
  /** Returns when something may go that may not now; infinity: nothing. */
  readonly nextAtMs: () => number
}

/** Callers that wait for requests, and the alarm for the moment at which the next may go. */
export class LeaseWaiters {
  readonly #options: LeaseWaitersOptions
  readonly #waiters = new WaitingCallers<Waiter>()
  readonly #alarm = new Alarm(() => this.serve())

  constructor(options: LeaseWaitersOptions) {
    this.#options = options
  }

  /** Resolves when a request may go or none can come any more, when `signal` fires, and after LEASE_WAIT_MS_MAX. */
  wait(max: number, signal?: AbortSignal): Promise<Lease[]> {
    return new Promise((answer) => {
      const untilMs = performance.now() + LEASE_WAIT_MS_MAX
      this.#waiters.add({ max, signal, untilMs, answer, giveUp: () => answer([]) })
      this.#arm()
    })
  }

  /** Called when a request may go, or when none can come any more. */
  serve(): void {
    const { take, isEmpty } = this.#options
    for (const waiter of this.#waiters) {
      const leases = take(waiter.max)
      if (leases.length === 0 && !isEmpty()) break
      this.#waiters.delete(waiter)
      waiter.answer(leases)
    }
    this.#arm()
  }

  close(): void {
    this.#alarm.clear()
    this.#waiters.close()
  }

  /** Sets the alarm for the next moment at which something may go. Without waiters nobody needs one; one that is set stays, as the next waiter will. */
  #arm(): void {
    if (this.#waiters.size > 0) this.#alarm.set(this.#options.nextAtMs())
  }
}
