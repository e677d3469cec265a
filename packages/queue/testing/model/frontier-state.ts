/**
 * What Redis holds of a frontier, as plain maps and objects, so that a snapshot is a `structuredClone`. The layout in Redis is
 * told in `lua/slots/keys.lua`; `state-dump.ts` writes this state in that form. Times are milliseconds of Redis's clock.
 */

import { type ModelLedger, newLedger } from './failure-ledger.ts'
import { type ModelOutbox, newOutbox } from './outbox-state.ts'

/** Members with scores. */
export type ScoredSet = Map<string, number>

export type LineState = 'r' | 'l' | 'w' | 'h'

export interface Entry {
  readonly priority: number
  readonly text: string
}

/** The line of a slot. `entries` is absent for a long one, which has `lists`, one a priority. */
export interface Line {
  readonly bucket: string
  readonly slot: string
  /** Absent: the line is not stored. */
  state?: LineState | undefined
  priority: number
  entries?: Entry[] | undefined
  /** Of a long one: a request of another priority than 0 has come to it. */
  hasPriorities?: boolean
  readonly lists: Map<number, string[]>
}

/** A bucket or a hot slot. One whose fields are all absent is not stored. */
export interface Unit {
  readonly name: string
  up?: number | undefined
  readonly generations: (string | undefined)[]
  readonly holders: (string | undefined)[]
  urgency?: number | undefined
  asleep?: number | undefined
  rests?: boolean
  folded?: number
  late?: boolean
  /** When the first of those that must wait may be asked. */
  later?: number | undefined
  urgent?: boolean
  /** A slot of the bucket had to wait. */
  paced?: boolean
  /** Of a hot slot. */
  bucket?: string
  mixed?: number | undefined
}

/** What is known of a slot. */
export interface SlotRecord {
  readonly slot: string
  next: number
  floor: number
  failures: number
  paused: number
  why: string
}

export interface StoredRecord extends SlotRecord {
  readonly at: number
  readonly untilMs: number
}

export interface InFlight {
  readonly slot: string
  readonly priority: number
  readonly text: string
}

export interface Job {
  priority: number
  delay: number
}

/** What BullMQ has of the turns. */
export interface Jobs {
  readonly jobs: Map<string, Job>
  readonly wait: string[]
  readonly prioritized: ScoredSet
  readonly delayed: ScoredSet
  readonly active: string[]
  readonly locks: Map<string, { token: string; untilMs: number }>
  readonly stalled: Set<string>
  hasMarker: boolean
  /** BullMQ's counter of jobs with a priority. */
  count: number
}

export interface FrontierState {
  readonly counts: {
    waiting: number
    delayed: number
    leased: number
    generation: number
    sweptAt: number
    watchedAt: number
    cameBackAt: number
  }
  readonly units: Map<string, Unit>
  /** By bucket, then by slot. */
  readonly lines: Map<string, Map<string, Line>>
  readonly ready: Map<string, Map<number, string[]>>
  /** Priorities other than 0 that have a list of ready slots. */
  readonly urgent: Map<string, Set<number>>
  readonly later: Map<string, ScoredSet>
  readonly held: Map<string, Set<string>>
  readonly late: Map<string, ScoredSet>
  /** By `<lane>:<unit>`, then by token. */
  readonly flight: Map<string, Map<string, InFlight>>
  readonly records: Map<string, StoredRecord>
  readonly started: Map<string, Set<string>>
  readonly paused: ScoredSet
  readonly due: ScoredSet
  /** Holder → until when it is known that requests of it were reclaimed. */
  readonly lost: Map<string, { readonly untilMs: number; readonly tokens: readonly string[] }>
  readonly heard: Map<string, number>
  readonly noted: Map<string, Set<string>>
  readonly owners: ScoredSet
  readonly workers: ScoredSet
  readonly alone: Map<string, string>
  readonly histories: Map<string, string>
  readonly quarantined: Map<string, string>
  readonly failures: ModelLedger
  readonly outbox: ModelOutbox
  readonly jobs: Jobs
}

export function newState(): FrontierState {
  return {
    counts: { waiting: 0, delayed: 0, leased: 0, generation: 0, sweptAt: 0, watchedAt: 0, cameBackAt: 0 },
    units: new Map(),
    lines: new Map(),
    ready: new Map(),
    urgent: new Map(),
    later: new Map(),
    held: new Map(),
    late: new Map(),
    flight: new Map(),
    records: new Map(),
    started: new Map(),
    paused: new Map(),
    due: new Map(),
    lost: new Map(),
    heard: new Map(),
    noted: new Map(),
    owners: new Map(),
    workers: new Map(),
    alone: new Map(),
    histories: new Map(),
    quarantined: new Map(),
    failures: newLedger(),
    outbox: newOutbox(),
    jobs: {
      jobs: new Map(),
      wait: [],
      prioritized: new Map(),
      delayed: new Map(),
      active: [],
      locks: new Map(),
      stalled: new Set(),
      hasMarker: false,
      count: 0,
    },
  }
}

/** Members by score, those of one score by name, as Redis orders them. */
export function ranked(set: ScoredSet | undefined): [member: string, score: number][] {
  if (!set || set.size === 0) return []
  return [...set].sort(([one, a], [other, b]) => a - b || (one < other ? -1 : one > other ? 1 : 0))
}

/** The members with scores up to that one, in order, at most so many. */
export function upTo(set: ScoredSet | undefined, score: number, most = Number.POSITIVE_INFINITY): string[] {
  if (!set || set.size === 0) return []
  const due = new Map<string, number>()
  for (const [member, at] of set) if (at <= score) due.set(member, at)
  return ranked(due)
    .slice(0, most)
    .map(([member]) => member)
}

/** Returns what the map has of the key; a new one is put there when it has none. */
export function inMap<Key, Value>(map: Map<Key, Value>, key: Key, made: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const value = made()
  map.set(key, value)
  return value
}

/** Takes a member out of a set of a map; an empty set goes, as in Redis. */
export function dropFrom<Key, Member>(
  sets: Map<Key, { delete(member: Member): boolean; readonly size: number }>,
  key: Key,
  member: Member,
): boolean {
  const set = sets.get(key)
  const had = set?.delete(member) ?? false
  if (set?.size === 0) sets.delete(key)
  return had
}
