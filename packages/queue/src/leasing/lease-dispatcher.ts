/**
 * What this worker holds, and what of it the engine gets, when.
 *
 * Between the two stands the rule for suspects: a request that was in flight when a worker died may have killed it, and
 * runs alone in its next worker.
 *
 *     open      what is put goes to whoever waits, highest priority first, then first come
 *     closing   a suspect lies ready: nothing goes until all that was handed out has ended
 *     alone     `beginAlone` has noted in Redis who runs what alone; the suspect is handed out, and nothing else
 *     open      it has ended, `endAlone` has taken the note back
 *
 * With the note in Redis before the request is out, the next death tells who is to blame: the one that was noted, or,
 * with no note, anybody. While a suspect waits or runs there is no demand: what could not be handed out anyhow should
 * stay where other workers find it.
 *
 * The dispatcher knows no host and no pace: what is put may go.
 */

import { LEASE_WAIT_MAX_MS } from '@webloom/core'

export interface DispatchItem {
  readonly id: string
  /** Higher goes first. */
  readonly priority: number
  readonly suspect: boolean
}

export interface LeaseDispatcherOptions<Item> {
  /** Notes that this worker is about to run it alone. What it throws, `take` throws. */
  beginAlone(item: Item): Promise<void>
  /** It is over: takes the note back. Must do nothing when it is taken back already. */
  endAlone(item: Item): Promise<void>
  /** How long a taker waits. Default LEASE_WAIT_MAX_MS. */
  readonly waitMsMax?: number
}

/** A caller of `take` that found nothing. */
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
  /** In the order in which they go: there are never more than a worker holds. */
  readonly #ready: Item[] = []
  readonly #suspects: Item[] = []
  readonly #out = new Set<Item>()
  readonly #takers = new Set<Taker<Item>>()
  readonly #demandListeners: (() => void)[] = []
  /** The suspect that is noted, from the beginning of its note to the end of it. */
  #alone: { readonly item: Item; state: 'noting' | 'noted' | 'out' | 'ending' } | undefined
  #willServe = false
  #isClosed = false

  constructor({ beginAlone, endAlone, waitMsMax = LEASE_WAIT_MAX_MS }: LeaseDispatcherOptions<Item>) {
    this.#waitMsMax = waitMsMax
    this.#beginAlone = beginAlone
    this.#endAlone = endAlone
  }

  /** It may go now: its host's pace allows it. */
  put(item: Item): void {
    if (item.suspect) {
      this.#suspects.push(item)
    } else {
      const before = this.#ready.findLastIndex(({ priority }) => priority >= item.priority)
      this.#ready.splice(before + 1, 0, item)
    }
    this.#serveSoon()
  }

  /** It is lost, or may no longer go. False when it was handed out already. */
  remove(item: Item): boolean {
    const lying = item.suspect ? this.#suspects : this.#ready
    const at = lying.indexOf(item)
    if (at < 0) return false
    lying.splice(at, 1)
    if (this.#alone?.item === item && this.#alone.state === 'noted') this.#finishAlone(item)
    this.#serveSoon()
    return true
  }

  /** One that was handed out is over, however it ended. */
  ended(item: Item): void {
    if (!this.#out.delete(item)) return
    if (this.#alone?.item === item) this.#finishAlone(item)
    this.#serveSoon()
  }

  /** How many more the waiting callers would take, beyond what lies ready. */
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
   * Up to `max`, or one suspect. Waits while nothing lies ready, and resolves to none when `nothingCanCome` says so,
   * when `signal` fires, when the dispatcher is closed, or after LEASE_WAIT_MAX_MS.
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

  /** Something has ended: those who wait may find that nothing can come. */
  recheck(): void {
    for (const taker of this.#takers) void this.#ask(taker)
  }

  /** Answers all who wait with none, now and from now on. */
  close(): void {
    this.#isClosed = true
    for (const taker of this.#takers) taker.answer([])
  }

  /** What is put in one go is handed out in one go. */
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

  /** Only when somebody waits for it: a note says that the request is about to run. */
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

  /** Redis has refused the note. Whoever waits is told; the next who comes makes it be tried again. */
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

  /** What lies here or is out can still bring something: nobody needs to be asked. */
  get #isEmpty(): boolean {
    return this.#out.size === 0 && this.#ready.length === 0 && this.#suspects.length === 0
  }
}
