/**
 * Hands out to the engine the requests that this worker holds and that may go now: highest priority first, then first come. A suspect
 * runs alone (suspects.ts). While others have to wait for it, the demand is 0: requests that could not be handed out should stay where
 * other workers find them.
 *
 * The dispatcher knows no host and no pace: each request that is put may go.
 */

import { LEASE_WAIT_MS_MAX, PassingSet } from '@webloom/core'
import { type WaitingCaller, WaitingCallers } from '../structures/waiting-callers.ts'
import { type SuspectItem, type SuspectOptions, Suspects } from './suspects.ts'

export interface DispatchItem extends SuspectItem {
  /** Higher goes first. */
  readonly priority: number
  readonly suspect: boolean
}

export interface LeaseDispatcherOptions<Item> extends SuspectOptions<Item> {
  /** How long `take` waits. Default LEASE_WAIT_MS_MAX. */
  readonly waitMsMax?: number
}

/** What puts items into a dispatcher, and takes them out, sees of it. */
export type ItemDispatcher<Item extends DispatchItem> = Pick<
  LeaseDispatcher<Item>,
  'demand' | 'suspects' | 'put' | 'remove' | 'ended' | 'take' | 'onDemand' | 'recheck' | 'close'
>

/** A caller of `take` that waits. */
interface Taker<Item> extends WaitingCaller {
  readonly max: number
  readonly nothingCanCome: () => Promise<boolean>
  readonly answer: (items: Item[]) => void
  readonly fail: (error: unknown) => void
  isAsking: boolean
  mustAskAgain: boolean
}

export class LeaseDispatcher<Item extends DispatchItem> {
  readonly #waitMsMax: number
  /** In the order in which they go. A plain list: there are never more than a worker holds. */
  readonly #ready: Item[] = []
  readonly #suspects: Suspects<Item>
  readonly #out = new PassingSet<Item>()
  readonly #takers = new WaitingCallers<Taker<Item>>()
  readonly #demandListeners: (() => void)[] = []
  #willServe = false
  #isClosed = false

  /** Calls of `take` reject with what a note in Redis was refused for; the next call makes the dispatcher try again. */
  constructor(options: LeaseDispatcherOptions<Item>) {
    this.#waitMsMax = options.waitMsMax ?? LEASE_WAIT_MS_MAX
    this.#suspects = new Suspects(options, {
      onChange: () => this.#serveSoon(),
      onRefused: (error) => {
        for (const taker of this.#takers) taker.fail(error)
      },
    })
  }

  /** Adds an item that may go now, as its host's pace allows it. */
  put(item: Item): void {
    if (item.suspect) {
      this.#suspects.put(item)
    } else {
      const before = this.#ready.findLastIndex(({ priority }) => priority >= item.priority)
      this.#ready.splice(before + 1, 0, item)
    }
    this.#serveSoon()
  }

  /** Takes an item out that is lost, or may no longer go. Returns false when it was handed out already. */
  remove(item: Item): boolean {
    if (!(item.suspect ? this.#suspects.remove(item) : this.#removeReady(item))) return false
    this.#serveSoon()
    return true
  }

  /** An item that was handed out has ended, by whatever outcome. */
  ended(item: Item): void {
    if (!this.#out.delete(item)) return
    this.#suspects.ended(item)
    this.#serveSoon()
  }

  /** How many more items the waiting callers would take, beyond those that lie ready. */
  get demand(): number {
    if (this.#isClosed || this.#suspects.holdsOthers) return 0
    let wanted = 0
    for (const { max } of this.#takers) wanted += max
    return Math.max(0, wanted - this.#ready.length)
  }

  /** How many requests wait here to run alone, or do. */
  get suspects(): number {
    return this.#suspects.size
  }

  /** Called whenever there may be more demand than before. */
  onDemand(listener: () => void): void {
    this.#demandListeners.push(listener)
  }

  /**
   * Resolves to up to `max` items, or to one suspect. Waits while no item lies ready, and resolves to none when
   * `nothingCanCome` is true, when `signal` fires, when the dispatcher is closed, or after `waitMsMax`.
   */
  take(
    max: number,
    signal: AbortSignal | undefined,
    nothingCanCome: () => Promise<boolean>,
  ): Promise<Item[]> {
    if (this.#isClosed || signal?.aborted) return Promise.resolve([])
    const items = this.#handOut(max)
    if (items.length > 0) return Promise.resolve(items)
    return new Promise((resolve, reject) => {
      const answer = (found: Item[]) => {
        this.#takers.delete(taker)
        resolve(found)
      }
      const fail = (error: unknown) => {
        this.#takers.delete(taker)
        reject(error)
      }
      const untilMs = performance.now() + this.#waitMsMax
      const taker = {
        max,
        signal,
        untilMs,
        nothingCanCome,
        answer,
        fail,
        giveUp: () => resolve([]),
        isAsking: false,
        mustAskAgain: false,
      }
      this.#takers.add(taker)
      this.#serve()
      void this.#ask(taker)
    })
  }

  /** A request has ended somewhere: asks `nothingCanCome` again for each caller that waits. */
  recheck(): void {
    for (const taker of this.#takers) void this.#ask(taker)
  }

  /** Resolves all calls of `take` to none, now and from now on. */
  close(): void {
    this.#isClosed = true
    this.#suspects.close()
    this.#takers.close()
  }

  /** Serves in a microtask, so that items that are put together are handed out together. */
  #serveSoon(): void {
    if (this.#willServe) return
    this.#willServe = true
    queueMicrotask(() => {
      this.#willServe = false
      this.#serve()
    })
  }

  #serve(): void {
    for (const taker of this.#takers) {
      const items = this.#handOut(taker.max)
      if (items.length === 0) break
      taker.answer(items)
    }
    this.#suspects.next(this.#out, this.#takers.size > 0)
    if (this.demand > 0) for (const listener of this.#demandListeners) listener()
  }

  #handOut(max: number): Item[] {
    const items = this.#suspects.holdsOthers ? this.#handOutAlone() : this.#ready.splice(0, max)
    for (const item of items) this.#out.add(item)
    return items
  }

  #handOutAlone(): Item[] {
    const item = this.#suspects.handOut()
    return item ? [item] : []
  }

  #removeReady(item: Item): boolean {
    const at = this.#ready.indexOf(item)
    if (at >= 0) this.#ready.splice(at, 1)
    return at >= 0
  }

  async #ask(taker: Taker<Item>): Promise<void> {
    taker.mustAskAgain = true
    if (taker.isAsking) return
    taker.isAsking = true
    try {
      while (taker.mustAskAgain && this.#takers.has(taker) && this.#isEmpty) {
        taker.mustAskAgain = false
        if ((await taker.nothingCanCome()) && this.#isEmpty) taker.answer([])
      }
    } catch (error) {
      taker.fail(error)
    } finally {
      taker.isAsking = false
    }
  }

  /** False while an item lies here or is out, as it can still bring others: `nothingCanCome` need not be asked. */
  get #isEmpty(): boolean {
    return this.#out.size === 0 && this.#ready.length === 0 && !this.#suspects.areLying
  }
}
