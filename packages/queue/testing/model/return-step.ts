import type { SlotReturned } from '../../src/frontier/turn-protocol.ts'
import type { Line } from './frontier-state.ts'
import { mayGoAt } from './slots-step.ts'
import { type Turn, TurnStep } from './turn-step.ts'

const LINE_PER_LANE = 64
const MAX_PASSED_PER_HEAT = 64

/** The file `lua/buckets/steps/return-slot.lua`, and the lanes of hot slots. */
export class ReturnStep extends TurnStep {
  returnSlot(turn: Turn, told: SlotReturned): void {
    const record = this.tellOf(turn.unit, told)
    const line = this.lineOf(turn.unit.name, told.slot)
    if (line.state !== 'w' && (line.state !== 'r' || told.lanes <= 1)) return
    this.letGo(line)
    if (mayGoAt(record) > this.nowMs) this.wait(line, mayGoAt(record))
    else if (told.lanes > 1) this.#heat(line, told)
    else this.stand(line, this.headOf(line)!)
  }

  heatReady(turn: Turn, most: number): void {
    const { unit } = turn
    const inFlight = new Set([...this.flightOf(turn).values()].map(({ slot }) => slot))
    const stays: Line[] = []
    this.joinLate(unit)
    this.joinLater(unit, 0)
    let [passed, left] = [0, most]
    while (left > 0 && passed < MAX_PASSED_PER_HEAT) {
      const lines = this.nextReady(unit, left)
      if (!lines) break
      for (const line of lines) {
        if (mayGoAt(this.recordOf(line.slot)) > this.nowMs || inFlight.has(line.slot)) {
          passed++
          stays.push(line)
        } else {
          left--
          this.#heat(line, { lanes: 1, mixed: 0 })
        }
      }
      if (lines.length === 0) passed++
    }
    for (const line of stays) {
      const goesAt = mayGoAt(this.recordOf(line.slot))
      if (goesAt > this.nowMs) this.wait(line, goesAt)
      else this.stand(line, line.priority)
    }
  }

  #heat(line: Line, { lanes, mixed }: Pick<SlotReturned, 'lanes' | 'mixed'>): void {
    if (line.entries) this.spill(line)
    this.save(line, 'h', 0)
    const unit = this.unitOf(line.slot)
    unit.bucket = line.bucket
    unit.mixed = mixed > 0 ? mixed : undefined
    unit.urgency = this.headOf(line) || undefined
    const most = Math.min(lanes, Math.ceil(this.lengthOf(line) / LINE_PER_LANE))
    for (let n = 0; n < most; n++) this.open(unit)
  }

  widen({ unit }: Turn, lanes: number): void {
    if (unit.bucket === undefined || unit.up! >= lanes || this.nowMs <= (unit.folded ?? 0)) return
    if (this.recordOf(unit.name).floor > 0) return
    if (this.lengthOf(this.lineOf(unit.bucket, unit.name)) > unit.up! * LINE_PER_LANE) this.open(unit)
  }
}
