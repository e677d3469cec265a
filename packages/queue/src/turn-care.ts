/** What must be done about turns from time to time: renew their locks, give up those that others should have, find lost ones. */

import type { Logger } from '@webloom/core'
import type { HeldTurns } from './held-turns.ts'
import type { HostTurn } from './host-turn.ts'
import { LINGER_MS, type TurnExchange } from './turn-exchange.ts'
import { TURN_LOCK_MS } from './turn-jobs.ts'
import type { TurnScripts, Wake } from './turn-scripts.ts'

const TEND_EVERY_MS = 100
const RENEW_EVERY_MS = TURN_LOCK_MS / 3
const SWEEP_EVERY_MS = 2000
/** All workers together sweep this often. */
const SWEPT_MS_MIN = 1500
/** A turn that could go and is not served for so long goes to another worker. */
const YIELD_AFTER_MS = 250
/** Without a delay, a turn goes behind the others after so long, or so many requests. */
const QUOTA_MS = 5000
const QUOTA_REQUESTS = 500
/** A line that was empty is looked at again, as others may have added to it. */
const LOOK_AGAIN_MS = 500
const EVICTED_AT_ONCE = 16

export interface TurnCareOptions {
  readonly scripts: TurnScripts
  readonly turns: HeldTurns
  readonly exchange: TurnExchange
  readonly workerId: string
  readonly logger: Logger
  /** More turns than this worker may have. */
  readonly turnsMax: number
  readonly demand: () => number
  /** Its lock was not renewed in time; it may be another's. */
  readonly onDoubt: (turn: HostTurn) => void
  readonly onRenewed: (turn: HostTurn) => void
  readonly onLost: (turn: HostTurn) => void
  readonly onSwept: (workers: number, owed: readonly Wake[]) => void
  readonly onTended: () => void
}

export class TurnCare {
  readonly #options: TurnCareOptions
  readonly #timers: NodeJS.Timeout[] = []
  #workers = 1
  /** Turns wait in BullMQ, as last heard of. */
  #othersWait = false
  #isRenewing = false

  constructor(options: TurnCareOptions) {
    this.#options = options
  }

  async open(): Promise<void> {
    await this.#sweep(0)
    this.#timers.push(
      setInterval(() => this.#tend(), TEND_EVERY_MS),
      setInterval(() => void this.#renew(), RENEW_EVERY_MS),
      setInterval(() => void this.#sweep(SWEPT_MS_MIN), SWEEP_EVERY_MS),
    )
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
  }

  #tend(): void {
    const { turns, turnsMax, demand, onTended } = this.#options
    const nowMs = performance.now()
    const wanted = demand()
    for (const turn of turns) this.#tendOne(turn, nowMs, wanted)
    if (wanted > 0 && turns.size >= turnsMax && this.#othersWait) this.#evict(nowMs)
    onTended()
  }

  #tendOne(turn: HostTurn, nowMs: number, wanted: number): void {
    const { exchange, onDoubt } = this.#options
    if (turn.leavingSinceMs !== undefined) this.#tendLeaving(turn, nowMs - turn.leavingSinceMs)
    else if (!turn.isLocked) onDoubt(turn)
    else if (this.#shouldLeave(turn, nowMs)) exchange.leave(turn)
    else if (nowMs - turn.lookedAtMs > LOOK_AGAIN_MS && wanted > 0) this.#lookAgain(turn, nowMs)
  }

  #shouldLeave(turn: HostTurn, nowMs: number): boolean {
    const isOverQuota = nowMs - turn.quotaFromMs > QUOTA_MS || turn.taken > QUOTA_REQUESTS
    if (isOverQuota && !turn.isPaced && this.#othersWait) return true
    if (turn.held.size > 0) return false
    const isIdle = turn.readySinceMs !== undefined && nowMs - turn.readySinceMs > YIELD_AFTER_MS
    return turn.isFull || (isIdle && this.#workers > 1) || turn.goesOnAtMs - nowMs > LINGER_MS
  }

  /** Its host must not wait for one slow page. */
  #tendLeaving(turn: HostTurn, forMs: number): void {
    if (turn.held.size === 0 || forMs < LINGER_MS) return
    turn.renewQuota()
    this.#options.exchange.stay(turn)
  }

  #lookAgain(turn: HostTurn, nowMs: number): void {
    turn.lookedAtMs = nowMs
    turn.isFull = false
    if (turn.head === undefined) turn.arrived(0)
    this.#options.turns.wake(turn)
  }

  /** Turns at hand go before those that sleep longest. */
  #evict(nowMs: number): void {
    const { turns, exchange } = this.#options
    const sleeping = [...turns].filter(
      (turn) => turn.held.size === 0 && !turn.isLeaving && turn.goesOnAtMs - nowMs > TEND_EVERY_MS,
    )
    sleeping.sort((a, b) => b.goesOnAtMs - a.goesOnAtMs)
    for (const turn of sleeping.slice(0, EVICTED_AT_ONCE)) exchange.leave(turn)
  }

  async #renew(): Promise<void> {
    const { scripts, turns, onRenewed, onLost, logger } = this.#options
    if (this.#isRenewing || turns.size === 0) return
    this.#isRenewing = true
    const held = [...turns]
    const sentAtMs = performance.now()
    try {
      const lost = new Set(await scripts.renew(held, TURN_LOCK_MS))
      for (const turn of held.filter((one) => turns.has(one))) {
        if (lost.has(turn)) {
          onLost(turn)
        } else {
          turn.lockedUntilMs = sentAtMs + TURN_LOCK_MS
          onRenewed(turn)
        }
      }
    } catch (error) {
      logger.debug({ err: error }, 'locks could not be renewed; it is tried again')
    }
    this.#isRenewing = false
  }

  async #sweep(sweptMsMin: number): Promise<void> {
    const { scripts, workerId, onSwept, logger } = this.#options
    try {
      const { workers, waiting, woken } = await scripts.sweep(workerId, sweptMsMin)
      this.#workers = workers
      this.#othersWait = waiting > 0
      onSwept(workers, woken)
    } catch (error) {
      logger.debug({ err: error }, 'turns could not be looked after; it is tried again')
    }
  }
}
