/** How long requests wait that may go, while the worker that has their bucket has room for them, or another one nothing to do. */

import type { HeldTurn } from '../../../src/frontier/held-turn.ts'
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
      ({ machine, demand }) => machine.isHungry(demand) && machine.wantsTurn(0, demand),
    )
    for (const { machine, demand } of workers)
      for (const turn of machine.turns) {
        const isElsewhere = demand === 0 || turn.isLeaving
        for (const text of turn.isBucket && (!isElsewhere || areIdle)
          ? nextOf(state, turn, isElsewhere ? nowMs : Number.POSITIVE_INFINITY)
          : []) {
          const since = this.#last.get(text)
          const sinceMs = since?.isElsewhere === isElsewhere ? since.sinceMs : nowMs
          found.set(text, { bucket: turn.job.unit, text, sinceMs, isElsewhere })
        }
      }
    this.#last = found
    return [...found.values()].sort((a, b) => a.sinceMs - b.sinceMs)[0]
  }
}

/** Of each slot of the bucket that is ready, and of which nothing lies at its worker that has to wait for its turn there. */
function* nextOf(
  { ready, lines }: FrontierState,
  { job: { unit }, slots: held }: HeldTurn,
  goesByMs: number,
): Generator<string> {
  for (const [priority, slots] of ready.get(unit) ?? [])
    for (const slot of slots) {
      const line = lines.get(unit)?.get(slot)
      if (
        line?.state !== 'r' ||
        line.priority !== priority ||
        (held.get(slot)?.goesAtMs() ?? 0) > Math.min(goesByMs, Number.MAX_VALUE)
      )
        continue
      yield firstOf(line, priority)
    }
}

function firstOf({ entries, lists }: Line, priority: number): string {
  return entries?.find((entry) => entry.priority === priority)?.text ?? lists.get(priority)![0]!
}
