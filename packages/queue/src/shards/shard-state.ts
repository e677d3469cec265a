import type { AppliedEpochs, SentSpans } from './outbox-numbers.ts'

/** A shard, or the home of a crawl, at a moment. */
export interface ShardState {
  /** Its server's history: another one after each start and each fail-over of it. */
  readonly replid: string
  /** By its server's clock. */
  readonly nowMs: number
  /** How far its server's history has come. */
  readonly offset: number
  /** How far a replica has come, of several the first; 0 when none is near and one should be, absent when there is none. */
  readonly replicaOffset?: number
  /** The run that it was told of; '' when it knows of none, as its server has lost all. */
  readonly run: string
  /** Of the home: start() has ended, and nobody brings anything from outside. */
  readonly mayFinish: boolean
  readonly waiting: number
  readonly delayed: number
  readonly leased: number
  /** What it has for others, by receiver. */
  readonly sent: ReadonlyMap<string, SentSpans>
  /** What it knows of others, by sender. */
  readonly applied: ReadonlyMap<string, AppliedEpochs>
}

/** All shards and the home, by name, as they were read one after the other. */
export type Round = ReadonlyMap<string, ShardState>

/**
 * True when a server that still has the same history cannot come back with a state from before a moment: a replica has that, or, where
 * there is none, it has been on disk for long enough. While its replicas are silent a master may be cut off: it still answers, and
 * what it had then is lost when one of them takes its place.
 */
export function cannotFallBehind(
  before: Pick<ShardState, 'offset' | 'nowMs'>,
  { replicaOffset, nowMs }: ShardState,
  keptMs: number,
): boolean {
  return replicaOffset === undefined ? nowMs - before.nowMs >= keptMs : replicaOffset >= before.offset
}
