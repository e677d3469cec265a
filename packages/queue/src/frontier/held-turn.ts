/** What a worker holds: turns, slots of them, requests of these. Times are monotonic milliseconds, given by the caller. */

import {
  type DocumentPace,
  type HostNews,
  type HostPace,
  type HostState,
  type Lease,
  PassingMap,
  PassingSet,
  type Request,
} from '@webloom/core'
import type { DispatchItem } from '../leasing/lease-dispatcher.ts'
import { leaseLost } from '../leasing/lease-lost.ts'
import type { PackedTries } from '../leasing/packed-request.ts'
import { isBucket } from '../politeness/bucket-of.ts'
import { SlotPace } from '../politeness/slot-pace.ts'
import {
  type LeaseState,
  type SlotKnown,
  startedName,
  type Taken,
  type TurnJob,
  type UnitStatus,
} from './turn-protocol.ts'

/** How many slots of a bucket are asked for when one is due. */
const DUE_TOGETHER = 4

/** A turn that this worker has: a bucket, or a lane of a hot slot. */
export class HeldTurn {
  readonly job: TurnJob
  readonly holder: string
  /** Else it is a lane of a hot slot. */
  readonly isBucket: boolean
  /** Slots of which something is here, waits behind, or must be told. */
  readonly slots = new PassingMap<string, HeldSlot>()
  /** Slots of which Redis must be told something. */
  readonly told = new PassingSet<HeldSlot>()
  /** Slots that are returned, with what waits behind them. */
  readonly returning = new PassingSet<HeldSlot>()
  /** Tokens of all requests in flight here. */
  readonly tokens = new PassingSet<string>()
  lockedUntilMs: number
  /** Priority of what is ready in Redis; undefined: nothing. */
  head: number | undefined
  /** How many slots, or requests of a hot slot, are ready at that priority. */
  ready = 0
  /** When something in Redis that must wait may go, and when it is asked for. */
  dueAtMs = Number.POSITIVE_INFINITY
  asksAtMs = Number.POSITIVE_INFINITY
  /** When what is ready may go: it may be taken ahead. */
  readyAtMs = 0
  /** Priority of what has come since the last message about the turn was sent: its answer may not know of that. */
  #arrivedSinceSent: number | undefined
  /** The same of each slot: the most urgent of what has come to it since then. */
  readonly cameBesides = new PassingMap<string, number>()
  /** Name of the take that is under way; the same one again when no reply came. */
  batch: number | undefined
  /** Since when nothing more is taken: the turn is left as soon as it holds nothing. */
  leavingSinceMs: number | undefined
  /** Since when it has had nothing to do. */
  restsSinceMs: number | undefined
  /** Since when something could be taken and was not. */
  readySinceMs: number | undefined
  /** True when something was taken since it began: new turns go first. */
  isServed = false
  /** A lane of a hot slot: another worker has nothing to do, and may get a lane. */
  widens = false
  widenedAtMs = Number.NEGATIVE_INFINITY
  /** When it began, or last had its share. */
  quotaFromMs: number
  taken = 0
  isLost = false

  constructor(job: TurnJob, holder: string, nowMs: number) {
    this.job = job
    this.holder = holder
    this.isBucket = isBucket(job.unit)
    this.lockedUntilMs = job.lockedUntilMs
    this.quotaFromMs = nowMs
  }

  get isLeaving(): boolean {
    return this.leavingSinceMs !== undefined
  }

  /** True when Redis must be told something of its slots, or is asked for another lane. */
  get hasNews(): boolean {
    return this.widens || this.told.size > 0 || this.returning.size > 0
  }

  /** Returns whether another worker that took it over could fetch something of it now. */
  hasMore(nowMs: number): boolean {
    if (this.head !== undefined) return true
    for (const slot of this.slots.values())
      if (slot.queue.length + slot.waiting > 0 && slot.goesAtMs() <= nowMs) return true
    return false
  }

  /** How many requests of what is ready in Redis may come at least: of each slot of a bucket one. */
  get offered(): number {
    const [hot] = this.isBucket ? [] : this.slots.values()
    return hot ? Math.min(this.ready, hot.room) : this.ready
  }

  isLocked(nowMs: number): boolean {
    return !this.isLost && nowMs < this.lockedUntilMs
  }

  /** Takes what Redis says of the unit. */
  heard({ head, ready, dueInMs }: UnitStatus, nowMs: number): void {
    this.head = head
    this.ready = head === undefined ? 0 : Math.max(1, ready)
    this.dueAtMs = dueInMs === undefined ? Number.POSITIVE_INFINITY : nowMs + dueInMs
    this.readyAtMs = 0
    if (this.#arrivedSinceSent !== undefined) this.arrived(this.#arrivedSinceSent)
  }

  /** A message about the turn goes: its answer tells of all that is known to have come until now. */
  messageSent(): void {
    this.#arrivedSinceSent = undefined
    this.cameBesides.clear()
  }

  /** What had to wait may be taken. */
  woken(nowMs: number): void {
    if (this.asksAtMs > nowMs) return
    if (this.head === undefined) {
      this.head = 0
      this.ready = DUE_TOGETHER
      this.readyAtMs = this.dueAtMs
    }
    this.asksAtMs = this.dueAtMs = Number.POSITIVE_INFINITY
  }

  served(): void {
    this.isServed = true
    this.readySinceMs = undefined
  }

  /** Called when something has come to the unit, and not with a message of this worker: the answer to one that is under way may not know of it. */
  arrivedBesides(priority: number): void {
    this.#arrivedSinceSent = Math.max(priority, this.#arrivedSinceSent ?? priority)
    this.arrived(priority)
  }

  /**
   * Called when something has come to a slot, and not with a message of this worker: the answer to one that is under way may not know how urgent what
   * waits of the slot is now. Where that message takes what has come, the slot is asked too soon once.
   */
  slotArrivedBesides(key: string, priority: number): void {
    this.cameBesides.set(key, Math.max(priority, this.cameBesides.get(key) ?? priority))
  }

  /** Called when something has come to the unit. */
  arrived(priority: number): void {
    this.readyAtMs = 0
    if (this.head === undefined || priority > this.head) {
      this.head = priority
      this.ready = 1
    } else if (priority === this.head) this.ready++
  }
}

export class HeldSlot extends SlotPace {
  /** As Redis names it. */
  readonly key: string
  /** As requests name it. */
  readonly name: string
  readonly turn: HeldTurn
  /** By how much its requests are more urgent than their lines say: ordered since they were taken. */
  boost: number
  /** Taken and not handed out, in order. */
  readonly queue: BucketLease[] = []
  /** Handed out, or going back. */
  readonly out = new PassingSet<BucketLease>()
  /** How many wait behind in Redis, as it told last; more than 0 makes this worker the slot's holder there. */
  waiting = 0
  /** Priority of the first of them. */
  head = 0
  /** Documents of pages here that wait for it: no request goes before them. */
  documents = 0
  /** News for Redis. */
  news: HostNews | undefined
  /** True when the slot was to get a unit of its own since it was taken; only its requests in flight are still here. Where nothing waited, it got none. */
  isHot = false
  /** True while a take of more is under way. */
  isAsked = false
  /** What comes to it is left behind until it may go: what lay here was sent back, to make room for others. */
  leavesBehind = false
  /** Redis found no room for more in all lanes of a hot slot: until something ends here, or it is looked at again. */
  isFull = false

  constructor(
    key: string,
    turn: HeldTurn,
    { pace, boost, chance }: { pace: HostPace; boost: number; chance: () => number },
  ) {
    super(pace, chance)
    this.key = key
    this.name = decodeURIComponent(key)
    this.turn = turn
    this.boost = boost
  }

  /** Nothing of it is here or waits behind. */
  get isIdle(): boolean {
    return this.queue.length === 0 && this.out.size === 0 && this.waiting === 0 && !this.isAsked
  }

  get heldCount(): number {
    return this.queue.length + this.out.size
  }

  /** Returns when the next request may start; infinity: when another one has ended. @param ending how many that are out have, as Redis is being told */
  goesAtMs(ending = 0): number {
    if (this.#isFullWithout(ending) || this.documents > 0) return Number.POSITIVE_INFINITY
    return this.nextAtMs
  }

  /** How many of those that lie here may go, when the next one may. */
  get going(): number {
    if (this.isPaced) return 1
    const { concurrency } = this.pace
    return concurrency > 0 ? Math.min(this.queue.length, concurrency - this.out.size) : this.queue.length
  }

  /** How many of those that wait behind may come. */
  get offered(): number {
    return Math.min(this.waiting, this.room)
  }

  /** Returns in how many milliseconds a document of a page may leave; infinity: when a request that is out has left. */
  documentWaitMs(nowMs: number): number {
    if (this.isPaced)
      for (const lease of this.out)
        if (isLeaving(lease) && !lease.isStandingBy) return Number.POSITIVE_INFINITY
    return Math.max(0, this.nextAtMs - nowMs)
  }

  /** How many more may be taken, now or for its next time. */
  get room(): number {
    if (this.isAsked || this.isFull) return 0
    if (this.isPaced) return this.queue.length === 0 && !this.#hasUnstarted ? 1 : 0
    const { concurrency } = this.pace
    return concurrency > 0 ? Math.max(0, concurrency - this.heldCount) : Number.POSITIVE_INFINITY
  }

  #isFullWithout(ending: number): boolean {
    const { concurrency } = this.pace
    if (concurrency > 0 && this.out.size - ending >= concurrency) return true
    return this.isPaced && this.#hasUnstarted
  }

  get #hasUnstarted(): boolean {
    for (const lease of this.out) if (isLeaving(lease)) return true
    return false
  }

  /** Something of that priority waits behind. */
  raise(priority: number): void {
    if (this.waiting > 0) this.head = Math.max(this.head, priority)
  }

  /** Takes what Redis knows. */
  heard({ waitMs, floorMs, failures, pausedMs }: SlotKnown, nowMs: number): void {
    if (pausedMs > 0) this.pause(pausedMs, nowMs)
    // News that are on their way are newer.
    if (!this.news) this.state = { delayMs: floorMs, failures }
    // Of a hot slot another worker may have started the last request.
    this.dueAtMs = Math.max(this.dueAtMs, nowMs + waitMs)
  }

  /** Takes an order for the slot: its pace and urgency, and how long it is paused, if the order says so. */
  ordered(to: { pace: HostPace; boost: number }, pauseMs: number | undefined, nowMs: number): void {
    this.boost = to.boost
    this.paceOrdered(to.pace, pauseMs, nowMs)
  }

  /** Drops all that is here: Redis has come back older, or the turn is lost. */
  emptied(): void {
    this.queue.length = 0
    this.out.clear()
    this.waiting = 0
    this.isAsked = false
    this.isFull = false
    // Redis says anew whether it has a unit of its own.
    this.isHot = false
  }
}

/** Whether it is handed out, and has not left. */
function isLeaving({ hasStarted, state }: BucketLease): boolean {
  return !hasStarted && state === 'out'
}

/** What a lease asks of the queue. */
export interface LeaseEvents {
  /** Called when its request leaves. */
  readonly onStart: (lease: BucketLease) => void
  readonly documentsOf: (lease: BucketLease) => DocumentPace
}

/** A request that a turn has taken. */
export class BucketLease implements Lease, DispatchItem {
  readonly heldSlot: HeldSlot
  readonly token: string
  /** The request as Redis has it. */
  readonly text: string
  readonly id: string
  readonly request: Request
  readonly priority: number
  readonly tries: PackedTries
  state: LeaseState = 'queued'
  host: HostState
  /** Taken ahead, for the slot's next time. */
  isTakenAhead = false
  /** Redis has noted that it starts. */
  isNoted = false
  hasStarted = false
  /** How often it was looked at, while it was out, and had not left. */
  unsentLooks = 0
  isStandingBy = false
  readonly #lost = new AbortController()
  readonly #events: LeaseEvents

  /** `request` as made of `text`. */
  constructor(
    slot: HeldSlot,
    { token, priority, text }: Taken,
    { id, request, tries }: { id: string; request: Request; tries: PackedTries },
    events: LeaseEvents,
  ) {
    this.heldSlot = slot
    this.host = slot.state
    this.token = token
    this.priority = priority
    this.text = text
    this.id = id
    this.request = request
    this.tries = tries
    this.#events = events
  }

  get slot(): string {
    return this.heldSlot.name
  }

  get turn(): HeldTurn {
    return this.heldSlot.turn
  }

  get isPaced(): boolean {
    return this.heldSlot.isPaced
  }

  /** What its start is noted as: a token is unique in its turn only. */
  get startedName(): string {
    const { unit, lane } = this.turn.job
    return startedName(unit, lane, this.token)
  }

  get attempt(): number {
    return this.tries.attempt
  }

  get redelivered(): boolean {
    return this.tries.attempt > 1
  }

  get suspect(): boolean {
    return this.tries.suspect
  }

  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /** True when there is a history of the request, which is deleted when the request is committed. */
  get hasHistory(): boolean {
    const { attempt, kills, rejections } = this.tries
    return attempt > 1 || kills > 0 || rejections > 0
  }

  started(): void {
    if (this.hasStarted || this.state !== 'out') return
    this.hasStarted = true
    this.#events.onStart(this)
  }

  documents(): DocumentPace {
    return this.#events.documentsOf(this)
  }

  lose(reason: string): void {
    this.state = 'lost'
    this.#lost.abort(leaseLost(this.request, reason))
  }
}
