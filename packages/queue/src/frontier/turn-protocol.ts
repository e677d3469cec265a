/** What a worker and Redis tell each other about turns: what has ended, what goes back, what is taken, and the answers. */

import type { HostNews } from '@webloom/core'

/** A job that BullMQ must get, or that must become more urgent. */
export interface Wake {
  readonly job: string
  readonly priority: number
}

/** Jobs of other turns, with which BullMQ must be called after a script. */
export interface JobChanges {
  /** Turns that may be taken now: BullMQ must get their jobs. */
  readonly woken: readonly Wake[]
  /** Turns that wait in BullMQ already and have got something more urgent. */
  readonly raised: readonly Wake[]
}

/** A unit has got requests when it had none, or more urgent ones than before; or a slot has of which the holder has what waits. */
export interface Nudge {
  readonly unit: string
  readonly priority: number
  readonly slot?: string
}

/** What has changed in a shard as entries came to it. */
export interface ShardChanges extends JobChanges {
  /** Of units of the worker that has brought them; other holders hear that of a channel. */
  readonly nudged: readonly Nudge[]
}

/** What a worker with nothing to do wants. */
export interface Hunger {
  /** How many requests it would take now; in a crawl of shards this shard's part, which may be no whole number. */
  readonly wants: number
  /** It has fewer buckets than its share. */
  readonly isBelowShare: boolean
}

/** How many lanes a hot slot has at the most: whatever looks at all of them looks at so many. `lua/slots/keys.lua` has it, too. */
export const LANES_MAX = 16

/** A turn: a lane of a unit. The unit is a bucket, `#17`, or a hot slot by its name. */
export interface TurnName {
  readonly unit: string
  readonly lane: string
}

/** What is known of a slot. Times from now on, in milliseconds; 0: nothing. */
export interface SlotKnown {
  /** Until its delay lets it be asked. */
  readonly waitMs: number
  /** Floor under its delay. */
  readonly floorMs: number
  readonly failures: number
  readonly pausedMs: number
}

/** What waits at a unit, and when it may go. */
export interface UnitStatus {
  /** Priority of what goes next; absent when nothing is ready. */
  readonly head?: number
  /** How many slots of a bucket are ready at that priority, or how many requests of a hot slot. */
  readonly ready: number
  /** Milliseconds until something that must wait may go. */
  readonly dueInMs?: number
  /** Of a hot slot. */
  readonly known?: SlotKnown
}

/**
 * Requests for one line. `place`: its end, its head, quarantine, or milliseconds for which they are held back; `again` is its end, for
 * the request itself and not what it brought. With `doubt` they are set aside, in no line. With `failed` the text is that of a failure, for the
 * ledger; with `visit` the bytes are the page's visit.
 * With a bucket of another shard, outbox-entry.ts, they go to the outbox.
 */
export interface Placed {
  readonly place: 'end' | 'again' | 'head' | 'quarantine' | 'doubt' | 'failed' | 'visit' | number
  readonly bucket: string
  readonly slot: string
  readonly priority: number
  readonly texts: readonly string[]
  /** Of `visit`, in place of texts: see buckets/steps/ended.lua. */
  readonly bytes?: readonly (Buffer | string)[]
}

/** A request that was in flight and no longer is. */
export interface Ended {
  readonly token: string
  /** Set when it may have a history, which is deleted or, with `refusal`, gets one more line. */
  readonly id?: string
  readonly refusal?: string
  /** Its slot, where that has become hot since it was taken. */
  readonly hot?: string
  readonly placed: readonly Placed[]
}

/** Returns whether a request of the outcome goes before all that waits. */
export function goesToHead({ placed }: Ended): boolean {
  return placed.some(({ place }) => place === 'head')
}

/**
 * Adds an outcome. Of requests that go back to the head of a line, the one that was taken first is put back last, so that
 * it goes first again.
 */
export function addEnded(all: Ended[], ended: Ended): void {
  const at = goesToHead(ended) ? all.findIndex((other) => !goesToHead(other) || isBefore(other, ended)) : -1
  if (at < 0) all.push(ended)
  else all.splice(at, 0, ended)
}

/** Compares by tokens: the number of the take, and the request's own number in it. */
function isBefore(one: Ended, other: Ended): boolean {
  const [take, n] = numbersOf(one)
  const [otherTake, otherN] = numbersOf(other)
  return take !== otherTake ? take < otherTake : n < otherN
}

function numbersOf({ token }: Ended): [take: number, n: number] {
  const [take, n] = token.split('.').map(Number)
  return [take!, n!]
}

/** News of a slot: in how many milliseconds it may be asked (0: at once), what was learned. */
export interface SlotTold {
  readonly slot: string
  readonly waitMs?: number
  readonly news?: HostNews
}

/** A slot that the worker returns. */
export interface SlotReturned extends SlotTold {
  /** How many lanes it may have as a hot slot; 0: it stays in its bucket, and nothing of it is in flight. */
  readonly lanes: number
  /** How many of a hot slot are in flight then. */
  readonly mixed: number
}

/** What a turn takes next. */
export interface Asked {
  /** Slots of which the worker has requests, and how many more it takes at the most. With 0 what is ready waits for it: it could not go now. */
  readonly more: readonly { readonly slot: string; readonly most: number }[]
  /** How many other slots at the most; of a hot slot 0 or 1. */
  readonly slots: number
  /** How many requests of each of these at the most. */
  readonly each: number
  /** Names the take. The same one gets the same requests once more. */
  readonly batch: number
  /** Slots are taken so many milliseconds before they may be asked. */
  readonly aheadMs: number
  /** No more are taken when there are so many bytes. */
  readonly bytes: number
  /** Of a hot slot: how many may be in flight, all lanes together; 0: no bound. */
  readonly concurrency: number
  /** Of a hot slot: its delay by the settings, milliseconds. */
  readonly delayMs: number
  /** Of a hot slot: how many lanes it may have. */
  readonly lanes: number
}

/** Returns true when the message asks for requests or slots. */
export function asksAny({ more, slots }: Pick<Asked, 'more' | 'slots'>): boolean {
  return more.length > 0 || slots > 0
}

/** What a worker tells Redis about one of its turns. */
export interface TurnUpdate extends TurnName {
  readonly generation: string
  readonly holder: string
  readonly ended: readonly Ended[]
  readonly told: readonly SlotTold[]
  readonly returned: readonly SlotReturned[]
  readonly asked: Asked
  readonly leaves: boolean
  /** So many slots of the bucket that are ready get units of their own, in place of a take: see held-up-slots.ts. */
  readonly heats: number
}

/**
 * `left`: the next worker may have it. `over`: nothing is left to do. `lost`: another worker has had it meanwhile; `reclaimed` are
 * the tokens of the requests that were in flight then, absent where they are not known. What the holder says has ended, and
 * was in flight no more, had been done by an earlier sending of the same message.
 */
export type TurnAnswer =
  | {
      readonly status: 'held' | 'left'
      readonly unitStatus: UnitStatus
      readonly taken: readonly Taken[]
      /** Of slots that were named with 0, or of which a repeated take brings no more, what waits for the worker. */
      readonly kept?: readonly LineBehind[]
    }
  | { readonly status: 'over' }
  | { readonly status: 'lost'; readonly reclaimed?: readonly string[] }

/** What waits in the line of a slot, of which the worker is the holder. */
export interface LineBehind {
  readonly slot: string
  /** How many wait in the slot's line, about. */
  readonly waiting: number
  /** Priority of the first of them. */
  readonly head?: number
}

export interface Taken extends LineBehind {
  readonly token: string
  readonly priority: number
  readonly text: string
  /** Absent when nothing is known of the slot. */
  readonly known?: SlotKnown
  /** The step that took it has noted it as started. */
  readonly isNoted?: true
}

/**
 * Where a request is that a turn has taken.
 *
 *     queued ──► out ──► ending ──► ended
 *       │                 │  │ refused by a full Redis
 *       └──── going back ─┘  └──► out
 *
 * It may be lost in any of these states.
 */
export type LeaseState = 'queued' | 'out' | 'ending' | 'ended' | 'lost'

/** A turn as BullMQ has handed it to a worker. */
export interface BegunTurn extends TurnName {
  readonly generation: string
  readonly lockToken: string
  readonly holder: string
  readonly delayMs: number
  /** True when the worker has another of the unit's lanes. */
  readonly isSecond: boolean
  /** Slots of the bucket with a delay longer than `delayMs`, each with its own; after a lost worker they wait for that. */
  readonly ownDelays?: ReadonlyMap<string, number>
}

/** What a renewal of a turn's lock needs. */
export interface LockedTurn {
  readonly job: string
  readonly lockToken: string
  readonly holder: string
}

/** The same for a turn whose worker tells what it holds: all other requests in flight there go back to their lines. */
export interface HoldingTurn extends LockedTurn {
  readonly delayMs: number
  readonly tokens: readonly string[]
  /** The batch of the take that is under way. */
  readonly batch: number | undefined
}

/** The result of a renewal of turns' locks. */
export interface Renewed<T> extends JobChanges {
  /** Redis has noted the command's number: it knows all that it has answered. */
  readonly isHeard: boolean
  readonly lost: readonly T[]
  /** How many requests Redis had in flight on a turn that the worker does not hold. They were requeued. */
  readonly unheld: ReadonlyMap<T, number>
}

/** A turn as BullMQ has handed it out. */
export interface TurnJob extends Pick<BegunTurn, 'unit' | 'lane' | 'generation' | 'lockToken'> {
  /** Its name in BullMQ. */
  readonly job: string
  /** When the lock ends, by the monotonic clock. */
  readonly lockedUntilMs: number
}

/** Returns the same with those marked that the script notes as started: the first ones that may go now. As in buckets/steps/take.lua. */
export function withNotes(answers: readonly TurnAnswer[], starts: number): TurnAnswer[] {
  let left = starts
  const marked = (one: Taken): Taken => {
    const mayGo = !one.known || (one.known.waitMs === 0 && one.known.pausedMs === 0)
    return mayGo && left-- > 0 ? { ...one, isNoted: true } : one
  }
  return answers.map((answer) =>
    'taken' in answer ? { ...answer, taken: answer.taken.map(marked) } : answer,
  )
}

/** The name of a request that has started, in the set of its worker. */
export function startedName(unit: string, lane: number | string, token: string): string {
  return `${unit}~${lane} ${token}`
}
