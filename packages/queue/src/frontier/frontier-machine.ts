/**
 * What a worker holds of the frontier, and what it does about it: the one owner of that state. Events come in as method calls
 * with the time, and what is to be done goes out as effects; there is no I/O, no timer and no promise in here. So a test can
 * drive many of these against a model of Redis, with any time, loss and order of events, and replay it.
 *
 *     a turn    begun ──► held ──► leaving ──► left, or over
 *                           └──────────┴─────► lost: another worker has it
 *     a slot    none ── something of it is taken ──► held ── nothing of it is here, or waits behind ──► none
 *
 * A turn is a bucket of slots, or a lane of a hot slot; both are the same here, the second with one slot. Each slot is paced by
 * itself (held-turn.ts). What is to be told to Redis gathers, and goes with one message at a time (frontier-message.ts).
 *
 * Order: among the slots that may go, the one whose next request is most urgent; those of the same priority take turns. The same
 * holds for what is taken from Redis: from buckets with slots that are ready there, and from slots that have more.
 */

import { type HostNews, type HostPace, laterNews, type ProtocolTimes } from '@webloom/core'
import { leaseLost } from '../leasing/lease-lost.ts'
import { unpackRequest } from '../leasing/packed-request.ts'
import { PriorityRing } from '../structures/priority-ring.ts'
import { TimeHeap } from '../structures/time-heap.ts'
import {
  composed,
  type Ending,
  goesToHead,
  LEAD_MS,
  type Message,
  TAKEN_AHEAD_MS,
  type Told,
} from './frontier-message.ts'
import { BucketLease, HeldSlot, HeldTurn, type TurnJob } from './held-turn.ts'
import {
  type Asked,
  asksAny,
  type Ended,
  type Placed,
  type Standing,
  type Taken,
  type TurnAnswer,
} from './turn-protocol.ts'

/** How long a message waits for more to say when nothing that it would bring could go any sooner. */
const PATIENCE_MS = 40
/** How many requests a worker has ahead at the most, and how many bytes of them. */
export const AHEAD_REQUESTS_MAX = 1000
export const AHEAD_BYTES_MAX = 8 * 2 ** 20
/** A slot of a bucket with more requests than this gets a unit of its own, with several lanes, when there are other workers. */
const HOT_FROM = 64
/** How often Redis is asked for another lane of a hot slot. */
const WIDEN_EVERY_MS = 1000
/** A bucket stays with its worker when something may go within so many times of `restMs`: to begin it again costs as much as to renew its lock ten times. */
const KEPT_RESTS = 3
/** A lane of a hot slot that has taken so many is left when others wait. */
const QUOTA_REQUESTS = 500

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
  readonly done: (error?: unknown) => void
}

export interface FrontierMachineOptions {
  readonly times: ProtocolTimes['turns']
  readonly pace: (slot: string) => HostPace
  /** By how much requests of a slot are more urgent than they say. Default: not at all. */
  readonly boostOf?: (slot: string) => number
  /** The pace of slots that no setting names. */
  readonly usualPace: HostPace
  /** The bucket of a slot, as a unit's name. */
  readonly bucketOf: (slot: string) => string
  /** How many units there are when no slot is hot. */
  readonly buckets: number
  /** Called when a request leaves, with its lease. */
  readonly onStart: (lease: BucketLease) => void
  /** Returns 0 to 1. Default: Math.random. */
  readonly chance?: () => number
}

export class FrontierMachine {
  readonly #options: FrontierMachineOptions
  readonly #turns = new Map<string, HeldTurn>()
  /** Slots of which a request may go now. */
  readonly #going = new PriorityRing<HeldSlot>()
  /** Turns and slots of which Redis has more that may be taken now. */
  readonly #sources = new PriorityRing<HeldTurn | HeldSlot>()
  readonly #timed = new TimeHeap<HeldTurn | HeldSlot>()
  #endings: Ending[] = []
  readonly #goingBack = new Set<HeldSlot>()
  #effects: Effect[] = []
  /** Requests that lie here and are no spares. */
  #lying = 0
  #bytes = 0
  #isFull = false
  #isClosing = false
  /** Until when another worker is known to have nothing to do. */
  #hungryUntilMs = Number.NEGATIVE_INFINITY
  /** True when nothing was given to it since it said so. */
  #mayShare = false
  /** How many workers the crawl has, as last heard of. */
  workers = 1
  /** True when BullMQ has jobs that wait. */
  othersWait = false

  constructor(options: FrontierMachineOptions) {
    this.#options = options
  }

  get turns(): ReadonlySet<HeldTurn> {
    return new Set(this.#turns.values())
  }

  get turnCount(): number {
    return this.#turns.size
  }

  /** True when nothing is held, and nothing is known to wait: Redis must be asked whether the crawl is over. */
  get isIdle(): boolean {
    if (this.#sources.size > 0 || this.#endings.length > 0) return false
    for (const turn of this.#turns.values()) {
      if (turn.tokens.size > 0 || turn.ready > 0 || turn.dueAtMs < Number.POSITIVE_INFINITY) return false
      for (const slot of turn.slots.values()) if (slot.waiting > 0) return false
    }
    return true
  }

  /** True when Redis must be told something, whether or not more is wanted. */
  get mustTellRedis(): boolean {
    if (this.#endings.length > 0) return true
    for (const turn of this.#turns.values()) {
      if (turn.told.size > 0 || turn.releasing.size > 0 || turn.widens) return true
      if (turn.isLeaving && turn.tokens.size === 0) return true
    }
    return false
  }

  /** True when Redis has something that may be taken now. */
  get hasSources(): boolean {
    return this.#sources.size > 0
  }

  /** True when more is wanted than there are slots and turns of which something can go or be taken, or is on its way here. */
  isHungry(demand: number): boolean {
    let has = this.#sources.size + this.#going.size
    for (const { batch } of this.#turns.values()) if (batch !== undefined) has++
    return demand > has
  }

  /** How long a message may wait (ms): what ends belongs to slots with a delay, and so does what would be taken. */
  patienceMs(nowMs: number): number {
    let ms = PATIENCE_MS
    for (const { slot } of this.#endings) if (!slot.isPaced) return 0
    for (const source of this.#sources) {
      const goesAtMs = source instanceof HeldTurn ? source.readyAtMs : source.goesAtMs()
      ms = Math.min(ms, goesAtMs - LEAD_MS - nowMs)
    }
    return Math.max(0, ms)
  }

  /** When something may go, or be taken, that may not now; infinity: nothing. */
  get wakeAtMs(): number {
    return this.#timed.nextAtMs ?? Number.POSITIVE_INFINITY
  }

  /** Returns what is to be done, once. */
  effects(): Effect[] {
    const effects = this.#effects
    this.#effects = []
    return effects
  }

  // Turns

  /** Whether this worker wants another turn, with so many on their way. */
  wantsTurn(beginning: number, demand: number): boolean {
    if (this.#isClosing || demand === 0) return false
    if (this.#sources.size + this.#going.size + beginning >= Math.max(16, 2 * demand)) return false
    return this.#turns.size + beginning < this.#share || this.othersWait
  }

  /** A turn has begun. */
  begun(job: TurnJob, holder: string, standing: Standing, nowMs: number): HeldTurn {
    const turn = new HeldTurn(job, holder, nowMs)
    this.#turns.set(job.unit, turn)
    this.#heard(turn, standing, nowMs)
    if (this.#isClosing) this.leave(turn, nowMs)
    this.#placeTurn(turn, nowMs)
    return turn
  }

  has(turn: HeldTurn): boolean {
    return this.#turns.get(turn.job.unit) === turn
  }

  /** Whether this worker has a turn of that unit. */
  hasUnit(unit: string): boolean {
    return this.#turns.has(unit)
  }

  /** Takes no more for the turn, and leaves it as soon as nothing of it is in flight here. */
  leave(turn: HeldTurn, nowMs: number): void {
    if (turn.isLeaving) return
    turn.leavingSinceMs = nowMs
    this.#sources.remove(turn)
    for (const slot of turn.slots.values()) {
      this.#callBack(slot)
      this.#place(slot, nowMs)
    }
  }

  /** Goes on with a turn after all. */
  stay(turn: HeldTurn, nowMs: number): void {
    turn.leavingSinceMs = undefined
    turn.quotaFromMs = nowMs
    turn.taken = 0
    for (const slot of turn.slots.values()) this.#place(slot, nowMs)
    this.#placeTurn(turn, nowMs)
  }

  /** Another worker has the turn. */
  lose(turn: HeldTurn, reason: string): void {
    turn.isLost = true
    this.#dropAll(turn, reason)
    this.#forget(turn)
  }

  /** Redis has come back older: nothing that is held here may be in flight there. Returns how many requests are dropped. */
  startOver(reason: string): number {
    let requests = 0
    for (const turn of this.#turns.values()) {
      requests += turn.tokens.size
      this.#dropAll(turn, reason)
      turn.leavingSinceMs = undefined
      turn.arrived(0)
      turn.batch = undefined
    }
    return requests
  }

  /** The turns whose locks were renewed, as sent at that time. */
  renewed(turns: Iterable<HeldTurn>, lockedUntilMs: number, nowMs: number): void {
    for (const turn of turns) {
      if (!this.has(turn)) continue
      turn.lockedUntilMs = lockedUntilMs
      for (const slot of turn.slots.values()) this.#place(slot, nowMs)
      this.#placeTurn(turn, nowMs)
    }
  }

  /** Requests have come to lines, by this worker's own commands. */
  arrived(placed: Iterable<Pick<Placed, 'place' | 'bucket' | 'slot' | 'priority'>>, nowMs: number): void {
    for (const { place, bucket, slot, priority } of placed) {
      if (place !== 'end' && place !== 'head') continue
      const hot = this.#turns.get(slot)
      const turn = hot ?? this.#turns.get(bucket)
      if (!turn) continue
      const held = turn.slots.get(slot)
      if (held && held.waiting > 0) {
        held.waiting++
        held.head = Math.max(held.head, priority)
        this.#place(held, nowMs)
        if (!hot) continue
      }
      turn.arrived(priority)
      this.#placeTurn(turn, nowMs)
    }
  }

  /** Another worker has brought something for a unit that rests here, or something more urgent. */
  nudged(unit: string, priority: number, nowMs: number): void {
    const turn = this.#turns.get(unit)
    if (!turn) return
    turn.arrived(priority)
    this.#placeTurn(turn, nowMs)
  }

  /** Lets no request of the slot start for so long: another worker with a lane of it has said so. */
  paused(slot: string, ms: number, nowMs: number): void {
    for (const held of this.#heldAs(slot)) {
      held.pause(ms, nowMs)
      this.#callBack(held)
      this.#place(held, nowMs)
    }
  }

  /**
   * Somebody has ordered something for the slot, which the options' `pace` and `boostOf` know.
   *
   * @param pauseMs from now on; undefined: as it is
   */
  ordered(slot: string, pauseMs: number | undefined, nowMs: number): void {
    for (const held of this.#heldAs(slot)) {
      held.ordered({ ...this.#orderOf(held.name), pauseMs }, nowMs)
      if (pauseMs) this.#callBack(held)
      this.#place(held, nowMs)
      this.#placeTurn(held.turn, nowMs)
    }
  }

  #orderOf(name: string): { pace: HostPace; boost: number } {
    return { pace: this.#options.pace(name), boost: this.#options.boostOf?.(name) ?? 0 }
  }

  /** Another worker has nothing to do, and is known not to until `untilMs`. */
  heardHungry(untilMs: number): void {
    this.workers = Math.max(2, this.workers)
    this.#hungryUntilMs = untilMs
    this.#mayShare = true
  }

  /** Gives all back that is not in flight; what is has been given back by its caller, by `end`. */
  close(nowMs: number): void {
    this.#isClosing = true
    for (const turn of this.#turns.values()) this.leave(turn, nowMs)
  }

  /** Looks after turns that others should have, or that have nothing to do. Called about ten times a second. */
  tend(nowMs: number, demand: number): void {
    if (demand === 0 && this.#mayShare && nowMs < this.#hungryUntilMs) this.#shareOut(nowMs)
    let surplus = this.workers > 1 ? this.#bucketTurns - this.#share : 0
    for (const turn of this.#turns.values()) {
      if (turn.isLeaving) this.#tendLeaving(turn, nowMs)
      else if (surplus > 0 && turn.isBucket && turn.tokens.size === 0) {
        this.leave(turn, nowMs)
        surplus--
      } else if (this.#shouldLeave(turn, nowMs)) this.leave(turn, nowMs)
      else if (nowMs < this.#hungryUntilMs && this.#mayWiden(turn, nowMs)) turn.widens = true
      else if (demand > 0) for (const slot of turn.slots.values()) this.#lookAgain(slot, nowMs)
    }
  }

  // Requests

  /** Takes up to so many requests that go now, the most urgent first. */
  handOut(max: number, nowMs: number): BucketLease[] {
    this.wake(nowMs)
    const leases: BucketLease[] = []
    while (leases.length < max) {
      const slot = this.#going.next()
      if (!slot) break
      if (!slot.turn.isLocked(nowMs) || slot.goesAtMs() > nowMs) {
        this.#place(slot, nowMs)
        continue
      }
      const lease = slot.queue.shift()!
      this.#lies(lease, -1)
      lease.state = 'out'
      lease.host = slot.state
      slot.out.add(lease)
      slot.handedOut(nowMs)
      leases.push(lease)
      this.#place(slot, nowMs)
    }
    return leases
  }

  /** Places what has waited for its time. */
  wake(nowMs: number): void {
    for (let one = this.#timed.takeDue(nowMs); one; one = this.#timed.takeDue(nowMs)) {
      if (one instanceof HeldTurn) {
        if (this.has(one)) one.woken(nowMs)
        this.#placeTurn(one, nowMs)
      } else this.#place(one, nowMs)
    }
  }

  /** A request leaves now. Returns false when it must not: the lock was not renewed in time. */
  started(lease: BucketLease, nowMs: number): boolean {
    if (!lease.turn.isLocked(nowMs)) return false
    lease.heldSlot.started(nowMs)
    this.#place(lease.heldSlot, nowMs)
    return true
  }

  /** A request has ended; Redis is told with the next message. */
  end(lease: BucketLease, outcome: Outcome, nowMs: number): void {
    const { heldSlot: slot, token, id } = lease
    const { placed, refusal, news, adds = 0, keepsHistory, done } = outcome
    const isNoted = refusal !== undefined || (lease.hasHistory && !keepsHistory)
    lease.state = 'ending'
    const ended: Ended = {
      token,
      placed,
      ...(isNoted && { id }),
      ...(refusal !== undefined && { refusal }),
    }
    this.#say({ slot, ended, lease, adds, done })
    if (!news) return
    slot.news = laterNews(slot.news, news)
    slot.turn.told.add(slot)
    for (const held of this.#heldAs(slot.key)) held.learn(news)
    if (news.pauseMs !== undefined) this.paused(slot.key, news.pauseMs, nowMs)
    this.#place(slot, nowMs)
  }

  /** A request that was never handed out, and is on its way back. */
  putBack(slot: HeldSlot, ended: Ended, done: (error?: unknown) => void): void {
    this.#say({ slot, ended, adds: 0, done })
  }

  /** Takes back what the slot has lying here: something goes before it. */
  callBack(slot: HeldSlot, nowMs: number): void {
    this.#callBack(slot)
    this.#place(slot, nowMs)
  }

  // Messages

  /**
   * Returns what is to be told to Redis, and what it is asked for; undefined when there is nothing to say.
   *
   * @param demand how many requests would be handed out at once
   * @param stock how many more may lie ready, when a message goes anyhow
   * @param number of the message, which names its takes
   * @param isLooking turns are on their way here: what was served already waits for them
   */
  message(
    nowMs: number,
    {
      demand,
      stock,
      number,
      isLooking = false,
    }: { demand: number; stock: number; number: number; isLooking?: boolean },
  ): Message | undefined {
    this.wake(nowMs)
    return composed({
      nowMs,
      number,
      isLooking,
      demand: Math.max(0, demand - this.#lying),
      stock: Math.min(stock, AHEAD_REQUESTS_MAX - this.#lying),
      bytes: Math.max(0, AHEAD_BYTES_MAX - this.#bytes),
      endings: this.#endings,
      rest: (later) => {
        this.#endings = later
        this.#goingBack.clear()
        for (const { ended, slot } of later) if (goesToHead(ended)) this.#goingBack.add(slot)
      },
      isFull: this.#isFull,
      turns: this.#turns.values(),
      lanesMax: (slot) => this.#lanesMax(slot),
      sources: this.#sources,
      lanesOf: (slot) => this.#lanesOf(slot),
      place: (slot) => this.#place(slot, nowMs),
      usualPace: this.#options.usualPace,
      lingerMs: this.#options.times.lingerMs,
    })
  }

  /** Redis has done what the message says. */
  answered(message: Message, answers: readonly TurnAnswer[], nowMs: number): void {
    this.#isFull = false
    let n = 0
    for (const [turn, says] of message.says) {
      const answer = answers[n++]!
      const isLost = answer.status === 'lost'
      for (const ending of message.endings)
        if (ending.slot.turn === turn) this.#ended(ending, isLost ? turn : undefined, nowMs)
      if (!this.has(turn)) continue
      if (asksAny(says.asked)) turn.batch = undefined
      if (isLost) this.lose(turn, `another worker has taken over ${turn.job.unit}`)
      else if (answer.status === 'over') this.#gone(turn, { kind: 'complete', turn })
      else if (answer.status === 'left')
        this.#gone(turn, { kind: 'give back', turn, ...givenBack(answer.standing) })
      else {
        this.#accept(turn, says.asked, answer, nowMs)
        if (says.leaves) this.stay(turn, nowMs)
      }
    }
  }

  /**
   * Redis has not done what the message says, as far as is known. A take that was done gets the same answer again.
   *
   * @param error what the callers are told; undefined: what adds nothing is said again
   */
  unanswered(
    message: Message,
    nowMs: number,
    { error, isFull = false }: { error: unknown; isFull?: boolean },
  ): void {
    this.#isFull ||= isFull
    const again: Ending[] = []
    for (const ending of message.endings) {
      if (isFull && ending.adds === 0) again.push(ending)
      else this.#unended(ending, error)
    }
    this.#endings.unshift(...again)
    for (const [turn, says] of message.says) {
      for (const told of [...says.told, ...says.released]) this.#untold(turn, told)
      for (const slot of turn.slots.values()) {
        slot.isAsked = false
        this.#place(slot, nowMs)
      }
      this.#placeTurn(turn, nowMs)
    }
  }

  get #share(): number {
    return Math.ceil(this.#options.buckets / Math.max(1, this.workers))
  }

  get #bucketTurns(): number {
    let count = 0
    for (const turn of this.#turns.values()) if (turn.isBucket) count++
    return count
  }

  /** How many lanes a slot of a bucket should get, as it is hot; 0: it stays there. */
  #lanesOf(slot: HeldSlot): number {
    if (slot.waiting < HOT_FROM) return 0
    const lanes = this.#lanesMax(slot)
    return lanes > 1 ? lanes : 0
  }

  #lanesMax(slot: HeldSlot): number {
    const { concurrency } = slot.pace
    return slot.isPaced ? 1 : Math.min(this.workers, concurrency > 0 ? concurrency : this.workers)
  }

  #mayWiden(turn: HeldTurn, nowMs: number): boolean {
    if (turn.isBucket || turn.ready <= HOT_FROM || nowMs - turn.widenedAtMs < WIDEN_EVERY_MS) return false
    turn.widenedAtMs = nowMs
    return true
  }

  /** This worker has more than it can serve, and another has nothing: it leaves half of the buckets that have something to do. */
  #shareOut(nowMs: number): void {
    this.#mayShare = false
    const busy = [...this.#turns.values()].filter(
      (turn) => turn.isBucket && !turn.isLeaving && turn.hasMore(nowMs),
    )
    for (const turn of busy.slice(Math.ceil(busy.length / 2))) this.leave(turn, nowMs)
  }

  #tendLeaving(turn: HeldTurn, nowMs: number): void {
    const isTooLong = nowMs - turn.leavingSinceMs! > this.#options.times.lingerMs
    if (!this.#isClosing && turn.tokens.size > 0 && isTooLong) this.stay(turn, nowMs)
  }

  #shouldLeave(turn: HeldTurn, nowMs: number): boolean {
    const isEmpty = turn.tokens.size === 0 && turn.head === undefined
    // A hot slot is here as long as its lane is: by itself it has nothing to wait for.
    const slots = turn.isBucket ? [...turn.slots.values()] : []
    const restsUntilMs = Math.min(turn.dueAtMs, ...slots.map((slot) => slot.goesAtMs()))
    const { restMs } = this.#options.times
    if (isEmpty && restsUntilMs - nowMs > KEPT_RESTS * restMs) {
      turn.restsSinceMs ??= nowMs
      return nowMs - turn.restsSinceMs > restMs
    }
    turn.restsSinceMs = undefined
    const isUnserved =
      turn.readySinceMs !== undefined && nowMs - turn.readySinceMs > this.#options.times.yieldAfterMs
    if (isUnserved && nowMs < this.#hungryUntilMs) return true
    if (turn.isBucket) return false
    const [slot] = turn.slots.values()
    const isOverQuota = nowMs - turn.quotaFromMs > this.#options.times.quotaMs || turn.taken > QUOTA_REQUESTS
    return isOverQuota && this.othersWait && !slot?.isPaced
  }

  #lookAgain(slot: HeldSlot, nowMs: number): void {
    if (!slot.isFull) return
    slot.isFull = false
    this.#place(slot, nowMs)
  }

  #heard(turn: HeldTurn, standing: Standing, nowMs: number): void {
    turn.heard(standing, nowMs)
    const wakesAtMs = turn.dueAtMs - TAKEN_AHEAD_MS
    // What is due is here no sooner when it was asked for in vain: it is a retry, which is not taken ahead.
    turn.asksAtMs = wakesAtMs > nowMs ? wakesAtMs : turn.dueAtMs
    if (turn.asksAtMs < Number.POSITIVE_INFINITY) this.#timed.add(turn.asksAtMs, turn)
    if (turn.isBucket) return
    // A hot slot is held as long as its lane is.
    const slot = this.#slotOf(turn, turn.job.unit)
    if (standing.known) slot.heard(standing.known, nowMs)
  }

  /** The slot in its bucket's turn, and in that of a hot slot: it may be in both when it has become hot. */
  *#heldAs(key: string): Generator<HeldSlot> {
    for (const unit of [this.#options.bucketOf(key), key]) {
      const held = this.#turns.get(unit)?.slots.get(key)
      if (held) yield held
    }
  }

  #slotOf(turn: HeldTurn, key: string): HeldSlot {
    const known = turn.slots.get(key)
    if (known) return known
    const { chance = Math.random } = this.#options
    const slot = new HeldSlot(key, turn, { ...this.#orderOf(decodeURIComponent(key)), chance })
    turn.slots.set(key, slot)
    return slot
  }

  #accept(
    turn: HeldTurn,
    { more, slots }: Pick<Asked, 'more' | 'slots'>,
    { standing, taken }: { standing: Standing; taken: readonly Taken[] },
    nowMs: number,
  ): void {
    for (const { slot } of more) {
      const held = turn.slots.get(slot)
      if (!held) continue
      held.isAsked = false
      held.waiting = 0
    }
    this.#heard(turn, standing, nowMs)
    turn.taken += taken.length
    const touched = new Set<HeldSlot>()
    for (const one of taken) touched.add(this.#take(turn, one, nowMs))
    if (!turn.isBucket) {
      const [slot] = turn.slots.values()
      slot!.isAsked = false
      slot!.waiting = 0
      // Asked again at once it would be as full: a worker would send a script a millisecond until a page of another lane ends.
      const isRefused = taken.length === 0 && standing.head !== undefined && !slot!.isPaced
      slot!.isFull = isRefused && (slots > 0 || slot!.heldCount === 0)
    }
    for (const slot of touched) {
      if (slot.isPaused(nowMs) || this.#goingBack.has(slot) || turn.isLeaving) this.#callBack(slot)
    }
    for (const slot of turn.slots.values()) this.#place(slot, nowMs)
    this.#placeTurn(turn, nowMs)
  }

  #take(turn: HeldTurn, one: Taken, nowMs: number): HeldSlot {
    const slot = this.#slotOf(turn, one.slot)
    if (one.known) slot.heard(one.known, nowMs)
    slot.waiting = turn.isBucket ? one.waiting : 0
    slot.head = one.head ?? 0
    turn.tokens.add(one.token)
    const { request, unreadable, id, marks } = unpackRequest(one.text)
    if (request === undefined) {
      this.#effects.push({ kind: 'unreadable', slot, taken: one, why: unreadable })
      return slot
    }
    const lease = new BucketLease(slot, one, { id, request, marks }, this.#options.onStart)
    lease.isSpare = slot.isPaced && slot.goesAtMs() > nowMs + LEAD_MS
    slot.queue.push(lease)
    this.#lies(lease, 1)
    return slot
  }

  /** Counts a request that has come to lie here, or lies here no more. */
  #lies(lease: BucketLease, by: 1 | -1): void {
    if (!lease.isSpare) this.#lying += by
    this.#bytes += by * lease.text.length
  }

  /** Puts the slot where it belongs; one of which nothing is left goes. */
  #place(slot: HeldSlot, nowMs: number): void {
    const { turn } = slot
    if (turn.slots.get(slot.key) !== slot || !this.has(turn)) return
    const isLocked = turn.isLocked(nowMs)
    const goesAtMs = slot.goesAtMs()
    const [first] = slot.queue
    if (first && isLocked && goesAtMs <= nowMs) this.#going.add(slot, Math.max(slot.boost, first.priority))
    else this.#going.remove(slot)
    if (first && goesAtMs > nowMs && goesAtMs < Number.POSITIVE_INFINITY) this.#timed.add(goesAtMs, slot)
    const mayTake =
      slot.waiting > 0 && slot.room > 0 && isLocked && !turn.isLeaving && this.#lanesOf(slot) === 0
    const takenAtMs = goesAtMs - (slot.isPaced && turn.isBucket ? TAKEN_AHEAD_MS : LEAD_MS)
    if (mayTake && takenAtMs <= nowMs) {
      this.#sources.add(slot, Math.max(slot.boost, slot.head))
      turn.readySinceMs ??= nowMs
    } else this.#sources.remove(slot)
    if (mayTake && takenAtMs > nowMs && takenAtMs < Number.POSITIVE_INFINITY) this.#timed.add(takenAtMs, slot)
    const isBack = turn.isBucket && slot.waiting > 0 && !slot.isAsked
    if (isBack && (turn.isLeaving ? slot.heldCount === 0 : this.#lanesOf(slot) > 0)) turn.releasing.add(slot)
    else turn.releasing.delete(slot)
    if (!slot.isIdle || !turn.isBucket) return
    if (slot.news || slot.mustTellWait(nowMs)) turn.told.add(slot)
    else turn.slots.delete(slot.key)
  }

  #placeTurn(turn: HeldTurn, nowMs: number): void {
    const [slot] = turn.isBucket ? [] : turn.slots.values()
    const hasRoom = !slot || (slot.room > 0 && slot.goesAtMs() - LEAD_MS <= nowMs)
    if (this.has(turn) && turn.ready > 0 && hasRoom && !turn.isLeaving && turn.isLocked(nowMs)) {
      this.#sources.add(turn, turn.head ?? 0)
      turn.readySinceMs ??= nowMs
    } else this.#sources.remove(turn)
    if (slot && turn.ready > 0 && slot.room > 0) {
      const atMs = slot.goesAtMs() - LEAD_MS
      if (atMs > nowMs && atMs < Number.POSITIVE_INFINITY) this.#timed.add(atMs, turn)
    }
  }

  #say(ending: Ending): void {
    this.#endings.push(ending)
    if (goesToHead(ending.ended)) this.#goingBack.add(ending.slot)
  }

  /** Sends back what lies here of the slot, to the head of its line. */
  #callBack(slot: HeldSlot): void {
    for (let lease = slot.queue.shift(); lease; lease = slot.queue.shift()) {
      this.#lies(lease, -1)
      lease.state = 'ending'
      slot.out.add(lease)
      this.#say({
        slot,
        ended: { token: lease.token, placed: [this.#asItWas(lease)] },
        lease,
        adds: 0,
        done: () => {},
      })
    }
  }

  #asItWas({ heldSlot, priority, text }: BucketLease): Placed {
    return {
      place: 'head',
      bucket: this.#options.bucketOf(heldSlot.key),
      slot: heldSlot.key,
      priority,
      texts: [text],
    }
  }

  /** Redis was not told after all. */
  #untold(turn: HeldTurn, { slot: key, news, waiting }: Told): void {
    const slot = this.#slotOf(turn, key)
    slot.waiting += waiting
    slot.tellsWait(false)
    if (news) slot.news = laterNews(news, slot.news ?? {})
    turn.told.add(slot)
  }

  #ended(ending: Ending, lostTo: HeldTurn | undefined, nowMs: number): void {
    const { slot, lease, ended } = ending
    if (lostTo) {
      this.#unended(ending, leaseLost(lease?.request, `another worker has taken over ${slot.name}`))
      return
    }
    slot.turn.tokens.delete(ended.token)
    slot.isFull = false
    if (lease) {
      lease.state = 'ended'
      slot.out.delete(lease)
    }
    this.#effects.push({ kind: 'done', ending })
    this.arrived(ended.placed, nowMs)
    this.#place(slot, nowMs)
  }

  #unended(ending: Ending, error: unknown): void {
    if (ending.lease?.state === 'ending') ending.lease.state = 'out'
    this.#effects.push({ kind: 'done', ending, error })
  }

  #gone(turn: HeldTurn, effect: Effect): void {
    this.#dropAll(turn, 'its turn is over')
    this.#forget(turn)
    this.#effects.push(effect)
  }

  #forget(turn: HeldTurn): void {
    this.#sources.remove(turn)
    if (this.has(turn)) this.#turns.delete(turn.job.unit)
  }

  #dropAll(turn: HeldTurn, reason: string): void {
    const void_ = this.#endings.filter(({ slot }) => slot.turn === turn)
    this.#endings = this.#endings.filter(({ slot }) => slot.turn !== turn)
    for (const ending of void_) this.#unended(ending, leaseLost(ending.lease?.request, reason))
    for (const slot of turn.slots.values()) {
      for (const lease of slot.queue) this.#lies(lease, -1)
      for (const lease of [...slot.queue, ...slot.out]) {
        if (lease.state === 'ended' || lease.state === 'lost') continue
        lease.lose(reason)
        this.#effects.push({ kind: 'lost', lease })
      }
      slot.emptied()
      this.#going.remove(slot)
      this.#sources.remove(slot)
      this.#goingBack.delete(slot)
    }
    turn.slots.clear()
    turn.told.clear()
    turn.releasing.clear()
    turn.tokens.clear()
  }
}

function givenBack({ head, dueInMs = 0, known }: Standing): { ms: number; priority: number } {
  const slotMs = known ? Math.max(known.waitMs, known.pausedMs) : 0
  return { ms: head === undefined ? Math.max(dueInMs, slotMs) : slotMs, priority: head ?? 0 }
}
