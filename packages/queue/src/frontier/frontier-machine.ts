/**
 * What a worker holds of the frontier, and what it does about it: the one owner of that state. Events come in as method calls
 * with the time, and what is to be done goes out as effects; there is no I/O, no timer and no promise in here. So a test can
 * drive many of these against a model of Redis, with any time, loss and order of events, and replay it.
 *
 *     HeldTurns           the turns, and their slots; TurnStates: what becomes of them
 *     HeldRequests        the requests of these; Endings: outcomes that Redis is to be told
 *     HeldDocuments       documents that pages in browsers open, which leave between the requests
 *     FrontierSchedule    what may go now, what may be taken, and when the next may
 *     OtherWorkers        what is known of the others; turn-rules.ts: when a turn is left to them; HeldUpSlots: what they get of one that stays
 *     FrontierAnswers     what follows from Redis's answers
 *
 * A turn is a bucket of slots, or a lane of a hot slot; both are the same here, the second with one slot. Each slot is paced by
 * itself (held-turn.ts). What is to be told to Redis gathers, and goes with one message at a time (frontier-message.ts).
 *
 * Order: among the slots that may go, the one whose next request is most urgent; those of the same priority take turns. The same
 * holds for what is taken from Redis: from buckets with slots that are ready there, and from slots that have more.
 */

import type { HostPace, ProtocolTimes } from '@webloom/core'
import { Endings } from './endings.ts'
import { FrontierAnswers } from './frontier-answers.ts'
import type { Effect } from './frontier-effects.ts'
import { composed, LEAD_MS, type Message } from './frontier-message.ts'
import { FrontierSchedule } from './frontier-schedule.ts'
import { HeldDocuments } from './held-documents.ts'
import { HeldRequests } from './held-requests.ts'
import type { HeldSlot, LeaseEvents } from './held-turn.ts'
import { HeldTurns } from './held-turns.ts'
import { HeldUpSlots } from './held-up-slots.ts'
import { OtherWorkers } from './other-workers.ts'
import type { Ended, TurnAnswer } from './turn-protocol.ts'
import {
  lingers,
  mayMakeWay,
  mayWiden,
  sharedOut,
  shouldLeave,
  stayingBuckets,
  type TurnRules,
} from './turn-rules.ts'
import { TurnStates } from './turn-states.ts'

/** How long a message waits for more to say when nothing that it would bring could go any sooner. */
export const PATIENCE_MS = 40

/** With so many lanes of hot slots that could give something a worker takes no further turn: there are as many as hot slots, and each is renewed every two seconds. */
const BUSY_LANES_MAX = 64

export interface FrontierMachineOptions extends LeaseEvents {
  readonly times: ProtocolTimes['turns']
  readonly pace: (slot: string) => HostPace
  /** By how much requests of a slot are more urgent than they say. Default: not at all. */
  readonly boostOf?: (slot: string) => number
  /** The pace of slots that no setting names. */
  readonly usualPace: HostPace
  /** The most requests of one slot that a message may take from a bucket, as some of its slots have a pace of their own. Default: no such bound. */
  readonly eachMaxOf?: (bucket: string) => number
  /** The bucket of a slot, as a unit's name. */
  readonly bucketOf: (slot: string) => string
  /** Returns how many units there are when no slot is hot. */
  readonly buckets: () => number
  /** How many requests lie here at the most. Default: LYING_REQUESTS_MAX. */
  readonly lyingMax?: number
  /** Returns 0 to 1. Default: Math.random. */
  readonly chance?: () => number
}

export class FrontierMachine {
  readonly #options: FrontierMachineOptions
  readonly #turns: HeldTurns
  readonly #others: OtherWorkers
  readonly #schedule: FrontierSchedule
  readonly #endings: Endings
  readonly #answers: FrontierAnswers
  readonly #heldUp: HeldUpSlots
  readonly #effects: Effect[] = []
  readonly #rules: TurnRules
  /** How many requests the message that is under way should bring. */
  #asking = 0
  readonly requests: HeldRequests
  readonly documents: HeldDocuments
  readonly states: TurnStates

  constructor(options: FrontierMachineOptions) {
    this.#options = options
    const turns = new HeldTurns(options)
    const others = new OtherWorkers(options.buckets)
    const schedule = new FrontierSchedule(turns, others)
    const endings = new Endings(this.#effects)
    const common = { turns, schedule, endings, effects: this.#effects }
    this.#turns = turns
    this.#others = others
    this.#schedule = schedule
    this.#endings = endings
    this.#heldUp = new HeldUpSlots(others)
    this.#rules = { times: options.times, others }
    this.requests = new HeldRequests({ ...common, ...options })
    this.documents = new HeldDocuments({ turns, schedule })
    this.states = new TurnStates({ ...common, requests: this.requests })
    this.#answers = new FrontierAnswers({ ...common, requests: this.requests, states: this.states })
  }

  get turns(): HeldTurns {
    return this.#turns
  }

  /** What is known of other workers. */
  get others(): OtherWorkers {
    return this.#others
  }

  /** True when nothing is held, and nothing is known to wait: Redis must be asked whether the crawl is over. */
  get isIdle(): boolean {
    if (this.#schedule.sources.size > 0 || this.#endings.size > 0) return false
    for (const turn of this.#turns) {
      if (turn.tokens.size > 0 || turn.ready > 0 || turn.dueAtMs < Number.POSITIVE_INFINITY) return false
      for (const slot of turn.slots.values()) if (slot.waiting > 0) return false
    }
    return true
  }

  /** True when Redis must be told something, whether or not more is wanted. */
  get mustTellRedis(): boolean {
    if (this.#endings.size > 0 || this.#heldUp.mustTell) return true
    for (const turn of this.#turns) {
      if (turn.hasNews || (turn.isLeaving && turn.tokens.size === 0)) return true
    }
    return false
  }

  /** True when Redis has something that may be taken now, and there is room for it. */
  get hasSources(): boolean {
    return this.#schedule.sources.size > 0 && this.requests.hasRoom
  }

  /** True when more is wanted than can go, can be taken, or is on its way here. */
  isHungry(demand: number): boolean {
    let has = this.#asking + this.#schedule.goingCount
    for (const source of this.requests.hasRoom ? this.#schedule.sources : []) has += source.offered
    return demand > has
  }

  /**
   * Returns when the message that gathers since `sinceMs` must go, where more is wanted: at once if a page of a slot without a delay has ended;
   * else LEAD_MS before the next request of a slot could leave, and PATIENCE_MS after `sinceMs` at the latest. That next request may be one that
   * a page brings to its own slot, or wait for the place of one that ends.
   */
  gathersUntilMs(sinceMs: number, nowMs: number): number {
    let nextAtMs = Number.POSITIVE_INFINITY
    for (const { slot, ended } of this.#endings.all) {
      if (!slot.isPaced) return nowMs
      if (bringsNext(slot, ended) || waitsForPlace(slot)) nextAtMs = Math.min(nextAtMs, slot.nextAtMs)
    }
    const soonestMs = Math.min(nextAtMs - LEAD_MS, nowMs + this.#schedule.soonestMs(nowMs))
    return Math.max(nowMs, Math.min(sinceMs + PATIENCE_MS, soonestMs))
  }

  /** When something may go, or be taken, that may not now; infinity: nothing. */
  get wakeAtMs(): number {
    return this.#schedule.wakeAtMs
  }

  /** Returns whether something here waits for its time. */
  waits(nowMs: number): boolean {
    return this.#schedule.waits(nowMs)
  }

  /** Places what has waited for its time. */
  wake(nowMs: number): void {
    this.#schedule.wake(nowMs)
  }

  /** Returns what is to be done, once. */
  effects(): Effect[] {
    return this.#effects.splice(0)
  }

  /** True when this worker has fewer buckets than its share. */
  get isBelowShare(): boolean {
    return stayingBuckets(this.#turns) < this.#others.share
  }

  /**
   * Returns whether this worker wants another turn, with so many on their way. A full one takes those that else nobody would: what is
   * urgent there goes before what lies here.
   */
  wantsTurn(beginning: number, demand: number, nowMs: number): boolean {
    if (this.states.isClosing || (demand === 0 && !this.#others.leaveUnits(nowMs))) return false
    if (this.#hasLanesEnough(beginning)) return false
    return this.#turns.size + beginning < this.#others.share || this.#others.turnsWait
  }

  /** Looks after turns that others should have, or that have nothing to do. Called about ten times a second. */
  tend(nowMs: number, demand: number): void {
    const [rules, others, { states }] = [this.#rules, this.#others, this]
    this.requests.makeRoom(demand, nowMs)
    if (demand === 0 && others.takesShare(nowMs))
      for (const turn of sharedOut(this.#turns, nowMs)) states.leave(turn, nowMs)
    let isCrowded = demand > 0 && others.unitsWait && this.#hasLanesEnough(0)
    // Left for nobody it would be taken again at once, as it waits.
    let surplus = others.wantsBuckets(nowMs) ? stayingBuckets(this.#turns) - others.share : 0
    for (const turn of this.#turns) {
      // What came may have to wait, or was taken by a message that told of something else.
      if (turn.readySinceMs !== undefined && !this.#schedule.offers(turn)) turn.readySinceMs = undefined
      if (turn.isLeaving) {
        if (!states.isClosing && lingers(turn, nowMs, rules)) states.stay(turn, nowMs)
      } else if (surplus > 0 && turn.isBucket && turn.tokens.size === 0) {
        states.leave(turn, nowMs)
        surplus--
      } else if (isCrowded && mayMakeWay(turn, nowMs)) {
        // One at a look: the most urgent unit that waits comes in its place.
        states.leave(turn, nowMs)
        isCrowded = false
      } else if (shouldLeave(turn, nowMs, rules)) states.leave(turn, nowMs)
      else if (others.isHungry(nowMs) && mayWiden(turn, nowMs)) turn.widens = true
      else if (demand > 0) for (const slot of turn.slots.values()) this.#lookAgain(slot, nowMs)
    }
    this.#heldUp.choose(this.#turns, nowMs)
  }

  /**
   * Returns what is to be told to Redis, and what it is asked for; undefined when there is nothing to say.
   *
   * @param demand how many requests would be handed out at once
   * @param out how many are handed out: by that more may lie ready, when a message goes anyhow
   * @param number of the message, which names its takes
   * @param isLooking turns are on their way here: what was served already waits for them
   */
  message(
    nowMs: number,
    {
      demand,
      out,
      number,
      isLooking = false,
    }: { demand: number; out: number; number: number; isLooking?: boolean },
  ): Message | undefined {
    this.#schedule.wake(nowMs)
    const message = composed({
      nowMs,
      number,
      isLooking,
      leavingSoon: this.requests.leavingSoon(nowMs),
      ...this.requests.room(demand, out),
      endings: this.#endings.all,
      rest: (later) => this.#endings.keep(later),
      isFull: this.#answers.isFull,
      turns: this.#turns,
      heldUp: this.#heldUp,
      lanesMax: (slot) => this.#others.lanesMax(slot),
      sources: this.#schedule.sources,
      lanesOf: (slot) => this.#others.lanesOf(slot),
      place: (slot) => this.#schedule.place(slot, nowMs),
      usualPace: this.#options.usualPace,
      eachMaxOf: this.#options.eachMaxOf ?? (() => Number.POSITIVE_INFINITY),
      lingerMs: this.#options.times.lingerMs,
    })
    this.#heldUp.told()
    this.#asking = message?.asks ?? 0
    return message
  }

  /** Redis has done what the message says. */
  answered(message: Message, answers: readonly TurnAnswer[], nowMs: number): void {
    this.#asking = 0
    this.#answers.answered(message, answers, nowMs)
  }

  /** Redis has not done what the message says, as far as is known: see FrontierAnswers. */
  unanswered(message: Message, nowMs: number, why: { error: unknown; isFull?: boolean }): void {
    this.#asking = 0
    this.#answers.unanswered(message, nowMs, why)
  }

  #hasLanesEnough(beginning: number): boolean {
    return (
      this.#turns.laneCount + beginning >= BUSY_LANES_MAX &&
      this.#schedule.busyLanes + beginning >= BUSY_LANES_MAX
    )
  }

  #lookAgain(slot: HeldSlot, nowMs: number): void {
    if (!slot.isFull) return
    slot.isFull = false
    this.#schedule.place(slot, nowMs)
    // Of a hot slot more is taken by its lane.
    this.#schedule.placeTurn(slot.turn, nowMs)
  }
}

function bringsNext({ key }: HeldSlot, { placed }: Ended): boolean {
  return placed.some(
    ({ slot, place }) => slot === key && (place === 'end' || place === 'again' || place === 'head'),
  )
}

/** Whether all are in flight that may be, and there is another one. Of a lane others may have the places. */
function waitsForPlace({ pace, turn, queue, out, waiting, isFull }: HeldSlot): boolean {
  const hasNone = pace.concurrency > 0 && (isFull || out.size >= pace.concurrency)
  return hasNone && queue.length + waiting + (turn.isBucket ? 0 : turn.ready) > 0
}
