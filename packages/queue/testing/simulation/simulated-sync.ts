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

/** A message that is held back since `sinceMs`, and until when as it was last asked. */
interface Gathering {
  readonly sinceMs: number
  readonly untilMs: number
  readonly look: { isOff: boolean }
}

/** How long outcomes gather while nothing is wanted. */
const GATHER_MS = 3
/** An event loop's turn. */
const LEAST_MS = 0.05
/** As in `frontier-sync.ts`. */
const TIMERS_MS = 1

export class SimulatedSync {
  readonly #process: SimulatedProcess
  readonly #hub: SimulatedHub
  readonly #options: SimulatedSyncOptions
  #isUnderWay = false
  #gathering: Gathering | undefined

  constructor(process: SimulatedProcess, hub: SimulatedHub, options: SimulatedSyncOptions) {
    this.#process = process
    this.#hub = hub
    this.#options = options
  }

  kick(): void {
    const { sinceMs, untilMs, look } = this.#gathering ?? {}
    if (look && this.#gathersUntilMs(sinceMs!) < untilMs! - TIMERS_MS && !look.isOff) {
      look.isOff = true
      this.#gather(sinceMs)
    }
    if (this.#isUnderWay) return
    this.#isUnderWay = true
    this.#gather()
  }

  #gather(sinceMs = this.#process.nowMs): void {
    const { world, nowMs } = this.#process
    const untilMs = this.#gathersUntilMs(sinceMs)
    const look = world.in(Math.max(LEAST_MS, untilMs - nowMs), () => {
      if (this.#gathersUntilMs(sinceMs) > this.#process.nowMs) this.#gather(sinceMs)
      else this.#next()
    })
    this.#gathering = { sinceMs, untilMs, look }
  }

  #gathersUntilMs(sinceMs: number): number {
    const { nowMs } = this.#process
    return this.#hub.demand > 0 ? this.#hub.machine.gathersUntilMs(sinceMs, nowMs) : sinceMs + GATHER_MS
  }

  #next(): void {
    this.#gathering = undefined
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
