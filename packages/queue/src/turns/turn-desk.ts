import type { ProtocolTimes } from '@webloom/core'
import { LeaseDispatcher } from '../leasing/lease-dispatcher.ts'
import { unpackRequest } from '../leasing/packed-request.ts'
import type { HeldTurns } from './held-turns.ts'
import { type HostTurn, TurnLease } from './host-turn.ts'
import type { Taken } from './turn-scripts.ts'

/** One lies ready for so many that are out, so that who has room need not wait for Redis. */
const STOCK_PART = 8

export interface TurnDeskOptions {
  readonly turns: HeldTurns
  readonly times: ProtocolTimes
  readonly beginAlone: (id: string) => Promise<void>
  readonly endAlone: () => Promise<void>
  readonly onDemand: () => void
  readonly onStart: (lease: TurnLease) => void
  readonly onUnreadable: (turn: HostTurn, taken: Taken, why: string) => void
  /** True when it was refused here before and goes back, as others are to try first. */
  readonly leavesToOthers: (lease: TurnLease) => boolean
}

/** What this worker's turns have taken, on its way to whoever asks, and while it is out. */
export class TurnDesk {
  readonly #turns: HeldTurns
  readonly #options: TurnDeskOptions
  readonly #desk: LeaseDispatcher<TurnLease>
  readonly #ready = new Set<TurnLease>()
  readonly #out = new Set<TurnLease>()

  constructor(options: TurnDeskOptions) {
    this.#options = options
    this.#turns = options.turns
    this.#desk = new LeaseDispatcher({
      waitMsMax: options.times.engine.leaseWaitMaxMs,
      beginAlone: ({ id }) => options.beginAlone(id),
      endAlone: () => options.endAlone(),
    })
    this.#desk.onDemand(options.onDemand)
  }

  /** How many more would be handed out at once. */
  get demand(): number {
    return this.#desk.demand
  }

  /** How many more may lie ready. */
  get stockRoom(): number {
    return Math.max(0, Math.floor(this.#out.size / STOCK_PART) - this.#ready.size)
  }

  async take(
    max: number,
    signal: AbortSignal | undefined,
    nothingCanCome: () => Promise<boolean>,
  ): Promise<TurnLease[]> {
    const leases = await this.#desk.take(max, signal, nothingCanCome)
    for (const lease of leases) {
      lease.state = 'out'
      lease.host = lease.turn.state
      this.#ready.delete(lease)
      this.#out.add(lease)
    }
    return leases
  }

  /** Some were taken, which may go from that moment on. */
  accept(turn: HostTurn, taken: readonly Taken[], goesAtMs: number): void {
    for (const one of taken) {
      const { request, unreadable, id, marks } = unpackRequest(one.text)
      if (request === undefined) {
        turn.unreadable.add(one.token)
        this.#options.onUnreadable(turn, one, unreadable)
        continue
      }
      const lease = new TurnLease(turn, one, { id, request, marks }, this.#options.onStart)
      turn.held.set(lease.token, lease)
      if (this.#options.leavesToOthers(lease)) continue
      if (goesAtMs <= performance.now()) this.#put(lease)
      else this.#turns.setSpare(turn, { lease, atMs: goesAtMs })
    }
  }

  /** Spares whose moment has come go to whoever waits; not any later for what is being said to Redis. */
  putDueSpares(): void {
    for (const turn of this.#turns.dueSpares()) {
      if (this.demand === 0) return
      const { lease } = turn.spare!
      turn.spare = undefined
      turn.served()
      this.#turns.place(turn)
      this.#put(lease)
    }
  }

  /** One that was out is over. */
  ended(lease: TurnLease): void {
    lease.state = 'ended'
    lease.turn.held.delete(lease.token)
    lease.turn.isFull = false
    this.#out.delete(lease)
    this.#desk.ended(lease)
  }

  /** It is not this worker's any more, wherever it is. */
  lose(lease: TurnLease, reason: string): void {
    if (lease.state === 'ended') return
    const lay = lease.state === 'ready' && this.#desk.remove(lease)
    this.#ready.delete(lease)
    this.#out.delete(lease)
    lease.lose(reason)
    if (!lay) this.#desk.ended(lease)
  }

  /** Another worker may have its host by now: nothing of the turn is handed out until that is known. */
  layAside(turn: HostTurn): void {
    for (const lease of turn.held.values()) {
      if (lease.state !== 'ready' || !this.#desk.remove(lease)) continue
      lease.state = 'spare'
      this.#ready.delete(lease)
      turn.aside.push(lease)
    }
    this.#turns.place(turn)
  }

  /** Its host is paused: takes all that was not handed out from the turn, in order. */
  callBack(turn: HostTurn): TurnLease[] {
    this.layAside(turn)
    const called = turn.aside.splice(0)
    if (turn.spare) called.push(turn.spare.lease)
    turn.spare = undefined
    for (const lease of called) lease.state = 'ending'
    return called
  }

  /** It is still this worker's. */
  putBack(turn: HostTurn): void {
    for (const lease of turn.aside.splice(0)) this.#put(lease)
    this.#turns.wake(turn)
  }

  /** Whoever waits may find that nothing can come any more. */
  recheck(): void {
    this.#desk.recheck()
  }

  close(): void {
    this.#desk.close()
  }

  #put(lease: TurnLease): void {
    lease.state = 'ready'
    this.#ready.add(lease)
    this.#desk.put(lease)
  }
}
