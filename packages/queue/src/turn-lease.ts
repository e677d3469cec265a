import { type HostState, type Lease, type Request, WebloomError } from '@webloom/core'
import type { HostTurn } from './host-turn.ts'
import type { DeskItem } from './lease-desk.ts'
import type { PackedMarks } from './packed-request.ts'
import type { Taken } from './turn-scripts.ts'

/**
 * A request that a turn has taken.
 *
 *     spare ──► ready ──► out ──► ending ──► ended
 *                                   │ refused by a full Redis
 *                          out ◄────┘
 *
 * and lost from any of them.
 */
export type LeaseState = 'spare' | 'ready' | 'out' | 'ending' | 'ended' | 'lost'

export class TurnLease implements Lease, DeskItem {
  readonly turn: HostTurn
  readonly token: string
  /** As it stands in Redis. */
  readonly text: string
  readonly id: string
  readonly request: Request
  readonly priority: number
  readonly marks: PackedMarks
  state: LeaseState = 'spare'
  host: HostState
  hasStarted = false
  readonly #lost = new AbortController()
  readonly #onStart: (lease: TurnLease) => void

  /** `request` as made of `text`. */
  constructor(
    turn: HostTurn,
    { token, priority, text }: Taken,
    { id, request, marks }: { id: string; request: Request; marks: PackedMarks },
    onStart: (lease: TurnLease) => void,
  ) {
    this.turn = turn
    this.host = turn.state
    this.token = token
    this.priority = priority
    this.text = text
    this.id = id
    this.request = request
    this.marks = marks
    this.#onStart = onStart
  }

  get slot(): string {
    return this.turn.slot
  }

  get attempt(): number {
    return this.marks.attempt
  }

  get redelivered(): boolean {
    return this.marks.attempt > 1
  }

  get suspect(): boolean {
    return this.marks.suspect
  }

  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /** Something is noted of it that must go when it ends well. */
  get hasHistory(): boolean {
    const { attempt, kills, refusals } = this.marks
    return attempt > 1 || kills > 0 || refusals > 0
  }

  started(): void {
    if (this.hasStarted || this.state !== 'out') return
    this.hasStarted = true
    this.#onStart(this)
  }

  lose(reason: string): void {
    this.state = 'lost'
    this.#lost.abort(new WebloomError('WL_LEASE_LOST', `the lease of ${this.request} is lost: ${reason}`))
  }
}
