/** Virtual time: what is to happen, and when. Things of the same moment happen in the order in which they were planned. */

import { TimeHeap } from '../../src/structures/time-heap.ts'
import type { SeededChance } from '../seeded-chance.ts'

export interface Planned {
  readonly run: () => void
  isOff: boolean
}

export class VirtualWorld {
  readonly chance: SeededChance
  readonly #planned = new TimeHeap<Planned>()
  /** Of all monotonic clocks, milliseconds. */
  nowMs = 0
  steps = 0

  constructor(chance: SeededChance) {
    this.chance = chance
  }

  in(ms: number, run: () => void): Planned {
    const planned = { run, isOff: false }
    this.#planned.add(this.nowMs + ms, planned)
    return planned
  }

  /** Does what is planned next. Returns false when nothing is. */
  step(): boolean {
    const atMs = this.#planned.nextAtMs
    const next = this.#planned.takeDue(Number.POSITIVE_INFINITY)
    if (!next) return false
    this.nowMs = Math.max(this.nowMs, atMs!)
    if (next.isOff) return true
    this.steps++
    next.run()
    return true
  }
}
