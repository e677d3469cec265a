/**
 * Hands out to the engine the requests that this worker holds and that may go now.
 *
 * It enforces the rule for suspects: a request that was in flight when a worker died may have killed that worker, and runs
 * alone in its next worker.
 *
 *     open      requests go to the callers that wait, highest priority first, then first come
 *     closing   a suspect lies ready: no request goes until all that were handed out have ended
 *     alone     `beginAlone` has noted in Redis which request this worker runs alone; the suspect is handed out, and no other
 *     open      the suspect has ended, and `endAlone` has deleted the note
 *
 * The note is in Redis before the suspect goes. So if the worker dies, the note names the request that killed it; without a
 * note, any of its requests may have. While a suspect waits or runs, the demand is 0: requests that could not be handed out
 * should stay where other workers find them.
 *
 * The dispatcher knows no host and no pace: each request that is put may go.
 */

import { LEASE_WAIT_MS_MAX, PassingSet } from '@webloom/core'

/** For the log: without it a worker that waits for a suspect would look as if it had nothing to do. */
export const FETCHED_ALONE =
  'fetched alone, as it was in work when a worker was lost and may have killed it: nothing else is fetched here until it has ended (DOWNLOAD_TIMEOUT)'

export interface DispatchItem {
  readonly id: string
  /** Higher goes first. */
  readonly priority: number
  readonly suspect: boolean
}

export interface LeaseDispatcherOptions<Item> {
  /** Notes that this worker is about to run the item alone. `take` rejects with what this throws. */
  beginAlone(item: Item): Promise<void>
  /** The item has ended: deletes the note. Must do nothing when the note is gone already. */
  endAlone(item: Item): Promise<void>
  /** How long `take` waits. Default LEASE_WAIT_MS_MAX. */
  readonly waitMsMax?: number
}

/** What puts items into a dispatcher, and takes them out, sees of it. */
export type ItemDispatcher<Item extends DispatchItem> = Pick<
  LeaseDispatcher<Item>,
  'demand' | 'put' | 'remove' | 'ended' | 'take' | 'onDemand' | 'recheck' | 'close'
>

/** A caller of `take` that waits. */
interface Taker<Item> {
  readonly max: number
  readonly nothingCanCome: () => Promise<boolean>
  readonly answer: (items: Item[]) => void
  readonly fail: (error: unknown) => void
  isAsking: boolean
  mustAskAgain: boolean
}

export class LeaseDispatcher<Item extends DispatchItem> {
  readonly #waitMsMax: number
  readonly #beginAlone: (item: Item) => Promise<void>
  readonly #endAlone: (item: Item) => Promise<void>
  /** In the order in which they go. A plain list: there are never more than a worker holds. */
  readonly #ready: Item[] = []
  readonly #suspects: Item[] = []
  readonly #out = new PassingSet<Item>()
  readonly #takers = new PassingSet<Taker<Item>>()
  readonly #demandListeners: (() => void)[] = []
  /** The suspect that has a note, from before the note is written until after it is deleted. */
  #alone: { readonly item: Item; state: 'noting' | 'noted' | 'out' | 'ending' } | undefined
  #willServe = false
  #isClosed = false

  constructor({ beginAlone, endAlone, waitMsMax = LEASE_WAIT_MS_MAX }: LeaseDispatcherOptions<Item>) {
    this.#waitMsMax = waitMsMax
    this.#beginAlone = beginAlone
    this.#endAlone = endAlone
  }

  /** Adds an item that may go now, as its host's pace allows it. */
  put(item: Item): void {
    if (item.suspect) {
      this.#suspects.push(item)
    } else {
      const before = this.#ready.findLastIndex(({ priority }) => priority >= item.priority)
      this.#ready.splice(before + 1, 0, item)
    }
    this.#serveSoon()
  }

  /** Takes an item out that is lost, or may no longer go. Returns false when it was handed out already. */
  remove(item: Item): boolean {
    const lying = item.suspect ? this.#suspects : this.#ready
    const at = lying.indexOf(item)
    if (at < 0) return false
    lying.splice(at, 1)
    if (this.#alone?.item === item && this.#alone.state === 'noted') this.#finishAlone(item)
    this.#serveSoon()
    return true
  }

  /** An item that was handed out has ended, by whatever outcome. */
  ended(item: Item): void {
    if (!this.#out.delete(item)) return
    if (this.#alone?.item === item) this.#finishAlone(item)
    this.#serveSoon()
  }

  /** How many more items the waiting callers would take, beyond those that lie ready. */
  get demand(): number {
    if (this.#isClosed || this.#alone || this.#suspects.length > 0) return 0
    let wanted = 0
    for (const { max } of this.#takers) wanted += max
    return Math.max(0, wanted - this.#ready.length)
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
      const leave = () => {
        this.#takers.delete(taker)
        clearTimeout(deadline)
        signal?.removeEventListener('abort', giveUp)
      }
      const answer = (found: Item[]) => {
        leave()
        resolve(found)
      }
      const fail = (error: unknown) => {
        leave()
        reject(error)
      }
      const giveUp = () => answer([])
      const taker = { max, nothingCanCome, answer, fail, isAsking: false, mustAskAgain: false }
      const deadline = setTimeout(giveUp, this.#waitMsMax)
      signal?.addEventListener('abort', giveUp, { once: true })
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
    for (const taker of this.#takers) taker.answer([])
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
    this.#noteNextSuspect()
    if (this.demand > 0) for (const listener of this.#demandListeners) listener()
  }

  #handOut(max: number): Item[] {
    const items = this.#alone || this.#suspects.length > 0 ? this.#handOutAlone() : this.#ready.splice(0, max)
    for (const item of items) this.#out.add(item)
    return items
  }

  #handOutAlone(): Item[] {
    if (this.#alone?.state !== 'noted') return []
    this.#alone.state = 'out'
    this.#suspects.shift()
    return [this.#alone.item]
  }

  /** Writes the note only when a caller waits, as a note says that the request is about to run. */
  #noteNextSuspect(): void {
    const [item] = this.#suspects
    if (!item || this.#alone || this.#out.size > 0 || this.#takers.size === 0) return
    const alone = { item, state: 'noting' as 'noting' | 'noted' }
    this.#alone = alone
    this.#beginAlone(item).then(
      () => {
        alone.state = 'noted'
        if (this.#suspects[0] !== item) this.#finishAlone(item)
        this.#serveSoon()
      },
      (error: unknown) => this.#failAlone(error),
    )
  }

  #finishAlone(item: Item): void {
    this.#alone = { item, state: 'ending' }
    this.#endAlone(item).then(
      () => {
        this.#alone = undefined
        this.#serveSoon()
      },
      (error: unknown) => this.#failAlone(error),
    )
  }

  /** Redis has refused the note. All calls that wait reject; the next call makes the dispatcher try again. */
  #failAlone(error: unknown): void {
    this.#alone = undefined
    for (const taker of this.#takers) taker.fail(error)
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
    return this.#out.size === 0 && this.#ready.length === 0 && this.#suspects.length === 0
  }
}
