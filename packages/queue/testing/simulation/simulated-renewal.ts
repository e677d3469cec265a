/** What `turn-maintenance.ts` does of its own turns, in virtual time: renews their locks, and makes Redis as it was told again. */

import { PROTOCOL_TIMES } from '@webloom/core'
import { OwedReset } from '../../src/buckets/scripts/owed-reset.ts'
import type { SimulatedHub, SimulatedProcess } from './simulated-process.ts'

const TIMES = PROTOCOL_TIMES.turns

export class SimulatedRenewal {
  readonly #process: SimulatedProcess
  readonly #hub: SimulatedHub
  readonly #delayOf: (unit: string) => number
  #isRenewing = false
  readonly #reset = new OwedReset()

  constructor(process: SimulatedProcess, hub: SimulatedHub, delayOf: (unit: string) => number) {
    this.#process = process
    this.#hub = hub
    this.#delayOf = delayOf
  }

  /** Redis has come back older, and must be told first that no slot is this worker's. */
  get mustReset(): boolean {
    return this.#reset.told !== undefined
  }

  /** Redis has come back older: the next renewal says that no slot is this worker's. */
  reset(): void {
    this.#reset.owe()
    this.renew()
  }

  renew(): void {
    const { machine } = this.#hub
    if (this.#isRenewing) return
    const { owed } = this.#reset
    if (machine.turns.size === 0) {
      this.#reset.done(owed)
      return
    }
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
    const reset = owed > 0 ? commands.next() : undefined
    this.#process.send(
      () => redis.renew(holding, TIMES.lockMs, { coming, reset }),
      (renewed) => {
        const { nowMs } = this.#process
        this.#isRenewing = false
        if (reset && renewed.isHeard) commands.wasAnswered(reset)
        this.#reset.done(owed)
        const turnOf = new Map(holding.map((one, n) => [one, turns[n]!]))
        const lost = new Set(renewed.lost.map((one) => turnOf.get(one)!))
        redis.seen.lost += lost.size
        redis.seen.unheld += renewed.unheld.size
        for (const turn of lost) if (machine.turns.has(turn)) machine.states.lose(turn, 'its lock ran out')
        const kept = turns.filter((turn) => !lost.has(turn))
        machine.states.renewed(kept, sentAtMs + TIMES.lockMs, nowMs)
        for (const one of renewed.unheld.keys())
          machine.states.nudged({ unit: turnOf.get(one)!.job.unit, priority: 0 }, nowMs)
        this.#hub.changeJobs(renewed)
        this.#hub.settle()
        if (this.#reset.owed > 0) this.renew()
      },
      () => {
        this.#isRenewing = false
        this.#process.in(TIMES.stalledSoonMs, () => this.renew())
      },
    )
  }
}
