/**
 * One run of a script, as far as it concerns slots, lines and units: the files of `lua/slots/` as methods, in the same order of
 * steps. What a script reads once and keeps for its time is kept here, too.
 */

import type { HostNews, QueueOrder } from '@webloom/core'
import {
  type JobChanges,
  LANES_MAX,
  type Nudge,
  type SlotTold,
  type Wake,
} from '../../src/frontier/turn-protocol.ts'
import {
  dropFrom,
  type Entry,
  type FrontierState,
  inMap,
  type Line,
  type LineState,
  ranked,
  type ScoredSet,
  type SlotRecord,
  type Unit,
  upTo,
} from './frontier-state.ts'
import { LineOrder } from './line-order.ts'

const MAX_LATE_PER_CALL = 100
const MAX_LATER_PER_CALL = 100
const LEARNED_KEPT_MS = 86_400_000

export interface StepOptions {
  readonly state: FrontierState
  readonly order: QueueOrder
  readonly nowMs: number
  /** Called with what is published, and on which channel. */
  readonly onPublished: (channel: string, text: string) => void
  readonly caller?: string
  /** The caller is told by the answer of what it holds. */
  readonly tellsCaller?: boolean
  /** What the server's INFO says of its history. */
  readonly replid?: string
}

export type KeptRecord = SlotRecord & { isStored: boolean }

export class SlotsStep {
  protected readonly state: FrontierState
  protected readonly nowMs: number
  protected readonly publish: StepOptions['onPublished']
  protected readonly replid: string
  readonly #order: QueueOrder
  readonly #lineOrder: LineOrder
  readonly #caller: string | undefined
  readonly #tellsCaller: boolean
  readonly #records = new Map<string, KeptRecord>()
  readonly #woken: Wake[] = []
  readonly #raised: Wake[] = []
  readonly nudged: Nudge[] = []

  constructor({ state, order, nowMs, onPublished, caller, tellsCaller = false, replid = '' }: StepOptions) {
    this.state = state
    this.nowMs = nowMs
    this.publish = onPublished
    this.replid = replid
    this.#order = order
    this.#lineOrder = new LineOrder(order)
    this.#caller = caller
    this.#tellsCaller = tellsCaller
  }

  get jobChanges(): JobChanges {
    return { woken: this.#woken, raised: this.#raised }
  }

  // slots/keys.lua

  unitOf(name: string): Unit {
    return inMap(this.state.units, name, () => ({ name, generations: [], holders: [] }))
  }

  // slots/wake.lua

  jobOf(unit: Unit, lane: number): string {
    return `${unit.name}~${lane}~${unit.generations[lane]}`
  }

  protected open(unit: Unit): void {
    let lane = 0
    while (unit.generations[lane] !== undefined) lane++
    if (lane >= LANES_MAX) return
    unit.up = (unit.up ?? 0) + 1
    this.#wake(unit, lane)
  }

  protected arrived(unit: Unit, priority: number): void {
    const isMoreUrgent = priority > (unit.urgency ?? 0)
    if (!unit.up || isMoreUrgent) unit.urgency = priority || undefined
    if (!unit.up) {
      this.open(unit)
      return
    }
    if (unit.asleep !== undefined) this.#rouse(unit)
    else if (isMoreUrgent) this.#raise(unit, priority)
    if (unit.rests || isMoreUrgent) this.#nudge(unit, priority)
  }

  #arrivedLater(unit: Unit, dueMs: number): void {
    if (!unit.up) this.open(unit)
    else if (unit.asleep !== undefined && dueMs < unit.asleep) this.#rouse(unit)
    else if (unit.rests) this.#nudge(unit, 0)
  }

  #wake(unit: Unit, lane: number): void {
    unit.generations[lane] = `${++this.state.counts.generation}`
    this.state.due.set(this.jobOf(unit, lane), this.nowMs)
    this.#woken.push({ job: this.jobOf(unit, lane), priority: unit.urgency ?? 0 })
  }

  #rouse(unit: Unit): void {
    unit.asleep = undefined
    for (let lane = 0; lane < LANES_MAX; lane++) {
      if (unit.generations[lane] === undefined || unit.holders[lane] !== undefined) continue
      this.state.due.delete(this.jobOf(unit, lane))
      this.#wake(unit, lane)
    }
  }

  #nudge(unit: Unit, priority: number, slot?: string): void {
    const holder = unit.holders.find((one) => one !== undefined)?.replace(/\/\d+$/, '')
    if (holder === undefined || (holder === this.#caller && !this.#tellsCaller)) return
    if (slot === undefined) unit.rests = false
    const named = slot === undefined ? {} : { slot }
    if (holder === this.#caller) this.nudged.push({ unit: unit.name, priority, ...named })
    else this.publish('nudges', [holder, priority, unit.name, ...Object.values(named)].join('\n'))
  }

  #raise(unit: Unit, priority: number): void {
    for (let lane = 0; lane < LANES_MAX; lane++)
      if (unit.generations[lane] !== undefined && unit.holders[lane] === undefined)
        this.#raised.push({ job: this.jobOf(unit, lane), priority })
  }

  // slots/lines.lua

  lineOf(bucket: string, slot: string): Line {
    const known = this.state.lines.get(bucket)?.get(slot)
    return known ?? { bucket, slot, priority: 0, entries: [], lists: new Map() }
  }

  protected add(line: Line, priority: number, texts: readonly string[], isHead: boolean): void {
    this.state.counts.waiting += texts.length
    this.#lineOrder.put(line, priority, texts, isHead)
  }

  protected spill(line: Line): void {
    this.#lineOrder.spill(line)
  }

  headOf(line: Line): number | undefined {
    return this.#lineOrder.headOf(line)
  }

  protected takeOff(line: Line, most: number): Entry[] {
    const taken = this.#lineOrder.takeOff(line, most)
    this.state.counts.waiting -= taken.length
    return taken
  }

  protected save(line: Line, state: LineState, priority: number): void {
    if (this.headOf(line) === undefined) {
      dropFrom(this.state.lines, line.bucket, line.slot)
      line.state = undefined
      return
    }
    line.state = state
    line.priority = priority
    inMap(this.state.lines, line.bucket, () => new Map()).set(line.slot, line)
  }

  lengthOf(line: Line): number {
    return this.#lineOrder.lengthOf(line)
  }

  // slots/record.lua

  recordOf(slot: string): KeptRecord {
    return inMap(this.#records, slot, () => {
      const stored = this.state.records.get(slot)
      const isStored = stored !== undefined && stored.untilMs >= this.nowMs
      if (!isStored) return { slot, next: 0, floor: 0, failures: 0, paused: 0, why: '', isStored }
      const { next, floor, failures, paused, why } = stored
      return { slot, next, floor, failures, paused, why, isStored }
    })
  }

  protected keep(record: KeptRecord): void {
    const { slot, next, floor, failures, paused, why } = record
    const learned = floor > 0 || failures > 0 ? this.nowMs + LEARNED_KEPT_MS : 0
    const untilMs = Math.max(learned, next, paused)
    record.isStored = untilMs > this.nowMs
    if (record.isStored) {
      const stored = { slot, at: this.nowMs, next, floor, failures, paused, why, untilMs: untilMs + 1 }
      this.state.records.set(slot, stored)
    } else this.state.records.delete(slot)
  }

  // slots/news.lua, and tellOf() of buckets/steps/return-slot.lua

  protected tellOf(unit: Unit, { slot, waitMs, news }: SlotTold): KeptRecord {
    const record = this.recordOf(slot)
    const wait = waitMs === undefined ? undefined : Math.ceil(waitMs)
    if (wait !== undefined) record.next = wait > 0 ? this.nowMs + wait : 0
    if (news) this.#learn(record, news)
    if (wait !== undefined || news) this.keep(record)
    if (unit.bucket === undefined && mayGoAt(record) > this.nowMs) unit.paced = true
    return record
  }

  #learn(record: KeptRecord, { delayMs, failures, pauseMs, pauseReason = '' }: HostNews): void {
    record.floor = delayMs === undefined ? record.floor : Math.ceil(delayMs)
    record.failures = failures ?? record.failures
    const untilMs = pauseMs === undefined ? 0 : this.nowMs + Math.ceil(pauseMs)
    if (untilMs <= record.paused) return
    record.paused = untilMs
    record.why = pauseReason
    this.state.paused.set(record.slot, untilMs)
    if (this.unitOf(record.slot).up) this.publish('pauses', `${Math.ceil(pauseMs!)}\n${record.slot}`)
  }

  // slots/ready.lua

  protected stand(line: Line, priority: number): void {
    this.save(line, 'r', priority)
    if (!line.state) return
    const unit = this.unitOf(line.bucket)
    const lists = inMap(this.state.ready, line.bucket, () => new Map<number, string[]>())
    inMap(lists, priority, () => []).push(line.slot)
    if (priority !== 0) {
      inMap(this.state.urgent, line.bucket, () => new Set()).add(priority)
      unit.urgent = true
    }
    this.arrived(unit, priority)
  }

  protected wait(line: Line, dueMs: number): void {
    this.save(line, 'l', this.headOf(line) ?? 0)
    if (!line.state) return
    const unit = this.unitOf(line.bucket)
    inMap(this.state.later, line.bucket, () => new Map() as ScoredSet).set(line.slot, dueMs)
    if (unit.later !== undefined && dueMs >= unit.later) return
    unit.later = dueMs
    this.#arrivedLater(unit, dueMs)
  }

  #begins(line: Line, priority: number): void {
    const goesAt = this.unitOf(line.bucket).paced ? mayGoAt(this.recordOf(line.slot)) : 0
    if (goesAt > this.nowMs) this.wait(line, goesAt)
    else this.stand(line, priority)
  }

  #grown(line: Line, priority: number): void {
    if (!line.state) {
      this.#begins(line, priority)
      return
    }
    if (line.state === 'r' && priority > line.priority) {
      this.stand(line, priority)
      return
    }
    if (line.state === 'w' && priority > line.priority) {
      this.save(line, 'w', priority)
      this.#nudge(this.unitOf(line.bucket), priority, line.slot)
      return
    }
    this.save(line, line.state, line.priority)
    if (line.state === 'h') this.arrived(this.unitOf(line.slot), priority)
  }

  append(bucket: string, slot: string, priority: number, texts: readonly string[]): void {
    const line = this.lineOf(bucket, slot)
    this.add(line, priority, texts, false)
    this.#grown(line, priority)
  }

  prepend(bucket: string, slot: string, priority: number, texts: readonly string[]): void {
    const line = this.lineOf(bucket, slot)
    this.add(line, priority, texts, true)
    this.#grown(line, priority)
  }

  protected headOfBucket({ name, urgent }: Unit): number | undefined {
    const priorities = urgent ? [...(this.state.urgent.get(name) ?? [])] : []
    const top = priorities.length > 0 ? Math.max(...priorities) : undefined
    if (top !== undefined && top > 0) return top
    return this.state.ready.get(name)?.has(0) ? 0 : top
  }

  /** Undefined: no slot is ready. */
  protected nextReady(unit: Unit, most: number): Line[] | undefined {
    const priority = this.headOfBucket(unit)
    const list = priority === undefined ? undefined : this.state.ready.get(unit.name)?.get(priority)
    if (priority === undefined || !list) return undefined
    const slots = this.#order === 'lifo' ? list.splice(-most).reverse() : list.splice(0, most)
    if (list.length === 0) this.#listEnded(unit, priority)
    const lines = new Set<Line>()
    for (const slot of slots) {
      const line = this.state.lines.get(unit.name)?.get(slot)
      if (line?.state === 'r' && line.priority === priority) lines.add(line)
    }
    return [...lines]
  }

  #listEnded(unit: Unit, priority: number): void {
    dropFrom(this.state.ready, unit.name, priority)
    if (priority === 0) return
    dropFrom(this.state.urgent, unit.name, priority)
    unit.urgent = this.state.urgent.has(unit.name)
  }

  /** Returns when the next one's time comes. */
  protected joinLater(unit: Unit, aheadMs: number): number | undefined {
    if (unit.later === undefined || unit.later > this.nowMs + aheadMs) return unit.later
    for (const slot of upTo(this.state.later.get(unit.name), this.nowMs + aheadMs, MAX_LATER_PER_CALL)) {
      dropFrom(this.state.later, unit.name, slot)
      const line = this.lineOf(unit.name, slot)
      if (line.state === 'l') this.stand(line, this.headOf(line)!)
    }
    unit.later = ranked(this.state.later.get(unit.name))[0]?.[1]
    return unit.later
  }

  // slots/late.lua

  protected delay(
    bucket: string,
    slot: string,
    priority: number,
    ms: number,
    unique: string,
    text: string,
  ): void {
    const unit = this.unitOf(bucket)
    const member = `${slot}\n${priority}\n${unique}\n${text}`
    inMap(this.state.late, bucket, () => new Map() as ScoredSet).set(member, this.nowMs + ms)
    this.state.counts.delayed++
    unit.late = true
    this.#arrivedLater(unit, this.nowMs + ms)
  }

  /** Returns when the next one's time comes. */
  protected joinLate(unit: Unit): number | undefined {
    if (!unit.late) return undefined
    for (const member of upTo(this.state.late.get(unit.name), this.nowMs, MAX_LATE_PER_CALL)) {
      const [slot, priority, , ...text] = member.split('\n')
      dropFrom(this.state.late, unit.name, member)
      this.append(unit.name, slot!, Number(priority), [text.join('\n')])
      this.state.counts.delayed--
    }
    const first = ranked(this.state.late.get(unit.name))[0]?.[1]
    unit.late = first !== undefined
    return first
  }

  // slots/close.lua

  protected close(unit: Unit, lane: number): void {
    this.state.due.delete(this.jobOf(unit, lane))
    if (unit.up !== 1) {
      unit.generations[lane] = undefined
      unit.holders[lane] = undefined
      unit.up!--
      return
    }
    if (unit.bucket !== undefined) dropFrom(this.state.lines, unit.bucket, unit.name)
    this.state.units.delete(unit.name)
  }
}

export function mayGoAt({ next, paused }: SlotRecord): number {
  return Math.max(next, paused)
}
