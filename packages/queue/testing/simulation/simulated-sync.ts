/** What `frontier-sync.ts` does, in virtual time: one message to Redis at a time, with all that has gathered since the last one. */

import { WentBack } from '../../src/buckets/scripts/command-numbers.ts'
import type { Message } from '../../src/frontier/frontier-message.ts'
import type { Placed } from '../../src/frontier/turn-protocol.ts'
import { leaseLost } from '../../src/leasing/lease-lost.ts'
import type { SentEntries } from '../../src/shards/outbox-entry.ts'
import type { SimulatedHub, SimulatedProcess } from './simulated-process.ts'

export interface SimulatedSyncOptions {
  /** Whether more turns are looked for at this moment. */
  readonly isLooking: () => boolean
  /** Whether Redis, which has come back older, must be told first that no slot is this worker's. */
  readonly mustReset: () => boolean
  /** Called with what was written for other shards, of which groups. */
  readonly onSent?: (groups: readonly Placed[], sent: readonly SentEntries[]) => void
  /** Called when Redis is found to have an older state than this worker was told of. */
  readonly onWentBack: (error: WentBack) => void
}

export class SimulatedSync {
  readonly #process: SimulatedProcess
  readonly #hub: SimulatedHub
  readonly #options: SimulatedSyncOptions
  #isUnderWay = false
  #hurry: (() => void) | undefined

  constructor(process: SimulatedProcess, hub: SimulatedHub, options: SimulatedSyncOptions) {
    this.#process = process
    this.#hub = hub
    this.#options = options
  }

  kick(): void {
    if (this.#hurry && this.#waitsMs() === 0) this.#hurry()
    if (this.#isUnderWay) return
    this.#isUnderWay = true
    this.#gather()
  }

  #gather(): void {
    const { world } = this.#process
    const next = world.in(Math.max(0.05, this.#waitsMs()), () => this.#next())
    this.#hurry = () => {
      if (next.isOff) return
      next.isOff = true
      world.in(0, () => this.#next())
    }
  }

  #waitsMs(): number {
    return this.#hub.demand > 0 ? this.#hub.machine.patienceMs(this.#process.nowMs) : 3
  }

  #next(): void {
    this.#hurry = undefined
    const { isDead, nowMs, commands } = this.#process
    if (isDead) return
    if (this.#options.mustReset()) {
      this.#gather()
      return
    }
    const { machine, demand, fetching } = this.#hub
    const message = machine.message(nowMs, {
      demand,
      out: fetching,
      number: commands.coming,
      isLooking: this.#options.isLooking(),
    })
    if (!message) {
      this.#isUnderWay = false
      this.#hub.settle()
      return
    }
    this.#exchange(message)
  }

  #exchange(message: Message): void {
    const { redis, commands } = this.#process
    const number = commands.next()
    const updates = [...message.updates.values()]
    this.#process.send(
      () => redis.exchange(updates, number, message.starts),
      ({ answers, sent = [], ...jobChanges }) => {
        commands.wasAnswered(number)
        const groups = updates.flatMap(({ ended }) => ended.flatMap(({ placed }) => placed))
        if (sent.length > 0) this.#options.onSent?.(groups, sent)
        this.#hub.machine.answered(message, answers, this.#process.nowMs)
        this.#hub.changeJobs(jobChanges)
        this.#hub.settle()
        this.#gather()
      },
      (error) => this.#refused(message, error),
    )
  }

  #refused(message: Message, error: Error): void {
    if (!(error instanceof WentBack)) throw error
    const { machine } = this.#hub
    machine.unanswered(message, this.#process.nowMs, { error: leaseLost(undefined, error.message) })
    this.#options.onWentBack(error)
    this.#hub.settle()
    this.#gather()
  }
}
