import { laterNews } from '@webloom/core'
import { leaseLost } from '../leasing/lease-lost.ts'
import type { Endings } from './endings.ts'
import type { Ending, Message, Told } from './frontier-message.ts'
import type { FrontierSchedule } from './frontier-schedule.ts'
import type { HeldRequests } from './held-requests.ts'
import type { HeldSlot, HeldTurn } from './held-turn.ts'
import type { HeldTurns } from './held-turns.ts'
import {
  type Asked,
  asksAny,
  type LineBehind,
  type Taken,
  type TurnAnswer,
  type UnitStatus,
} from './turn-protocol.ts'
import type { TurnStates } from './turn-states.ts'

export interface FrontierAnswersOptions {
  readonly turns: HeldTurns
  readonly schedule: FrontierSchedule
  readonly requests: HeldRequests
  readonly endings: Endings
  readonly states: TurnStates
}

/** What follows from Redis's answer to a message, or from none. */
export class FrontierAnswers {
  readonly #turns: HeldTurns
  readonly #schedule: FrontierSchedule
  readonly #requests: HeldRequests
  readonly #endings: Endings
  readonly #states: TurnStates
  #isFull = false

  constructor({ turns, schedule, requests, endings, states }: FrontierAnswersOptions) {
    this.#turns = turns
    this.#schedule = schedule
    this.#requests = requests
    this.#endings = endings
    this.#states = states
  }

  /** True when Redis has refused a message that adds requests, as it is at its maxmemory. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Redis has done what the message says. */
  answered(message: Message, answers: readonly TurnAnswer[], nowMs: number): void {
    this.#isFull = false
    let n = 0
    for (const [turn, update] of message.updates) {
      const answer = answers[n++]!
      const isLost = answer.status === 'lost'
      const isInVain = ({ ended }: Ending) => isLost && (answer.reclaimed?.includes(ended.token) ?? true)
      for (const ending of message.endings)
        if (ending.slot.turn === turn) this.#ended(ending, isInVain(ending), nowMs)
      if (!this.#turns.has(turn)) continue
      if (asksAny(update.asked)) turn.batch = undefined
      if (isLost) this.#states.lose(turn, `another worker has taken over ${turn.job.unit}`)
      else if (answer.status === 'over') this.#states.gone(turn, { kind: 'complete', turn })
      else if (answer.status === 'left')
        this.#states.gone(turn, { kind: 'give back', turn, ...givenBack(answer.unitStatus) })
      else {
        this.#accept(turn, update.asked, answer, nowMs)
        if (update.leaves) this.#states.stay(turn, nowMs)
      }
    }
  }

  /**
   * Redis has not done what the message says, as far as is known. A take that was done gets the same answer again.
   *
   * @param error what the callers are told. What nobody waits for is said again; for a full Redis so is all that adds nothing
   */
  unanswered(
    message: Message,
    nowMs: number,
    { error, isFull = false }: { error: unknown; isFull?: boolean },
  ): void {
    this.#isFull ||= isFull
    const again: Ending[] = []
    for (const ending of message.endings) {
      if (!ending.done || (isFull && ending.adds === 0)) again.push(ending)
      else this.#endings.failed(ending, error)
    }
    this.#endings.again(again)
    for (const [turn, update] of message.updates) {
      for (const told of [...update.told, ...update.returned]) this.#untold(turn, told)
      // What waits of it may be this worker's since: it is asked for, or returned, as such.
      for (const { slot, most } of update.asked.more)
        if (most === 0) this.#turns.slotOf(turn, slot).waiting ||= 1
      for (const slot of turn.slots.values()) {
        slot.isAsked = false
        this.#schedule.place(slot, nowMs)
      }
      this.#schedule.placeTurn(turn, nowMs)
    }
  }

  #accept(
    turn: HeldTurn,
    { more, slots }: Pick<Asked, 'more' | 'slots'>,
    {
      unitStatus,
      taken,
      kept = [],
    }: { unitStatus: UnitStatus; taken: readonly Taken[]; kept?: readonly LineBehind[] },
    nowMs: number,
  ): void {
    for (const { slot } of more) {
      const held = turn.slots.get(slot)
      if (!held) continue
      held.isAsked = false
      held.waiting = 0
    }
    this.#states.heard(turn, unitStatus, nowMs)
    turn.taken += taken.length
    const touched = new Set<HeldSlot>()
    for (const one of taken) touched.add(this.#requests.take(turn, one, nowMs))
    for (const { slot, waiting, head = 0 } of kept) {
      const held = this.#turns.slotOf(turn, slot)
      held.waiting = waiting
      held.head = head
    }
    for (const [key, priority] of turn.cameBesides) turn.slots.get(key)?.raise(priority)
    if (!turn.isBucket) {
      const [slot] = turn.slots.values()
      slot!.isAsked = false
      slot!.waiting = 0
      // Asked again at once it would be as full: a worker would send a script a millisecond until a page of another lane ends.
      const isRefused = taken.length === 0 && unitStatus.head !== undefined && !slot!.isPaced
      slot!.isFull = isRefused && slots > 0
    }
    for (const slot of touched) {
      if (slot.isPaused(nowMs) || this.#endings.isGoingBack(slot) || turn.isLeaving)
        this.#requests.sendBack(slot)
    }
    this.#schedule.placeAll(turn, nowMs)
  }

  /** Redis was not told after all. */
  #untold(turn: HeldTurn, { held, news, waiting }: Told): void {
    // It may have been dropped here as the message went, with what only it knows: when it was asked last, and its delay.
    const slot = this.#turns.putBack(turn, held)
    slot.waiting += waiting
    slot.tellsWait(false)
    if (news) slot.news = laterNews(news, slot.news ?? {})
    turn.told.add(slot)
  }

  #ended(ending: Ending, isInVain: boolean, nowMs: number): void {
    const { slot, lease, ended } = ending
    if (isInVain) {
      this.#endings.failed(ending, leaseLost(lease?.request, `another worker has taken over ${slot.name}`))
      return
    }
    slot.turn.tokens.delete(ended.token)
    slot.isFull = false
    if (lease) {
      lease.state = 'ended'
      slot.out.delete(lease)
    }
    this.#endings.done(ending)
    this.#states.arrived(ended.placed, nowMs, { isAnswer: true })
    this.#schedule.place(slot, nowMs)
  }
}

function givenBack({ head, dueInMs = 0, known }: UnitStatus): { ms: number; priority: number } {
  const slotMs = known ? Math.max(known.waitMs, known.pausedMs) : 0
  return { ms: head === undefined ? Math.max(dueInMs, slotMs) : slotMs, priority: head ?? 0 }
}
