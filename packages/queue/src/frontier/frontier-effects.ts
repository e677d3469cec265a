/** What the machine says is to be done, and what its owner tells it of a lease. */

import type { HostNews } from '@webloom/core'
import type { Ending } from './frontier-message.ts'
import type { BucketLease, HeldSlot, HeldTurn } from './held-turn.ts'
import type { Placed, Taken } from './turn-protocol.ts'

/** What the worker must do. `done` is called when Redis has the outcome, or with why not. */
export type Effect =
  | { readonly kind: 'complete'; readonly turn: HeldTurn }
  | { readonly kind: 'give back'; readonly turn: HeldTurn; readonly ms: number; readonly priority: number }
  | { readonly kind: 'lost'; readonly lease: BucketLease }
  | { readonly kind: 'unreadable'; readonly slot: HeldSlot; readonly taken: Taken; readonly why: string }
  | { readonly kind: 'done'; readonly ending: Ending; readonly error?: unknown }

/** The outcome of a lease. */
export interface Outcome {
  readonly placed: readonly Placed[]
  readonly refusal?: string
  readonly news?: HostNews
  /** How many requests the outcome adds. */
  readonly adds?: number
  readonly keepsHistory?: boolean
  /** Absent where nobody waits: what Redis does not take is told again. */
  readonly done?: (error?: unknown) => void
}
