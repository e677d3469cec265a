import { LEASE_WAIT_MS_MAX, type Lease } from '@webloom/core'
import { Alarm } from '../structures/alarm.ts'

/** A caller of `lease` that waits. */
interface Waiter {
  readonly max: number
  readonly signal: AbortSignal | undefined
  readonly untilMs: number
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
  /** The one that has waited longest is the first. */
  readonly #waiters = new Set<Waiter>()
  /** Signals of waiters, to which it listens from the first of them on: most leases of a crawl are waited for. */
  readonly #heard = new WeakSet<AbortSignal>()
  readonly #alarm = new Alarm(() => {
    this.serve()
    const now = performance.now()
    this.#sendAway(({ untilMs }) => untilMs <= now)
    this.#arm()
  })

  constructor(options: LeaseWaitersOptions) {
    this.#options = options
  }

  /** Resolves when a request may go or none can come any more, when `signal` fires, and after LEASE_WAIT_MS_MAX. */
  wait(max: number, signal?: AbortSignal): Promise<Lease[]> {
    if (signal) this.#hear(signal)
    return new Promise((resolve) => {
      this.#waiters.add({
        max,
        signal,
        untilMs: performance.now() + LEASE_WAIT_MS_MAX,
        answer: resolve,
      })
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
    this.#sendAway(() => true)
  }

  #hear(signal: AbortSignal): void {
    if (this.#heard.has(signal)) return
    this.#heard.add(signal)
    signal.addEventListener('abort', () => this.#sendAway((waiter) => waiter.signal === signal))
  }

  #sendAway(which: (waiter: Waiter) => boolean): void {
    for (const waiter of this.#waiters) {
      if (!which(waiter)) continue
      this.#waiters.delete(waiter)
      waiter.answer([])
    }
  }

  /**
   * Sets the alarm for the next moment at which something may go, or somebody has waited long enough. Without waiters nobody
   * needs one; one that is set stays, as the next waiter will.
   */
  #arm(): void {
    const [first] = this.#waiters
    if (first) this.#alarm.set(Math.min(first.untilMs, this.#options.nextAtMs()))
  }
}
