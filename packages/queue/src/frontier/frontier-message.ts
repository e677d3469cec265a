/**
 * What a worker says to Redis with one script: which requests have ended, what is new of slots, which slots and turns go back, and
 * what it takes next.
 */

import type { HostPace } from '@webloom/core'
import { mostAtOnce } from '../politeness/host-pace.ts'
import type { PriorityRing } from '../structures/priority-ring.ts'
import type { BucketLease, HeldSlot, HeldTurn } from './held-turn.ts'
import type { HeldUpSlots } from './held-up-slots.ts'
import {
  type Asked,
  addEnded,
  asksAny,
  type Ended,
  goesToHead,
  type SlotReturned,
  type SlotTold,
  type TurnUpdate,
} from './turn-protocol.ts'

/** The most requests that one script adds. */
export const MAX_REQUESTS_PER_SCRIPT = 500
const MAX_ENDINGS_PER_SCRIPT = 200
/** Slots are taken a little before they may be asked, so that the request is here when it may go. */
export const LEAD_MS = 10
/** A slot with a delay, of which more waits, is taken so much before its time: together with others, where nothing hurries. */
export const TAKEN_AHEAD_MS = 100
/** So that other buckets are asked, too. */
const MAX_SLOTS_PER_BUCKET = 16
/** How many requests may be taken ahead for slots that may not be asked yet, at least; more when more are wanted. */
const SPARES_MIN = 4

/** Redis takes more than one for a hot slot, and gives it as many lanes as it has requests for. */
const LANES_OF_HELD_UP = 2

/** The outcome of a request in flight, on its way to Redis. */
export interface Ending {
  readonly slot: HeldSlot
  readonly ended: Ended
  /** Absent for a request that this release cannot read. */
  readonly lease?: BucketLease
  /** How many requests the outcome adds. */
  readonly adds: number
  /** Absent where nobody waits: what Redis does not take is told again. */
  readonly done?: (error?: unknown) => void
}

/** What was told of a slot, which may be dropped as the message goes, and how many waited behind it. */
export type Told = SlotTold & { readonly held: HeldSlot; readonly waiting: number }

export interface Message {
  readonly updates: ReadonlyMap<HeldTurn, SentUpdate>
  readonly endings: readonly Ending[]
  readonly isGrowing: boolean
  /** How many requests it should bring. */
  readonly asks: number
  /** How many of them leave as soon as they are here, or a moment later: their start is noted in the step that takes them. */
  readonly starts: number
}

/** An update as it is sent, with what is known here of its slots. */
export interface SentUpdate extends TurnUpdate {
  readonly told: readonly Told[]
  readonly returned: readonly (SlotReturned & Told)[]
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

/** While it is composed. */
interface Draft extends Writable<Omit<SentUpdate, 'asked' | 'ended' | 'told' | 'returned'>> {
  readonly ended: Ended[]
  readonly told: Told[]
  readonly returned: (SlotReturned & Told)[]
  readonly asked: Writable<Omit<Asked, 'more'>> & { readonly more: { slot: string; most: number }[] }
}

export interface Composing {
  readonly nowMs: number
  /** Of the message; names its takes. */
  readonly number: number
  /** How many requests are wanted now, and how many more when a message goes anyhow. */
  readonly demand: number
  readonly stock: number
  /** How many of those that lie ready are about to leave. */
  readonly leavingSoon: number
  readonly bytes: number
  readonly endings: readonly Ending[]
  /** Called with the endings that go later. */
  readonly rest: (later: Ending[]) => void
  /** Turns are on their way here: what was served already waits for them. */
  readonly isLooking: boolean
  /** Redis is full: outcomes that add no requests go without the others. */
  readonly isFull: boolean
  readonly turns: Iterable<HeldTurn>
  readonly heldUp: HeldUpSlots
  readonly sources: PriorityRing<HeldTurn | HeldSlot>
  readonly lanesOf: (slot: HeldSlot) => number
  readonly lanesMax: (slot: HeldSlot) => number
  readonly place: (slot: HeldSlot) => void
  readonly usualPace: HostPace
  readonly eachMaxOf: (bucket: string) => number
  readonly lingerMs: number
}

export function composed(composing: Composing): Message | undefined {
  const drafts = new Map<HeldTurn, Draft>()
  const endings = endingsNow(composing)
  const now = { ...composing, endings }
  for (const { slot, ended } of endings)
    addEnded(draftOf(slot.turn, drafts).ended, slot.isHot ? { ...ended, hot: slot.key } : ended)
  for (const [slot, ofSlot] of bySlot(endings))
    if (isLastOf(slot, ofSlot, composing.nowMs)) slot.turn.told.add(slot)
  // A worker has up to 256 turns, and most have nothing to tell. A lane tells its pace with each message that has something of it.
  for (const turn of composing.turns)
    if (turn.hasNews || turn.isLeaving || (!turn.isBucket && drafts.has(turn)))
      tellOf(turn, drafts, composing)
  const asks = take(drafts, now)
  if (drafts.size === 0) return undefined
  nameFull(drafts, composing.nowMs)
  for (const [turn, { asked }] of drafts) if (asksAny(asked)) asked.batch = turn.batch ??= composing.number
  const isGrowing = endings.some(({ adds }) => adds > 0)
  return { updates: drafts, endings, isGrowing, asks, starts: startsOf(drafts, composing) }
}

/** What goes back to the head of one line goes together: of two messages the second would put what comes later before the rest. */
function endingsNow({ endings, isFull, rest }: Composing): Ending[] {
  const [now, later]: [Ending[], Ending[]] = [[], []]
  const headsGo = new Map<HeldSlot, boolean>()
  let adds = 0
  for (const ending of endings) {
    const fits =
      now.length < MAX_ENDINGS_PER_SCRIPT &&
      (now.length === 0 || adds + ending.adds <= MAX_REQUESTS_PER_SCRIPT)
    const mixes = isFull && now.length > 0 && now[0]!.adds > 0 !== ending.adds > 0
    const isHead = goesToHead(ending.ended)
    const goes = (isHead ? headsGo.get(ending.slot) : undefined) ?? (fits && !mixes)
    if (isHead) headsGo.set(ending.slot, goes)
    if (goes) {
      now.push(ending)
      adds += ending.adds
    } else later.push(ending)
  }
  rest(later)
  return now
}

function draftOf(turn: HeldTurn, drafts: Map<HeldTurn, Draft>): Draft {
  const known = drafts.get(turn)
  if (known) return known
  turn.messageSent()
  const { unit, lane, generation } = turn.job
  const asked = {
    more: [],
    slots: 0,
    each: 1,
    batch: 0,
    aheadMs: turn.isBucket ? TAKEN_AHEAD_MS : LEAD_MS,
    bytes: 0,
    concurrency: 0,
    delayMs: 0,
    lanes: 0,
  }
  const draft = {
    unit,
    lane,
    generation,
    holder: turn.holder,
    ended: [],
    told: [],
    returned: [],
    asked,
    leaves: false,
    heats: 0,
  }
  drafts.set(turn, draft)
  return draft
}

function tellOf(
  turn: HeldTurn,
  drafts: Map<HeldTurn, Draft>,
  { nowMs, heldUp, lanesOf, lanesMax, place }: Composing,
): void {
  const isLeft = turn.isLeaving && turn.tokens.size === (drafts.get(turn)?.ended.length ?? 0)
  if (isLeft && turn.isBucket) for (const slot of turn.slots.values()) tellLast(slot, nowMs)
  const heats = isLeft ? 0 : heldUp.tell(turn, nowMs)
  if (heats > 0) draftOf(turn, drafts).heats = heats
  for (const slot of turn.returning) {
    turn.told.delete(slot)
    const lanes = heats > 0 ? LANES_OF_HELD_UP : turn.isLeaving ? 0 : lanesOf(slot)
    const mixed = lanes > 0 ? staysInFlight(slot, drafts.get(turn)?.ended ?? []) : 0
    draftOf(turn, drafts).returned.push({ ...toldOf(slot, nowMs), lanes, mixed })
    slot.waiting = 0
    if (lanes > 0) slot.isHot = true
    if (slot.isIdle) turn.slots.delete(slot.key)
  }
  turn.returning.clear()
  for (const slot of turn.told) {
    draftOf(turn, drafts).told.push({ ...toldOf(slot, nowMs), waiting: 0 })
    if (slot.isIdle && turn.isBucket) turn.slots.delete(slot.key)
    else place(slot)
  }
  turn.told.clear()
  if (isLeft) draftOf(turn, drafts).leaves = true
  const [hot] = turn.isBucket ? [] : turn.slots.values()
  if (turn.widens) draftOf(turn, drafts)
  turn.widens = false
  const draft = drafts.get(turn)
  if (!hot || !draft) return
  draft.asked.concurrency = hot.pace.concurrency
  draft.asked.delayMs = Math.ceil(hot.pace.delayMs)
  draft.asked.lanes = lanesMax(hot)
  // The slot stays here: others that get a lane must not ask too soon.
  if (hot.isPaced && !draft.told.some(({ slot }) => slot === hot.key))
    draft.told.push({ ...toldOf(hot, nowMs), waiting: 0 })
}

/** How many of the slot are in flight here when Redis has read of those that end with this message. */
function staysInFlight(slot: HeldSlot, ended: readonly Ended[]): number {
  const over = new Set(ended.map(({ token }) => token))
  return [...slot.queue, ...slot.out].filter(({ token }) => !over.has(token)).length
}

function bySlot(endings: readonly Ending[]): Map<HeldSlot, Ending[]> {
  return Map.groupBy(endings, ({ slot }) => slot)
}

/** Nothing is left of the slot here when these have ended: when it may be asked goes with them, and needs no message of its own. */
function isLastOf(slot: HeldSlot, endings: readonly Ending[], nowMs: number): boolean {
  const isLeft = slot.waiting > 0 || slot.isAsked || slot.heldCount > endings.length
  if (isLeft || !slot.turn.isBucket || !slot.mustTellWait(nowMs)) return false
  return !endings.some(({ ended }) => ended.placed.some((placed) => placed.slot === slot.key))
}

/** Of a turn that is left with this message. The slot's last requests may end with it: none will be left here that tells more. */
function tellLast(slot: HeldSlot, nowMs: number): void {
  if (slot.waiting > 0) slot.turn.returning.add(slot)
  else if (slot.news || slot.waitMs(nowMs) > 0) slot.turn.told.add(slot)
}

function toldOf(slot: HeldSlot, nowMs: number): Told {
  const { key, news, waiting } = slot
  const waitMs = slot.waitMs(nowMs)
  slot.news = undefined
  slot.tellsWait(true)
  return {
    slot: key,
    held: slot,
    waiting,
    ...((slot.isPaced || waitMs > 0) && { waitMs }),
    ...(news && { news }),
  }
}

/** Returns how many requests should come, of those that are wanted. */
function take(drafts: Map<HeldTurn, Draft>, composing: Composing): number {
  const { demand, stock, bytes, sources, isLooking } = composing
  const goesAnyhow = drafts.size > 0
  const all = demand > 0 || goesAnyhow ? demand + stock : 0
  if (all <= 0 || bytes <= 0) return 0
  let wanted = all
  takeAhead(drafts, wanted, composing)
  const served: (HeldTurn | HeldSlot)[] = []
  for (let source = sources.next(); source; source = wanted > 0 ? sources.next() : undefined) {
    if (isLooking && ('turn' in source || source.isServed)) {
      served.push(source)
      continue
    }
    wanted -=
      'turn' in source ? takeMore(source, wanted, drafts) : takeReady(source, wanted, { drafts, composing })
  }
  for (const source of served) sources.add(source, source.head ?? 0)
  if (wanted > 0) takeInPlaceOfEnded(drafts, wanted, composing)
  for (const { asked } of drafts.values()) asked.bytes = bytes
  return all - Math.max(0, wanted)
}

/** None where slots have a delay: what is taken of them comes before its time. */
function startsOf(drafts: Map<HeldTurn, Draft>, { demand, leavingSoon, usualPace }: Composing): number {
  if (usualPace.delayMs > 0) return 0
  for (const [turn, { asked }] of drafts)
    for (const { slot, most } of asked.more) if (most > 0 && turn.slots.get(slot)?.isPaced) return 0
  return demand + leavingSoon
}

function takeMore(slot: HeldSlot, wanted: number, drafts: Map<HeldTurn, Draft>, room = slot.room): number {
  const most = Math.min(room, wanted, MAX_REQUESTS_PER_SCRIPT)
  draftOf(slot.turn, drafts).asked.more.push({ slot: slot.key, most })
  slot.isAsked = true
  slot.turn.served()
  return Math.min(most, slot.waiting)
}

function takeReady(
  turn: HeldTurn,
  wanted: number,
  { drafts, composing }: { drafts: Map<HeldTurn, Draft>; composing: Composing },
  room?: number,
): number {
  const { asked } = draftOf(turn, drafts)
  turn.served()
  const [hot] = turn.isBucket ? [] : turn.slots.values()
  if (hot) {
    asked.slots = 1
    asked.each = Math.min(room ?? hot.room, wanted, MAX_REQUESTS_PER_SCRIPT)
    asked.concurrency = hot.pace.concurrency
    asked.delayMs = Math.ceil(hot.pace.delayMs)
    asked.lanes = composing.lanesMax(hot)
    hot.isAsked = true
    return asked.each
  }
  asked.slots = Math.min(turn.ready, wanted, MAX_SLOTS_PER_BUCKET)
  asked.each = Math.min(eachOf(composing.usualPace, wanted / asked.slots), composing.eachMaxOf(turn.job.unit))
  return asked.slots
}

/** Takes for slots that have all in flight that they may have, in the place of the requests that end. */
function takeInPlaceOfEnded(drafts: Map<HeldTurn, Draft>, wanted: number, composing: Composing): void {
  let left = wanted
  for (const [slot, { length: count }] of bySlot(composing.endings)) {
    const { turn } = slot
    const isOpen =
      !slot.isPaced && !slot.isAsked && !slot.isHot && !turn.isLeaving && !slot.isPaused(composing.nowMs)
    if (left <= 0 || !isOpen || slot.room > 0) continue
    const most = Math.min(count, left)
    if (turn.isBucket) {
      if (slot.waiting === 0) continue
      left -= takeMore(slot, left, drafts, most)
    } else if (turn.ready > 0) left -= takeReady(turn, most, { drafts, composing }, most)
  }
}

/**
 * Names the slots of which more lie here than may go next, no more of them than there are places: each new request of theirs would only lie here,
 * too, and fill the worker.
 */
function nameFull(drafts: Map<HeldTurn, Draft>, nowMs: number): void {
  for (const [turn, { asked }] of drafts) {
    if (!turn.isBucket || asked.slots === 0) continue
    for (const slot of turn.slots.values()) {
      const hasEnough = (slot.queue.length > 1 && slot.room <= 0) || slot.leavesBehind
      const isFull = hasEnough && slot.goesAtMs() > nowMs
      if (!isFull || slot.waiting > 0 || slot.isHot) continue
      asked.more.push({ slot: slot.key, most: 0 })
      slot.isAsked = true
    }
  }
}

/** How many requests of each slot: with a delay one, else as many as it may have in flight. */
function eachOf(pace: HostPace, wanted: number): number {
  return Math.max(1, Math.min(mostAtOnce(pace), Math.floor(wanted)))
}

/** Takes a slot's next request along with a page that ends, even if that request may not go yet. */
function takeAhead(
  drafts: Map<HeldTurn, Draft>,
  wanted: number,
  { nowMs, lingerMs, sources, endings, demand }: Composing,
): void {
  let ending: ReturnType<typeof bySlot> | undefined
  let spares = 0
  for (const [turn, { ended, asked }] of drafts) {
    if (ended.length === 0 || turn.isLeaving || !turn.isBucket) continue
    for (const slot of turn.slots.values()) {
      if (spares >= Math.max(SPARES_MIN, wanted)) return
      if (!slot.isPaced || slot.waiting === 0 || slot.room === 0 || slot.isPaused(nowMs)) continue
      // A worker without a place leaves to others what waits for one at the host.
      ending ??= bySlot(demand > 0 ? endings : [])
      if (slot.goesAtMs(ending.get(slot)?.length) - nowMs >= lingerMs) continue
      asked.more.push({ slot: slot.key, most: 1 })
      slot.isAsked = true
      turn.served()
      sources.remove(slot)
      spares++
    }
  }
}
