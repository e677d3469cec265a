import { PassingSet } from '@webloom/core'
import { Alarm } from './alarm.ts'

/** A caller that waits, until its signal fires or its time is over. */
export interface WaitingCaller {
  readonly signal: AbortSignal | undefined
  /** By `performance.now()`. Of two callers the one that came first has waited enough first. */
  readonly untilMs: number
  /** Called when it has waited in vain, and is among the callers no more. */
  readonly giveUp: () => void
}

/**
 * Callers that wait for the same, the one that has waited longest first. An engine waits thousands of times a second, and hardly ever in
 * vain: so all have one alarm, and a signal is listened to from its first caller on.
 */
export class WaitingCallers<Caller extends WaitingCaller> {
  readonly #callers = new PassingSet<Caller>()
  readonly #heard = new WeakSet<AbortSignal>()
  readonly #alarm = new Alarm(() => {
    const nowMs = performance.now()
    this.#sendAway(({ untilMs }) => untilMs <= nowMs)
    this.#watch()
  })

  get size(): number {
    return this.#callers.size
  }

  has(caller: Caller): boolean {
    return this.#callers.has(caller)
  }

  [Symbol.iterator](): IterableIterator<Caller> {
    return this.#callers[Symbol.iterator]()
  }

  add(caller: Caller): void {
    if (caller.signal) this.#hear(caller.signal)
    this.#callers.add(caller)
    this.#watch()
  }

  delete(caller: Caller): void {
    this.#callers.delete(caller)
  }

  /** All give up. */
  close(): void {
    this.#alarm.clear()
    this.#sendAway(() => true)
  }

  #hear(signal: AbortSignal): void {
    if (this.#heard.has(signal)) return
    this.#heard.add(signal)
    signal.addEventListener('abort', () => this.#sendAway((caller) => caller.signal === signal))
  }

  #watch(): void {
    const [first] = this.#callers
    if (first) this.#alarm.set(first.untilMs)
  }

  #sendAway(which: (caller: Caller) => boolean): void {
    for (const caller of this.#callers) {
      if (!which(caller)) continue
      this.#callers.delete(caller)
      caller.giveUp()
    }
  }
}
