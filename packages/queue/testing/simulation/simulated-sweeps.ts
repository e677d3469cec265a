/** What `turn-maintenance.ts` does for all workers, in virtual time: one of them sweeps, and reclaims what dead ones held. */

import { PROTOCOL_TIMES } from '@webloom/core'
import type { SweptTurns } from '../../src/frontier/other-workers.ts'
import type { SimulatedHub, SimulatedProcess } from './simulated-process.ts'

const TIMES = PROTOCOL_TIMES.turns

export class SimulatedSweeps {
  readonly #process: SimulatedProcess
  readonly #hub: SimulatedHub
  #sweptAtMs = Number.NEGATIVE_INFINITY
  /** Whether the last sweep of all was this worker's. */
  #isInCharge = false
  #isChecking = false

  constructor(process: SimulatedProcess, hub: SimulatedHub) {
    this.#process = process
    this.#hub = hub
  }

  sweepIfDue(): void {
    const sinceMs = this.#process.nowMs - this.#sweptAtMs
    if (sinceMs >= (this.#isInCharge ? TIMES.sweepEveryMs : TIMES.sweepMissedMs)) this.sweep(TIMES.sweptMsMin)
  }

  /** Sweeps, unless another worker has within `everyMs`. */
  sweep(everyMs: number): void {
    const { redis, name, nowMs } = this.#process
    this.#sweptAtMs = nowMs
    this.#process.send(
      () => redis.model.sweep(name, everyMs, TIMES.owedMs),
      ({ isSwept, woken, ...swept }) => {
        this.heard(swept, isSwept)
        this.#hub.changeJobs({ woken, raised: [] })
      },
    )
  }

  heard(swept: SweptTurns, isMine: boolean): void {
    this.#sweptAtMs = this.#process.nowMs
    this.#hub.machine.others.swept(swept)
    this.#isInCharge = isMine
  }

  checkStalled(): void {
    if (!this.#isInCharge || this.#isChecking) return
    this.#isChecking = true
    const { model } = this.#process.redis
    this.#process.send(
      () => model.takeStalled(TIMES.stalledGapMs, TIMES.sparedBackMs),
      ({ given }) => {
        this.#isChecking = false
        if (given > 0) this.#hub.machine.others.woke()
      },
    )
  }
}
