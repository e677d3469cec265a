/** What becomes of a turn that this worker has, by Redis's reply: it goes on, is left, is over, or is lost. */

import type { ProtocolTimes } from '@webloom/core'
import { leaseLost } from '../leasing/lease-lost.ts'
import type { HeldTurns } from './held-turns.ts'
import type { HostTurn } from './host-turn.ts'
import type { TurnDesk } from './turn-desk.ts'
import type { TurnEndings } from './turn-endings.ts'
import type { TurnExchange } from './turn-exchange.ts'
import type { TurnJobs } from './turn-jobs.ts'
import type { Standing, Taken, TurnAnswer, TurnSays } from './turn-scripts.ts'

export interface TurnCourseOptions {
  readonly turns: HeldTurns
  readonly desk: TurnDesk
  readonly exchange: TurnExchange
  readonly endings: TurnEndings
  readonly jobs: TurnJobs
  readonly times: ProtocolTimes
  readonly onPoint: (name: 'taken' | 'left' | 'completed') => void
}

export class TurnCourse {
  readonly #options: TurnCourseOptions

  constructor(options: TurnCourseOptions) {
    this.#options = options
  }

  begun(turn: HostTurn): void {
    this.#options.turns.add(turn)
    this.#maybeLeave(turn)
  }

  answered(turn: HostTurn, says: TurnSays, answer: TurnAnswer): void {
    const { jobs } = this.#options
    if (answer.status === 'lost') this.lose(turn, `another worker has taken over ${turn.slot}`)
    else if (answer.status === 'over') this.#gone(turn, jobs.complete(turn.job))
    else if (answer.status === 'left') this.#gone(turn, this.#giveBack(turn, answer.standing))
    else this.#goesOn(turn, says, answer)
  }

  /** Drops all leases of the turn: Redis has come back older, so it may have other requests in flight than this worker. */
  startOver(turn: HostTurn, reason: string): number {
    const { exchange, desk } = this.#options
    const count = turn.held.size
    exchange.lost(turn, leaseLost(undefined, reason))
    for (const lease of turn.held.values()) desk.lose(lease, reason)
    turn.emptied()
    exchange.stay(turn)
    return count
  }

  /** Ends a turn that another worker has by now. */
  lose(turn: HostTurn, reason: string): void {
    const { turns, exchange, desk } = this.#options
    turn.isLost = true
    turns.remove(turn)
    exchange.lost(turn, leaseLost(undefined, reason))
    for (const lease of turn.held.values()) desk.lose(lease, reason)
  }

  #goesOn(
    turn: HostTurn,
    { most }: TurnSays,
    { standing, taken }: { standing: Standing; taken: readonly Taken[] },
  ): void {
    const { turns, desk, endings, exchange, onPoint } = this.#options
    const nowMs = performance.now()
    const goesAtMs = taken.length > 0 ? turn.slotTaken(nowMs) : 0
    turn.heard(standing, nowMs)
    if (most > 0) {
      turn.batch = undefined
      turn.taken += taken.length
      onPoint('taken')
      desk.accept(turn, taken, goesAtMs)
      if (turn.isPaused || exchange.goesBack(turn)) endings.callBack(turn)
      else if (taken.length < most) fewTaken(turn, standing, nowMs)
    }
    turns.place(turn)
    this.#maybeLeave(turn)
  }

  /** Ends a turn that this worker no longer has; BullMQ is being told. */
  #gone(turn: HostTurn, telling: Promise<void>): void {
    const { turns, desk, jobs, onPoint } = this.#options
    onPoint('left')
    for (const lease of turn.held.values()) desk.lose(lease, 'its turn is over')
    turns.remove(turn)
    jobs.tell(telling.then(() => onPoint('completed')))
    if (turns.size === 0) desk.recheck()
  }

  #giveBack(turn: HostTurn, { waitMs, pausedMs, head, lateInMs = 0 }: Standing): Promise<void> {
    const lateMs = head === undefined ? lateInMs : 0
    const inMs = Math.max(waitMs, pausedMs, lateMs, turn.isFull ? this.#options.times.turns.fullRetryMs : 0)
    return this.#options.jobs.giveBack(turn.job, inMs, head ?? 0)
  }

  /** Leaves the turn when it holds no request and its host may not be asked for a while. */
  #maybeLeave(turn: HostTurn): void {
    if (turn.isLeaving || turn.held.size > 0) return
    if (turn.goesOnAtMs - performance.now() > this.#options.times.turns.lingerMs)
      this.#options.exchange.leave(turn)
  }
}

/** Called when Redis found that it is too early, or that other lanes have all that the host may have in flight. */
function fewTaken(turn: HostTurn, { waitMs, head }: Standing, nowMs: number): void {
  if (turn.isPaced && waitMs > 0) turn.heldBack(waitMs, nowMs)
  else if (head !== undefined) turn.isFull = true
}
