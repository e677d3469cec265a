import type { QueuedRequest } from '@webloom/core'

/** A request as its store hands it out. */
export interface StoredRequest extends QueuedRequest {
  /** Times it was handed out, this one included, but for those that ended in order; absent: 1. */
  readonly attempt?: number
  readonly redelivered?: boolean
}

/** A request that waits for a moment of its own; the store knows which. */
export interface DelayedRequest {
  readonly slot: string
}

/** The requests of one host that wait their turn. */
export interface WaitingLine<Held extends StoredRequest, Delayed extends DelayedRequest> {
  readonly length: number
  /** Priority of the request that goes next; 0 for an empty line. */
  readonly headPriority: number
  add(queued: StoredRequest): void
  /** Its moment has come. */
  join(delayed: Delayed): void
  /** Back to where it was taken from, before what was taken later; `changed` in its stead. */
  requeue(held: Held, changed?: StoredRequest): void
  /** The request that goes next, held from now on; undefined when none that waits can be read. */
  take(): Held | undefined
}

/** What a store holds from before. */
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
  /** Nothing of the request is needed any more. */
  done(held: Held): void
  /** Held back, as `changed`, until its moment; the queue then has it join the line of its slot. */
  delay(held: Held, changed: StoredRequest, slot: string, delayMs: number): Delayed
  /** In nobody's line, until `done`. */
  addInDoubt(queued: StoredRequest, slot: string): Held
  /** What `asker` found is in its lines now: what else is kept about that asker belongs into the same step. */
  handedOn(asker: string): void
  /** Requests that this release cannot read and leaves to another one. */
  readonly unreadable: number
}
