/** What `turn-maintenance.ts` does of its own turns, in virtual time: renews their locks, and makes Redis as it was told again. */

import { PROTOCOL_TIMES } from '@webloom/core'
import type { SimulatedHub, SimulatedProcess } from './simulated-process.ts'

const TIMES = PROTOCOL_TIMES.turns

export class SimulatedRenewal {
  readonly #process: SimulatedProcess
  readonly #hub: SimulatedHub
  readonly #delayOf: (unit: string) => number
  #isRenewing = false
  #mustReset = false
  #isResetting = false

  constructor(process: SimulatedProcess, hub: SimulatedHub, delayOf: (unit: string) => number) {
    this.#process = process
    this.#hub = hub
    this.#delayOf = delayOf
  }

  /** Redis has come back older, and does not know yet that no slot is this worker's. */
  get mustReset(): boolean {
    return this.#mustReset || this.#isResetting
  }

  /** Redis has come back older: the next renewal says that no slot is this worker's. */
  reset(): void {
    this.#mustReset = true
    this.renew()
  }

  renew(): void {
    const { machine } = this.#hub
    if (machine.turns.size === 0) this.#mustReset = false
    if (this.#isRenewing || machine.turns.size === 0) return
    this.#isRenewing = true
    const { redis, commands, nowMs: sentAtMs } = this.#process
    const turns = [...machine.turns]
    const holding = turns.map(({ job, holder, batch, tokens }) => ({
      job: job.job,
      holder,
      lockToken: job.lockToken,
      delayMs: this.#delayOf(job.unit),
      batch,
      tokens: [...tokens],
    }))
    const { coming } = commands
    const reset = this.#mustReset ? commands.next() : undefined
    this.#mustReset = false
    this.#isResetting = reset !== undefined
    this.#process.send(
      () => redis.renew(holding, TIMES.lockMs, { coming, reset }),
      (renewed) => {
        const { nowMs } = this.#process
        this.#isRenewing = false
        this.#isResetting = false
        if (reset && renewed.lost.length < holding.length) commands.wasAnswered(reset)
        const turnOf = new Map(holding.map((one, n) => [one, turns[n]!]))
        const lost = new Set(renewed.lost.map((one) => turnOf.get(one)!))
        redis.seen.lost += lost.size
        redis.seen.unheld += renewed.unheld.size
        for (const turn of lost) if (machine.turns.has(turn)) machine.states.lose(turn, 'its lock ran out')
        const kept = turns.filter((turn) => !lost.has(turn))
        machine.states.renewed(kept, sentAtMs + TIMES.lockMs, nowMs)
        for (const one of renewed.unheld.keys()) machine.states.nudged(turnOf.get(one)!.job.unit, 0, nowMs)
        this.#hub.changeJobs(renewed)
        this.#hub.settle()
        if (this.#mustReset) this.renew()
      },
    )
  }
}
