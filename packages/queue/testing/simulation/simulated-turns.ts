/** What `turn-fetcher.ts` does, in virtual time: fetches turns, begins them, and says when there are too few. */

import { type HostPace, PROTOCOL_TIMES } from '@webloom/core'
import type { Effect } from '../../src/frontier/frontier-effects.ts'
import type { HeldTurn } from '../../src/frontier/held-turn.ts'
import type { TurnJob } from '../../src/frontier/turn-protocol.ts'
import type { SimulatedHub, SimulatedProcess } from './simulated-process.ts'

const TIMES = PROTOCOL_TIMES.turns
const BEGINNING_MAX = 16
const FRESH_WAIT_MS = 50
const HUNGRY_MS = 2000
const QUARANTINE_AFTER = 1000

export interface SimulatedTurnsOptions {
  readonly pace: (slot: string) => HostPace
  /** By bucket: its slots with a delay of their own. */
  readonly ownDelays: ReadonlyMap<string, ReadonlyMap<string, number>>
  readonly onHungry: () => void
}

type TurnEffect = Extract<Effect, { kind: 'complete' | 'give back' }>

export class SimulatedTurns {
  readonly #process: SimulatedProcess
  readonly #hub: SimulatedHub
  readonly #options: SimulatedTurnsOptions
  readonly #jobs = new Map<HeldTurn, TurnJob>()
  #begun = 0
  #fetches = 0
  #beginning = 0
  #isFetching = false
  #isDrained = false
  #lookingSinceMs: number | undefined
  #hungrySaidAtMs = Number.NEGATIVE_INFINITY

  constructor(process: SimulatedProcess, hub: SimulatedHub, options: SimulatedTurnsOptions) {
    this.#process = process
    this.#hub = hub
    this.#options = options
  }

  get isLooking(): boolean {
    return this.#lookingSinceMs !== undefined && this.#process.nowMs - this.#lookingSinceMs < FRESH_WAIT_MS
  }

  /** Fetches turns while the machine wants more. */
  wake(): void {
    const { isDead, nowMs } = this.#process
    if (this.#isFetching || isDead) return
    if (
      this.#beginning >= BEGINNING_MAX ||
      !this.#hub.machine.wantsTurn(this.#beginning, this.#hub.demand, nowMs)
    ) {
      this.#lookingSinceMs = undefined
      this.#isDrained = false
      return
    }
    if (!this.#isDrained) this.#lookingSinceMs ??= nowMs
    this.#fetch()
  }

  /** Says once more that there are too few turns, if that is so. */
  tend(): void {
    if (this.#isDrained) this.#sayHungry()
  }

  /** This worker has done with the turn. */
  end(effect: TurnEffect): void {
    const { turn } = effect
    const job = this.#jobs.get(turn)
    this.#jobs.delete(turn)
    if (!job) return
    const { redis, clockMs } = this.#process
    const { jobs } = redis.model
    if (effect.kind === 'complete')
      this.#process.send(() => jobs.complete(job.job, job.lockToken, redis.nowMs))
    else {
      const { ms, priority } = effect
      const back = { ms, priority, clockMs }
      this.#process.send(() => jobs.giveBack(job.job, job.lockToken, redis.nowMs, back))
    }
  }

  delayOf(unit: string): number {
    return Math.ceil(this.#options.pace(unit.startsWith('#') ? '' : unit).delayMs)
  }

  #fetch(): void {
    const { name, redis } = this.#process
    this.#isFetching = true
    const lockToken = `${name}/${++this.#fetches}`
    const sentAtMs = this.#process.clockMs
    this.#process.send(
      () => redis.model.jobs.fetch(lockToken, TIMES.lockMs, redis.nowMs, sentAtMs),
      (job) => {
        this.#isFetching = false
        this.#isDrained = job === undefined
        if (job === undefined) {
          this.#drained()
          return
        }
        const { clockMs, nowMs } = this.#process
        const lockedForMs = TIMES.lockMs - Math.max(0, clockMs - sentAtMs)
        this.#begin(job, lockToken, nowMs + lockedForMs)
        this.wake()
      },
    )
  }

  #drained(): void {
    if (this.#hub.demand === 0) this.#hub.machine.others.noneWait()
    if (this.#beginning === 0) this.#lookingSinceMs = undefined
    this.#sayHungry()
    if (this.#beginning === 0) this.#hub.handOut()
  }

  #sayHungry(): void {
    const { nowMs } = this.#process
    if (!this.#hub.machine.isHungry(this.#hub.demand) || nowMs - this.#hungrySaidAtMs < HUNGRY_MS / 2) return
    this.#hungrySaidAtMs = nowMs
    this.#options.onHungry()
  }

  #begin(id: string, lockToken: string, lockedUntilMs: number): void {
    const { redis, name } = this.#process
    const { machine } = this.#hub
    const [, unit, lane, generation] = /^(.*)~(\d+)~(\d+)$/.exec(id)!
    const turnName = { unit: unit!, lane: lane!, generation: generation!, lockToken }
    const holder = `${name}/${++this.#begun}`
    const ownDelays = this.#options.ownDelays.get(unit!)
    const begun = {
      ...turnName,
      holder,
      delayMs: this.delayOf(unit!),
      isSecond: machine.turns.of(unit!) !== undefined,
      ...(ownDelays && { ownDelays }),
    }
    this.#beginning++
    this.#process.send(
      () => redis.model.begin(begun, QUARANTINE_AFTER),
      (reply) => {
        this.#beginning--
        if (reply === 'gone') this.#process.send(() => redis.model.jobs.complete(id, lockToken, redis.nowMs))
        if (reply === 'gone' || reply === 'taken') return
        redis.seen.begun++
        if (reply.reclaimed > 0) redis.seen.reclaimed++
        this.#hub.changeJobs(reply)
        const job = { ...turnName, job: id, lockedUntilMs }
        const turn = machine.states.begun(job, holder, reply.unitStatus, this.#process.nowMs)
        this.#jobs.set(turn, job)
        this.#hub.serve()
      },
    )
  }
}
