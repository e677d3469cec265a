/** One run of a script about turns: the files of `lua/buckets/steps/` as methods. */

import type {
  Asked,
  Ended,
  LineBehind,
  Placed,
  SlotKnown,
  Taken,
  TurnAnswer,
  UnitStatus,
} from '../../src/frontier/turn-protocol.ts'
import { LANES_MAX, startedName } from '../../src/frontier/turn-protocol.ts'
import { keepFailure } from './failure-ledger.ts'
import { type Entry, type InFlight, inMap, type Line, type Unit } from './frontier-state.ts'
import { QuarantineStep } from './quarantine-step.ts'
import { type KeptRecord, mayGoAt } from './slots-step.ts'
import { tried } from './tried.ts'

const MAX_PASSED_PER_TAKE = 64
const LOST_KEPT_MS = 3_600_000

/** A turn, as a script reads of it. */
export interface Turn {
  readonly unit: Unit
  readonly lane: number
  readonly generation: string
  readonly holder: string
  readonly delayMs: number
  readonly isMine: boolean
}

interface Held extends InFlight {
  readonly token: string
  readonly batch: number
  readonly n: number
}

/** While something is taken. */
type Taking = { -readonly [Key in keyof Asked]: Asked[Key] }

export class TurnStep extends QuarantineStep {
  /** How many failures were removed from the ledger. */
  trimmed = 0

  // flight.lua

  flightOf({ unit, lane }: Pick<Turn, 'unit' | 'lane'>): Map<string, InFlight> {
    return this.state.flight.get(`${lane}:${unit.name}`) ?? new Map()
  }

  protected dropFlight(turn: Turn, tokens: Iterable<string>): number {
    const flight = this.flightOf(turn)
    let dropped = 0
    for (const token of tokens) if (flight.delete(token)) dropped++
    if (flight.size === 0) this.state.flight.delete(`${turn.lane}:${turn.unit.name}`)
    return dropped
  }

  /** The last that was taken first, so that each goes back before the one after it. */
  protected inOrder(flight: Iterable<[string, InFlight]>): Held[] {
    const held = [...flight].map(([token, one]) => {
      const [batch, n] = token.split('.').map(Number)
      return { ...one, token, batch: batch!, n: n! }
    })
    return held.sort((a, b) => b.batch - a.batch || b.n - a.n)
  }

  protected unmix(slot: string): void {
    const unit = this.unitOf(slot)
    if (unit.mixed !== undefined) unit.mixed = unit.mixed === 1 ? undefined : unit.mixed - 1
  }

  // unit-status.lua

  unitStatusOf({ unit }: Turn): UnitStatus {
    if (unit.bucket !== undefined) {
      const line = this.lineOf(unit.bucket, unit.name)
      const head = this.headOf(line)
      const known = this.#known(this.recordOf(unit.name))
      return {
        ...(head !== undefined && { head }),
        ready: head === undefined ? 0 : this.lengthOf(line),
        known,
      }
    }
    const dues = [this.joinLate(unit), this.joinLater(unit, 0)]
    const due = Math.min(...dues.map((at) => at ?? Number.POSITIVE_INFINITY))
    const head = this.headOfBucket(unit)
    const ready = head === undefined ? 0 : (this.state.ready.get(unit.name)?.get(head)?.length ?? 0)
    const dueInMs = due < Number.POSITIVE_INFINITY && { dueInMs: Math.max(0, due - this.nowMs) }
    return { ...(head !== undefined && { head }), ready, ...dueInMs }
  }

  #known({ next, floor, failures, paused }: KeptRecord): SlotKnown {
    const { nowMs } = this
    return {
      waitMs: Math.max(0, next - nowMs),
      floorMs: floor,
      failures,
      pausedMs: Math.max(0, paused - nowMs),
    }
  }

  // take.lua

  take(turn: Turn, asked: Taking): { taken: Taken[]; kept: LineBehind[] } {
    const before = this.#takenBefore(turn, asked)
    if (before.length > 0) return { taken: before, kept: this.#holdNamed(turn, asked, true) }
    const kept = this.#holdNamed(turn, asked, false)
    const taken: Taken[] = []
    if (turn.unit.bucket !== undefined) this.#takeHot(turn, taken, asked)
    else {
      for (const { slot, most } of asked.more) {
        const line = this.lineOf(turn.unit.name, slot)
        if (line.state === 'w' && most > 0) this.#took(taken, asked, line, this.takeOff(line, most))
      }
      this.#takeReady(turn, taken, asked)
    }
    if (taken.length === 0) return { taken, kept }
    const flight = inMap(this.state.flight, `${turn.lane}:${turn.unit.name}`, () => new Map())
    for (const { token, slot, priority, text } of taken) flight.set(token, { slot, priority, text })
    this.state.counts.leased += taken.length
    return { taken, kept }
  }

  #holdNamed({ unit }: Turn, asked: Taking, isRepeated: boolean): LineBehind[] {
    const kept: LineBehind[] = []
    for (const { slot, most } of asked.more) {
      const line = this.lineOf(unit.name, slot)
      const isHeld = line.state === 'w' && (isRepeated || most === 0)
      if (!isHeld && (line.state !== 'r' || most > 0)) continue
      this.#hold(line)
      const head = this.headOf(line)
      if (head !== undefined) kept.push({ slot, waiting: this.lengthOf(line), head })
    }
    return kept
  }

  #takenBefore(turn: Turn, { batch }: Taking): Taken[] {
    const taken: Taken[] = []
    const flight = this.flightOf(turn)
    for (let n = 1; ; n++) {
      const token = `${batch}.${n}`
      const held = flight.get(token)
      if (!held) return taken
      const line = this.lineOf(turn.unit.bucket ?? turn.unit.name, held.slot)
      taken.push(this.#taken(token, held, line, this.recordOf(held.slot)))
    }
  }

  #taken(token: string, { slot, priority, text }: InFlight, line: Line, record?: KeptRecord): Taken {
    const head = this.headOf(line)
    return {
      token,
      slot,
      priority,
      text,
      waiting: head === undefined ? 0 : this.lengthOf(line),
      ...(head !== undefined && { head }),
      ...(record?.isStored && { known: this.#known(record) }),
    }
  }

  #hold(line: Line): void {
    if (line.state === 'h') return
    const isHeld = line.state === 'w'
    const hasMore = this.headOf(line) !== undefined
    if (!isHeld && hasMore) inMap(this.state.held, line.bucket, () => new Set()).add(line.slot)
    else if (isHeld && !hasMore) this.letGo(line)
    this.save(line, 'w', this.headOf(line) ?? 0)
  }

  #took(taken: Taken[], asked: Taking, line: Line, entries: readonly Entry[]): void {
    const { slot } = line
    const isHeld = line.state === 'w'
    this.#hold(line)
    const record = isHeld ? undefined : this.recordOf(slot)
    for (const entry of entries) {
      taken.push(this.#taken(`${asked.batch}.${taken.length + 1}`, { slot, ...entry }, line, record))
      asked.bytes -= entry.text.length
    }
  }

  protected letGo({ bucket, slot }: Line): void {
    const held = this.state.held.get(bucket)
    held?.delete(slot)
    if (held?.size === 0) this.state.held.delete(bucket)
  }

  #takeReady(turn: Turn, taken: Taken[], asked: Taking): void {
    this.joinLate(turn.unit)
    this.joinLater(turn.unit, asked.aheadMs)
    let [passed, left] = [0, asked.slots]
    while (left > 0 && passed < MAX_PASSED_PER_TAKE && asked.bytes > 0) {
      const lines = this.nextReady(turn.unit, left)
      if (!lines) return
      for (const line of lines) {
        const goesAt = mayGoAt(this.recordOf(line.slot))
        if (goesAt - asked.aheadMs > this.nowMs) {
          passed++
          this.wait(line, goesAt)
        } else if (asked.bytes <= 0) this.stand(line, line.priority)
        else {
          left--
          this.#took(
            taken,
            asked,
            line,
            this.takeOff(line, this.recordOf(line.slot).floor > 0 ? 1 : asked.each),
          )
        }
      }
      if (lines.length === 0) passed++
    }
  }

  #roomIn(turn: Turn, { concurrency }: Taking): number {
    const up = turn.unit.up ?? 1
    const own = this.flightOf(turn).size
    let all = turn.unit.mixed ?? 0
    if (up === 1) return concurrency - own - all
    for (let lane = 0; lane < LANES_MAX; lane++)
      if (turn.unit.generations[lane] !== undefined) all += this.flightOf({ unit: turn.unit, lane }).size
    return Math.min(concurrency - all, Math.ceil(concurrency / up) - own)
  }

  #takeHot({ unit, ...turn }: Turn, taken: Taken[], asked: Taking): void {
    const record = this.recordOf(unit.name)
    if (asked.slots === 0 || record.paused > this.nowMs) return
    let most = asked.each
    if (asked.concurrency > 0) most = Math.min(most, this.#roomIn({ unit, ...turn }, asked))
    if (Math.max(asked.delayMs, record.floor) > 0) {
      const isAlone = unit.up === 1
      const isDue = record.next - this.nowMs <= (isAlone ? asked.aheadMs : 0)
      const isFirst = unit.holders.slice(0, turn.lane).every((holder) => holder === undefined)
      most = isDue && (isAlone || isFirst) ? Math.min(most, 1) : 0
    }
    if (most <= 0) return
    const line = this.lineOf(unit.bucket!, unit.name)
    this.#took(taken, asked, line, this.takeOff(line, most))
  }

  // ended.lua

  finish(turn: Turn, { token, id, refusal = '', hot, placed }: Ended): void {
    if (!turn.isMine || this.dropFlight(turn, [token]) === 0) return
    this.state.counts.leased--
    if (hot !== undefined) this.unmix(hot)
    if (refusal !== '') this.note(id!, turn.holder.replace(/\/\d+$/, ''), refusal)
    else if (id !== undefined) this.state.histories.delete(id)
    for (const one of placed) this.#put(one, `${turn.holder}/${token}`, refusal)
  }

  #put({ place, bucket, slot, priority, texts }: Placed, unique: string, refusal: string): void {
    if (place === 'quarantine') this.quarantine(texts[0]!, refusal)
    else if (place === 'end' || place === 'again') this.append(bucket, slot, priority, texts)
    else if (place === 'head') this.prepend(bucket, slot, priority, texts)
    else if (place === 'failed') this.trimmed += keepFailure(this.state.failures, texts[0]!, this.nowMs)
    else if (place === 'doubt' || place === 'visit') throw new Error(`the model has no ${place}`)
    else this.delay(bucket, slot, priority, place, unique, texts[0]!)
  }

  // leave.lua

  leave(
    { unit, lane, delayMs }: Turn,
    { head, dueInMs }: UnitStatus,
    leaves: boolean,
  ): 'over' | 'held' | 'left' {
    const hasSlots = unit.bucket === undefined && this.state.held.has(unit.name)
    const isHot = unit.bucket !== undefined
    const isEmpty = head === undefined && dueInMs === undefined && !hasSlots
    const isPaced = () => Math.max(delayMs, this.recordOf(unit.name).floor) > 0
    if ((isHot && unit.up !== 1 && (head === undefined || isPaced())) || (isEmpty && (leaves || isHot))) {
      this.close(unit, lane)
      return 'over'
    }
    if (!leaves || hasSlots) return 'held'
    unit.holders[lane] = undefined
    unit.rests = false
    unit.urgency = head || undefined
    const asleep = isHot ? mayGoAt(this.recordOf(unit.name)) : head === undefined ? this.nowMs + dueInMs! : 0
    unit.asleep = asleep > this.nowMs ? asleep : undefined
    return 'left'
  }

  answeredBefore(turn: Turn): TurnAnswer {
    const lost = this.state.lost.get(turn.holder)
    if (lost && lost.untilMs >= this.nowMs) return { status: 'lost', reclaimed: lost.tokens }
    const { unit, lane, generation } = turn
    if (unit.generations[lane] === generation && unit.holders[lane] === undefined)
      return { status: 'left', unitStatus: this.unitStatusOf(turn), taken: [] }
    return { status: 'over' }
  }

  // reclaim.lua and blame.lua

  protected reclaim(turn: Turn, before: string, quarantineAfter: number): number {
    const worker = before.replace(/\/\d+$/, '')
    const held = this.inOrder(this.flightOf(turn))
    if (held.length === 0) {
      this.returnSlots(turn)
      return 0
    }
    this.state.flight.delete(`${turn.lane}:${turn.unit.name}`)
    const tokens = held.map(({ token }) => token)
    this.state.lost.set(before, { untilMs: this.nowMs + LOST_KEPT_MS, tokens })
    this.state.counts.leased -= held.length
    for (const { token, slot, priority, text } of held) {
      if (turn.unit.bucket === undefined) this.unmix(slot)
      const name = startedName(turn.unit.name, turn.lane, token)
      const hasStarted = this.state.started.get(worker)?.has(name) ?? false
      const back = hasStarted ? this.#blamed(text, worker) : { text, kills: 0 }
      if (hasStarted) this.defer(slot, turn.delayMs)
      if (back.kills >= quarantineAfter)
        this.quarantine(back.text, `it killed ${back.kills} workers, running alone`)
      else this.prepend(turn.unit.bucket ?? turn.unit.name, slot, priority, [back.text])
    }
    this.returnSlots(turn)
    return held.length
  }

  protected returnSlots({ unit, delayMs }: Turn): void {
    if (unit.bucket !== undefined) return
    const slots = [...(this.state.held.get(unit.name) ?? [])].sort()
    this.state.held.delete(unit.name)
    for (const slot of slots) {
      const line = this.lineOf(unit.name, slot)
      const goesAt = mayGoAt(this.defer(slot, delayMs))
      if (line.state === 'w' && goesAt > this.nowMs) this.wait(line, goesAt)
      else if (line.state === 'w') this.stand(line, this.headOf(line)!)
    }
  }

  /** When a lost worker asked the slot last is not known: a delay is counted from now. */
  protected defer(slot: string, ownDelayMs: number): KeptRecord {
    const record = this.recordOf(slot)
    const delayMs = Math.max(ownDelayMs, record.floor)
    if (delayMs === 0) return record
    record.next = Math.max(record.next, this.nowMs + delayMs)
    this.keep(record)
    return record
  }

  #blamed(text: string, worker: string): { text: string; kills: number } {
    const alone = this.state.alone.get(worker)
    const id = text.slice(0, text.indexOf('\n'))
    const isToBlame = alone === id
    if (isToBlame || alone === undefined)
      this.note(
        id,
        worker,
        isToBlame ? 'the worker was lost while it ran alone' : 'the worker was lost while it was in flight',
      )
    return tried(text, isToBlame ? 1 : 0, isToBlame || alone === undefined)
  }
}
