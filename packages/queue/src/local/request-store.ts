import type { QueuedRequest } from '@webloom/core'
import type { FailureStore } from '../failures/failure-store.ts'

/** A request as its store hands it out. */
export interface StoredRequest extends QueuedRequest {
  /** 1, and one more for each lease that was lost. Absent: 1. */
  readonly attempt?: number
  readonly redelivered?: boolean
}

/** A request that is held back until its own time has come. */
export interface DelayedRequest {
  readonly slot: string
}

/** The requests that wait in one line. */
export interface WaitingLine<Held extends StoredRequest, Delayed extends DelayedRequest> {
  readonly length: number
  /** Priority of the request that goes next; 0 for an empty line. */
  readonly headPriority: number
  add(queued: StoredRequest): void
  /** Adds a delayed request whose time has come. */
  join(delayed: Delayed): void
  /** Puts a request back at its old place, before those that were taken later; with `changed`, that one in its place. */
  requeue(held: Held, changed?: StoredRequest): void
  /** Takes the request that goes next; undefined when no request of the line can be read. */
  take(): Held | undefined
}

/** What a store has kept of an earlier run. */
export interface StoredBefore<Held extends StoredRequest, Delayed extends DelayedRequest> {
  readonly lines: Iterable<readonly [slot: string, line: WaitingLine<Held, Delayed>]>
  readonly delayed: Iterable<{ readonly dueInMs: number; readonly delayed: Delayed }>
  readonly inDoubt: Iterable<Held>
}

/**
 * Where an in-process queue keeps its requests. The queue knows how many wait at each host and whose turn it is; the
 * store knows which requests these are.
 */
export interface RequestStore<Held extends StoredRequest, Delayed extends DelayedRequest> {
  /** Names the queue in the start banner and in `scheduler/enqueued/<name>`. */
  readonly name: string
  open(): StoredBefore<Held, Delayed>
  close(): void
  clear(): void
  /** All that `step` does to the store is kept, or nothing of it. A step within a step is part of the outer one. */
  atomically<T>(step: () => T): T
  line(slot: string): WaitingLine<Held, Delayed>
  /** The request is done: the store forgets it. */
  done(held: Held): void
  /** Holds the request back, as `changed`, for `delayMs`. The queue then calls `join` of its line. */
  delay(held: Held, changed: StoredRequest, slot: string, delayMs: number): Delayed
  /** Keeps a link in doubt, in no line, until `done`. */
  addInDoubt(queued: StoredRequest, slot: string): Held
  /** The requests that `asker` brought are in their lines: whatever else is kept of that asker is written in the same step. */
  handedOn(asker: string): void
  /** Requests that this release cannot read and leaves to another one. */
  readonly unreadable: number
  /** The requests that were given up. `clear` leaves them. */
  readonly failures: FailureStore
}
