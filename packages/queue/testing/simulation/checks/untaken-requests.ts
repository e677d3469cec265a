/** How long requests wait that may go, while the worker that has their bucket has room for them, or another one nothing to do. */

import type { HeldSlot, HeldTurn } from '../../../src/frontier/held-turn.ts'
import type { FrontierState, Line } from '../../model/frontier-state.ts'
import type { SimulatedWorker } from '../simulated-worker.ts'

/** A request that is the next of a slot that may be asked. */
interface Untaken {
  readonly bucket: string
  readonly text: string
  readonly sinceMs: number
  /** The worker that has the bucket has no room, or leaves it; another one has. */
  readonly isElsewhere: boolean
}

export class UntakenRequests {
  /** As last looked, by the request. */
  #last = new Map<string, Untaken>()

  /** Called again and again. Returns the one that was found at each look for the longest time. */
  longest(state: FrontierState, workers: readonly SimulatedWorker[], nowMs: number): Untaken | undefined {
    const found = new Map<string, Untaken>()
    const areIdle = workers.some(
      ({ machine, demand }) => machine.isHungry(demand) && machine.wantsTurn(0, demand, nowMs),
    )
    for (const { machine, demand } of workers)
      for (const turn of machine.turns) {
        const isElsewhere = demand === 0 || turn.isLeaving
        if (!turn.isBucket || (isElsewhere && !areIdle)) continue
        const stays = isElsewhere ? (slot: HeldSlot) => staysHere(slot, nowMs) : waitsHere
        for (const text of nextOf(state, turn, stays)) {
          const since = this.#last.get(text)
          const sinceMs = since?.isElsewhere === isElsewhere ? since.sinceMs : nowMs
          found.set(text, { bucket: turn.job.unit, text, sinceMs, isElsewhere })
        }
      }
    this.#last = found
    return [...found.values()].sort((a, b) => a.sinceMs - b.sinceMs)[0]
  }
}

/** What lies here of the slot has to wait for its turn. */
function waitsHere(slot: HeldSlot): boolean {
  return slot.goesAtMs() === Number.POSITIVE_INFINITY
}

/** Nobody else may ask the slot: it has all that it may in flight here, or a delay, of which only this worker knows when it is over. */
function staysHere(slot: HeldSlot, nowMs: number): boolean {
  return slot.isPaced || slot.goesAtMs() > nowMs
}

/** Of each slot of the bucket that is ready. @param stays of one of which its worker has something: it is not looked at */
function* nextOf(
  { ready, lines }: FrontierState,
  { job: { unit }, slots: held }: HeldTurn,
  stays: (slot: HeldSlot) => boolean,
): Generator<string> {
  for (const [priority, slots] of ready.get(unit) ?? [])
    for (const slot of slots) {
      const [line, here] = [lines.get(unit)?.get(slot), held.get(slot)]
      if (line?.state !== 'r' || line.priority !== priority || (here && stays(here))) continue
      yield firstOf(line, priority)
    }
}

function firstOf({ entries, lists }: Line, priority: number): string {
  return entries?.find((entry) => entry.priority === priority)?.text ?? lists.get(priority)![0]!
}
