/**
 * What must be done about turns from time to time: renew their locks, leave those that others should have, find lost ones.
 *
 * One worker finds lost turns for all, the one that did so last: it looks for jobs without a lock every two seconds, and
 * sweeps over the turns every four, which it publishes to all workers. When the others hear of no sweep any more, another
 * one sweeps. If the worker in charge is lost, that is found no later than with any other: its locks outlast the change.
 */

import type { Logger, ProtocolTimes } from '@webloom/core'
import type { CrawlChannel, Swept } from '../members/crawl-channel.ts'
import type { HeldTurns } from './held-turns.ts'
import type { HostTurn } from './host-turn.ts'
import type { SaidNumbers } from './said-numbers.ts'
import type { TurnExchange } from './turn-exchange.ts'
import type { Stirred, TurnScripts, Wake } from './turn-scripts.ts'

/** Without a delay, a turn goes behind the others after `quotaMs`, or after so many requests. */
const QUOTA_REQUESTS = 500
const MAX_TURNS_PER_EVICTION = 16

export interface TurnCareOptions {
  readonly scripts: TurnScripts
  readonly said: SaidNumbers
  readonly channel: CrawlChannel
  readonly turns: HeldTurns
  readonly exchange: TurnExchange
  readonly workerId: string
  readonly times: ProtocolTimes
  readonly logger: Logger
  /** How many turns this worker may have. */
  readonly turnsMax: number
  readonly demand: () => number
  /** Called when a turn's lock was not renewed in time; another worker may have it. */
  readonly onDoubt: (turn: HostTurn) => void
  readonly onRenewed: (turn: HostTurn) => void
  readonly onLost: (turn: HostTurn) => void
  /** Called when requests have come back to their lines. */
  readonly onStirred: (stirred: Stirred) => void
  readonly onSwept: (swept: Swept) => void
  /** Called with turns that BullMQ does not have. */
  readonly onOwed: (owed: readonly Wake[]) => void
  readonly onTended: () => void
}

export class TurnCare {
  readonly #options: TurnCareOptions
  readonly #times: ProtocolTimes['turns']
  readonly #reconnectMsMax: number
  readonly #timers: NodeJS.Timeout[] = []
  #workers = 1
  /** True when turns wait in BullMQ, as last heard of. */
  #othersWait = false
  #isRenewing = false
  #isClosed = false
  #sweptAtMs = Number.NEGATIVE_INFINITY
  /** Runs while this worker is in charge. */
  #stalledCheck: NodeJS.Timeout | undefined
  #isChecking = false
  /** Until then no lock counts as lost: Redis was away, and other workers may have had no time to renew theirs. */
  #checksFromMs = Number.NEGATIVE_INFINITY

  constructor(options: TurnCareOptions) {
    this.#options = options
    this.#times = options.times.turns
    this.#reconnectMsMax = options.times.redis.reconnectMsMax
    options.channel.listen({ onSwept: (swept) => this.#heard(swept, swept.worker === options.workerId) })
  }

  async open(): Promise<void> {
    await this.#sweep(0)
    const { tendEveryMs, renewEveryMs, sweepLookEveryMs } = this.#times
    this.#timers.push(
      setInterval(() => this.#tend(), tendEveryMs),
      setInterval(() => void this.renew(), renewEveryMs),
      setInterval(() => this.#sweepIfDue(), sweepLookEveryMs),
    )
  }

  close(): void {
    this.#isClosed = true
    for (const timer of this.#timers) clearInterval(timer)
    clearInterval(this.#stalledCheck)
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
    else if (nowMs - turn.lookedAtMs > this.#times.lookAgainMs && wanted > 0) this.#lookAgain(turn, nowMs)
  }

  #shouldLeave(turn: HostTurn, nowMs: number): boolean {
    const isOverQuota = nowMs - turn.quotaFromMs > this.#times.quotaMs || turn.taken > QUOTA_REQUESTS
    if (isOverQuota && !turn.isPaced && this.#othersWait) return true
    if (turn.held.size > 0) return false
    const isIdle = turn.readySinceMs !== undefined && nowMs - turn.readySinceMs > this.#times.yieldAfterMs
    return turn.isFull || (isIdle && this.#workers > 1) || turn.goesOnAtMs - nowMs > this.#times.lingerMs
  }

  /** Lets a turn that is being left go on, as its host must not wait for one slow page. */
  #tendLeaving(turn: HostTurn, forMs: number): void {
    if (turn.held.size === 0 || forMs < this.#times.lingerMs) return
    turn.renewQuota()
    this.#options.exchange.stay(turn)
  }

  #lookAgain(turn: HostTurn, nowMs: number): void {
    turn.lookedAtMs = nowMs
    turn.isFull = false
    if (turn.head === undefined) turn.arrived(0)
    this.#options.turns.wake(turn)
  }

  /** Leaves turns that sleep longest when others are at hand. */
  #evict(nowMs: number): void {
    const { turns, exchange } = this.#options
    const sleeping = [...turns].filter(
      (turn) => turn.held.size === 0 && !turn.isLeaving && turn.goesOnAtMs - nowMs > this.#times.tendEveryMs,
    )
    sleeping.sort((a, b) => b.goesOnAtMs - a.goesOnAtMs)
    for (const turn of sleeping.slice(0, MAX_TURNS_PER_EVICTION)) exchange.leave(turn)
  }

  /** Renews the locks, and tells Redis which requests this worker holds. */
  async renew(): Promise<void> {
    const { scripts, said, turns, onRenewed, onLost, onStirred, logger } = this.#options
    if (this.#isRenewing || turns.size === 0) return
    this.#isRenewing = true
    const held = [...turns]
    const sentAtMs = performance.now()
    try {
      const renewed = await scripts.renew(held, this.#times.lockMs, said.coming)
      const lost = new Set(renewed.lost)
      for (const turn of held.filter((one) => turns.has(one))) {
        if (lost.has(turn)) {
          onLost(turn)
        } else {
          turn.lockedUntilMs = sentAtMs + this.#times.lockMs
          onRenewed(turn)
        }
      }
      this.#tellPutBack(renewed.putBack)
      onStirred(renewed)
    } catch (error) {
      logger.debug({ err: error }, 'locks could not be renewed; it is tried again')
    }
    this.#isRenewing = false
  }

  #tellPutBack(putBack: ReadonlyMap<HostTurn, number>): void {
    if (putBack.size === 0) return
    let requests = 0
    for (const [turn, count] of putBack) {
      requests += count
      turn.isFull = false
      turn.lookedAtMs = Number.NEGATIVE_INFINITY
    }
    this.#options.logger.warn(
      { requests, hosts: putBack.size },
      'requests were in flight in Redis that this worker does not have; they are back in their lines and may be fetched again',
    )
  }

  #sweepIfDue(): void {
    const { sweepEveryMs, sweepMissedMs, sweptMsMin } = this.#times
    const sinceMs = performance.now() - this.#sweptAtMs
    if (sinceMs >= (this.#stalledCheck ? sweepEveryMs : sweepMissedMs)) void this.#sweep(sweptMsMin)
  }

  async #sweep(sweptMsMin: number): Promise<void> {
    const { scripts, workerId, onOwed, logger } = this.#options
    this.#sweptAtMs = performance.now()
    try {
      const { isSwept, woken, ...swept } = await scripts.sweep(workerId, sweptMsMin)
      this.#heard(swept, isSwept)
      onOwed(woken)
    } catch (error) {
      logger.debug({ err: error }, 'turns could not be looked after; it is tried again')
    }
  }

  #heard(swept: Swept, isMine: boolean): void {
    this.#sweptAtMs = performance.now()
    this.#workers = swept.workers
    this.#othersWait = swept.waiting > 0
    this.#takeCharge(isMine)
    this.#options.onSwept(swept)
  }

  #takeCharge(isInCharge: boolean): void {
    if (isInCharge === (this.#stalledCheck !== undefined) || this.#isClosed) return
    clearInterval(this.#stalledCheck)
    this.#stalledCheck = undefined
    if (!isInCharge) return
    const check = () => void this.#checkStalled()
    this.#stalledCheck = setInterval(check, this.#times.stalledCheckEveryMs)
    check()
  }

  async #checkStalled(): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    const { scripts, logger } = this.#options
    const { stalledGapMs, stalledLateMs } = this.#times
    const askedAtMs = performance.now()
    try {
      await scripts.watch(stalledGapMs)
      const nowMs = performance.now()
      if (nowMs - askedAtMs > stalledLateMs) this.#checksFromMs = nowMs + this.#reconnectMsMax
      if (nowMs >= this.#checksFromMs) await scripts.takeStalled(stalledGapMs)
    } catch (error) {
      logger.debug({ err: error }, 'lost turns could not be looked for; it is tried again')
    }
    this.#isChecking = false
  }
}
