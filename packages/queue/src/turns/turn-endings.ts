/** How a request that a turn has taken ends: its outcome goes to Redis with the next exchange. */

import { type HostNews, type Logger, type ProtocolTimes, WebloomError } from '@webloom/core'
import type { LeftToOthers } from '../leasing/left-to-others.ts'
import { remarked, unpackRequest } from '../leasing/packed-request.ts'
import { nobodyCanDo, type Rejection } from '../leasing/rejections.ts'
import type { HeldTurns } from './held-turns.ts'
import type { HostTurn, TurnLease } from './host-turn.ts'
import type { TurnDesk } from './turn-desk.ts'
import type { TurnExchange } from './turn-exchange.ts'
import type { TurnPlacing } from './turn-placing.ts'
import type { Ended, Placed, Taken } from './turn-scripts.ts'

/** The outcome of a lease. */
export interface Outcome {
  readonly placed: readonly Placed[]
  readonly refusal?: string
  readonly news?: HostNews
  /** How many requests the outcome adds. */
  readonly adds?: number
  readonly keepsHistory?: boolean
}

export interface TurnEndingsOptions extends Pick<Rejection, 'redis' | 'keys' | 'workerId'> {
  readonly turns: HeldTurns
  readonly desk: TurnDesk
  readonly exchange: TurnExchange
  readonly placing: TurnPlacing
  readonly rejectedMs: number
  readonly leftToOthers: LeftToOthers
  readonly times: ProtocolTimes
  readonly logger: Logger
  readonly isClosed: () => boolean
  readonly onEnded: () => void
  /** Called when others should have that host's turn for so long. */
  readonly onLeft: (host: string, ms: number) => void
}

export class TurnEndings {
  readonly #options: TurnEndingsOptions

  constructor(options: TurnEndingsOptions) {
    this.#options = options
  }

  end(lease: TurnLease, { placed, refusal, news, adds = 0, keepsHistory }: Outcome): Promise<void> {
    const { exchange, desk, turns, onEnded } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const { turn, token, id } = lease
    const isNoted = refusal !== undefined || (lease.hasHistory && !keepsHistory)
    lease.state = 'ending'
    if (news?.pauseMs !== undefined) this.pause(turn, news.pauseMs)
    exchange.end({
      turn,
      ended: { token, placed, ...(isNoted && { id }), ...(refusal !== undefined && { refusal }) },
      lease,
      adds,
      ...(news && { news }),
      resolve: () => {
        desk.ended(lease)
        onEnded()
        for (const one of placed) if (one.place === 'end' || one.place === 'head') turns.arrived(one)
        resolve()
      },
      reject: (error) => {
        if (lease.state === 'ending') lease.state = 'out'
        reject(error)
      },
    })
    return promise
  }

  requeue(lease: TurnLease): Promise<void> {
    return this.end(lease, { placed: [asItWas(lease)], keepsHistory: true })
  }

  async reject(lease: TurnLease, refusal: string): Promise<void> {
    const placed = await this.#rejected(lease, lease.id, lease.marks.rejections + 1)
    await this.end(lease, { placed: [placed], refusal })
  }

  /** Rejects a request of another release. After enough rejections it is quarantined. */
  refuseUnreadable(turn: HostTurn, { token, priority, text }: Taken, refusal: string): void {
    const { logger } = this.#options
    const { id, marks } = unpackRequest(text)
    if (this.#leaves(turn, id)) {
      this.#putBack(turn, { token, placed: [asItWas({ turn, priority, text })] })
      return
    }
    logger.warn({ id, reason: refusal }, 'this release cannot read a request; it is rejected')
    this.#rejected({ turn, priority, text }, id, marks.rejections + 1).then(
      (placed) => this.#putBack(turn, { token, id, refusal, placed: [placed] }),
      (error: unknown) => {
        // The next renewal finds the request in flight but not held, and puts it back into its line, where it is tried
        // again.
        turn.unreadable.delete(token)
        logger.warn({ id, err: error }, 'a request could not be given back')
      },
    )
  }

  /**
   * Returns true for a request that this worker has rejected before. It goes back, and its host's turn with it, for others
   * to try first.
   */
  leavesToOthers(lease: TurnLease): boolean {
    if (!this.#leaves(lease.turn, lease.id)) return false
    lease.state = 'ending'
    this.#putBack(lease.turn, { token: lease.token, placed: [asItWas(lease)] }, lease)
    return true
  }

  /** Lets no request of the host start for so long. */
  pause(turn: HostTurn, ms: number): void {
    turn.pause(ms, performance.now())
    this.callBack(turn)
    this.#options.turns.place(turn)
  }

  /** Puts requests that were taken but not handed out back at the head of their line, so that the turn can be left. */
  callBack(turn: HostTurn): void {
    for (const lease of this.#options.desk.callBack(turn)) {
      this.#putBack(turn, { token: lease.token, placed: [asItWas(lease)] }, lease)
    }
  }

  /** Puts a request back that must not leave any more, as another worker may have its host by now. */
  takeBack(lease: TurnLease, why: string): void {
    this.#options.desk.lose(lease, why)
    this.#putBack(lease.turn, { token: lease.token, placed: [asItWas(lease)] })
  }

  /** Puts a request back when the queue is closed. One that was handed out may have been fetched. */
  giveBack(lease: TurnLease): void {
    if (lease.state === 'ending' || lease.state === 'lost') return
    const isOut = lease.state === 'out'
    const text = isOut ? remarked(lease.text, { attempt: lease.attempt + 1 }) : lease.text
    const placed = [asItWas({ turn: lease.turn, priority: lease.priority, text })]
    this.end(lease, { placed, keepsHistory: true }).catch(() => {})
    if (isOut) lease.lose('the queue was closed')
  }

  #leaves(turn: HostTurn, id: string): boolean {
    const { placing, leftToOthers, exchange, onLeft } = this.#options
    if (placing.workers <= 1) return false
    const ms = leftToOthers.waitMs(id)
    if (ms === 0) return false
    exchange.leave(turn)
    onLeft(turn.job.host, ms)
    return true
  }

  async #rejected(one: InTurn, id: string, rejections: number): Promise<Placed> {
    const { placing, exchange, rejectedMs, leftToOthers } = this.#options
    leftToOthers.rejected(id)
    const place = (await nobodyCanDo({ ...this.#options, id, rejections })) ? 'quarantine' : rejectedMs
    // While this worker has the turn, no other worker can try.
    if (placing.workers > 1) exchange.leave(one.turn)
    return { ...asItWas(one), place, texts: [remarked(one.text, { rejections })] }
  }

  /** Puts a request back without a caller that waits. */
  #putBack(turn: HostTurn, ended: Ended, lease?: TurnLease): void {
    const resolve = () => {
      turn.held.delete(ended.token)
      turn.unreadable.delete(ended.token)
      turn.isFull = false
    }
    // Redis is slow or away, which may be why the request goes back. While this worker has the turn, no other would put it
    // back.
    const reject = (error: unknown) => {
      const isLost = error instanceof WebloomError && error.code === 'WL_LEASE_LOST'
      if (isLost || this.#options.isClosed()) return
      setTimeout(() => this.#putBack(turn, ended, lease), this.#options.times.turns.putBackRetryMs).unref()
    }
    this.#options.exchange.end({ turn, ended, ...(lease && { lease }), adds: 0, resolve, reject })
  }
}

type InTurn = Pick<TurnLease, 'turn' | 'priority' | 'text'>

function asItWas({ turn, priority, text }: InTurn): Placed {
  return { place: 'head', host: turn.job.host, priority, lanes: 1, texts: [text] }
}
