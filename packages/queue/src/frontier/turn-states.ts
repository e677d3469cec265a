import { leaseLost } from '../leasing/lease-lost.ts'
import type { Endings } from './endings.ts'
import type { Effect } from './frontier-effects.ts'
import type { FrontierSchedule } from './frontier-schedule.ts'
import type { HeldRequests } from './held-requests.ts'
import { HeldTurn } from './held-turn.ts'
import type { HeldTurns } from './held-turns.ts'
import type { Nudge, Placed, TurnJob, UnitStatus } from './turn-protocol.ts'

export interface TurnStatesOptions {
  readonly turns: HeldTurns
  readonly schedule: FrontierSchedule
  readonly requests: HeldRequests
  readonly endings: Endings
  readonly effects: Effect[]
}

type Arrival = Pick<Placed, 'place' | 'bucket' | 'slot' | 'priority'>

/**
 * What becomes of turns.
 *
 *     begun ──► held ──► leaving ──► left, or over
 *                 └──────────┴─────► lost: another worker has it
 */
export class TurnStates {
  readonly #turns: HeldTurns
  readonly #schedule: FrontierSchedule
  readonly #requests: HeldRequests
  readonly #endings: Endings
  readonly #effects: Effect[]
  #isClosing = false

  constructor({ turns, schedule, requests, endings, effects }: TurnStatesOptions) {
    this.#turns = turns
    this.#schedule = schedule
    this.#requests = requests
    this.#endings = endings
    this.#effects = effects
  }

  get isClosing(): boolean {
    return this.#isClosing
  }

  begun(job: TurnJob, holder: string, unitStatus: UnitStatus, nowMs: number): HeldTurn {
    const turn = new HeldTurn(job, holder, nowMs)
    this.#turns.add(turn)
    this.heard(turn, unitStatus, nowMs)
    // Redis tells a holder of what comes only after a message of its own has found the unit empty (`rests`), and what came since
    // begin.lua looked is told to nobody: a turn that begins empty asks once.
    if (unitStatus.head === undefined) turn.arrived(0)
    if (this.#isClosing) this.leave(turn, nowMs)
    this.#schedule.placeTurn(turn, nowMs)
    return turn
  }

  /** Redis has said how the turn's unit stands. */
  heard(turn: HeldTurn, unitStatus: UnitStatus, nowMs: number): void {
    turn.heard(unitStatus, nowMs)
    this.#schedule.asksFor(turn, nowMs)
    if (turn.isBucket) return
    // A hot slot is held as long as its lane is.
    const slot = this.#turns.slotOf(turn, turn.job.unit)
    if (unitStatus.known) slot.heard(unitStatus.known, nowMs)
  }

  /** Takes no more for the turn, and leaves it as soon as nothing of it is in flight here. */
  leave(turn: HeldTurn, nowMs: number): void {
    if (turn.isLeaving) return
    turn.leavingSinceMs = nowMs
    this.#schedule.sources.remove(turn)
    for (const slot of turn.slots.values()) this.#requests.callBack(slot, nowMs)
  }

  /** Goes on with a turn after all. */
  stay(turn: HeldTurn, nowMs: number): void {
    turn.leavingSinceMs = undefined
    turn.quotaFromMs = nowMs
    turn.taken = 0
    this.#schedule.placeAll(turn, nowMs)
  }

  /** Another worker has the turn. */
  lose(turn: HeldTurn, reason: string): void {
    turn.isLost = true
    this.#dropAll(turn, reason)
    this.#forget(turn)
  }

  /** Redis has it no more as this worker's: it is over, or given back. */
  gone(turn: HeldTurn, effect: Effect): void {
    this.#dropAll(turn, 'its turn is over')
    this.#forget(turn)
    this.#effects.push(effect)
  }

  /**
   * Redis has come back older: nothing that is held here may be in flight there. Of slots of which something is here it is told again when they may
   * be asked; a lane keeps its slot, with its pace. Returns how many requests are dropped.
   */
  startOver(reason: string, nowMs: number): number {
    let requests = 0
    for (const turn of this.#turns) {
      requests += turn.tokens.size
      // A hot slot is here as long as its lane is: without it more would be taken than its pace allows.
      const staying = [...turn.slots.values()].filter((slot) => !turn.isBucket || slot.waitMs(nowMs) > 0)
      this.#dropAll(turn, reason)
      for (const slot of staying) {
        turn.slots.set(slot.key, slot)
        // With news that are told to nobody it would take no other's.
        if (slot.news || slot.waitMs(nowMs) > 0) turn.told.add(slot)
      }
      turn.leavingSinceMs = undefined
      turn.arrived(0)
      turn.batch = undefined
    }
    return requests
  }

  /** The turns whose locks were renewed, as sent at that time. */
  renewed(turns: Iterable<HeldTurn>, lockedUntilMs: number, nowMs: number): void {
    for (const turn of turns) {
      if (!this.#turns.has(turn)) continue
      turn.lockedUntilMs = lockedUntilMs
      this.#schedule.placeAll(turn, nowMs)
    }
  }

  /**
   * Requests have come to lines, by this worker's own commands.
   *
   * @param isAnswer they came with a message that Redis has just answered, and the answer counts them. Any other command may have been done
   *   after a message whose answer is still to come
   */
  arrived(placed: Iterable<Arrival>, nowMs: number, { isAnswer = false } = {}): void {
    for (const { place, bucket, slot, priority } of placed) {
      if (place !== 'end' && place !== 'again' && place !== 'head') continue
      const hot = this.#turns.of(slot)
      const turn = hot ?? this.#turns.of(bucket)
      if (!turn) continue
      if (!isAnswer && turn.batch !== undefined) turn.slotArrivedBesides(slot, priority)
      const held = turn.slots.get(slot)
      if (held && held.waiting > 0) {
        held.waiting++
        held.head = Math.max(held.head, priority)
        this.#schedule.place(held, nowMs)
        if (!hot) continue
      }
      if (isAnswer) turn.arrived(priority)
      else turn.arrivedBesides(priority)
      this.#schedule.placeTurn(turn, nowMs)
    }
  }

  /** Another worker has brought something for a unit that rests here, or something more urgent. */
  nudged({ unit, priority, slot }: Nudge, nowMs: number): void {
    const turn = this.#turns.of(unit)
    if (!turn) return
    if (slot !== undefined) this.#raised(turn, slot, priority, nowMs)
    else {
      turn.arrivedBesides(priority)
      this.#schedule.placeTurn(turn, nowMs)
    }
  }

  #raised(turn: HeldTurn, key: string, priority: number, nowMs: number): void {
    turn.slotArrivedBesides(key, priority)
    const held = turn.slots.get(key)
    if (!held) return
    held.raise(priority)
    this.#schedule.place(held, nowMs)
  }

  /** Leaves all turns, now and as they begin. Requests in flight have been ended by their callers. */
  close(nowMs: number): void {
    this.#isClosing = true
    for (const turn of this.#turns) this.leave(turn, nowMs)
  }

  #forget(turn: HeldTurn): void {
    this.#schedule.sources.remove(turn)
    this.#turns.remove(turn)
  }

  #dropAll(turn: HeldTurn, reason: string): void {
    for (const ending of this.#endings.takeOf(turn))
      this.#endings.failed(ending, leaseLost(ending.lease?.request, reason))
    for (const slot of turn.slots.values()) {
      this.#requests.drop(slot, reason)
      this.#schedule.removeSlot(slot)
      this.#endings.forget(slot)
    }
    turn.slots.clear()
    turn.told.clear()
    turn.returning.clear()
    turn.tokens.clear()
  }
}
