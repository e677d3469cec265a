import { asksAny, type TurnAnswer, type TurnUpdate } from '../../src/frontier/turn-protocol.ts'
import { addressOf, type SentEntries } from '../../src/shards/outbox-entry.ts'
import { send } from './outbox-step.ts'
import { ReturnStep } from './return-step.ts'
import { tried } from './tried.ts'
import type { Turn } from './turn-step.ts'

/** The files `begin`, `exchange` and `renew` of `lua/buckets/`, as far as they are about one turn. */
export class ScriptStep extends ReturnStep {
  /** What went to the outbox. */
  readonly sent: SentEntries[] = []

  override append(bucket: string, slot: string, priority: number, texts: readonly string[]): void {
    const to = addressOf(bucket)
    if (!to) super.append(bucket, slot, priority, texts)
    else {
      const line = { ...to, slot, priority, texts }
      this.sent.push(send(this.state.outbox, this.replid, line))
    }
  }

  turnOf(
    { unit: name, lane, generation, holder }: Pick<TurnUpdate, 'unit' | 'lane' | 'generation' | 'holder'>,
    delayMs: number,
  ): Turn {
    const unit = this.unitOf(name)
    const isMine = unit.holders[Number(lane)] === holder
    return { unit, lane: Number(lane), generation, holder, delayMs, isMine }
  }

  /** Returns how many requests were reclaimed, or that the turn is over. */
  begun(
    turn: Turn,
    {
      isSecond,
      quarantineAfter,
      ownDelays,
    }: { isSecond: boolean; quarantineAfter: number; ownDelays: ReadonlyMap<string, number> },
  ): number | 'gone' {
    const { unit, lane, holder, delayMs } = turn
    const before = unit.holders[lane]
    if (before !== undefined && before !== holder)
      for (const [slot, ownMs] of ownDelays) this.defer(slot, ownMs)
    const reclaimed = before === holder ? 0 : this.reclaim(turn, before ?? holder, quarantineAfter)
    const isPaced = () => Math.max(delayMs, this.recordOf(unit.name).floor) > 0
    const hasOther = unit.holders.some(
      (other, of) => of !== lane && other && workerOf(other) === workerOf(holder),
    )
    if (unit.bucket !== undefined && unit.up !== 1 && (isSecond || hasOther || isPaced())) {
      this.close(unit, lane)
      unit.folded = this.nowMs + 1000
      return 'gone'
    }
    unit.asleep = undefined
    unit.rests = false
    unit.holders[lane] = holder
    return reclaimed
  }

  /** What has ended, and is new of slots. */
  updated(update: TurnUpdate): Turn {
    const turn = this.turnOf(update, update.asked.delayMs)
    for (const ended of update.ended) this.finish(turn, ended)
    if (!turn.isMine) return turn
    for (const told of update.told) this.tellOf(turn.unit, told)
    for (const returned of update.returned) this.returnSlot(turn, returned)
    return turn
  }

  answer(turn: Turn, { asked, leaves, heats }: TurnUpdate): TurnAnswer {
    if (!turn.isMine) return this.answeredBefore(turn)
    const { unit } = turn
    const { taken, kept } =
      asksAny(asked) && !leaves && heats === 0 ? this.take(turn, { ...asked }) : { taken: [], kept: [] }
    if (!leaves && heats > 0) this.heatReady(turn, heats)
    const unitStatus = this.unitStatusOf(turn)
    const isEmpty = taken.length === 0 && this.flightOf(turn).size === 0
    const status = isEmpty ? this.leave(turn, unitStatus, leaves) : 'held'
    if (status === 'over') return { status }
    if (status === 'held') {
      this.widen(turn, asked.lanes)
      if (unitStatus.head === undefined) unit.rests = true
      unit.urgency = unitStatus.head || undefined
    }
    return { status, unitStatus, taken, ...(kept.length > 0 && { kept }) }
  }

  /** Returns how many requests in flight, which the holder does not have, were requeued. */
  requeueUnheld(
    turn: Turn,
    holds: ReadonlySet<string>,
    { open, resets }: { open: number; resets: boolean },
  ): number {
    if (!turn.isMine) return 0
    const flight = [...this.flightOf(turn)]
    const unheld = this.inOrder(
      flight.filter(([token]) => !holds.has(token) && Number.parseInt(token, 10) < open),
    )
    for (const { token, slot, priority, text } of unheld) {
      this.dropFlight(turn, [token])
      if (turn.unit.bucket === undefined) this.unmix(slot)
      this.prepend(turn.unit.bucket ?? turn.unit.name, slot, priority, [tried(text, 0, false).text])
    }
    this.state.counts.leased -= unheld.length
    if (resets) this.returnSlots(turn)
    return unheld.length
  }
}

function workerOf(holder: string): string {
  return holder.replace(/\/\d+$/, '')
}
