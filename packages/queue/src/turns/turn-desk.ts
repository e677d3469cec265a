import type { ProtocolTimes } from '@webloom/core'
import { LeaseDispatcher } from '../leasing/lease-dispatcher.ts'
import { unpackRequest } from '../leasing/packed-request.ts'
import type { HeldTurns } from './held-turns.ts'
import { type HostTurn, TurnLease } from './host-turn.ts'
import type { Taken } from './turn-scripts.ts'

/** One request lies ready for so many that are out, so that a free place need not wait for Redis. */
const STOCK_PART = 8

export interface TurnDeskOptions {
  readonly turns: HeldTurns
  readonly times: ProtocolTimes
  readonly beginAlone: (id: string) => Promise<void>
  readonly endAlone: () => Promise<void>
  readonly onDemand: () => void
  readonly onStart: (lease: TurnLease) => void
  readonly onUnreadable: (turn: HostTurn, taken: Taken, why: string) => void
  /** Returns true for a request that this worker has rejected before: it goes back, for others to try first. */
  readonly leavesToOthers: (lease: TurnLease) => boolean
}

/** The requests that this worker's turns have taken: ready, and handed out. */
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

  /** How many more requests would be handed out at once. */
  get demand(): number {
    return this.#desk.demand
  }

  /** How many more requests may lie ready. */
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

  /** Takes in requests that may go from that moment on. */
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

  /** Makes spares ready whose time has come, as many as are wanted. */
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

  /** Called when a request that was out has ended. */
  ended(lease: TurnLease): void {
    lease.state = 'ended'
    lease.turn.held.delete(lease.token)
    lease.turn.isFull = false
    this.#out.delete(lease)
    this.#desk.ended(lease)
  }

  /** Ends a lease that is lost, in whatever state it is. */
  lose(lease: TurnLease, reason: string): void {
    if (lease.state === 'ended') return
    const lay = lease.state === 'ready' && this.#desk.remove(lease)
    this.#ready.delete(lease)
    this.#out.delete(lease)
    lease.lose(reason)
    if (!lay) this.#desk.ended(lease)
  }

  /** Holds back the requests of a turn that another worker may have by now, until that is known. */
  layAside(turn: HostTurn): void {
    for (const lease of turn.held.values()) {
      if (lease.state !== 'ready' || !this.#desk.remove(lease)) continue
      lease.state = 'spare'
      this.#ready.delete(lease)
      turn.aside.push(lease)
    }
    this.#turns.place(turn)
  }

  /** Takes from the turn all requests that were not handed out, in order: its host is paused. */
  callBack(turn: HostTurn): TurnLease[] {
    this.layAside(turn)
    const called = turn.aside.splice(0)
    if (turn.spare) called.push(turn.spare.lease)
    turn.spare = undefined
    for (const lease of called) lease.state = 'ending'
    return called
  }

  /** Makes the requests ready again: the turn is still this worker's. */
  putBack(turn: HostTurn): void {
    for (const lease of turn.aside.splice(0)) this.#put(lease)
    this.#turns.wake(turn)
  }

  /** Checks again whether any request can come, for callers that wait. */
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
